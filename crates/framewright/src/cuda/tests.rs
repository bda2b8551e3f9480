//! What needs the crate's inside: PTX that was compiled for other parameters.

use super::{Device, KernelModule, error::CudaError, module};
use crate::error::Error;
use framewright_kernel::Entry;
use framewright_kernel::prelude::*;
use std::process::Command;

/// `framewright_panic_at` with the type of one parameter changed.
#[kernel(name = framewright_panic_at, module = "selftest")]
fn changed(at: Block<16, 1>, dst: Out<Gray8>, place: Uniform<[u64; 1]>) -> Packed<4, 1> {
    assert!([u64::from(at.x())] != place);
    Packed([[0x0101_0101; 4]])
}

/// Runs the test again with the stand-in driver, in a process of its own; whether this is that process.
fn on_the_stand_in(test: &str) -> bool {
    const CASE: &str = "FRAMEWRIGHT_INSIDE_CASE";
    if std::env::var_os(CASE).is_some() {
        return true;
    }
    let program = std::env::current_exe().expect("this program has a path");
    let library = program.with_file_name("libframewright_standin.so");
    let mut again = Command::new(&program);
    again.args([&format!("cuda::tests::{test}"), "--exact", "--nocapture"]);
    again.env(CASE, "1").env(framewright_driver::DRIVER_VARIABLE, library);
    let output = again.output().expect("the test runs again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}

fn selftest() -> KernelModule {
    *module::built_in().iter().find(|source| source.name == "selftest").expect("a module")
}

#[test]
fn ptx_for_other_parameters_is_refused() {
    if !on_the_stand_in("ptx_for_other_parameters_is_refused") {
        return;
    }
    let device = Device::new(0).expect("the stand-in has a device");
    let source = selftest();
    let _current = device.inner.enter().expect("a context");
    device.inner.load(&source).expect("the built-in module loads");

    let right = source.entries[0];
    let other = Entry::instance::<changed>();
    assert_eq!((other.name, other.params_size), (right.name, right.params_size), "only the hash tells them apart");
    let stale: &'static [Entry] = Box::leak(Box::new([other]));
    let error = device.inner.load(&KernelModule { entries: stale, ..source }).expect_err("refused");
    let Error::Cuda(CudaError::StaleModule { entry: "framewright_panic_at", expected, found }) = error else {
        panic!("{error:?}");
    };
    assert_eq!((expected, found), (other.params_hash, right.params_hash));
}

/// The self-test's PTX with parts replaced.
fn changed_text(parts: &[(&str, &str)]) -> &'static [u8] {
    let mut text = String::from_utf8(selftest().files[0].to_vec()).expect("PTX is text");
    for (from, to) in parts {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    text.into_bytes().leak()
}

#[test]
fn of_several_files_the_one_for_the_device_is_loaded() {
    if !on_the_stand_in("of_several_files_the_one_for_the_device_is_loaded") {
        return;
    }
    let device = Device::new(0).expect("the stand-in has a device");
    let _current = device.inner.enter().expect("a context");
    let bytes = selftest().entries[0].params_hash.to_le_bytes().map(|byte| byte.to_string()).join(", ");
    let with = |files: Vec<&'static [u8]>| KernelModule { files: files.leak(), ..selftest() };
    let load = |files| device.inner.load(&with(files));

    // The one for sm_90 is taken by a device of 9.0, which shows by the hash that only it has.
    let marked = changed_text(&[(".target sm_75", ".target sm_90"), (&bytes, "7, 0, 0, 0, 0, 0, 0, 0")]);
    let newer = changed_text(&[(".target sm_75", ".target sm_120")]);
    let older = selftest().files[0];
    let error = load(vec![older, marked, newer]).expect_err("the hash differs");
    assert!(matches!(error, Error::Cuda(CudaError::StaleModule { found: 7, .. })), "{error:?}");
    load(vec![older, newer]).expect("the one for sm_75 loads");

    // The stand-in takes no machine code, as a driver that is too old for it: the PTX is tried.
    let mut cubin = [0u8; 65];
    cubin[..4].copy_from_slice(b"\x7fELF");
    (cubin[8], cubin[49]) = (8, 90);
    let cubin: &'static [u8] = cubin.to_vec().leak();
    load(vec![cubin, older]).expect("the PTX loads");
    let error = load(vec![cubin]).expect_err("nothing else to try");
    assert!(matches!(error, Error::Cuda(CudaError::Driver { code: 209, .. })), "{error:?}");

    let error = load(vec![newer]).expect_err("for newer devices only");
    let text = "module selftest: the device has compute capability 9.0, expected one that its code is for, the oldest for 12.0";
    assert_eq!(error.to_string(), text);
}
