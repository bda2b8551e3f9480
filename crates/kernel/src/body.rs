//! The trait of a kernel, and the blocks that kernels return.

use crate::{
    params::ParamLayout,
    place::{At, Mode, Reach},
};

/// A block of output pixels as packed little-endian words, row by row.
pub trait Block: Copy {
    /// Words of a row.
    const ROW_WORDS: usize;
    /// Rows.
    const ROWS: usize;
    /// One row, first pixel in the lowest byte of the first word.
    fn row(&self, row: usize) -> &[u32];
}

/// `ROWS` rows of `WORDS` words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packed<const WORDS: usize, const ROWS: usize>(pub [[u32; WORDS]; ROWS]);

impl<const WORDS: usize, const ROWS: usize> Block for Packed<WORDS, ROWS> {
    const ROW_WORDS: usize = WORDS;
    const ROWS: usize = ROWS;
    #[inline(always)]
    fn row(&self, row: usize) -> &[u32] {
        &self.0[row]
    }
}

/// A kernel: its parameters, with a function from a place to the block of output that belongs there.
///
/// A body is total: it returns a block for every place of the domain, and executors drop the pixels that lie outside.
pub trait Body: ParamLayout + Send + Sync + 'static {
    /// What one call returns.
    type Block: Block;
    /// Bytes of an output pixel.
    const PIXEL_BYTES: u32;
    /// Output pixels of a block from left to right.
    const WIDTH: u32 = (Self::Block::ROW_WORDS as u32 * 4) / Self::PIXEL_BYTES;
    /// Output rows of a block.
    const HEIGHT: u32 = Self::Block::ROWS as u32;

    /// Whether [`Body::block`] can panic. On the GPU such a kernel remembers its name for the report.
    const MAY_PANIC: bool = false;

    /// What the loads of the block at `at` may assume: the worst over all planes.
    fn reach(&self, at: At) -> Reach;
    /// The block at `at`.
    fn block<M: Mode>(&self, at: At) -> Self::Block;
}
