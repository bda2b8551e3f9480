//! Work items: what one call of a kernel's function is asked about.

#[cfg(doc)]
use crate::{In, InOut};
use crate::{place::Reach, problem::Problem};

crate::param_struct! {
    /// What a launch covers: columns `x0..x1` and rows `y0..y1` of images of `width` by `height` pixels.
    pub struct Domain {
        /// First column.
        pub x0: u32,
        /// First row.
        pub y0: u32,
        /// One past the last column.
        pub x1: u32,
        /// One past the last row.
        pub y1: u32,
        /// Pixels of a row of the images.
        pub width: u32,
        /// Rows of the images.
        pub height: u32,
    }
}

impl Domain {
    /// All of `width` by `height` pixels.
    pub const fn whole(width: u32, height: u32) -> Self {
        Self { x0: 0, y0: 0, x1: width, y1: height, width, height }
    }
}

pub(crate) mod private {
    use super::{Domain, Reach};

    /// How executors make items; not to be reached from outside, so that an item is always one of the running launch.
    pub trait Make: Sized {
        fn make(x: u32, y: u32, reach: Reach, domain: Domain) -> Self;
        fn reach(&self) -> Reach;
    }
}

/// What one call of a kernel is about: a [`Pixel`] or a [`Block`]. Sealed.
///
/// Items cannot be made, copied or kept: a kernel gets a reference that lasts for the call. That, with loads that ask the
/// item what they may assume, is why a body can reach nothing outside its images.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no work item of a kernel",
    label = "expected `Pixel` or `Block<W, H>`"
)]
pub trait Item: private::Make + 'static {
    /// Pixels from left to right.
    const WIDTH: u32;
    /// Rows.
    const HEIGHT: u32;
    /// What is wrong with such a place.
    #[doc(hidden)]
    const PROBLEM: Problem = Problem::NONE;
    /// Items that a lane of a warp computes in a row of the grid.
    #[doc(hidden)]
    const REPEAT: u32;
    /// Whether loads of the item are vectors, whose alignment is worth knowing.
    #[doc(hidden)]
    const VECTORS: bool;
    /// The first column.
    fn x(&self) -> u32;
    /// The first row.
    fn y(&self) -> u32;
}

/// One pixel.
#[derive(Debug)]
pub struct Pixel {
    x: u32,
    y: u32,
    domain: Domain,
}

/// `W` by `H` pixels, on a multiple of both. At the edges of an image, blocks reach past it: their loads give the nearest
/// sample inside, and what they return for places outside is dropped.
#[derive(Debug)]
pub struct Block<const W: u32, const H: u32> {
    x: u32,
    y: u32,
    reach: Reach,
    domain: Domain,
}

impl private::Make for Pixel {
    #[inline(always)]
    fn make(x: u32, y: u32, _: Reach, domain: Domain) -> Self {
        Self { x, y, domain }
    }
    #[inline(always)]
    fn reach(&self) -> Reach {
        Reach::Edge
    }
}
impl Item for Pixel {
    const WIDTH: u32 = 1;
    const HEIGHT: u32 = 1;
    const REPEAT: u32 = 4;
    const VECTORS: bool = false;
    #[inline(always)]
    fn x(&self) -> u32 {
        self.x
    }
    #[inline(always)]
    fn y(&self) -> u32 {
        self.y
    }
}

impl<const W: u32, const H: u32> private::Make for Block<W, H> {
    #[inline(always)]
    fn make(x: u32, y: u32, reach: Reach, domain: Domain) -> Self {
        Self { x, y, reach, domain }
    }
    #[inline(always)]
    fn reach(&self) -> Reach {
        self.reach
    }
}
impl<const W: u32, const H: u32> Item for Block<W, H> {
    const WIDTH: u32 = W;
    const HEIGHT: u32 = H;
    const PROBLEM: Problem = {
        if W < 1 || W > 64 || H < 1 || H > 16 {
            Problem::NONE.text("a block is 1 to 64 pixels wide and 1 to 16 rows high, and this one ").size([W, H])
        } else {
            Problem::NONE
        }
    };
    const REPEAT: u32 = 1;
    const VECTORS: bool = true;
    #[inline(always)]
    fn x(&self) -> u32 {
        self.x
    }
    #[inline(always)]
    fn y(&self) -> u32 {
        self.y
    }
}

impl Pixel {
    /// The column, from 0.
    #[inline(always)]
    pub fn x(&self) -> u32 {
        self.x
    }
    /// The row, from 0.
    #[inline(always)]
    pub fn y(&self) -> u32 {
        self.y
    }
    /// Pixels of a row of the images.
    #[inline(always)]
    pub fn width(&self) -> u32 {
        self.domain.width
    }
    /// Rows of the images.
    #[inline(always)]
    pub fn height(&self) -> u32 {
        self.domain.height
    }
}

impl<const W: u32, const H: u32> Block<W, H> {
    /// The first column, a multiple of `W`.
    #[inline(always)]
    pub fn x(&self) -> u32 {
        self.x
    }
    /// The first row, a multiple of `H`.
    #[inline(always)]
    pub fn y(&self) -> u32 {
        self.y
    }
    /// Pixels of a row of the images.
    #[inline(always)]
    pub fn width(&self) -> u32 {
        self.domain.width
    }
    /// Rows of the images.
    #[inline(always)]
    pub fn height(&self) -> u32 {
        self.domain.height
    }
    /// Whether column `i` and row `j` of the block lie in what the launch covers. What is reduced or counted should be.
    #[inline(always)]
    pub fn covers(&self, i: u32, j: u32) -> bool {
        let (x, y) = (self.x + i, self.y + j);
        i < W && j < H && x >= self.domain.x0 && x < self.domain.x1 && y >= self.domain.y0 && y < self.domain.y1
    }
}
