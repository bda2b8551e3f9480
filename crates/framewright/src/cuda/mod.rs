//! Images on NVIDIA GPUs, and kernels on streams (feature `cuda`).
//!
//! The driver is opened at run time: a program with this feature starts without one, and [`Device::new`] says what is
//! missing. Contexts are the devices' primary contexts, which PyTorch, CuPy and the CUDA runtime share; every call makes its
//! context current and restores the one that was.
//!
//! Work is queued on a [`Stream`] in two forms, both sound in safe code. A [scope](Stream::scope) borrows images and waits at
//! its end; a launch in it consumes its destination and gives back a [`Queued`], which later launches of the scope read or
//! write and the host cannot. [`Stream::submit`] owns its images and returns a [`Pending`], which is a `Future`.
//!
//! ```no_run
//! use framewright::{cuda::Device, *};
//!
//! let device = Device::new(0)?;
//! let stream = device.stream()?;
//! let frame = Image::<Nv12>::new(Size::new(1920, 1080)?)?;
//! let mut picture = Image::<Bgr8>::new(frame.size())?;
//! let (mut nv12, mut bgr) = (device.image::<Nv12>(frame.size())?, device.image::<Bgr8>(frame.size())?);
//! stream.scope(|scope| {
//!     let nv12 = scope.upload(&frame, &mut nv12)?;
//!     let bgr = scope.convert(&nv12, &mut bgr, &Conversion::new())?;
//!     scope.download(&bgr, &mut picture)
//! })?;
//! # Ok::<(), framewright::Error>(())
//! ```
//!
//! # Compile-time errors
//! Reading a destination before the scope has waited:
//! ```compile_fail,E0502
//! use framewright::{cuda::*, *};
//! fn early(stream: &Stream, nv12: &Image<Nv12, Cuda>, bgr: &mut Image<Bgr8, Cuda>, out: &mut Image<Bgr8>) -> Result<(), Error> {
//!     stream.scope(|scope| {
//!         let queued = scope.convert(nv12, &mut *bgr, &Conversion::new())?;
//!         scope.download(&queued, &mut *out)?;
//!         println!("{:?}", out.planes().0.row(0));
//!         scope.download(&queued, out)
//!     })
//! }
//! ```
//! A host image in a GPU launch:
//! ```compile_fail,E0277
//! use framewright::{cuda::*, *};
//! fn host(stream: &Stream, nv12: &Image<Nv12>, bgr: &mut Image<Bgr8, Cuda>) -> Result<(), Error> {
//!     stream.scope(|scope| scope.convert(nv12, bgr, &Conversion::new()).map(drop))
//! }
//! ```

mod args;
mod code;
mod convenience;
mod device;
mod error;
mod event;
mod launch;
mod memory;
mod module;
mod pending;
mod scope;
mod stream;
mod transfer;

#[cfg(test)]
mod tests;

pub use args::{CudaArg, CudaArgs, QueuedList};
pub use device::{Device, DeviceInfo};
pub use error::{Asked, CudaError};
pub use event::Event;
pub use framewright_driver::{DriverStatus, status};
pub use memory::{ContextId, Cuda, Pinned};
pub use module::KernelModule;
#[doc(hidden)]
pub use module::terminated;
pub use pending::{Failed, Pending};
pub use scope::{DeviceSource, DeviceTarget, HostSource, HostTarget, Queued, Scope};
pub use stream::Stream;
