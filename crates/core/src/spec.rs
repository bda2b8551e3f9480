//! One plane of a format, by what it holds.

use crate::{
    component::{Channel, Component},
    pitch::{Dyn, Pitch},
    sample::{Sample, ScalarKind},
    sealed::Sealed,
    size::Size,
    subsampling::{Full, Step, Subsampling},
};
use core::marker::PhantomData;

/// A plane: which channels it interleaves, the type of an element, pixels a sample, and how its pitch is known.
///
/// `Spec<CbCr, [u8; 2], Half>` is the chroma plane of NV12.
pub struct Spec<C, S, Sub = Full, P = Dyn>(PhantomData<fn() -> (C, S, Sub, P)>);

/// The parts of a [`Spec`] by name. Sealed.
pub trait PlaneSpec: Sealed + 'static {
    /// What the channels mean.
    type Component: Component;
    /// One element.
    type Sample: Sample;
    /// Pixels a sample.
    type Subsampling: Subsampling;
    /// How the pitch is known.
    type Pitch: Pitch;
    /// The same as values.
    const INFO: PlaneInfo;
}

impl<C, S, Sub, P> Sealed for Spec<C, S, Sub, P> {}
impl<C: Component, S: Sample, Sub: Subsampling, P: Pitch> PlaneSpec for Spec<C, S, Sub, P> {
    type Component = C;
    type Sample = S;
    type Subsampling = Sub;
    type Pitch = P;
    const INFO: PlaneInfo = {
        assert!(
            S::CHANNELS == C::CHANNELS.len(),
            "the sample of a plane has as many channels as its component: CbCr wants [u8; 2]"
        );
        PlaneInfo { name: C::NAME, channels: C::CHANNELS, scalar: S::KIND, step: Step { x: Sub::X, y: Sub::Y } }
    };
}

/// A [`Spec`] as values, for code that chooses at run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlaneInfo {
    /// What the plane holds, as messages name it.
    pub name: &'static str,
    /// The interleaved channels, first in memory first.
    pub channels: &'static [Channel],
    /// The number type of each channel.
    pub scalar: ScalarKind,
    /// Pixels a sample.
    pub step: Step,
}

impl PlaneInfo {
    /// Bytes of one element, all its channels together.
    pub const fn element_bytes(&self) -> u32 {
        self.scalar.bytes() * self.channels.len() as u32
    }

    /// Columns and rows of this plane in an image of `size`: rounded up.
    pub const fn plane_size(&self, size: Size) -> Size {
        size.subsampled(self.step.x, self.step.y)
    }

    /// Bytes of a row without padding in an image of `size`.
    pub const fn row_bytes(&self, size: Size) -> u32 {
        self.plane_size(size).width() * self.element_bytes()
    }
}
