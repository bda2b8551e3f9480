//! How many pixels share one sample of a plane.

use crate::sealed::Sealed;

/// Pixels from one sample to the next, as a type. Sealed.
pub trait Subsampling: Sealed + 'static {
    /// Pixels from left to right that share a sample.
    const X: u32;
    /// Pixels from top to bottom that share a sample.
    const Y: u32;
}

/// One sample a pixel.
#[derive(Clone, Copy, Debug)]
pub enum Full {}
/// One sample for 2x2 pixels, the chroma of 4:2:0.
#[derive(Clone, Copy, Debug)]
pub enum Half {}
/// One sample for 2x1 pixels, the chroma of 4:2:2.
#[derive(Clone, Copy, Debug)]
pub enum HalfX {}

macro_rules! subsamplings {
    ($($t:ident $x:literal $y:literal),*) => {$(
        impl Sealed for $t {}
        impl Subsampling for $t {
            const X: u32 = $x;
            const Y: u32 = $y;
        }
    )*};
}
subsamplings!(Full 1 1, Half 2 2, HalfX 2 1);

/// Pixels from one sample to the next, as a value; also the grid that crops of a format lie on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Step {
    /// Pixels from left to right.
    pub x: u32,
    /// Pixels from top to bottom.
    pub y: u32,
}
