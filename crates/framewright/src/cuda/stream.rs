//! Streams: queues of work on a device. Our own are `cust`'s; foreign ones keep what they belong to alive.

use super::{
    device::Device,
    error::{Asked, CudaError},
    event::Event,
};
use crate::error::Error;
use framewright_driver::sys::{self, CUstream, Code};
use std::{mem::ManuallyDrop, sync::Arc};

/// A queue of work on a device. Clones are the same stream.
#[derive(Clone)]
pub struct Stream {
    pub(crate) inner: Arc<StreamInner>,
}

pub(crate) struct StreamInner {
    handle: Handle,
    pub(crate) device: Device,
}

enum Handle {
    Cust(ManuallyDrop<cust::stream::Stream>),
    Foreign(CUstream, #[allow(dead_code)] Box<dyn Send + Sync>),
}

// SAFETY: the driver's streams can be used from any thread.
unsafe impl Send for StreamInner {}
// SAFETY: as above.
unsafe impl Sync for StreamInner {}

impl Stream {
    /// A new stream on a device. As all of `cust`'s streams it waits for work on the legacy default stream, and that for it.
    pub(crate) fn new(device: &Device) -> Result<Self, Error> {
        let _current = device.inner.enter()?;
        let stream = cust::stream::Stream::new(cust::stream::StreamFlags::DEFAULT, None).map_err(|error| {
            device.inner.check(Code(error as u32), "cuStreamCreateWithPriority", Asked::Nothing).err().unwrap_or(
                Error::Cuda(CudaError::Driver {
                    call: "cuStreamCreateWithPriority",
                    asked: Asked::Nothing,
                    code: error as u32,
                }),
            )
        })?;
        Ok(Self::from_cust(device, stream))
    }

    /// Takes over a stream of `cust`, made in the primary context of `device`.
    pub fn from_cust(device: &Device, stream: cust::stream::Stream) -> Self {
        let handle = Handle::Cust(ManuallyDrop::new(stream));
        Self { inner: Arc::new(StreamInner { handle, device: device.clone() }) }
    }

    /// Uses another library's stream, which `owner` keeps alive: PyTorch's, CuPy's, the null stream.
    ///
    /// # Safety
    /// Until `owner` is dropped `stream` is a stream of the primary context of `device`, or null.
    pub unsafe fn from_raw(device: &Device, stream: CUstream, owner: impl Send + Sync + 'static) -> Self {
        let handle = Handle::Foreign(stream, Box::new(owner));
        Self { inner: Arc::new(StreamInner { handle, device: device.clone() }) }
    }

    /// The stream as `cust` has it, unless it is foreign.
    pub fn as_cust(&self) -> Option<&cust::stream::Stream> {
        match &self.inner.handle {
            Handle::Cust(stream) => Some(stream),
            Handle::Foreign(..) => None,
        }
    }

    /// The driver's handle.
    pub fn as_raw(&self) -> CUstream {
        self.inner.raw()
    }

    /// The stream's device.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// Waits until all work queued so far is done.
    ///
    /// # Errors
    /// [`CudaError::DevicePanic`] or [`CudaError::ContextLost`] when a kernel failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.inner.wait()
    }

    /// Marks this point of the stream.
    ///
    /// # Errors
    /// What the driver says.
    pub fn record(&self) -> Result<Event, Error> {
        Event::record(self)
    }

    /// Lets later work of this stream wait for an event, of any stream; the host goes on.
    ///
    /// # Errors
    /// What the driver says.
    pub fn wait_for(&self, event: &Event) -> Result<(), Error> {
        let device = &self.inner.device.inner;
        let _current = device.enter()?;
        // SAFETY: both handles are live.
        let code = unsafe { sys::cuStreamWaitEvent(self.as_raw(), event.as_raw(), 0) };
        device.check(code, "cuStreamWaitEvent", Asked::Nothing)
    }
}

impl StreamInner {
    pub(crate) fn raw(&self) -> CUstream {
        match &self.handle {
            Handle::Cust(stream) => stream.as_inner().cast(),
            Handle::Foreign(stream, _) => *stream,
        }
    }

    pub(crate) fn wait(&self) -> Result<(), Error> {
        let device = &self.device.inner;
        let _current = device.enter()?;
        // SAFETY: the handle is live.
        device.check(unsafe { sys::cuStreamSynchronize(self.raw()) }, "cuStreamSynchronize", Asked::Nothing)
    }

    /// Waits until nothing queued here can touch memory any more: that is when borrows may end.
    ///
    /// A lost context counts: its kernels and copies have stopped. If the driver fails in any other way there is no telling,
    /// and the process is ended, since memory that may still be written cannot be given back.
    pub(crate) fn settle(&self) -> Result<(), Error> {
        let Err(first) = self.wait() else { return Ok(()) };
        let stopped =
            |error: &Error| matches!(error, Error::Cuda(CudaError::ContextLost { .. } | CudaError::DevicePanic { .. }));
        if stopped(&first) {
            return Err(first);
        }
        match self.device.synchronize() {
            Ok(()) => Err(first),
            Err(second) if stopped(&second) => Err(second),
            Err(_) => std::process::abort(),
        }
    }
}

impl Drop for StreamInner {
    fn drop(&mut self) {
        if let Handle::Cust(stream) = &mut self.handle
            && let Ok(_current) = self.device.inner.enter()
        {
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(stream) };
        }
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stream {:p} of {:?}", self.as_raw(), self.inner.device)
    }
}
