//! What a video frame *is*, in types: sizes and regions, samples and components, subsampling, pitch, formats, colour.
//!
//! This crate is `no_std` and forbids unsafe code. It knows no memory, no CUDA and no threads: those are in the crate
//! `framewright`, which re-exports everything here.
//!
//! A [`Format`] is a tuple of one to four [`Spec`]s, one a plane:
//!
//! ```
//! use framewright_core::*;
//!
//! // The layout of NV12: a luma plane, then one plane of interleaved chroma at half the width and height.
//! enum Camera {}
//! impl Format for Camera {
//!     const NAME: &'static str = "camera";
//!     type Planes = (Spec<Y, u8, Full, Dyn>, Spec<CbCr, [u8; 2], Half, Dyn>);
//! }
//! let layout = Layout::<Camera>::packed(Size::new(5, 5)?)?;
//! assert_eq!(layout.len_bytes(), 25 + 3 * 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod color;
mod component;
mod error;
mod format;
mod layout;
mod pitch;
mod planes;
mod region;
mod sample;
mod size;
mod spec;
mod subsampling;

pub use color::{
    ChromaSiting, ColorInfo, LumaWeights, LumaWeightsError, Matrix, Range, ResolvedColor, UnsupportedMatrix,
};
pub use component::{B, Bgr, Bgra, Cb, CbCr, Channel, Component, Cr, CrCb, G, R, Rgb, Rgba, Y};
pub use error::{Axis, Expected, LayoutError, Quantity, RegionError, SizeError};
pub use format::{Bgr8, Bgra8, Format, Free, Gray8, Linked, Nv12, Nv21, PitchRule, Rgb8, Rgba8, Yuv420p8, Yv12};
pub use layout::Layout;
pub use pitch::{Bytes, Dyn, Even, Per, Pitch};
pub use planes::{FreePlanes, OnePlane, PlaneEach, PlaneList, PlaneMap, SameAs, SamePlanes};
pub use region::Region;
pub use sample::{Sample, Scalar, ScalarKind};
pub use size::{MAX_SIDE_PX, Offset, Rect, Size};
pub use spec::{PlaneInfo, PlaneSpec, Spec};
pub use subsampling::{Full, Half, HalfX, Step, Subsampling};

/// Keeps what unsafe code relies on closed to other crates.
mod sealed {
    pub trait Sealed {}
}
