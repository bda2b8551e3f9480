//! framewright's built-in kernels: plane copy, and YUV 4:2:0 to interleaved RGB with any crop.
//!
//! One source for the CPU and, compiled for `nvptx64-nvidia-cuda`, for NVIDIA GPUs. A conversion is composed: a reader of a
//! layout class ([`Nv12Planes`], [`I420Planes`]), the exact arithmetic ([`YuvToRgb8`]) and a writer ([`Rgb24`], [`Rgb32`]).
//! Matrix, range and channel order are numbers in [`YuvToRgb8`], so that they need no entries of their own.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]
#![warn(missing_docs)]

mod color;
mod convert;
#[cfg(target_arch = "nvptx64")]
mod panic;
mod source;
mod target;

pub use color::{ChromaTerms, YuvToRgb8};
pub use convert::Convert;
#[cfg(any(not(target_arch = "nvptx64"), feature = "copy"))]
pub use copy::CopyRows;
pub use source::{I420Planes, Nv12Planes, Tile420, Yuv420Source};
pub use target::{Rgb24, Rgb32, RgbTarget};

/// The families, each a PTX module of its own: on the GPU cargo's features choose which one is compiled.
macro_rules! families {
    ($($(#[$doc:meta])* $family:ident $feature:literal;)+) => {
        $(
            $(#[$doc])*
            #[cfg(any(not(target_arch = "nvptx64"), feature = $feature))]
            pub mod $family;
        )+
        /// The entries of all families.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const FAMILIES: &[&[framewright_kernel::Entry]] = &[$($family::ENTRIES),+];
    };
}
families! {
    /// Plane copy.
    copy "copy";
    /// A kernel that panics on request, to test how that is reported.
    selftest "selftest";
    /// YUV 4:2:0 at 8 bits to interleaved RGB.
    yuv420 "yuv420";
}
