//! One kernel three times, from the plainest to the one that moves whole words: the guide's chapter on speed.

use framewright_kernel::prelude::*;

/// The luma of a BGR pixel in integers, as old picture software has it: 0.114 B + 0.587 G + 0.299 R with weights of 1/256,
/// rounded half up.
#[inline(always)]
const fn luma(b: u32, g: u32, r: u32) -> u32 {
    (29 * b + 150 * g + 77 * r + 128) / 256
}

/// A picture in grey, a pixel at a time.
#[kernel]
pub fn grey(at: Pixel, src: In<Bgr8>, dst: Out<Gray8>) -> u8 {
    let [b, g, r] = src.get(at).map(u32::from);
    luma(b, g, r) as u8
}

/// [`grey`](fn@grey) in blocks of 16 pixels: their 48 bytes come in three vector loads.
#[kernel]
pub fn grey_tiles(at: Block<16, 1>, src: In<Bgr8>, dst: Out<Gray8>) -> [[u8; 16]; 1] {
    src.tile::<16, 1>(at).map(|row| row.map(|[b, g, r]| luma(b.into(), g.into(), r.into()) as u8))
}

/// [`grey`](fn@grey) on words: 12 come, 4 go, and no byte is taken apart that need not be.
#[kernel]
pub fn grey_words(at: Block<16, 1>, src: In<Bgr8>, dst: Out<Gray8>) -> Packed<4, 1> {
    let bgr = src.packed::<12, 1>(at);
    let luma = |i: usize| luma(bgr.byte(3 * i, 0), bgr.byte(3 * i + 1, 0), bgr.byte(3 * i + 2, 0));
    let word = |i: usize| luma(i) | luma(i + 1) << 8 | luma(i + 2) << 16 | luma(i + 3) << 24;
    Packed([[word(0), word(4), word(8), word(12)]])
}
