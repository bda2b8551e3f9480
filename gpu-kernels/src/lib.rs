//! framewright's built-in kernels: plane copy, and YUV 4:2:0 to interleaved RGB.
//!
//! Written with the DSL that everybody has ([`framewright_kernel`]); one source for the CPU and, compiled for
//! `nvptx64-nvidia-cuda`, for NVIDIA GPUs. A conversion is composed: a reader of a layout class ([`yuv420::Yuv420`]), the exact
//! arithmetic ([`YuvToRgb8`]) and a writer ([`yuv420::Rgb`]). Matrix, range and channel order are numbers in
//! [`YuvToRgb8`], so that they need no entries of their own.
//!
//! Kernels of your own that want the exact colours depend on this crate without its default features: then it brings
//! [`YuvToRgb8`] and no entries to the GPU.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx), allow(unused_features))]
#![warn(missing_docs)]

mod color;

pub use color::{ChromaTerms, YuvToRgb8};

/// The families, each a PTX module of its own: on the GPU cargo's features choose which one is compiled.
macro_rules! families {
    ($($(#[$doc:meta])* $family:ident $feature:literal;)+) => {
        $(
            $(#[$doc])*
            #[cfg(any(not(target_arch = "nvptx64"), feature = $feature))]
            pub mod $family;
        )+
        // Not in a library of somebody's own kernels, which use the colour arithmetic and have a handler of their own.
        #[cfg(any($(feature = $feature),+))]
        framewright_kernel::panic_handler!();
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
