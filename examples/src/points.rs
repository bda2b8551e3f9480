//! A pixel in, a pixel out.

use framewright_kernel::prelude::*;

/// The negative of a plane.
#[kernel]
pub fn invert(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
    255 - src.get(at)
}

/// Each sample looked up in a table of 256, a tone curve.
#[kernel]
pub fn gamma(at: Pixel, src: In<Gray8>, curve: Table<u8, 256>, dst: Out<Gray8>) -> u8 {
    curve.get(src.get(at))
}

/// A mask: 255 where a sample is at least `limit`, 0 elsewhere.
#[kernel]
pub fn threshold(at: Pixel, src: In<Gray8>, limit: Uniform<u8>, mask: Out<Gray8>) -> u8 {
    if src.get(at) >= limit { 255 } else { 0 }
}
