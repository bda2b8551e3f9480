//! The program's kernel.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

use framewright_kernel::prelude::*;
use framewright_kernels::{ChromaTerms, YuvToRgb8};

framewright_kernel::panic_handler!();
framewright_kernel::kernels! {
    /// The entries of this package's PTX.
    pub ENTRIES: vignette
}

/// NV12 to RGB with darker corners: full light in the middle, `(256 - strength) / 256` of it in the corners.
///
/// The colours are exact before they are dimmed; the light falls off with the square of the distance from the middle.
#[kernel]
pub fn vignette(
    at: Block<4, 2>,
    frame: In<Nv12>,
    color: Uniform<YuvToRgb8>,
    strength: Uniform<u32>,
    dst: Out<Rgb8>,
) -> [[[u8; 3]; 4]; 2] {
    let (y, cbcr) = frame.planes();
    let (y, [chroma]) = (y.tile::<4, 2>(at), cbcr.tile::<2, 1>(at));
    // Each chroma sample serves two columns and both rows.
    let terms = chroma.map(|[cb, cr]| color.chroma(cb.into(), cr.into()));
    let [top, bottom] = y;
    [line(at, 0, top, terms, &color, strength), line(at, 1, bottom, terms, &color, strength)]
}

/// Four pixels of row `row` of a block. Inlined, so that the block's samples stay in registers on the GPU; an array that is
/// indexed by a number of the run lies in memory there, which `deny_spills` in build.rs finds.
#[inline(always)]
fn line(
    at: &Block<4, 2>,
    row: u32,
    y: [u8; 4],
    [left, right]: [ChromaTerms; 2],
    color: &YuvToRgb8,
    strength: u32,
) -> [[u8; 3]; 4] {
    let dimmed = |column: u32, y: u8, chroma: ChromaTerms| {
        let light = light(at.x() + column, at.y() + row, at.width(), at.height(), strength);
        color.pixel(y.into(), chroma).map(|level| (level.clamp(0, 255) as u32 * light / 256) as u8)
    };
    [dimmed(0, y[0], left), dimmed(1, y[1], left), dimmed(2, y[2], right), dimmed(3, y[3], right)]
}

/// How much light pixel (x, y) of `width` by `height` has, of 256.
fn light(x: u32, y: u32, width: u32, height: u32, strength: u32) -> u32 {
    // Twice the distance from the middle, in 1/256 of half the side: at most 256, so that nothing overflows.
    let distance = |at: u32, size: u32| (2 * at + 1).abs_diff(size) * 256 / size;
    let (dx, dy) = (distance(x, width), distance(y, height));
    256 - strength.min(256) * (dx * dx + dy * dy) / (2 * 256 * 256)
}

#[cfg(test)]
mod tests {
    use super::light;

    #[test]
    fn the_middle_is_full_and_the_corners_are_dimmed() {
        assert_eq!(light(160, 120, 321, 241, 200), 256);
        // (255² + 254²) · 200 / 2¹⁷ = 197, rounded down.
        assert_eq!(light(0, 0, 321, 241, 200), 256 - 197);
        assert_eq!(light(320, 240, 321, 241, 200), light(0, 0, 321, 241, 200));
        assert_eq!(light(0, 0, 1, 1, 256), 256);
    }
}
