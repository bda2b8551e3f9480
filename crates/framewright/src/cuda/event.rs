//! Points of a stream: for order between streams, and for time on the GPU.

use super::{device::Device, error::Asked, stream::Stream};
use crate::error::Error;
use framewright_driver::sys::{self, CUevent, Code};
use std::ptr;

/// A point of a stream, reached when all work queued before it is done.
pub struct Event {
    raw: CUevent,
    device: Device,
}

// SAFETY: the driver's events can be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    pub(crate) fn record(stream: &Stream) -> Result<Self, Error> {
        let device = stream.device().clone();
        let _current = device.inner.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: writes one handle; 0 is a plain event, with time.
        let code = unsafe { sys::cuEventCreate(&mut raw, 0) };
        device.inner.check(code, "cuEventCreate", Asked::Nothing)?;
        let event = Self { raw, device: device.clone() };
        // SAFETY: both handles are live.
        let code = unsafe { sys::cuEventRecord(event.raw, stream.as_raw()) };
        device.inner.check(code, "cuEventRecord", Asked::Nothing)?;
        Ok(event)
    }

    /// The driver's handle.
    pub fn as_raw(&self) -> CUevent {
        self.raw
    }

    /// Whether the point is reached.
    ///
    /// # Errors
    /// As [`Stream::synchronize`].
    pub fn is_reached(&self) -> Result<bool, Error> {
        let _current = self.device.inner.enter()?;
        // SAFETY: the handle is live.
        match unsafe { sys::cuEventQuery(self.raw) } {
            Code::NOT_READY => Ok(false),
            code => self.device.inner.check(code, "cuEventQuery", Asked::Nothing).map(|()| true),
        }
    }

    /// Waits until the point is reached.
    ///
    /// # Errors
    /// As [`Stream::synchronize`].
    pub fn wait(&self) -> Result<(), Error> {
        let _current = self.device.inner.enter()?;
        // SAFETY: the handle is live.
        let code = unsafe { sys::cuEventSynchronize(self.raw) };
        self.device.inner.check(code, "cuEventSynchronize", Asked::Nothing)
    }

    /// Milliseconds on the GPU from `earlier` to this point; both must be reached.
    ///
    /// # Errors
    /// What the driver says, as when one is not reached.
    pub fn milliseconds_since(&self, earlier: &Self) -> Result<f32, Error> {
        let _current = self.device.inner.enter()?;
        let mut milliseconds = 0.0;
        // SAFETY: writes one float; both handles are live.
        let code = unsafe { sys::cuEventElapsedTime(&mut milliseconds, earlier.raw, self.raw) };
        self.device.inner.check(code, "cuEventElapsedTime", Asked::Nothing)?;
        Ok(milliseconds)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(_current) = self.device.inner.enter() {
            // SAFETY: destroyed once, here.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "event {:p} of {:?}", self.raw, self.device)
    }
}
