//! Neighbourhoods, and reading somewhere else.

use framewright_kernel::prelude::*;

/// The mean of 3 by 3 samples, rounded to nearest; past the edges the nearest sample counts.
#[kernel]
pub fn box_blur(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
    let window = src.window::<3, 3>(at, Border::Replicate);
    let mut sum = 0;
    for row in window {
        for sample in row {
            sum += u32::from(sample);
        }
    }
    ((2 * sum + 9) / 18) as u8
}

/// Edges: the length of Sobel's gradient, `|gx| + |gy|`, at most 255; past the edges the plane is mirrored.
#[kernel]
pub fn sobel(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
    let [[a, b, c], [d, _, e], [f, g, h]] = src.window::<3, 3>(at, Border::Reflect101).map(|row| row.map(i32::from));
    let across = (c + 2 * e + h) - (a + 2 * d + f);
    let down = (f + 2 * g + h) - (a + 2 * b + c);
    (across.abs() + down.abs()).min(255) as u8
}

/// Turns an image around: left and right where `axes[0]` is not 0, top and bottom where `axes[1]` is not 0.
#[kernel(instances(flip_gray8 = <Gray8>, flip_bgr8 = <Bgr8>))]
pub fn flip<F: Format<Planes: OnePlane>>(at: Pixel, src: In<F>, axes: Uniform<[u32; 2]>, dst: Out<F>) -> SampleOf<F> {
    let x = if axes[0] == 0 { at.x() } else { at.width() - 1 - at.x() };
    let y = if axes[1] == 0 { at.y() } else { at.height() - 1 - at.y() };
    src.at(x, y)
}
