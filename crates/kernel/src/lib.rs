//! What a framewright kernel sees: planes it reads, the place it is asked about, the block it returns.
//!
//! A kernel is a [`Body`]: a parameter block (plain `#[repr(C)]` data) with a function from a place to the block of output
//! that belongs there. A body reads planes around its place and **returns** pixels; it never stores, never asks which thread
//! it is, has no barrier. Storing is the executor's: on the CPU straight into the row, on a GPU staged a warp through shared
//! memory into coalesced 16-byte stores. So one source gives the same bytes on both.
//!
//! This crate is `no_std` and knows no host: no images, no drivers, no threads.
//!
//! | module | what |
//! |---|---|
//! | [`plane`] | planes as kernels see them, and loads from them |
//! | [`place`] | where a block lies, and how near to an edge |
//! | [`body`] | the trait of a kernel, and the blocks it returns |
//! | [`launch`] | a body with its destination; how the CPU runs it |
//! | [`params`] | the hash of a parameter block's layout |
//! | [`fault`] | how a panic on the GPU reaches the host |
//! | [`pack`] | saturation to 8 bits |
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(stdarch_nvptx, asm_experimental_arch))]
#![warn(missing_docs)]

pub mod body;
#[cfg(target_arch = "nvptx64")]
pub mod device;
pub mod entry;
pub mod fault;
pub mod launch;
pub mod pack;
pub mod params;
pub mod place;
pub mod plane;

pub use body::{Block, Body, Packed};
pub use entry::Entry;
pub use launch::{Domain, Launch};
pub use pack::pack_sat_u8x4;
pub use params::ParamLayout;
pub use place::{Aligned, At, Edge, Inside, Mode, Reach};
pub use plane::{PlaneIn, PlaneOut};
