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

#[test]
fn ptx_for_other_parameters_is_refused() {
    const CASE: &str = "FRAMEWRIGHT_STALE_CASE";
    if std::env::var_os(CASE).is_none() {
        let program = std::env::current_exe().expect("this program has a path");
        let library = program.with_file_name("libframewright_standin.so");
        let mut again = Command::new(&program);
        again.args(["cuda::tests::ptx_for_other_parameters_is_refused", "--exact", "--nocapture"]);
        again.env(CASE, "1").env(framewright_driver::DRIVER_VARIABLE, library);
        let output = again.output().expect("the test runs again");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let device = Device::new(0).expect("the stand-in has a device");
    let source = *module::built_in().iter().find(|source| source.name == "selftest").expect("a module");
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
