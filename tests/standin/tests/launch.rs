//! Modules and kernels.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "calls of the stand-in, which checks its arguments: that is the test"
)]

mod common;

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{Control, allocate, context, isolated};
use cust::error::CudaError;
use cust::memory::CopyDestination;
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use framewright_driver::sys::{self, Code};

const PTX: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 8 .u64 framewright_standin_fill_PARAMS_HASH = 1311768467463790320;
.visible .entry framewright_standin_fill(
    .param .align 8 .b8 framewright_standin_fill_param_0[24]
)
{ ret; }
.visible .entry framewright_standin_panic()
{ ret; }
.visible .entry without_a_host_body()
{ ret; }
";

/// The parameters of `framewright_standin_fill`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Fill {
    to: u64,
    bytes: u64,
    value: u32,
}

fn module() -> Module {
    Module::from_ptx(PTX, &[]).expect("a PTX text")
}

fn stream() -> Stream {
    Stream::new(StreamFlags::DEFAULT, None).expect("a stream")
}

fn launch(module: &Module, name: &str, stream: &Stream, grid: u32, parameters: *mut c_void) -> Result<(), CudaError> {
    let function = module.get_function(name)?;
    unsafe { stream.launch(&function, grid, 32, 0, &[parameters]) }
}

fn bytes(device: u64, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    assert_eq!(unsafe { sys::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), device, count) }, Code::SUCCESS);
    bytes
}

#[test]
fn entries_and_globals() {
    isolated("entries_and_globals", &[], || {
        let _context = context();
        let module = module();
        assert!(module.get_function("framewright_standin_fill").is_ok());
        assert_eq!(module.get_function("framewright_standin").err(), Some(CudaError::NotFound));
        let hash = module.get_global::<u64>(c"framewright_standin_fill_PARAMS_HASH").expect("a global");
        let mut value = 0;
        hash.copy_to(&mut value).expect("a copy");
        assert_eq!(value, 0x1234_5678_9ABC_DEF0);
        assert_eq!(module.get_global::<u64>(c"other").err(), Some(CudaError::NotFound));
        assert_eq!(Module::from_ptx("no PTX", &[]).err(), Some(CudaError::InvalidPtx));
        let newer = PTX.replace("sm_75", "sm_100");
        assert_eq!(Module::from_ptx(newer, &[]).err(), Some(CudaError::NoBinaryForGpu));
    });
}

#[test]
fn parameters_are_copied_and_the_kernel_runs_later() {
    isolated("parameters_are_copied_and_the_kernel_runs_later", &[], || {
        let _context = context();
        let (module, stream) = (module(), stream());
        let device = allocate(10).expect("memory");
        let mut parameters = Fill { to: device, bytes: 9, value: 7 };
        launch(&module, "framewright_standin_fill", &stream, 4, (&raw mut parameters).cast()).expect("a launch");
        parameters = Fill { to: 0, bytes: 1, value: 8 };
        assert_eq!(Control::new().live("queued"), 1, "{}", parameters.value);
        stream.synchronize().expect("a kernel");
        assert_eq!(bytes(device, 10), [7, 7, 7, 7, 7, 7, 7, 7, 7, 0xA5]);
    });
}

#[test]
fn parameters_as_one_buffer() {
    isolated("parameters_as_one_buffer", &[], || {
        let _context = context();
        let module = module();
        let device = allocate(2).expect("memory");
        let function = module.get_function("framewright_standin_fill").expect("an entry").to_raw();
        let mut parameters = Fill { to: device, bytes: 2, value: 5 };
        let mut size = size_of::<Fill>();
        let mut run = |size: *mut usize| {
            let pointer = (&raw mut parameters).cast();
            let mark = |number: usize| number as *mut c_void;
            let mut extra = [mark(1), pointer, mark(2), size.cast(), mark(0)];
            let none = null_mut();
            unsafe { sys::cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, none, none.cast(), extra.as_mut_ptr()) }
        };
        assert_eq!(run(&mut 16), Code::INVALID_VALUE);
        assert_eq!(run(&mut size), Code::SUCCESS);
        assert_eq!(bytes(device, 2), [5, 5]);
    });
}

#[test]
fn launches_are_checked() {
    isolated("launches_are_checked", &[], || {
        let _context = context();
        let module = module();
        let function = module.get_function("framewright_standin_panic").expect("an entry").to_raw();
        let run = |grid: [u32; 3], block: [u32; 3], shared| unsafe {
            let ([gx, gy, gz], [bx, by, bz], none) = (grid, block, null_mut());
            sys::cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, none, none.cast(), none.cast())
        };
        assert_eq!(run([1, 1, 1], [1024, 1, 2], 0), Code::INVALID_VALUE);
        assert_eq!(run([0, 1, 1], [32, 1, 1], 0), Code::INVALID_VALUE);
        assert_eq!(run([1, 65536, 1], [32, 1, 1], 0), Code::INVALID_VALUE);
        assert_eq!(run([1, 1, 1], [32, 1, 1], 228 << 10), Code::INVALID_VALUE);
        let missing = launch(&module, "without_a_host_body", &stream(), 1, null_mut());
        assert_eq!(missing, Err(CudaError::NotSupported));
        assert_eq!(Control::new().live("queued"), 0);
    });
}

#[test]
fn a_panic_loses_the_context() {
    isolated("a_panic_loses_the_context", &[], || {
        static CALLED: AtomicBool = AtomicBool::new(false);
        unsafe extern "C" fn call(_: *mut c_void) {
            CALLED.store(true, Ordering::SeqCst);
        }
        let _context = context();
        let (module, stream) = (module(), stream());
        launch(&module, "framewright_standin_panic", &stream, 1, null_mut()).expect("a launch");
        assert_eq!(unsafe { sys::cuLaunchHostFunc(stream.as_inner(), call, null_mut()) }, Code::SUCCESS);
        assert_eq!(stream.synchronize(), Err(CudaError::LaunchFailed));
        assert_eq!(stream.synchronize(), Err(CudaError::LaunchFailed));
        assert_eq!(allocate(1), Err(Code::LAUNCH_FAILED));
        assert!(!CALLED.load(Ordering::SeqCst), "no host function is called in a lost context");
    });
}

#[test]
fn a_lost_context_can_be_replaced() {
    isolated("a_lost_context_can_be_replaced", &[], || {
        let context = context();
        Control::new().fail("cuCtxSynchronize", 0, Code::LAUNCH_FAILED);
        assert_eq!(cust::context::CurrentContext::synchronize(), Err(CudaError::LaunchFailed));
        assert_eq!(allocate(1), Err(Code::LAUNCH_FAILED));
        drop(context);
        let _again = common::context();
        assert!(allocate(1).is_ok());
    });
}

#[test]
fn writing_outside_is_found() {
    isolated("writing_outside_is_found", &[], || {
        let _context = context();
        let (module, stream) = (module(), stream());
        let device = allocate(10).expect("memory");
        let mut parameters = Fill { to: device, bytes: 11, value: 7 };
        launch(&module, "framewright_standin_fill", &stream, 1, (&raw mut parameters).cast()).expect("a launch");
        assert_eq!(stream.synchronize(), Err(CudaError::IllegalAddress));
        assert_eq!(allocate(1), Err(Code::ILLEGAL_ADDRESS));
    });
}
