//! What one element of a plane is: a scalar, or a few of them interleaved.

use crate::sealed::Sealed;
use half::f16;

/// The number type of one channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ScalarKind {
    /// 8-bit unsigned.
    U8,
    /// 16-bit unsigned, little endian in files.
    U16,
    /// IEEE 754 binary16.
    F16,
    /// IEEE 754 binary32.
    F32,
}

impl ScalarKind {
    /// Bytes of one scalar.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 => 2,
            Self::F32 => 4,
        }
    }
}

/// A number type that a channel can have: `u8`, `u16`, [`half::f16`] or `f32`. Sealed.
pub trait Scalar: Sealed + bytemuck::Pod + PartialEq + core::fmt::Debug + Send + Sync {
    /// The same as a value.
    const KIND: ScalarKind;
}

/// One element of a plane: a [`Scalar`], or an array of them for interleaved channels. Sealed.
pub trait Sample: Sealed + bytemuck::Pod + PartialEq + core::fmt::Debug + Send + Sync {
    /// The number type of each channel.
    type Scalar: Scalar;
    /// The number type of each channel.
    const KIND: ScalarKind;
    /// How many channels are interleaved.
    const CHANNELS: usize;
    /// Each channel as `f` gives it, for code over samples of any number of channels.
    ///
    /// ```
    /// use framewright_core::Sample;
    ///
    /// fn darker<S: Sample<Scalar = u8>>(sample: S) -> S {
    ///     sample.map_channels(|level| level / 2)
    /// }
    /// assert_eq!((darker(200_u8), darker([20_u8, 40, 60])), (100, [10, 20, 30]));
    /// ```
    fn map_channels(self, f: impl FnMut(Self::Scalar) -> Self::Scalar) -> Self;
}

macro_rules! scalars {
    ($($t:ty => $kind:ident),*) => {$(
        impl Sealed for $t {}
        impl Scalar for $t {
            const KIND: ScalarKind = ScalarKind::$kind;
        }
        impl Sample for $t {
            type Scalar = $t;
            const KIND: ScalarKind = ScalarKind::$kind;
            const CHANNELS: usize = 1;
            #[inline(always)]
            fn map_channels(self, mut f: impl FnMut($t) -> $t) -> $t {
                f(self)
            }
        }
    )*};
}
scalars!(u8 => U8, u16 => U16, f16 => F16, f32 => F32);

impl<T: Scalar, const N: usize> Sealed for [T; N] {}
impl<T: Scalar, const N: usize> Sample for [T; N]
where
    [T; N]: bytemuck::Pod,
{
    type Scalar = T;
    const KIND: ScalarKind = T::KIND;
    const CHANNELS: usize = {
        assert!(N >= 1 && N <= 4, "a sample interleaves one to four channels");
        N
    };
    #[inline(always)]
    fn map_channels(self, f: impl FnMut(T) -> T) -> Self {
        self.map(f)
    }
}
