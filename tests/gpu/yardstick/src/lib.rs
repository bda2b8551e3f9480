//! The benchmark's yardstick: NV12 to BGR written by hand for this one case, without the kernel DSL. What the DSL's conversion
//! is measured against in the same run; nothing else uses it.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx, stdarch_nvptx, asm_experimental_arch))]
#![warn(missing_docs)]

framewright_kernel::panic_handler!();

#[cfg(target_arch = "nvptx64")]
mod device;

use framewright_kernels::YuvToRgb8;

/// The entry.
pub const ENTRY: &str = "framewright_yardstick_nv12_to_bgr24";
/// The symbol of the hash of its parameter.
pub const HASH_SYMBOL: &str = "FRAMEWRIGHT_YARDSTICK_NV12_TO_BGR24_PARAMS_HASH";

framewright_kernel::param_struct! {
    /// A plane that is read.
    pub struct Plane {
        /// The first byte.
        pub base: *const u8,
        /// Bytes from row to row.
        pub pitch_bytes: i64,
        /// Bytes of a row.
        pub row_bytes: u32,
        /// Rows.
        pub rows: u32,
    }
}

/// The coefficients, as the library has them.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Color(pub YuvToRgb8);
// SAFETY: transparent around a struct of one layout; its size stands for it, since both sides are built from one source.
unsafe impl framewright_kernel::ParamLayout for Color {
    const HASH: u64 = size_of::<YuvToRgb8>() as u64;
}

framewright_kernel::param_struct! {
    /// The parameters.
    pub struct Yardstick {
        /// Luma.
        pub y: Plane,
        /// Chroma.
        pub cbcr: Plane,
        /// The first byte of the destination.
        pub out: *mut u8,
        /// Bytes from row to row of the destination.
        pub out_pitch_bytes: i64,
        /// Pixels of a row.
        pub width: u32,
        /// Rows.
        pub height: u32,
        /// Coefficients.
        pub color: Color,
    }
}
