//! Declarations of the driver's functions that framewright calls, by NVIDIA's driver API reference.
//!
//! `cust_raw` 0.11.3 declares most of them, too, but returns its Rust enum `cudaError_enum` of CUDA 11.4: a code that a
//! younger driver added (912 and above, 226, 721 …) would be an invalid value of that enum, which is undefined behaviour. Here every
//! function returns [`Code`], which holds any number, and enumerations are plain integers for the same reason. Handles are
//! `cust_raw`'s types, so that `cust`'s contexts and streams pass in and out.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::fmt;

pub use cust_raw::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUmemoryPool, CUmodule,
    CUstream, CUuuid,
};

/// What a function of the driver returns.
#[must_use = "a driver call may have failed"]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Code(pub u32);

#[allow(missing_docs, reason = "the driver's own names, without CUDA_ERROR_")]
impl Code {
    pub const SUCCESS: Self = Self(0);
    pub const INVALID_VALUE: Self = Self(1);
    pub const OUT_OF_MEMORY: Self = Self(2);
    pub const NOT_INITIALIZED: Self = Self(3);
    pub const NO_DEVICE: Self = Self(100);
    pub const INVALID_DEVICE: Self = Self(101);
    pub const INVALID_CONTEXT: Self = Self(201);
    pub const NO_BINARY_FOR_GPU: Self = Self(209);
    pub const INVALID_PTX: Self = Self(218);
    pub const UNSUPPORTED_PTX_VERSION: Self = Self(222);
    pub const INVALID_HANDLE: Self = Self(400);
    pub const NOT_FOUND: Self = Self(500);
    pub const NOT_READY: Self = Self(600);
    pub const ILLEGAL_ADDRESS: Self = Self(700);
    pub const HOST_MEMORY_ALREADY_REGISTERED: Self = Self(712);
    pub const LAUNCH_FAILED: Self = Self(719);
    pub const NOT_PERMITTED: Self = Self(800);
    pub const NOT_SUPPORTED: Self = Self(801);
}

impl Code {
    /// The driver's name of the code, `CUDA_ERROR_OUT_OF_MEMORY`; `None` if the driver does not know it.
    pub fn name(self) -> Option<&'static str> {
        // SAFETY: the function is cuGetErrorName.
        unsafe { text(self, cuGetErrorName) }
    }

    /// The driver's sentence about the code; `None` if the driver does not know it.
    pub fn text(self) -> Option<&'static str> {
        // SAFETY: the function is cuGetErrorString.
        unsafe { text(self, cuGetErrorString) }
    }

    /// `Ok` for success, else the code as the error.
    ///
    /// # Errors
    ///
    /// Every code but [`Code::SUCCESS`].
    pub fn ok(self) -> Result<(), Self> {
        if self == Self::SUCCESS { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name(), self.text()) {
            (Some(name), Some(text)) => write!(f, "{name} ({}): {text}", self.0),
            _ => write!(f, "CUDA error {}", self.0),
        }
    }
}

/// # Safety
///
/// `get` is `cuGetErrorName` or `cuGetErrorString`.
unsafe fn text(code: Code, get: unsafe extern "C" fn(Code, *mut *const c_char) -> Code) -> Option<&'static str> {
    let mut text = std::ptr::null();
    // SAFETY: both functions write one pointer; any code is allowed.
    let result = unsafe { get(code, &mut text) };
    if result != Code::SUCCESS || text.is_null() {
        return None;
    }
    // SAFETY: after success the pointer is to a terminated string that lives as long as the driver, which is never closed.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// `CUDA_MEMCPY2D`, with its memory types as integers.
#[allow(missing_docs, reason = "the driver's own field names, in its order")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Memcpy2d {
    pub src_x_in_bytes: usize,
    pub src_y: usize,
    pub src_memory_type: u32,
    pub src_host: *const c_void,
    pub src_device: CUdeviceptr,
    pub src_array: *mut c_void,
    pub src_pitch: usize,
    pub dst_x_in_bytes: usize,
    pub dst_y: usize,
    pub dst_memory_type: u32,
    pub dst_host: *mut c_void,
    pub dst_device: CUdeviceptr,
    pub dst_array: *mut c_void,
    pub dst_pitch: usize,
    pub width_in_bytes: usize,
    pub height: usize,
}

/// `CU_MEMORYTYPE_HOST`.
pub const MEMORY_TYPE_HOST: u32 = 1;
/// `CU_MEMORYTYPE_DEVICE`.
pub const MEMORY_TYPE_DEVICE: u32 = 2;
/// `CU_MEMORYTYPE_UNIFIED`.
pub const MEMORY_TYPE_UNIFIED: u32 = 4;

