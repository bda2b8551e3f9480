//! framewright's built-in kernels: plane copy, and YUV 4:2:0 to interleaved RGB with any crop.
//!
//! One source for the CPU and, compiled for `nvptx64-nvidia-cuda`, for NVIDIA GPUs. A conversion is composed: a reader of a
//! layout class ([`Nv12Planes`], [`I420Planes`]), the exact arithmetic ([`YuvToRgb8`]) and a writer ([`Rgb24`], [`Rgb32`]).
//! Matrix, range and channel order are numbers in [`YuvToRgb8`], so that they need no entries of their own.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx, stdarch_nvptx))]
#![warn(missing_docs)]

mod color;
mod convert;
mod copy;
#[cfg(target_arch = "nvptx64")]
mod panic;
mod source;
mod target;

pub use color::{ChromaTerms, YuvToRgb8};
pub use convert::Convert;
pub use copy::CopyRows;
pub use source::{I420Planes, Nv12Planes, Tile420, Yuv420Source};
pub use target::{Rgb24, Rgb32, RgbTarget};

framewright_kernel::entries! {
    /// Copies the rows of a plane.
    framewright_copy, FRAMEWRIGHT_COPY_PARAMS_HASH = CopyRows;
    /// NV12 to three interleaved channels.
    framewright_nv12_to_rgb24, FRAMEWRIGHT_NV12_TO_RGB24_PARAMS_HASH = Convert<Nv12Planes, Rgb24>;
    /// NV12 to three interleaved channels and opacity.
    framewright_nv12_to_rgb32, FRAMEWRIGHT_NV12_TO_RGB32_PARAMS_HASH = Convert<Nv12Planes, Rgb32>;
    /// Planar 4:2:0 to three interleaved channels.
    framewright_i420_to_rgb24, FRAMEWRIGHT_I420_TO_RGB24_PARAMS_HASH = Convert<I420Planes, Rgb24>;
    /// Planar 4:2:0 to three interleaved channels and opacity.
    framewright_i420_to_rgb32, FRAMEWRIGHT_I420_TO_RGB32_PARAMS_HASH = Convert<I420Planes, Rgb32>;
}
