//! A program that uses `cust` and this crate, on a machine without a driver (or with one that is not to be used).
//!
//! The cases run in processes of their own (this binary again, with `CASE` set), because the driver is looked for once a
//! process.

use std::path::Path;
use std::process::{Command, Output};

use framewright_driver::{DRIVER_VARIABLE, status, sys};

/// Runs `case` of this binary with the driver variable set to `driver`.
fn run(case: &str, driver: &str) -> Output {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command
        .args(["cases", "--exact", "--nocapture", "--test-threads=1"])
        .env("CASE", case)
        .env(DRIVER_VARIABLE, driver);
    command.output().expect("the test runs again")
}

#[track_caller]
fn passes(case: &str, driver: &str) {
    let output = run(case, driver);
    assert!(output.status.success(), "{case}: {output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(&format!("done: {case}")), "the case did not run: {text}");
}

/// Not a test by itself: what the tests below run in a fresh process.
#[test]
fn cases() {
    let Ok(case) = std::env::var("CASE") else { return };
    match case.as_str() {
        "first_call_is_custs" => {
            assert_eq!(cust::init(cust::CudaFlags::empty()), Err(cust::error::CudaError::NoDevice));
        }
        "errors_have_texts" => {
            // cust's Display panics in to_string() unless cuGetErrorString succeeds with a string.
            let text = cust::error::CudaError::NoDevice.to_string();
            assert!(text.contains("no CUDA driver: cannot open /nowhere/libcuda.so ("), "{text}");
            assert!(text.contains("(named by FRAMEWRIGHT_CUDA_DRIVER): cannot open shared object file"), "{text}");
            assert!(!cust::error::CudaError::OutOfMemory.to_string().is_empty());
            let code = sys::Code::NO_DEVICE;
            assert!(code.to_string().starts_with("CUDA_ERROR_NO_DEVICE (100): no CUDA driver"), "{code}");
        }
        "empty_name_opens_nothing" => {
            assert!(!status().is_loaded());
            let text = status().to_string();
            assert!(text.ends_with("no driver is to be used"), "{text}");
        }
        "not_a_driver" => {
            let text = status().to_string();
            assert!(text.contains("it has no function cuInit"), "{text}");
            assert_eq!(cust::device::Device::num_devices(), Err(cust::error::CudaError::NoDevice));
        }
        "first_call_from_eight_threads" => first_call_from_eight_threads(),
        "arguments_arrive" => arguments_arrive(),
        other => panic!("no case {other}"),
    }
    println!("done: {case}");
}

fn first_call_from_eight_threads() {
    let start = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                if thread % 2 == 0 {
                    let init = cust::init(cust::CudaFlags::empty());
                    assert_eq!(init, Err(cust::error::CudaError::NoDevice));
                } else {
                    // Eleven arguments: more than there are registers.
                    let stream = std::ptr::null_mut();
                    // SAFETY: there is no driver, so nothing reads the arguments.
                    let code = unsafe {
                        let none = std::ptr::null_mut();
                        sys::cuLaunchKernel(std::ptr::null_mut(), 1, 1, 1, 1, 1, 1, 0, stream, none, none)
                    };
                    assert_eq!(code, sys::Code::NO_DEVICE);
                }
            });
        }
    });
    assert!(!status().is_loaded());
}

/// Eight threads bind at once; each function sees its arguments, in registers of both kinds and on the stack.
fn arguments_arrive() {
    let start = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                let code = match thread % 3 {
                    0 => {
                        let (f, s, p, x) = (11 as *mut _, 19 as *mut _, 20 as *mut _, 21 as *mut _);
                        // SAFETY: the library of this test only compares the arguments.
                        unsafe { sys::cuLaunchKernel(f, 12, 13, 14, 15, 16, 17, 18, s, p, x) }.0
                    }
                    // SAFETY: as above.
                    1 => unsafe { cust_raw::cuTexRefSetMipmapLevelClamp(11 as *mut _, 1.5, -2.5) as u32 },
                    // SAFETY: as above.
                    _ => unsafe { sys::cuInit(0) }.0,
                };
                assert_eq!(code, 0, "{}", thread % 3);
            });
        }
    });
    assert!(status().is_loaded());
    // A function that this library lacks.
    // SAFETY: nothing reads the argument.
    assert_eq!(unsafe { sys::cuCtxSetCurrent(std::ptr::null_mut()) }, sys::Code::NOT_SUPPORTED);
}

#[test]
fn arguments_survive_the_first_call() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let library = folder.join("libarguments.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/link/arguments.rs");
    let built = Command::new("rustc").args(["--edition=2024", "-O", "-o"]).arg(&library).arg(source).status();
    assert!(built.expect("rustc runs").success());
    for _ in 0..20 {
        passes("arguments_arrive", library.to_str().expect("a path in UTF-8"));
    }
}

#[test]
fn first_call_is_custs() {
    passes("first_call_is_custs", "/nowhere/libcuda.so");
}

#[test]
fn errors_have_texts() {
    passes("errors_have_texts", "/nowhere/libcuda.so");
}

#[test]
fn empty_name_opens_nothing() {
    passes("empty_name_opens_nothing", "");
}

#[test]
fn a_library_that_is_no_driver() {
    passes("not_a_driver", "libm.so.6");
}

#[test]
fn first_calls_from_eight_threads() {
    for _ in 0..20 {
        passes("first_call_from_eight_threads", "/nowhere/libcuda.so");
    }
}
