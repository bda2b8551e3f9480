//! Devices, contexts and their stack, failures on demand.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "calls of the stand-in, which checks its arguments: that is the test"
)]

mod common;

use std::ptr::null_mut;

use common::{Control, allocate, context, device, isolated};
use cust::context::Context;
use cust::error::CudaError;
use cust::memory::DeviceBuffer;
use framewright_driver::sys::{self, CUcontext, Code};

fn current() -> CUcontext {
    let mut context = null_mut();
    assert_eq!(unsafe { sys::cuCtxGetCurrent(&mut context) }, Code::SUCCESS);
    context
}

fn pop() -> Result<CUcontext, Code> {
    let mut context = null_mut();
    unsafe { sys::cuCtxPopCurrent_v2(&mut context) }.ok()?;
    Ok(context)
}

fn init() {
    cust::init(cust::CudaFlags::empty()).expect("the stand-in has a device");
}

#[test]
fn no_device() {
    isolated("no_device", &[("FRAMEWRIGHT_STANDIN_DEVICES", "0")], || {
        assert_eq!(cust::init(cust::CudaFlags::empty()), Err(CudaError::NoDevice));
    });
}

#[test]
fn the_driver_is_the_stand_in() {
    isolated("the_driver_is_the_stand_in", &[("FRAMEWRIGHT_STANDIN_VERSION", "12040")], || {
        let status = framewright_driver::status().to_string();
        assert!(status.ends_with("libframewright_standin.so for CUDA 12.4"), "{status}");
        // What the stand-in lacks is answered by the trampolines.
        let framewright_driver::DriverStatus::Loaded(loaded) = framewright_driver::status() else { panic!() };
        assert!(loaded.lacks.contains(&"cuGraphLaunch") && !loaded.lacks.contains(&"cuInit"));
        assert_eq!(unsafe { sys::cuGraphLaunch(null_mut(), null_mut()) }, Code::NOT_SUPPORTED);
        assert_eq!(Code(2).to_string(), "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
        assert_eq!(Code(12345).to_string(), "CUDA error 12345");
    });
}

#[test]
fn everything_waits_for_init() {
    isolated("everything_waits_for_init", &[], || {
        assert_eq!(cust::device::Device::num_devices(), Err(CudaError::NotInitialized));
        assert_eq!(allocate(1), Err(Code::NOT_INITIALIZED));
        init();
        assert_eq!(cust::device::Device::num_devices(), Ok(1));
        assert_eq!(allocate(1), Err(Code::INVALID_CONTEXT));
    });
}

#[test]
fn devices() {
    isolated("devices", &[("FRAMEWRIGHT_STANDIN_DEVICES", "2")], || {
        init();
        assert_eq!(cust::device::Device::num_devices(), Ok(2));
        assert_eq!(device(1).name().as_deref(), Ok("framewright stand-in"));
        assert_eq!(device(1).total_memory(), Ok(8 << 30));
        let major = cust::device::DeviceAttribute::ComputeCapabilityMajor;
        assert_eq!(device(0).get_attribute(major), Ok(9));
        assert_eq!(cust::device::Device::get_device(2).err(), Some(CudaError::InvalidDevice));
    });
}

#[test]
fn contexts_stack_up() {
    isolated("contexts_stack_up", &[("FRAMEWRIGHT_STANDIN_DEVICES", "2")], || {
        init();
        assert_eq!((current(), pop()), (null_mut(), Err(Code::INVALID_CONTEXT)));
        // cust's new makes the context current in place of the top.
        let (a, b) = (Context::new(device(0)).expect("a context"), Context::new(device(1)).expect("a context"));
        assert_eq!(current(), b.as_raw());
        assert_eq!(unsafe { sys::cuCtxPushCurrent_v2(a.as_raw()) }, Code::SUCCESS);
        assert_eq!(current(), a.as_raw());
        let mut ordinal = 9;
        assert_eq!(unsafe { sys::cuCtxGetDevice(&mut ordinal) }, Code::SUCCESS);
        assert_eq!(ordinal, 0);
        assert_eq!((pop(), current()), (Ok(a.as_raw()), b.as_raw()));
        assert_eq!(unsafe { sys::cuCtxSetCurrent(null_mut()) }, Code::SUCCESS);
        assert_eq!((current(), pop()), (null_mut(), Err(Code::INVALID_CONTEXT)));
        assert_eq!(unsafe { sys::cuCtxSetCurrent(a.as_raw()) }, Code::SUCCESS);
        std::thread::spawn(|| {
            assert_eq!(current(), null_mut());
            assert_eq!(allocate(1), Err(Code::INVALID_CONTEXT));
        })
        .join()
        .expect("a thread has its own stack");
        assert_eq!(unsafe { sys::cuCtxPushCurrent_v2(8 as CUcontext) }, Code::INVALID_CONTEXT);
    });
}

#[test]
fn primary_contexts_are_counted() {
    isolated("primary_contexts_are_counted", &[], || {
        init();
        let state = || {
            let (mut flags, mut active) = (9, 9);
            assert_eq!(unsafe { sys::cuDevicePrimaryCtxGetState(0, &mut flags, &mut active) }, Code::SUCCESS);
            active
        };
        assert_eq!(state(), 0);
        let a = Context::new(device(0)).expect("a context");
        let first_life = id(a.as_raw());
        let b = a.clone();
        assert_eq!((a.as_raw(), first_life), (b.as_raw(), id(b.as_raw())));
        drop(a);
        assert_eq!((state(), allocate(1).is_ok()), (1, true));
        drop(b);
        assert_eq!((state(), allocate(1)), (0, Err(Code(709))));
        assert_eq!(unsafe { sys::cuDevicePrimaryCtxRelease_v2(0) }, Code::INVALID_CONTEXT);
        let again = Context::new(device(0)).expect("a context");
        assert_ne!(id(again.as_raw()), first_life);
    });
}

fn id(context: CUcontext) -> u64 {
    let mut id = 0;
    assert_eq!(unsafe { sys::cuCtxGetId(context, &mut id) }, Code::SUCCESS);
    id
}

#[test]
fn streams_belong_to_their_context() {
    isolated("streams_belong_to_their_context", &[("FRAMEWRIGHT_STANDIN_DEVICES", "2")], || {
        init();
        let _a = Context::new(device(0)).expect("a context");
        let mut stream = null_mut();
        assert_eq!(unsafe { sys::cuStreamCreate(&mut stream, 0) }, Code::SUCCESS);
        let _b = Context::new(device(1)).expect("a context");
        let memory = allocate(1).expect("memory");
        assert_eq!(unsafe { sys::cuMemsetD8Async(memory, 0, 1, stream) }, Code::INVALID_HANDLE);
        assert_eq!(unsafe { sys::cuMemsetD8Async(memory, 0, 1, null_mut()) }, Code::SUCCESS);
        assert_eq!(unsafe { sys::cuStreamSynchronize(stream) }, Code::SUCCESS);
    });
}

#[test]
fn failures_on_demand() {
    isolated("failures_on_demand", &[("FRAMEWRIGHT_STANDIN_FAIL", "cuMemAlloc_v2:3:2,cuStreamCreate:1:999")], || {
        let _context = context();
        let control = Control::new();
        let memory = || unsafe { DeviceBuffer::<u8>::uninitialized(8) }.map(drop);
        assert_eq!([memory(), memory(), memory(), memory()], [Ok(()), Ok(()), Err(CudaError::OutOfMemory), Ok(())]);
        let mut stream = null_mut();
        assert_eq!(unsafe { sys::cuStreamCreate(&mut stream, 0) }, Code(999));
        control.fail("cuMemAlloc_v2", 1, Code::NOT_PERMITTED);
        control.fail("cuMemFree_v2", 5, Code::NOT_PERMITTED);
        control.succeed();
        assert_eq!([memory(), memory()], [Ok(()), Ok(())]);
        control.fail("cuMemAlloc_v2", 1, Code::NOT_PERMITTED);
        assert_eq!([memory(), memory(), memory()], [Ok(()), Err(CudaError::NotPermitted), Ok(())]);
        assert_eq!(control.calls("cuMemAlloc_v2"), 9);
        assert_eq!(control.live("allocations"), 0);
        // An error of the device stays.
        control.fail("cuMemAlloc_v2", 0, Code::LAUNCH_FAILED);
        assert_eq!([memory(), memory()], [Err(CudaError::LaunchFailed); 2]);
    });
}
