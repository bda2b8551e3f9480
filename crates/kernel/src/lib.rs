//! The kernel DSL of framewright: ordinary Rust functions over typed planes that run on the CPU and on NVIDIA GPUs.
//!
//! A kernel is a function from a **place** to **what belongs there**. It reads images, tables and numbers, and returns the
//! samples of its place; it never stores, never asks which thread it is, has no barrier, no bounds check and no `unsafe`.
//!
//! ```
//! use framewright_kernel::prelude::*;
//!
//! /// The negative of a picture.
//! #[kernel]
//! pub fn invert(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
//!     255 - src.get(at)
//! }
//!
//! /// The mean of 3 by 3 samples, rounded.
//! #[kernel]
//! pub fn box_blur(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
//!     let window = src.window::<3, 3>(at, Border::Replicate);
//!     let sum: u32 = window.as_flattened().iter().map(|&sample| u32::from(sample)).sum();
//!     ((2 * sum + 9) / 18) as u8
//! }
//! ```
//!
//! From it come the kernel as a type (`invert`), a function of the same name that takes images and gives a [`Call`], which
//! `framewright`'s `Cpu::launch` and `Scope::launch` run, and the PTX entry. Storing is the executor's: on the CPU straight
//! into the row, on a GPU staged a warp through shared memory into coalesced 16-byte stores. So one source gives the same
//! bytes on both.
//!
//! # The place
//!
//! | first parameter | a call is about | returns for an `Out` of one plane | of several planes |
//! |---|---|---|---|
//! | [`Pixel`] | one pixel | its sample: `u8`, `[u8; 3]` | a tuple of samples |
//! | [`Block<W, H>`](Block) | `W` by `H` pixels | [`[[S; W]; H]`](Tile), or [`Packed<WORDS, H>`](Packed) | a tuple of tiles; subsampled planes have fewer columns and rows |
//!
//! Blocks read and write whole vectors and see the chroma that belongs to them; pixels are simpler. Formats whose written
//! planes are subsampled need blocks. Where blocks reach past an image's edge, loads give the nearest sample inside, and what
//! is returned for there is dropped.
//!
//! # The parameters
//!
//! | parameter | what the function does with it | what a launch passes |
//! |---|---|---|
//! | [`In<F>`](In) | reads samples anywhere: `get`, `tile`, `packed`, `window`, `at`, `read`, `planes` | `&Image<F>`, a view or crop |
//! | [`Out<F>`](Out) | returns its value | `&mut Image<F>`, a view or crop |
//! | [`InOut<F>`](InOut) | reads the samples of its own place, returns what replaces them | the same |
//! | [`Table<T, N>`](Table) | `get(index)` | `&[T; N]` |
//! | [`Uniform<T>`](Uniform) | uses it as a `T` | a `T` ([`PlainData`]: a number, an array, a struct of them) |
//! | [`Reduce<T>`](Reduce) | `add(Sum(value))` | `&mut T` ([`Combine`]: [`Sum`], [`Min`], [`Max`] or your own), overwritten |
//! | [`Bins<N>`](Bins) | `count(index)` | `&mut [u64; N]` |
//!
//! Where several images are written, the function returns a tuple, in the parameters' order. All images of a launch have one
//! size, which is checked before anything runs. What each can do, generic kernels and the options stand with
//! [`#[kernel]`](macro@kernel).
//!
//! This crate is `no_std` and knows no host: no images, no drivers, no threads.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]
#![cfg_attr(all(target_arch = "nvptx64", not(feature = "rust-cuda")), feature(stdarch_nvptx))]
#![warn(missing_docs)]

mod border;
mod combine;
mod data;
#[cfg(any(target_arch = "nvptx64", framewright_host_check))]
pub mod device;
pub mod entry;
pub mod fault;
mod image;
mod item;
mod kernel;
pub mod launch;
pub mod list;
mod pack;
mod param;
pub mod params;
mod place;
mod plane;
mod problem;
mod unroll;
mod value;

pub use border::Border;
pub use combine::{Bins, BinsRaw, Combine, Max, Min, Reduce, ReduceRaw, Sum};
pub use data::{PlainData, Table, TableRaw, Uniform, UniformRaw};
pub use entry::Entry;
pub use framewright_macros::kernel;
pub use image::{In, InOut, Only, Out, Plane, PlaneInOut, Planes, SampleOf};
pub use item::{Block, Domain, Item, Pixel};
pub use kernel::{Arg, Call, Instance, Kernel, Launch};
pub use list::ParamList;
pub use pack::{f16_from_f32, f32_from_f16, pack_sat_u8x4};
pub use param::{Param, ParamKind};
pub use params::ParamLayout;
pub use plane::{PlaneIn, PlaneOut};
pub use problem::Problem;
pub use value::{Packed, Takes, Tile};

/// All that a kernel names: [`kernel`](macro@kernel), the [place](Item), the [parameters](Param), [`Border`], the [tiles](Tile),
/// what [combines](Combine), [`f16`](half::f16), and `framewright_core`: formats (`Gray8`, `Nv12`, `Bgr8`), components (`Y`,
/// `CbCr`), subsamplings, and the traits for generic kernels (`Format`, `OnePlane`, `Sample`).
pub mod prelude {
    pub use crate::{
        Bins, Block, Border, Combine, In, InOut, Max, Min, Out, Packed, Pixel, Reduce, SampleOf, Sum, Table, Tile,
        Uniform, f16_from_f32, f32_from_f16, kernel, pack_sat_u8x4,
    };
    pub use framewright_core::*;
    pub use half::f16;
}
pub use bytemuck;
pub use half;
