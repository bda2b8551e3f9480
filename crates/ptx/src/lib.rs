//! Compiles kernels that are written with `framewright_kernel::kernel` to PTX, from a build script and with rustc alone.
//!
//! The kernels are in a small package of their own (`#![no_std]`, an ordinary library), which the program depends on like on
//! any other: its functions are the calls, and its bodies run on the CPU. A build script compiles the same package a second
//! time, for the GPU:
//!
//! ```no_run
//! // build.rs, with `framewright-ptx` under [build-dependencies]
//! fn main() -> Result<(), framewright_ptx::Error> {
//!     framewright_ptx::Builder::new("my-kernels").build()?;
//!     Ok(())
//! }
//! ```
//!
//! and the program embeds what came out, by the variable that the script sets for it:
//!
//! ```text
//! const KERNELS: framewright::cuda::KernelModule =
//!     framewright::include_kernels!(env!("MY_KERNELS_PTX"), my_kernels::ENTRIES);
//! device.add_kernels(KERNELS)?;
//! ```
//!
//! # The kernels' package
//!
//! ```text
//! [package]                                      #![no_std]
//! name = "my-kernels"                            #![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]
//! edition = "2024"                               use framewright_kernel::prelude::*;
//!
//! [dependencies]                                 framewright_kernel::panic_handler!();
//! framewright-kernel = "0.1"                     framewright_kernel::kernels! { pub ENTRIES: invert }
//!
//!                                                #[kernel]
//!                                                pub fn invert(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
//!                                                    255 - src.get(at)
//!                                                }
//! ```
//!
//! # Which Rust compiles it
//!
//! One that has the sources of its own `core`, since a GPU's `core` is compiled with the kernels. The first of these that has:
//!
//! 1. the rustc that variable `FRAMEWRIGHT_PTX_RUSTC` names;
//! 2. the Rust that runs the build (a stable one will do: `rustup component add rust-src`);
//! 3. rustup's nightlies, in the order of `rustup toolchain list`;
//! 4. `/usr/bin/rustc`: Debian's packages `rustc-web cargo-web rust-web-src`.
//!
//! Where there is none, [`Builder::build`] fails with what to install, unless it has a file that was checked in
//! ([`Builder::checked_in`]), so that a published crate needs no such Rust at its users'.
//!
//! # What comes out
//!
//! One file for each architecture, by default `sm_75` alone (every GPU from Turing on), in PTX 7.4 (drivers for CUDA 11.4 or
//! later). With each entry goes the hash of its parameters, which the host compares when it loads the module. The same
//! compiler gives the same bytes from the same sources, whatever the folders are.
//!
//! `ptxas` (variable `PTXAS`, PATH, or `CUDA_PATH`) checks every file where there is one; only [`Builder::cubin`] needs it.
//!
//! # rust-cuda
//!
//! Feature `rust-cuda` adds `Builder::rust_cuda`, which compiles with the code generator of the rust-cuda project, for those
//! who have its toolchain. framewright's docs/rust-cuda.md says what it takes, and what of it was run.

mod builder;
pub mod compile;
#[doc(hidden)]
pub mod failure;
#[doc(hidden)]
pub mod files;
mod head;
pub mod limits;
mod packages;
#[doc(hidden)]
pub mod process;
pub mod ptxas;
// Without the feature, for its tests: they need no cuda_builder.
#[cfg(any(test, feature = "rust-cuda"))]
#[cfg_attr(not(feature = "rust-cuda"), allow(dead_code, unused_imports, unreachable_pub))]
mod rust_cuda;
pub mod text;
mod toolchain;

pub use builder::{Builder, Built, File, Kind};
pub use failure::Failure as Error;
pub use limits::Limits;
#[cfg(feature = "rust-cuda")]
pub use rust_cuda::RustCuda;
pub use toolchain::{INSTALL, Toolchain, VARIABLE, Version};
