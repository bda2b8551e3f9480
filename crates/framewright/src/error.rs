//! What can go wrong when images are made and kernels launched.

use framewright_core::{LayoutError, RegionError, Size, SizeError};
use std::fmt;

/// An error of this crate. Each names what it is about, what was expected and what was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A size that no image has.
    Size(SizeError),
    /// A plane that is not where its format says.
    Layout(LayoutError),
    /// A crop off the format's grid or past the image.
    Region(RegionError),
    /// A destination of another size than the launch writes.
    DestinationSize {
        /// What the launch writes.
        expected: Size,
        /// What the destination is.
        found: Size,
    },
    /// A destination whose memory is also the source's, or another plane's.
    Overlap {
        /// The plane that is read, or the first of two.
        source: &'static str,
        /// The plane that is written.
        destination: &'static str,
    },
    /// Memory that could not be had.
    OutOfMemory {
        /// Whose.
        location: &'static str,
        /// How much was asked for.
        bytes: u64,
    },
    /// What a GPU, its driver or a kernel on it answered.
    #[cfg(feature = "cuda")]
    Cuda(crate::cuda::CudaError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(e) => e.fmt(f),
            Self::Layout(e) => e.fmt(f),
            Self::Region(e) => e.fmt(f),
            Self::DestinationSize { expected, found } => {
                write!(f, "destination: size is {found} pixels, expected {expected}")
            }
            Self::Overlap { source, destination } => write!(
                f,
                "destination plane {destination} shares memory with plane {source}, expected memory of its own"
            ),
            Self::OutOfMemory { location, bytes } => write!(f, "{location}: {bytes} bytes could not be allocated"),
            #[cfg(feature = "cuda")]
            Self::Cuda(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Size(e) => Some(e),
            Self::Layout(e) => Some(e),
            Self::Region(e) => Some(e),
            #[cfg(feature = "cuda")]
            Self::Cuda(e) => Some(e),
            _ => None,
        }
    }
}

#[cfg(feature = "cuda")]
impl From<crate::cuda::CudaError> for Error {
    fn from(e: crate::cuda::CudaError) -> Self {
        Self::Cuda(e)
    }
}
impl From<SizeError> for Error {
    fn from(e: SizeError) -> Self {
        Self::Size(e)
    }
}
impl From<LayoutError> for Error {
    fn from(e: LayoutError) -> Self {
        Self::Layout(e)
    }
}
impl From<RegionError> for Error {
    fn from(e: RegionError) -> Self {
        Self::Region(e)
    }
}
