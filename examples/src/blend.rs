//! Blending into a frame in place.

use framewright_kernel::prelude::*;

/// Blends a logo into an NV12 frame: `frame = frame + (logo - frame) * alpha / 255`, rounded to nearest, half up.
///
/// The logo is NV12 too, with its opacity as a plane of its own at full size. A chroma sample is blended with the mean opacity
/// of the pixels that share it: four, fewer at an odd edge. Pass a part of the frame (`crop_mut`) to say where.
#[kernel]
pub fn blend_logo(
    at: Block<2, 2>,
    frame: InOut<Nv12>,
    logo: In<Nv12>,
    alpha: In<Gray8>,
) -> ([[u8; 2]; 2], [[[u8; 2]; 1]; 1]) {
    let ((y, cbcr), (logo_y, logo_cbcr)) = (frame.planes(), logo.planes());
    let (mut luma, over, opacity) = (y.tile::<2, 2>(at), logo_y.tile::<2, 2>(at), alpha.tile::<2, 2>(at));
    let (mut sum, mut count) = (0, 0);
    for j in 0..2 {
        for i in 0..2 {
            luma[j][i] = mix(luma[j][i], over[j][i], opacity[j][i].into(), 255);
            if at.covers(i as u32, j as u32) {
                sum += u32::from(opacity[j][i]);
                count += 1;
            }
        }
    }
    let ([[[cb, cr]]], [[[over_cb, over_cr]]]) = (cbcr.tile::<1, 1>(at), logo_cbcr.tile::<1, 1>(at));
    (luma, [[[mix(cb, over_cb, sum, 255 * count), mix(cr, over_cr, sum, 255 * count)]]])
}

/// `a + (b - a) * part / whole`, rounded to nearest, half up; `part` is at most `whole`.
fn mix(a: u8, b: u8, part: u32, whole: u32) -> u8 {
    // Every block has a pixel inside, so the whole is not 0; saying so keeps a panic out of the kernel.
    let twice = 2 * (u32::from(a) * (whole - part) + u32::from(b) * part) + whole;
    twice.checked_div(2 * whole).unwrap_or(0) as u8
}
