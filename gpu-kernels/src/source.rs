//! Readers: 16x2 luma samples with the 8x1 chroma samples that belong to them, from each layout class of 4:2:0.

use framewright_kernel::{At, Mode, ParamLayout, PlaneIn, Reach};

/// Samples of a 16x2 block in registers.
pub trait Tile420: Copy {
    /// The luma code of column `x` (0..16) in row `row` (0..2).
    fn y(&self, x: usize, row: usize) -> u32;
    /// The chroma codes of columns `2 * i` and `2 * i + 1`, Cb first.
    fn cb_cr(&self, i: usize) -> (u32, u32);
}

/// A reader of one layout class.
pub trait Yuv420Source: ParamLayout + Send + Sync + 'static {
    /// The entries that convert from this source, by [`RgbTarget::INDEX`](crate::RgbTarget::INDEX).
    const ENTRIES: [&'static str; 2];
    /// What a block's samples are in registers.
    type Tile: Tile420;
    /// What the loads of the block at `at` may assume.
    fn reach(&self, at: At) -> Reach;
    /// The samples of the block at `at`.
    fn tile<M: Mode>(&self, at: At) -> Self::Tile;
}

framewright_kernel::param_struct! {
    /// Luma, and Cb, Cr pairs at half the width and height.
    pub struct Nv12Planes {
        /// Luma.
        pub y: PlaneIn,
        /// Chroma pairs.
        pub cbcr: PlaneIn,
    }
}

framewright_kernel::param_struct! {
    /// Luma, Cb and Cr in planes of their own.
    pub struct I420Planes {
        /// Luma.
        pub y: PlaneIn,
        /// Cb.
        pub cb: PlaneIn,
        /// Cr.
        pub cr: PlaneIn,
    }
}

/// Byte `i` of little-endian words.
#[inline(always)]
fn byte(words: &[u32], i: usize) -> u32 {
    (words[i / 4] >> (8 * (i % 4))) & 0xff
}

/// [`Tile420`] of [`Nv12Planes`].
#[derive(Clone, Copy)]
pub struct Nv12Tile {
    y: [[u32; 4]; 2],
    cbcr: [u32; 4],
}

impl Tile420 for Nv12Tile {
    #[inline(always)]
    fn y(&self, x: usize, row: usize) -> u32 {
        byte(&self.y[row], x)
    }
    #[inline(always)]
    fn cb_cr(&self, i: usize) -> (u32, u32) {
        (byte(&self.cbcr, 2 * i), byte(&self.cbcr, 2 * i + 1))
    }
}

impl Yuv420Source for Nv12Planes {
    const ENTRIES: [&'static str; 2] = ["framewright_nv12_to_rgb24", "framewright_nv12_to_rgb32"];
    type Tile = Nv12Tile;
    #[inline(always)]
    fn reach(&self, at: At) -> Reach {
        self.y.reach(at.x, at.y, 16, 2).max(self.cbcr.reach(at.x, at.y / 2, 16, 1))
    }
    #[inline(always)]
    fn tile<M: Mode>(&self, at: At) -> Nv12Tile {
        Nv12Tile {
            y: [self.y.load::<4, M>(at.x, at.y), self.y.load::<4, M>(at.x, at.y + 1)],
            cbcr: self.cbcr.load::<4, M>(at.x, at.y / 2),
        }
    }
}

/// [`Tile420`] of [`I420Planes`].
#[derive(Clone, Copy)]
pub struct I420Tile {
    y: [[u32; 4]; 2],
    cb: [u32; 2],
    cr: [u32; 2],
}

impl Tile420 for I420Tile {
    #[inline(always)]
    fn y(&self, x: usize, row: usize) -> u32 {
        byte(&self.y[row], x)
    }
    #[inline(always)]
    fn cb_cr(&self, i: usize) -> (u32, u32) {
        (byte(&self.cb, i), byte(&self.cr, i))
    }
}

impl Yuv420Source for I420Planes {
    const ENTRIES: [&'static str; 2] = ["framewright_i420_to_rgb24", "framewright_i420_to_rgb32"];
    type Tile = I420Tile;
    #[inline(always)]
    fn reach(&self, at: At) -> Reach {
        let (x, y) = (at.x / 2, at.y / 2);
        self.y.reach(at.x, at.y, 16, 2).max(self.cb.reach(x, y, 8, 1)).max(self.cr.reach(x, y, 8, 1))
    }
    #[inline(always)]
    fn tile<M: Mode>(&self, at: At) -> I420Tile {
        let (x, y) = (at.x / 2, at.y / 2);
        I420Tile {
            y: [self.y.load::<4, M>(at.x, at.y), self.y.load::<4, M>(at.x, at.y + 1)],
            cb: self.cb.load::<2, M>(x, y),
            cr: self.cr.load::<2, M>(x, y),
        }
    }
}
