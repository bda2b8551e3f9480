//! A program that uses `cust` and this crate, on a machine without a driver (or with one that is not to be used).
//!
//! The cases run in processes of their own (this binary again, with `CASE` set), because the driver is looked for once a
//! process.

use std::process::{Command, Output};

use framewright_driver::{DRIVER_VARIABLE, status};

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
            let code = framewright_driver::sys::Code::NO_DEVICE;
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
                        framewright_driver::sys::cuLaunchKernel(
                            std::ptr::null_mut(),
                            1,
                            1,
                            1,
                            1,
                            1,
                            1,
                            0,
                            stream,
                            none,
                            none,
                        )
                    };
                    assert_eq!(code, framewright_driver::sys::Code::NO_DEVICE);
                }
            });
        }
    });
    assert!(!status().is_loaded());
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
