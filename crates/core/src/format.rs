//! Formats: which planes an image has. The built-in ones, and how to make one.

use crate::{
    component::{Bgr, Bgra, Cb, CbCr, Cr, CrCb, Rgb, Rgba, Y},
    pitch::{Dyn, Even, Per, Pitch},
    planes::PlaneList,
    sealed::Sealed,
    spec::Spec,
    subsampling::{Full, Half},
};
use core::marker::PhantomData;

/// The planes of an image, as a type. Open: a format of your own is one `impl`.
///
/// A format only *describes*; that its planes lie where they should is checked when an image is made, so a wrong
/// description gives wrong colours and never a bad access. A format whose planes hold what a built-in kernel reads runs
/// on that kernel.
///
/// ```
/// use framewright_core::*;
///
/// /// Luma at 8 bits with chroma as Cr, Cb pairs beside each pixel: NV42.
/// enum Nv42 {}
/// impl Format for Nv42 {
///     const NAME: &'static str = "nv42";
///     type Planes = (Spec<Y, u8>, Spec<CrCb, [u8; 2]>);
/// }
/// ```
///
/// # Compile-time errors
/// A sample with another number of channels than the component:
/// ```compile_fail,E0080
/// use framewright_core::*;
/// enum Wrong {}
/// impl Format for Wrong {
///     const NAME: &'static str = "wrong";
///     type Planes = (Spec<CbCr, u8>,);
/// }
/// let layout = Layout::<Wrong>::packed(Size::fixed::<4, 4>());
/// ```
pub trait Format: 'static {
    /// FFmpeg's name of the layout where there is one.
    const NAME: &'static str;
    /// A tuple of one to four [`Spec`]s.
    type Planes: PlaneList;
}

/// How the pitches of a built-in format are known. Sealed: [`Free`] or [`Linked`].
pub trait PitchRule: Sealed + 'static {
    /// The first plane's.
    type First: Pitch;
    /// A chroma plane's with one channel at half the width.
    type HalfOfFirst: Pitch;
    /// A chroma plane's with two channels at half the width.
    type PairOfFirst: Pitch;
}

/// Each plane has its own pitch, known at run time: what decoders and files give. The default.
#[derive(Clone, Copy, Debug)]
pub enum Free {}
impl Sealed for Free {}
impl PitchRule for Free {
    type First = Dyn;
    type HalfOfFirst = Dyn;
    type PairOfFirst = Dyn;
}

/// The contiguous layout, stated in the type: chroma's pitch follows from the luma pitch `P` (half of it, rounded up: 5, 3, 3
/// for a tight 5x5).
#[derive(Clone, Copy, Debug)]
pub struct Linked<P = Dyn>(PhantomData<P>);
impl<P> Sealed for Linked<P> {}
impl<P: Pitch> PitchRule for Linked<P> {
    type First = P;
    type HalfOfFirst = Per<P, 2>;
    type PairOfFirst = Even<P>;
}

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident $ffmpeg:literal: ($($spec:ty),+);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<L = Free>(PhantomData<L>);
        impl<L: PitchRule> Format for $name<L> {
            const NAME: &'static str = $ffmpeg;
            type Planes = ($($spec,)+);
        }
    )*};
}

formats! {
    /// Planar 4:2:0 at 8 bits: Y, then Cb and Cr at half the width and height. FFmpeg's `yuv420p`, also called I420.
    Yuv420p8 "yuv420p": (
        Spec<Y, u8, Full, L::First>,
        Spec<Cb, u8, Half, L::HalfOfFirst>,
        Spec<Cr, u8, Half, L::HalfOfFirst>
    );
    /// Semi-planar 4:2:0 at 8 bits: Y, then Cb and Cr interleaved at half the width and height. FFmpeg's `nv12`.
    Nv12 "nv12": (Spec<Y, u8, Full, L::First>, Spec<CbCr, [u8; 2], Half, L::PairOfFirst>);
    /// [`Yuv420p8`] with Cr before Cb, as Android and old capture cards give it. FFmpeg reads it as `yuv420p` with the planes
    /// exchanged and has no name for it; others call it YV12.
    Yv12 "yv12": (
        Spec<Y, u8, Full, L::First>,
        Spec<Cr, u8, Half, L::HalfOfFirst>,
        Spec<Cb, u8, Half, L::HalfOfFirst>
    );
    /// [`Nv12`] with Cr before Cb in each pair, as many cameras give it. FFmpeg's `nv21`.
    Nv21 "nv21": (Spec<Y, u8, Full, L::First>, Spec<CrCb, [u8; 2], Half, L::PairOfFirst>);
    /// Luma alone at 8 bits. FFmpeg's `gray`.
    Gray8 "gray": (Spec<Y, u8, Full, L::First>);
    /// Interleaved blue, green, red at 8 bits. FFmpeg's `bgr24`, OpenCV's default.
    Bgr8 "bgr24": (Spec<Bgr, [u8; 3], Full, L::First>);
    /// Interleaved red, green, blue at 8 bits. FFmpeg's `rgb24`.
    Rgb8 "rgb24": (Spec<Rgb, [u8; 3], Full, L::First>);
    /// Interleaved blue, green, red, opacity at 8 bits. FFmpeg's `bgra`.
    Bgra8 "bgra": (Spec<Bgra, [u8; 4], Full, L::First>);
    /// Interleaved red, green, blue, opacity at 8 bits. FFmpeg's `rgba`.
    Rgba8 "rgba": (Spec<Rgba, [u8; 4], Full, L::First>);
}
