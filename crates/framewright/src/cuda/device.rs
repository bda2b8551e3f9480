//! Devices: their primary contexts, and making one current for a call.

use super::{
    error::{Asked, CudaError},
    memory::ContextId,
    module::Modules,
    stream::Stream,
};
use crate::error::Error;
use framewright_driver::sys::{self, CUcontext, Code};
use framewright_kernel::fault::FaultRecord;
use std::{
    ffi::c_void,
    mem::ManuallyDrop,
    ptr,
    sync::{Arc, Mutex, Weak},
};

/// A GPU, with its primary context. Clones are the same device; the context is released when the last one, and the last image
/// and stream on it, is gone.
#[derive(Clone)]
pub struct Device {
    pub(crate) inner: Arc<DeviceInner>,
}

/// What the driver tells of a GPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceInfo {
    /// Its number, from 0.
    pub ordinal: u32,
    /// Its name.
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Bytes of its memory.
    pub total_memory_bytes: u64,
    /// Multiprocessors.
    pub multiprocessors: u32,
}

pub(crate) struct DeviceInner {
    context: ManuallyDrop<cust::context::Context>,
    raw: CUcontext,
    ordinal: u32,
    /// Mapped host memory in which a panicking kernel leaves its record.
    fault: *mut FaultRecord,
    pub(crate) modules: Modules,
}

// SAFETY: the driver's contexts can be used from any thread; the fault record is only read by the host once the device has
// stopped writing; the rest is Send and Sync itself.
unsafe impl Send for DeviceInner {}
// SAFETY: as above.
unsafe impl Sync for DeviceInner {}

/// Devices in use, so that one GPU is opened once.
static OPEN: Mutex<Vec<(u32, Weak<DeviceInner>)>> = Mutex::new(Vec::new());

fn driver(code: Code, call: &'static str, asked: Asked) -> Result<(), CudaError> {
    code.ok().map_err(|code| CudaError::Driver { call, asked, code: code.0 })
}

/// Initialises the driver and counts devices.
fn count() -> Result<u32, CudaError> {
    if !framewright_driver::status().is_loaded() {
        return Err(CudaError::NoDriver);
    }
    // SAFETY: no precondition.
    match unsafe { sys::cuInit(0) } {
        Code::NO_DEVICE => return Err(CudaError::NoDriver),
        code => driver(code, "cuInit", Asked::Nothing)?,
    }
    let mut count = 0;
    // SAFETY: writes one int.
    driver(unsafe { sys::cuDeviceGetCount(&mut count) }, "cuDeviceGetCount", Asked::Nothing)?;
    match u32::try_from(count) {
        Ok(0) | Err(_) => Err(CudaError::NoDriver),
        Ok(count) => Ok(count),
    }
}

impl Device {
    /// How many GPUs this process can use.
    ///
    /// # Errors
    /// [`CudaError::NoDriver`] when there is no driver or no device.
    pub fn count() -> Result<u32, Error> {
        Ok(count()?)
    }

    /// Opens the GPU of this number, from 0, with its primary context.
    ///
    /// # Errors
    /// [`CudaError::NoDriver`] with the reason, [`CudaError::NoSuchDevice`], or what the driver says.
    pub fn new(ordinal: u32) -> Result<Self, Error> {
        let count = count()?;
        if ordinal >= count {
            return Err(CudaError::NoSuchDevice { ordinal, count }.into());
        }
        let mut open = OPEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        open.retain(|(_, device)| device.strong_count() > 0);
        if let Some(inner) = open.iter().find(|(o, _)| *o == ordinal).and_then(|(_, device)| device.upgrade()) {
            return Ok(Self { inner });
        }
        let inner = Arc::new(DeviceInner::open(ordinal)?);
        open.push((ordinal, Arc::downgrade(&inner)));
        Ok(Self { inner })
    }

    /// The device whose primary context `cust` holds.
    ///
    /// # Errors
    /// What the driver says; [`CudaError::OtherDevice`] when the context is not a device's primary one.
    pub fn from_cust(context: &cust::context::Context) -> Result<Self, Error> {
        let mut device = 0;
        {
            let _current = Current::push(context.as_raw().cast())?;
            // SAFETY: writes one int; the context is current.
            driver(unsafe { sys::cuCtxGetDevice(&mut device) }, "cuCtxGetDevice", Asked::Nothing)?;
        }
        let device = Self::new(u32::try_from(device).unwrap_or(u32::MAX))?;
        if device.inner.raw == context.as_raw().cast() {
            Ok(device)
        } else {
            Err(CudaError::OtherDevice { image: "cust's context" }.into())
        }
    }

