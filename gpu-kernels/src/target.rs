//! Writers: 16x2 pixels of interleaved 8-bit channels as packed words.

use framewright_kernel::{Block, Packed, pack_sat_u8x4};

/// A writer of one layout class. Values are the unclamped results of the colour arithmetic.
pub trait RgbTarget: Copy + Send + Sync + 'static {
    /// 16x2 pixels.
    type Block: Block;
    /// Bytes of a pixel.
    const PIXEL_BYTES: u32;
    /// Which of a source's entries writes this target.
    const INDEX: usize;
    /// A block to fill.
    fn empty() -> Self::Block;
    /// Writes pixels `4 * quad..4 * quad + 4` of row `row`, saturated.
    fn put(block: &mut Self::Block, quad: usize, row: usize, pixels: [[i32; 3]; 4]);
}

/// Three interleaved bytes.
#[derive(Clone, Copy, Debug)]
pub enum Rgb24 {}

impl RgbTarget for Rgb24 {
    type Block = Packed<12, 2>;
    const PIXEL_BYTES: u32 = 3;
    const INDEX: usize = 0;
    #[inline(always)]
    fn empty() -> Self::Block {
        Packed([[0; 12]; 2])
    }
    #[inline(always)]
    fn put(block: &mut Self::Block, quad: usize, row: usize, [p, q, r, s]: [[i32; 3]; 4]) {
        block.0[row][3 * quad] = pack_sat_u8x4([p[0], p[1], p[2], q[0]]);
        block.0[row][3 * quad + 1] = pack_sat_u8x4([q[1], q[2], r[0], r[1]]);
        block.0[row][3 * quad + 2] = pack_sat_u8x4([r[2], s[0], s[1], s[2]]);
    }
}

/// Three interleaved bytes and an opaque fourth.
#[derive(Clone, Copy, Debug)]
pub enum Rgb32 {}

impl RgbTarget for Rgb32 {
    type Block = Packed<16, 2>;
    const PIXEL_BYTES: u32 = 4;
    const INDEX: usize = 1;
    #[inline(always)]
    fn empty() -> Self::Block {
        Packed([[0; 16]; 2])
    }
    #[inline(always)]
    fn put(block: &mut Self::Block, quad: usize, row: usize, [p, q, r, s]: [[i32; 3]; 4]) {
        block.0[row][4 * quad] = pack_sat_u8x4([p[0], p[1], p[2], 255]);
        block.0[row][4 * quad + 1] = pack_sat_u8x4([q[0], q[1], q[2], 255]);
        block.0[row][4 * quad + 2] = pack_sat_u8x4([r[0], r[1], r[2], 255]);
        block.0[row][4 * quad + 3] = pack_sat_u8x4([s[0], s[1], s[2], 255]);
    }
}
