//! Where a block of output lies, and which loads are allowed there.

/// The top left pixel of a block, in pixels of the launch's domain; a multiple of the block's width and height.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At {
    /// Pixels from the left.
    pub x: u32,
    /// Pixels from the top.
    pub y: u32,
}

/// What is known of the bytes around a place, from most to least.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reach {
    /// All inside, and on the alignment of the load.
    Aligned,
    /// All inside, with a word to spare on both sides.
    Inside,
    /// Some may lie outside.
    Edge,
}

/// [`Reach`] as a type: an executor decides once for a block, and the body is compiled for each. Sealed.
pub trait Mode: Copy + sealed::Sealed {
    /// The same as a value.
    const REACH: Reach;
}

/// [`Reach::Aligned`] as a type.
#[derive(Clone, Copy, Debug)]
pub enum Aligned {}
/// [`Reach::Inside`] as a type.
#[derive(Clone, Copy, Debug)]
pub enum Inside {}
/// [`Reach::Edge`] as a type.
#[derive(Clone, Copy, Debug)]
pub enum Edge {}

impl Mode for Aligned {
    const REACH: Reach = Reach::Aligned;
}
impl Mode for Inside {
    const REACH: Reach = Reach::Inside;
}
impl Mode for Edge {
    const REACH: Reach = Reach::Edge;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Aligned {}
    impl Sealed for super::Inside {}
    impl Sealed for super::Edge {}
}