/// `CUhostFn`.
pub type HostFn = unsafe extern "C" fn(*mut c_void);

#[allow(missing_docs, reason = "NVIDIA's driver API reference documents them")]
unsafe extern "C" {
    // Library, devices
    pub fn cuInit(flags: c_uint) -> Code;
    pub fn cuDriverGetVersion(version: *mut c_int) -> Code;
    pub fn cuGetErrorName(error: Code, name: *mut *const c_char) -> Code;
    pub fn cuGetErrorString(error: Code, string: *mut *const c_char) -> Code;
    pub fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int) -> Code;
    pub fn cuDeviceGetCount(count: *mut c_int) -> Code;
    pub fn cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice) -> Code;
    pub fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, device: CUdevice) -> Code;
    pub fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice) -> Code;
    pub fn cuDeviceGetAttribute(value: *mut c_int, attribute: u32, device: CUdevice) -> Code;

    // Contexts
    pub fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice) -> Code;
    pub fn cuDevicePrimaryCtxRelease_v2(device: CUdevice) -> Code;
    pub fn cuDevicePrimaryCtxGetState(device: CUdevice, flags: *mut c_uint, active: *mut c_int) -> Code;
    pub fn cuCtxPushCurrent_v2(context: CUcontext) -> Code;
    pub fn cuCtxPopCurrent_v2(context: *mut CUcontext) -> Code;
    pub fn cuCtxSetCurrent(context: CUcontext) -> Code;
    pub fn cuCtxGetCurrent(context: *mut CUcontext) -> Code;
    pub fn cuCtxGetDevice(device: *mut CUdevice) -> Code;
    pub fn cuCtxSynchronize() -> Code;
    /// CUDA 12.0
    pub fn cuCtxGetId(context: CUcontext, id: *mut c_ulonglong) -> Code;

    // Memory
    pub fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> Code;
    pub fn cuMemAlloc_v2(pointer: *mut CUdeviceptr, bytes: usize) -> Code;
    pub fn cuMemAllocPitch_v2(
        pointer: *mut CUdeviceptr,
        pitch: *mut usize,
        width_in_bytes: usize,
        height: usize,
        element_size_bytes: c_uint,
    ) -> Code;
    pub fn cuMemFree_v2(pointer: CUdeviceptr) -> Code;
    pub fn cuMemGetAddressRange_v2(base: *mut CUdeviceptr, size: *mut usize, pointer: CUdeviceptr) -> Code;
    pub fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) -> Code;
    pub fn cuMemFreeHost(pointer: *mut c_void) -> Code;
    pub fn cuMemHostGetDevicePointer_v2(device: *mut CUdeviceptr, host: *mut c_void, flags: c_uint) -> Code;
    pub fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: c_uint) -> Code;
    pub fn cuMemHostUnregister(pointer: *mut c_void) -> Code;
    pub fn cuPointerGetAttribute(data: *mut c_void, attribute: u32, pointer: CUdeviceptr) -> Code;
    pub fn cuPointerGetAttributes(
        count: c_uint,
        attributes: *mut u32,
        data: *mut *mut c_void,
        pointer: CUdeviceptr,
    ) -> Code;
    pub fn cuMemAllocAsync(pointer: *mut CUdeviceptr, bytes: usize, stream: CUstream) -> Code;
    pub fn cuMemFreeAsync(pointer: CUdeviceptr, stream: CUstream) -> Code;
    pub fn cuDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: CUdevice) -> Code;
    pub fn cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: u32, value: *mut c_void) -> Code;
    pub fn cuMemPoolGetAttribute(pool: CUmemoryPool, attribute: u32, value: *mut c_void) -> Code;
    pub fn cuMemPoolTrimTo(pool: CUmemoryPool, bytes_to_keep: usize) -> Code;

    // Copies
    pub fn cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, bytes: usize) -> Code;
    pub fn cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize) -> Code;
    pub fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream) -> Code;
    pub fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream) -> Code;
    pub fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream) -> Code;
    pub fn cuMemcpyAsync(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream) -> Code;
    pub fn cuMemcpy2DUnaligned_v2(copy: *const Memcpy2d) -> Code;
    pub fn cuMemcpy2DAsync_v2(copy: *const Memcpy2d, stream: CUstream) -> Code;
    pub fn cuMemsetD8Async(to: CUdeviceptr, value: u8, count: usize, stream: CUstream) -> Code;
    pub fn cuMemsetD32Async(to: CUdeviceptr, value: c_uint, count: usize, stream: CUstream) -> Code;
    pub fn cuMemsetD2D8Async(
        to: CUdeviceptr,
        pitch: usize,
        value: u8,
        width: usize,
        height: usize,
        stream: CUstream,
    ) -> Code;

    // Streams, events
    pub fn cuStreamCreate(stream: *mut CUstream, flags: c_uint) -> Code;
    pub fn cuStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, priority: c_int) -> Code;
    pub fn cuStreamDestroy_v2(stream: CUstream) -> Code;
    pub fn cuStreamQuery(stream: CUstream) -> Code;
    pub fn cuStreamSynchronize(stream: CUstream) -> Code;
    pub fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint) -> Code;
    pub fn cuStreamGetCtx(stream: CUstream, context: *mut CUcontext) -> Code;
    pub fn cuStreamGetFlags(stream: CUstream, flags: *mut c_uint) -> Code;
    /// CUDA 12.0
    pub fn cuStreamGetId(stream: CUstream, id: *mut c_ulonglong) -> Code;
    /// CUDA 12.8
    pub fn cuStreamGetDevice(stream: CUstream, device: *mut CUdevice) -> Code;
    pub fn cuLaunchHostFunc(stream: CUstream, function: HostFn, data: *mut c_void) -> Code;
    pub fn cuEventCreate(event: *mut CUevent, flags: c_uint) -> Code;
    pub fn cuEventDestroy_v2(event: CUevent) -> Code;
    pub fn cuEventRecord(event: CUevent, stream: CUstream) -> Code;
    pub fn cuEventQuery(event: CUevent) -> Code;
    pub fn cuEventSynchronize(event: CUevent) -> Code;
    pub fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) -> Code;

    // Modules, launches
    pub fn cuModuleLoadDataEx(
        module: *mut CUmodule,
        image: *const c_void,
        option_count: c_uint,
        options: *mut u32,
        option_values: *mut *mut c_void,
    ) -> Code;
    pub fn cuModuleUnload(module: CUmodule) -> Code;
    pub fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char) -> Code;
    pub fn cuModuleGetGlobal_v2(
        pointer: *mut CUdeviceptr,
        bytes: *mut usize,
        module: CUmodule,
        name: *const c_char,
    ) -> Code;
    /// CUDA 11.7
    pub fn cuModuleGetLoadingMode(mode: *mut u32) -> Code;
    pub fn cuFuncGetAttribute(value: *mut c_int, attribute: u32, function: CUfunction) -> Code;
    pub fn cuFuncSetAttribute(function: CUfunction, attribute: u32, value: c_int) -> Code;
    pub fn cuLaunchKernel(
        function: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: CUstream,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> Code;

    // Capture, graphs
    pub fn cuStreamBeginCapture_v2(stream: CUstream, mode: u32) -> Code;
    pub fn cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph) -> Code;
    pub fn cuStreamIsCapturing(stream: CUstream, status: *mut u32) -> Code;
    pub fn cuStreamGetCaptureInfo(stream: CUstream, status: *mut u32, id: *mut c_ulonglong) -> Code;
    pub fn cuGraphInstantiateWithFlags(exec: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong) -> Code;
    pub fn cuGraphLaunch(exec: CUgraphExec, stream: CUstream) -> Code;
    pub fn cuGraphDestroy(graph: CUgraph) -> Code;
    pub fn cuGraphExecDestroy(exec: CUgraphExec) -> Code;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memcpy2d_has_the_drivers_layout() {
        use cust_raw::CUDA_MEMCPY2D as Theirs;
        assert_eq!(size_of::<Memcpy2d>(), size_of::<Theirs>());
        macro_rules! same {
            ($($ours:ident $theirs:ident)*) => { $(
                assert_eq!(std::mem::offset_of!(Memcpy2d, $ours), std::mem::offset_of!(Theirs, $theirs));
            )* };
        }
        same! {
            src_x_in_bytes srcXInBytes src_y srcY src_memory_type srcMemoryType src_host srcHost src_device srcDevice
            src_array srcArray src_pitch srcPitch dst_x_in_bytes dstXInBytes dst_y dstY dst_memory_type dstMemoryType
            dst_host dstHost dst_device dstDevice dst_array dstArray dst_pitch dstPitch width_in_bytes WidthInBytes
            height Height
        }
    }

    #[test]
    fn every_function_declared_here_is_defined() {
        let declared: Vec<&str> = include_str!("sys.rs")
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("pub fn cu"))
            .map(|rest| rest.split('(').next().unwrap_or_default())
            .collect();
        assert!(declared.len() > 80, "{}", declared.len());
        for name in declared {
            assert!(crate::table::NAMES.contains(&format!("cu{name}").as_str()), "cu{name}");
        }
    }
}
