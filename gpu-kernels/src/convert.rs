//! YUV 4:2:0 to RGB: reader, exact colour, writer.

use crate::{
    color::{ChromaTerms, YuvToRgb8},
    source::{Tile420, Yuv420Source},
    target::RgbTarget,
};
use core::marker::PhantomData;
use framewright_kernel::{
    At, Body, Mode, ParamLayout, Reach,
    entry::NamedEntry,
    params::{FNV_BASIS, fnv_u64},
};

/// The conversion of source `S` to target `T`. Chroma is the nearest sample: each serves its 2x2 pixels.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Convert<S, T> {
    /// The planes to read.
    pub source: S,
    /// The arithmetic.
    pub color: YuvToRgb8,
    /// The writer.
    pub target: PhantomData<fn() -> T>,
}

// SAFETY: repr(C); the parts' hashes, the pixel size and the offset of `color` go into the hash; the marker takes no bytes.
unsafe impl<S: Yuv420Source, T: RgbTarget> ParamLayout for Convert<S, T> {
    const HASH: u64 = {
        let hash = fnv_u64(fnv_u64(FNV_BASIS, S::HASH), YuvToRgb8::HASH);
        let hash = fnv_u64(hash, core::mem::offset_of!(Self, color) as u64);
        fnv_u64(fnv_u64(hash, T::PIXEL_BYTES as u64), size_of::<Self>() as u64)
    };
}

impl<S: Yuv420Source, T: RgbTarget> Body for Convert<S, T> {
    type Block = T::Block;
    const PIXEL_BYTES: u32 = T::PIXEL_BYTES;

    #[inline(always)]
    fn reach(&self, at: At) -> Reach {
        self.source.reach(at)
    }

    #[inline(always)]
    fn block<M: Mode>(&self, at: At) -> T::Block {
        let tile = self.source.tile::<M>(at);
        let mut block = T::empty();
        // Spelled out, not looped: a block that is indexed by a run-time number would live in local memory on the GPU.
        self.quad(&tile, &mut block, 0);
        self.quad(&tile, &mut block, 1);
        self.quad(&tile, &mut block, 2);
        self.quad(&tile, &mut block, 3);
        block
    }
}

impl<S: Yuv420Source, T: RgbTarget> NamedEntry for Convert<S, T> {
    const ENTRY: &'static str = S::ENTRIES[T::INDEX];
    const FAMILY: &'static str = "yuv420";
}

impl<S: Yuv420Source, T: RgbTarget> Convert<S, T> {
    /// Pixels `4 * quad..4 * quad + 4` of both rows.
    #[inline(always)]
    fn quad(&self, tile: &S::Tile, block: &mut T::Block, quad: usize) {
        let (cb, cr) = tile.cb_cr(2 * quad);
        let left = self.color.chroma(cb, cr);
        let (cb, cr) = tile.cb_cr(2 * quad + 1);
        let right = self.color.chroma(cb, cr);
        T::put(block, quad, 0, self.four(tile, quad, 0, left, right));
        T::put(block, quad, 1, self.four(tile, quad, 1, left, right));
    }

    #[inline(always)]
    fn four(&self, tile: &S::Tile, quad: usize, row: usize, left: ChromaTerms, right: ChromaTerms) -> [[i32; 3]; 4] {
        [
            self.color.pixel(tile.y(4 * quad, row), left),
            self.color.pixel(tile.y(4 * quad + 1, row), left),
            self.color.pixel(tile.y(4 * quad + 2, row), right),
            self.color.pixel(tile.y(4 * quad + 3, row), right),
        ]
    }
}
