//! Typed video frames, and kernels for them written in Rust that run on the CPU and on NVIDIA GPUs.
//!
//! An [`Image<Format, Location>`](Image) knows in its type which planes it has, how they are subsampled and whose memory they
//! are in; [`ImageRef`] and [`ImageMut`] borrow one. Wrong splits, swapped planes and odd crops of subsampled planes do not
//! compile; what only the run time knows is an [`Error`] that names plane, quantity, unit, expected and found.
//!
//! ```
//! use framewright::*;
//!
//! // A decoder's frame: 6x4 yuv420p with rows padded to 16 and 8 bytes.
//! let (y, u, v) = (vec![81; 16 * 4], vec![90; 8 * 2], vec![240; 8 * 2]);
//! let size = Size::new(6, 4)?;
//! let frame = ImageRef::<Yuv420p8>::from_slices([&y, &u, &v], size, &[16, 8, 8])?;
//!
//! let mut picture = Image::<Bgr8>::new(size)?;
//! Cpu::new().convert(&frame, &mut picture, &Conversion::new())?;
//! assert_eq!(picture.planes().0.get(5, 3), Some([0, 0, 254])); // BT.601 red
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module or type | what |
//! |---|---|
//! | [`Format`], [`Spec`], [`Layout`], [`Region`], [`region!`] | what a frame is (crate `framewright-core`) |
//! | [`Image`], [`SharedImage`], [`ImageRef`], [`ImageMut`] | frames and views |
//! | [`PlaneRef`], [`PlaneMut`], [`Rows`], [`Window`] | planes, and regions of one allocation that become planes |
//! | [`Cpu`], [`Conversion`] | running the kernels |
//! | `cuda` (feature) | images on NVIDIA GPUs, and kernels on streams |
//!
//! # Compile-time errors
//! U where V is wanted:
//! ```compile_fail,E0277
//! use framewright::*;
//! fn swap(frame: ImageRef<'_, Yuv420p8>) {
//!     let (y, cb, cr) = frame.planes();
//!     let swapped = ImageRef::<Yuv420p8>::from_planes(frame.size(), (y, cr, cb));
//! }
//! ```
//! The same image as source and destination:
//! ```compile_fail,E0502
//! use framewright::*;
//! fn onto_itself(mut image: Image<Bgr8>) {
//!     Cpu::new().copy(&image, &mut image);
//! }
//! ```
#![warn(missing_docs)]

mod call;
mod convert;
mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod error;
mod image;
mod location;
mod overlap;
mod parts;
mod plane;
mod rows;
mod shared;
mod tiles;
mod view;
mod wrap;

pub use convert::{Conversion, RgbFormat, RgbPlanes, YuvFormat, YuvPlanes};
pub use cpu::{Cpu, CpuArg, CpuArgs};
pub use error::Error;
pub use framewright_core::*;
pub use image::Image;
pub use location::{DeviceAccess, Host, HostAccess, Location};
#[doc(hidden)]
pub use plane::Collected;
pub use plane::{IntoPlane, IntoPlanes, PlaneMut, PlaneMuts, PlaneRef, PlaneRefs, RawPlane};
pub use rows::{Rows, Window};
pub use shared::SharedImage;
pub use tiles::Tiles;
pub use view::{AsImage, AsImageMut, ImageMut, ImageRef};
