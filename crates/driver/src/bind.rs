//! Opening the driver and filling the slots, once a process.

use std::error::Error;
use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::status::{DriverStatus, DriverVersion, Loaded, Missing};
use crate::table::{NAMES, slots};

/// The variable that names another driver library, for tests: a path. An empty value opens none.
pub const DRIVER_VARIABLE: &str = "FRAMEWRIGHT_CUDA_DRIVER";
/// The library that NVIDIA's driver installs.
const DRIVER_LIBRARY: &str = "libcuda.so.1";

const NO_DEVICE: u32 = 100;
const NOT_SUPPORTED: u32 = 801;

/// Opens the driver if nobody has yet, and says what was found.
///
/// The first call in a process opens the library (`FRAMEWRIGHT_CUDA_DRIVER` if that is set, else `libcuda.so.1`) and
/// binds all functions; it is never closed. Any `cu…` function does the same at its first call. Later calls, from any
/// thread, cost a load.
///
/// Nothing is initialised: that is `cuInit`'s work.
///
/// ```
/// println!("{}", framewright_driver::status());
/// ```
pub fn status() -> &'static DriverStatus {
    static STATUS: OnceLock<DriverStatus> = OnceLock::new();
    STATUS.get_or_init(|| match open() {
        Ok((name, library)) => DriverStatus::Loaded(bind(name, library)),
        Err(missing) => {
            for (slot, name) in slots().iter().zip(NAMES) {
                slot.store(without_driver(name), Ordering::Release);
            }
            DriverStatus::Missing(missing)
        }
    })
}

fn open() -> Result<(PathBuf, Library), Missing> {
    let (name, chosen) = match std::env::var_os(DRIVER_VARIABLE) {
        Some(name) => (name, true),
        None => (OsString::from(DRIVER_LIBRARY), false),
    };
    let missing = |reason: String| Missing { tried: PathBuf::from(&name), chosen, reason };
    // The loader takes an empty name for the program itself.
    if name.is_empty() {
        return Err(missing("no driver is to be used".into()));
    }
    // SAFETY: opening runs the library's initialisers. It is NVIDIA's driver, or what the user named in its place.
    let library = unsafe { Library::open(Some(&name), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| missing(reason(&error, &name)))?;
    // SAFETY: the symbol is only compared with null, not called.
    match unsafe { library.get::<*const ()>("cuInit") } {
        Ok(_) => Ok((PathBuf::from(name), library)),
        Err(_) => Err(missing("it is no CUDA driver: it has no function cuInit".into())),
    }
}

/// The loader's sentence, which begins with the name in most cases; we name it ourselves.
fn reason(error: &libloading::Error, name: &OsStr) -> String {
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let name = format!("{}: ", name.to_string_lossy());
    text.strip_prefix(&name).unwrap_or(&text).to_owned()
}

fn bind(name: PathBuf, library: Library) -> Loaded {
    let mut lacks = Vec::new();
    for (slot, &name) in slots().iter().zip(NAMES) {
        // SAFETY: the symbol is stored as an address. Whoever calls it through the trampoline states its signature.
        let address = unsafe { library.get::<*const ()>(name) }.map_or(0, |symbol| symbol.as_raw_ptr() as usize);
        if address == 0 {
            lacks.push(name);
        }
        slot.store(if address == 0 { not_in_this_driver as *const () as usize } else { address }, Ordering::Release);
    }
    let version = version(&library);
    // The slots point into the library, so it stays.
    std::mem::forget(library);
    Loaded { library: name, version, lacks }
}

fn version(library: &Library) -> Option<DriverVersion> {
    // SAFETY: this is the function's signature in every driver.
    let get = unsafe { library.get::<unsafe extern "C" fn(*mut c_int) -> u32>("cuDriverGetVersion") }.ok()?;
    let mut version = 0;
    // SAFETY: the function writes one int, and may be called before cuInit.
    let result = unsafe { get(&mut version) };
    (result == 0).then(|| DriverVersion::from_raw(version))
}

/// The function that stands for `name` while there is no driver.
///
/// The callee may ignore its arguments in the C calling convention: the caller passes and removes them.
fn without_driver(name: &str) -> usize {
    match name {
        "cuGetErrorName" => error_name as *const () as usize,
        "cuGetErrorString" => error_string as *const () as usize,
        _ => no_driver as *const () as usize,
    }
}

extern "C" fn no_driver() -> u32 {
    NO_DEVICE
}

extern "C" fn not_in_this_driver() -> u32 {
    NOT_SUPPORTED
}

unsafe extern "C" fn error_name(error: u32, name: *mut *const c_char) -> u32 {
    let text = match error {
        0 => c"CUDA_SUCCESS",
        NO_DEVICE => c"CUDA_ERROR_NO_DEVICE",
        _ => c"CUDA_ERROR_UNKNOWN",
    };
    // SAFETY: the caller keeps cuGetErrorName's contract.
    unsafe { answer(name, text) }
}

unsafe extern "C" fn error_string(error: u32, string: *mut *const c_char) -> u32 {
    static TEXT: OnceLock<CString> = OnceLock::new();
    let text = match error {
        0 => c"no error",
        NO_DEVICE => TEXT.get_or_init(|| CString::new(status().to_string().replace('\0', "")).unwrap_or_default()),
        _ => c"an error without a text: there is no CUDA driver",
    };
    // SAFETY: the caller keeps cuGetErrorString's contract.
    unsafe { answer(string, text) }
}

/// Gives out a text that lives as long as the process. `cust` reads the pointer after every success, so it is never null.
///
/// # Safety
///
/// `out` is null or points to writable memory for a pointer.
unsafe fn answer(out: *mut *const c_char, text: &'static CStr) -> u32 {
    if !out.is_null() {
        // SAFETY: not null, so writable by this function's contract.
        unsafe { out.write(text.as_ptr()) };
    }
    0
}
