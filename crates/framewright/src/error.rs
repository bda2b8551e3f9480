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
    /// An image of another size than the launch's other images, or than its part.
    ArgumentSize {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What the launch's other images are, or its part is.
        expected: Size,
        /// What the image is.
        found: Size,
    },
    /// A kernel's function panicked. What the launch had written by then stays written.
    KernelPanic {
        /// The kernel.
        kernel: &'static str,
        /// The column of the pixel, or of the block's first.
        x: u32,
        /// The row.
        y: u32,
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
            Self::ArgumentSize { kernel, parameter, expected, found } => {
                write!(f, "kernel {kernel}: the image for {parameter} is {found} pixels, expected {expected}")
            }
            Self::KernelPanic { kernel, x, y } => {
                write!(f, "kernel {kernel} panicked at pixel ({x}, {y}); what it had written by then stays written")
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
