//! Each test runs in a process of its own, with the stand-in as its driver.

use std::ffi::{CString, c_char};
use std::path::PathBuf;
use std::process::{Command, Output};

use cust::context::Context;
use cust::device::Device;
use framewright_driver::sys::{self, Code};
use libloading::os::unix::{Library, Symbol};

const CASE: &str = "FRAMEWRIGHT_STANDIN_CASE";

/// The stand-in's library: cargo builds it beside this package's tests.
pub(crate) fn library() -> PathBuf {
    let program = std::env::current_exe().expect("this program has a path");
    let path = program.with_file_name("libframewright_standin.so");
    assert!(path.exists(), "{} is not built", path.display());
    path
}

/// Runs the body in a process of its own, whose driver is the stand-in, with the variables set.
#[track_caller]
pub(crate) fn isolated(name: &str, variables: &[(&str, &str)], body: fn()) {
    let Some(output) = child(name, variables, body) else { return };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}\n{text}\n{errors}", output.status);
    assert!(text.contains(&format!("done: {name}")), "the case did not run: {text}");
}

/// As [`isolated`]; what became of the process. `None` in that process itself, when the body has run.
pub(crate) fn child(name: &str, variables: &[(&str, &str)], body: fn()) -> Option<Output> {
    if std::env::var(CASE).is_ok_and(|case| case == name) {
        body();
        println!("done: {name}");
        return None;
    }
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(CASE, name);
    command.env(framewright_driver::DRIVER_VARIABLE, library()).envs(variables.iter().copied());
    Some(command.output().expect("the test runs again"))
}

/// Initialises the driver and makes device 0's primary context current.
#[allow(dead_code, reason = "not every test file needs it")]
pub(crate) fn context() -> Context {
    assert!(framewright_driver::status().is_loaded(), "{}", framewright_driver::status());
    cust::quick_init().expect("the stand-in has a device")
}

#[allow(dead_code, reason = "not every test file needs it")]
pub(crate) fn device(ordinal: u32) -> Device {
    Device::get_device(ordinal).expect("the stand-in has the device")
}

/// The stand-in's functions for tests.
pub(crate) struct Control(Library);

#[allow(dead_code, reason = "not every test file needs all")]
impl Control {
    pub(crate) fn new() -> Self {
        // SAFETY: the library is open as the driver already, so nothing is initialised again.
        Self(unsafe { Library::new(library()) }.expect("the stand-in opens"))
    }

    fn get<F>(&self, name: &str) -> Symbol<F> {
        // SAFETY: the callers below state the functions' signatures.
        unsafe { self.0.get(name) }.expect("the stand-in has the function")
    }

    pub(crate) fn live(&self, kind: &str) -> u64 {
        let kind = CString::new(kind).expect("a word");
        let live = self.get::<unsafe extern "C" fn(*const c_char) -> u64>("framewright_standin_live");
        // SAFETY: a terminated string.
        let count = unsafe { live(kind.as_ptr()) };
        assert_ne!(count, u64::MAX, "the stand-in counts no {kind:?}");
        count
    }

    pub(crate) fn calls(&self, name: &str) -> u64 {
        let name = CString::new(name).expect("a name");
        let calls = self.get::<unsafe extern "C" fn(*const c_char) -> u64>("framewright_standin_calls");
        // SAFETY: a terminated string.
        unsafe { calls(name.as_ptr()) }
    }

    pub(crate) fn fail(&self, name: &str, after_calls: u32, code: Code) {
        let name = CString::new(name).expect("a name");
        let fail = self.get::<unsafe extern "C" fn(*const c_char, u32, u32)>("framewright_standin_fail");
        // SAFETY: a terminated string.
        unsafe { fail(name.as_ptr(), after_calls, code.0) };
    }

    pub(crate) fn succeed(&self) {
        // SAFETY: it takes nothing.
        unsafe { self.get::<unsafe extern "C" fn()>("framewright_standin_succeed")() };
    }

    pub(crate) fn run(&self) {
        // SAFETY: it takes nothing.
        unsafe { self.get::<unsafe extern "C" fn()>("framewright_standin_run")() };
    }
}

/// Bytes of device memory, by the driver's own functions.
#[allow(dead_code, reason = "not every test file needs it")]
pub(crate) fn allocate(bytes: usize) -> Result<u64, Code> {
    let mut pointer = 0;
    // SAFETY: the pointer is written on success.
    unsafe { sys::cuMemAlloc_v2(&mut pointer, bytes) }.ok()?;
    Ok(pointer)
}
