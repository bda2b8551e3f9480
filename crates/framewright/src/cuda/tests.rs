//! What needs the crate's inside: PTX that was compiled for other parameters.

use super::{Device, error::CudaError, module};
use crate::error::Error;
use framewright_kernel::{Domain, Entry, ParamLayout, PlaneOut};
use std::process::Command;

/// The parameters of `framewright_panic_at` with the type of one field flipped.
mod flipped {
    framewright_kernel::param_struct! {
        #[allow(unreachable_pub, dead_code)]
        pub struct PanicAt { x: i32, y: u32 }
    }
}

/// As `Launch` hashes its parts.
fn launch_hash(body: u64, body_offset: u64, size: u64) -> u64 {
    use framewright_kernel::params::{FNV_BASIS, fnv_u64};
    let hash = fnv_u64(fnv_u64(FNV_BASIS, Domain::HASH), PlaneOut::HASH);
    fnv_u64(fnv_u64(fnv_u64(hash, body), body_offset), size)
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
    let source = *module::built_in().iter().find(|source| source.family == "selftest").expect("a family");
    let _current = device.inner.enter().expect("a context");
    device.inner.load(&source).expect("the built-in module loads");

    let right = source.entries[0];
    let unchanged = launch_hash(framewright_kernels::selftest::PanicAt::HASH, 32, right.params_size as u64);
    assert_eq!(unchanged, right.params_hash, "the hash of a launch is made as this test makes it");
    let params_hash = launch_hash(flipped::PanicAt::HASH, 32, right.params_size as u64);
    let stale: &'static [Entry] = Box::leak(Box::new([Entry { params_hash, ..right }]));
    let error = device.inner.load(&module::ModuleSource { entries: stale, ..source }).expect_err("refused");
    let Error::Cuda(CudaError::StaleModule { entry: "framewright_panic_at", expected, found }) = error else {
        panic!("{error:?}");
    };
    assert_eq!((expected, found), (params_hash, right.params_hash));
}
