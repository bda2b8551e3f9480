//! A body with its destination: what a launch passes to the device by value, and what the CPU runs.

#[cfg(not(target_arch = "nvptx64"))]
use crate::{
    body::Block,
    place::{Aligned, At, Edge, Inside, Reach},
};
use crate::{body::Body, params::ParamLayout, plane::PlaneOut};

crate::param_struct! {
    /// The pixels to write: columns `x0..x1`, rows `y0..y1`. A body is asked for blocks on multiples of its size, which may
    /// begin before the domain and end after it.
    pub struct Domain {
        /// First column, less than a block's width.
        pub x0: u32,
        /// First row.
        pub y0: u32,
        /// One past the last column.
        pub x1: u32,
        /// One past the last row.
        pub y1: u32,
    }
}

/// Everything that one launch needs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Launch<B> {
    /// Which pixels.
    pub domain: Domain,
    /// Where they go.
    pub out: PlaneOut,
    /// Where they come from.
    pub body: B,
}

// SAFETY: repr(C); the parts' hashes and the body's offset go into the hash.
unsafe impl<B: ParamLayout> ParamLayout for Launch<B> {
    const HASH: u64 = {
        use crate::params::{FNV_BASIS, fnv_u64};
        let hash = fnv_u64(fnv_u64(FNV_BASIS, Domain::HASH), PlaneOut::HASH);
        let hash = fnv_u64(fnv_u64(hash, B::HASH), core::mem::offset_of!(Self, body) as u64);
        fnv_u64(hash, size_of::<Self>() as u64)
    };
}

impl<B: Body> Launch<B> {
    /// Rows of blocks that cover the domain, counted from the top of the coordinates: first and one past the last.
    pub fn block_rows(&self) -> core::ops::Range<u32> {
        self.domain.y0 / B::HEIGHT..self.domain.y1.div_ceil(B::HEIGHT)
    }

    /// Blocks in a row of blocks.
    pub fn block_columns(&self) -> u32 {
        self.domain.x1.div_ceil(B::WIDTH)
    }

    /// Runs rows of blocks on the CPU, in the calling thread.
    ///
    /// # Safety
    /// The planes of the body are readable and the pixels of the domain in these rows writable through `out`, with nobody
    /// else using the latter; source and destination do not overlap.
    #[cfg(not(target_arch = "nvptx64"))]
    pub unsafe fn run_block_rows(&self, rows: core::ops::Range<u32>) {
        for row in rows {
            // SAFETY: as promised by the caller, for this row.
            unsafe { self.run_block_row(row, self.block_columns()) };
        }
    }

    /// Runs the first `columns` blocks of a row of blocks.
    ///
    /// # Safety
    /// As [`Launch::run_block_rows`].
    #[cfg(not(target_arch = "nvptx64"))]
    unsafe fn run_block_row(&self, row: u32, columns: u32) {
        let y = row * B::HEIGHT;
        for column in 0..columns {
            let at = At { x: column * B::WIDTH, y };
            let block = match self.body.reach(at) {
                Reach::Aligned => self.body.block::<Aligned>(at),
                Reach::Inside => self.body.block::<Inside>(at),
                Reach::Edge => self.body.block::<Edge>(at),
            };
            // SAFETY: as promised by the caller.
            unsafe { self.store(at, &block) };
        }
    }

    /// Stores the part of a block that lies in the domain.
    ///
    /// # Safety
    /// As [`Launch::run_block_rows`].
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    unsafe fn store(&self, at: At, block: &B::Block) {
        let Domain { x0, y0, x1, y1 } = self.domain;
        let left = at.x.max(x0) - at.x;
        let right = (at.x + B::WIDTH).min(x1) - at.x;
        if left >= right {
            return;
        }
        for y in at.y.max(y0)..(at.y + B::HEIGHT).min(y1) {
            let words = block.row((y - at.y) as usize);
            let row = self.out.base.wrapping_offset(self.out.pitch_bytes.wrapping_mul(i64::from(y)) as isize);
            let to = row.wrapping_add((at.x + left) as usize * B::PIXEL_BYTES as usize);
            let from = words.as_ptr().cast::<u8>().wrapping_add(left as usize * B::PIXEL_BYTES as usize);
            let count = ((right - left) * B::PIXEL_BYTES) as usize;
            const { assert!(cfg!(target_endian = "little"), "blocks are little-endian words") };
            // SAFETY: `from` to `from + count` lies in the row's words, since right is at most WIDTH; the destination bytes are
            // pixels left..right of row y, inside the domain, which the caller promised to be writable and apart.
            unsafe { core::ptr::copy_nonoverlapping(from, to, count) };
        }
    }

    /// Runs what a grid of a GPU would: for drivers that stand in for one. `grid` and `block` as the launch gave them.
    ///
    /// # Safety
    /// `params` points to a `Launch<B>`, for which the promise of [`Launch::run_block_rows`] holds.
    #[cfg(not(target_arch = "nvptx64"))]
    pub unsafe fn run_grid(params: *const u8, grid: [u32; 3], block: [u32; 3]) {
        // SAFETY: the caller promised a Launch<B> there; it may be unaligned.
        let launch = unsafe { params.cast::<Self>().read_unaligned() };
        let rows = launch.block_rows();
        let covered = rows.start..rows.end.min(rows.start + grid[1] * block[1]);
        let columns = launch.block_columns().min(grid[0] * block[0]);
        for row in covered {
            // SAFETY: as promised by the caller.
            unsafe { launch.run_block_row(row, columns) };
        }
    }
}