    /// The primary context as `cust` has it; current contexts stay as they are.
    pub fn cust_context(&self) -> cust::context::Context {
        let before = current();
        let context = (*self.inner.context).clone();
        restore(before);
        context
    }

    /// The driver's handle of the primary context.
    pub fn as_raw(&self) -> CUcontext {
        self.inner.raw
    }

    /// The number of the device.
    pub fn ordinal(&self) -> u32 {
        self.inner.ordinal
    }

    /// Which memory the images of this device lie in.
    pub fn context_id(&self) -> ContextId {
        self.inner.id()
    }

    /// A new stream.
    ///
    /// # Errors
    /// What the driver says.
    pub fn stream(&self) -> Result<Stream, Error> {
        Stream::new(self)
    }

    /// What the driver tells of the device.
    ///
    /// # Errors
    /// What the driver says.
    pub fn info(&self) -> Result<DeviceInfo, Error> {
        let device = sys_device(self.inner.ordinal)?;
        let asked = Asked::Device(self.inner.ordinal);
        let mut name = [0u8; 256];
        // SAFETY: writes at most 256 bytes with a terminator.
        let code = unsafe { sys::cuDeviceGetName(name.as_mut_ptr().cast(), 256, device) };
        driver(code, "cuDeviceGetName", asked)?;
        let name = std::ffi::CStr::from_bytes_until_nul(&name).map_or("".into(), |n| n.to_string_lossy().into_owned());
        let mut bytes = 0;
        // SAFETY: writes one size.
        driver(unsafe { sys::cuDeviceTotalMem_v2(&mut bytes, device) }, "cuDeviceTotalMem", asked)?;
        Ok(DeviceInfo {
            ordinal: self.inner.ordinal,
            name,
            compute_capability: self.inner.compute_capability()?,
            total_memory_bytes: bytes as u64,
            multiprocessors: self.inner.attribute(16)?,
        })
    }

    /// Waits for all work of the device's context.
    ///
    /// # Errors
    /// [`CudaError::ContextLost`] or [`CudaError::DevicePanic`] when a kernel failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        let _current = self.inner.enter()?;
        // SAFETY: the context is current.
        self.inner.check(unsafe { sys::cuCtxSynchronize() }, "cuCtxSynchronize", Asked::Nothing)
    }
}

fn sys_device(ordinal: u32) -> Result<sys::CUdevice, CudaError> {
    let mut device = 0;
    // SAFETY: writes one int.
    let code = unsafe { sys::cuDeviceGet(&mut device, ordinal as i32) };
    driver(code, "cuDeviceGet", Asked::Device(ordinal))?;
    Ok(device)
}

impl DeviceInner {
    fn open(ordinal: u32) -> Result<Self, CudaError> {
        let failed = |call, error: cust::error::CudaError| CudaError::Driver {
            call,
            asked: Asked::Device(ordinal),
            code: error as u32,
        };
        let before = current();
        let device = cust::device::Device::get_device(ordinal).map_err(|e| failed("cuDeviceGet", e))?;
        // cust makes the context current for good; what was current comes back.
        let context = cust::context::Context::new(device);
        restore(before);
        let context = context.map_err(|e| failed("cuDevicePrimaryCtxRetain", e))?;
        let raw: CUcontext = context.as_raw().cast();
        let mut inner = Self {
            context: ManuallyDrop::new(context),
            raw,
            ordinal,
            fault: ptr::null_mut(),
            modules: Modules::default(),
        };
        let _current = Current::push(raw)?;
        let mut fault: *mut c_void = ptr::null_mut();
        let bytes = size_of::<FaultRecord>();
        // SAFETY: writes one pointer; 3 is portable and mapped into the device's memory.
        let code = unsafe { sys::cuMemHostAlloc(&mut fault, bytes, 3) };
        driver(code, "cuMemHostAlloc", Asked::Bytes(bytes as u64))?;
        inner.fault = fault.cast();
        // SAFETY: fresh memory for one record, page-aligned.
        unsafe { inner.fault.write(FaultRecord::EMPTY) };
        Ok(inner)
    }

