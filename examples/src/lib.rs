//! Kernels that people write with framewright: each one short, documented and tested against arithmetic of its own.
//!
//! | kernel | shows |
//! |---|---|
//! | [`invert`](fn@invert) | one pixel in, one out |
//! | [`gamma`](fn@gamma) | a table |
//! | [`blend_logo`](fn@blend_logo) | blocks with their chroma, changed in place |
//! | [`box_blur`](fn@box_blur) | a window and its border |
//! | [`sobel`](fn@sobel) | a window with weights |
//! | [`luma_histogram`](fn@luma_histogram) | counting |
//! | [`mean_variance`](fn@mean_variance) | reducing to a value of your own |
//! | [`threshold`](fn@threshold) | a number that all pixels share |
//! | [`flip`](fn@flip) | reading somewhere else; generic kernels |
//! | [`nv12_to_planar_f16`](fn@nv12_to_planar_f16) | several planes out, floats |
//! | [`grey`](fn@grey), [`grey_tiles`](fn@grey_tiles), [`grey_words`](fn@grey_words) | one kernel in three versions, for speed |
//!
//! ```
//! use framewright::*;
//! use framewright_examples::invert;
//!
//! let mut picture = Image::<Gray8>::new(Size::new(7, 5)?)?;
//! picture.planes_mut().0.fill(3);
//! let mut negative = Image::<Gray8>::new(picture.size())?;
//! Cpu::new().launch(invert(&picture, &mut negative))?;
//! assert_eq!(negative.planes().0.row(4), [252; 7]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]
#![warn(missing_docs)]

mod blend;
mod filters;
mod float;
mod points;
mod statistics;
mod versions;

pub use blend::blend_logo;
pub use filters::{box_blur, flip, sobel};
pub use float::{Normalisation, RgbPlanarF16, nv12_to_planar_f16};
pub use points::{gamma, invert, threshold};
pub use statistics::{Moments, luma_histogram, mean_variance};
pub use versions::{grey, grey_tiles, grey_words};

use framewright_kernel::prelude::{Bgr8, Gray8};

framewright_kernel::panic_handler!();

framewright_kernel::kernels! {
    /// The entries of this package's PTX module.
    pub ENTRIES:
        invert, gamma, threshold, blend_logo, box_blur, sobel, flip<Gray8>, flip<Bgr8>, luma_histogram, mean_variance,
        nv12_to_planar_f16, grey, grey_tiles, grey_words
}