    pub(crate) fn id(&self) -> ContextId {
        ContextId::of(self.raw)
    }

    /// Makes the context current until the guard goes.
    pub(crate) fn enter(&self) -> Result<Current, Error> {
        Ok(Current::push(self.raw)?)
    }

    /// The device's address of the fault record.
    pub(crate) fn fault_address(&self) -> Result<u64, Error> {
        let mut address = 0;
        // SAFETY: writes one address; the record is mapped host memory.
        let code = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, self.fault.cast(), 0) };
        self.check(code, "cuMemHostGetDevicePointer", Asked::Nothing)?;
        Ok(address)
    }

    /// An attribute of the device, by the driver's number of it.
    fn attribute(&self, number: u32) -> Result<u32, CudaError> {
        let device = sys_device(self.ordinal)?;
        let mut value = 0;
        // SAFETY: writes one int.
        let code = unsafe { sys::cuDeviceGetAttribute(&mut value, number, device) };
        driver(code, "cuDeviceGetAttribute", Asked::Device(self.ordinal)).map(|()| value.unsigned_abs())
    }

    /// Major and minor.
    pub(crate) fn compute_capability(&self) -> Result<(u32, u32), CudaError> {
        Ok((self.attribute(75)?, self.attribute(76)?))
    }

    /// `Ok`, or what a code means: a lost context says which kernel panicked, if one did.
    pub(crate) fn check(&self, code: Code, call: &'static str, asked: Asked) -> Result<(), Error> {
        let Err(code) = code.ok() else { return Ok(()) };
        if code == Code::OUT_OF_MEMORY
            && let Asked::Bytes(bytes) = asked
        {
            return Err(Error::OutOfMemory { location: "GPU memory", bytes });
        }
        if !CudaError::is_loss(code) {
            return Err(CudaError::Driver { call, asked, code: code.0 }.into());
        }
        Err(self.panic_record().unwrap_or(CudaError::ContextLost { call, code: code.0 }).into())
    }

    fn panic_record(&self) -> Option<CudaError> {
        // SAFETY: the record is live as long as self; the device may have written it, and has stopped.
        let record = unsafe { self.fault.read_volatile() };
        if record.state != 2 {
            return None;
        }
        let leak = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        Some(CudaError::DevicePanic {
            kernel: self.entry_named(record.kernel()).unwrap_or_else(|| leak(record.kernel())),
            // Leaked once: the context is lost for the rest of the process.
            file: leak(record.file()),
            line: record.line,
            column: record.column,
            place: record.place,
        })
    }
}

impl Drop for DeviceInner {
    fn drop(&mut self) {
        if let Ok(_current) = Current::push(self.raw) {
            self.modules.unload();
            if !self.fault.is_null() {
                // SAFETY: allocated in `open`; modules that could write to it are gone. Nothing can be done about an error.
                let _ = unsafe { sys::cuMemFreeHost(self.fault.cast()) };
            }
        }
        // SAFETY: dropped once, here.
        unsafe { ManuallyDrop::drop(&mut self.context) };
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.inner.raw == other.inner.raw
    }
}
impl Eq for Device {}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CUDA device {}", self.inner.ordinal)
    }
}

/// The thread's current context.
fn current() -> CUcontext {
    let mut context = ptr::null_mut();
    // SAFETY: writes one handle. Where it fails nothing is current.
    let _ = unsafe { sys::cuCtxGetCurrent(&mut context) };
    context
}

/// Makes what was current so again.
fn restore(context: CUcontext) {
    // SAFETY: the handle was current in this thread just before, or is null. An error leaves another context current, which
    // the next call's guard does not mind.
    let _ = unsafe { sys::cuCtxSetCurrent(context) };
}

/// A context that is current in this thread until this goes; then the one before is again.
pub(crate) struct Current(ptr::NonNull<()>);

impl Current {
    fn push(context: CUcontext) -> Result<Self, CudaError> {
        // SAFETY: the handle is a live primary context: its holder retains it.
        driver(unsafe { sys::cuCtxPushCurrent_v2(context) }, "cuCtxPushCurrent", Asked::Nothing)?;
        Ok(Self(ptr::NonNull::dangling()))
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        let _not_send = self.0;
        let mut popped = ptr::null_mut();
        // SAFETY: pops what `push` pushed in this thread: the guard is not Send.
        let _ = unsafe { sys::cuCtxPopCurrent_v2(&mut popped) };
    }
}
