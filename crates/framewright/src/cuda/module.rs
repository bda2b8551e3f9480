//! PTX modules: loaded when a kernel of theirs is first launched, and refused when their parameters are not ours.

use super::{
    device::DeviceInner,
    error::{Asked, CudaError},
};
use crate::error::Error;
use framewright_driver::sys::{self, CUfunction, CUmodule};
use framewright_kernel::{Entry, entry::NamedEntry, fault::RECORD_SYMBOL};
use std::{
    collections::HashMap,
    ffi::{CString, c_void},
    ptr,
    sync::Mutex,
};

/// A family's PTX with what the host knows of its entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModuleSource {
    pub(crate) family: &'static str,
    /// Terminated, as the driver wants it.
    pub(crate) ptx: &'static str,
    pub(crate) entries: &'static [Entry],
}

macro_rules! built_in {
    ($($family:ident),+) => {
        [$(ModuleSource {
            family: stringify!($family),
            ptx: concat!(include_str!(concat!("../../ptx/", stringify!($family), ".ptx")), "\0"),
            entries: framewright_kernels::$family::ENTRIES,
        }),+]
    };
}

/// The built-in families. `cargo xtask ptx` writes the files.
static BUILT_IN: [ModuleSource; 3] = built_in!(copy, selftest, yuv420);

/// The modules of a context.
#[derive(Default)]
pub(crate) struct Modules {
    loaded: Mutex<Loaded>,
}

#[derive(Default)]
struct Loaded {
    modules: HashMap<&'static str, Module>,
    functions: HashMap<&'static str, Function>,
}

/// A loaded module, by the driver's handle.
struct Module(CUmodule);

#[derive(Clone, Copy)]
struct Function(CUfunction);

// SAFETY: the driver's handles can be used from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Send for Function {}

impl Modules {
    /// Unloads all; the context is current.
    pub(crate) fn unload(&mut self) {
        let loaded = self.loaded.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        loaded.functions.clear();
        for (_, Module(module)) in loaded.modules.drain() {
            // SAFETY: a module of this context, unloaded once; no launch of it runs, since streams keep the device alive.
            let _ = unsafe { sys::cuModuleUnload(module) };
        }
    }
}

impl DeviceInner {
    /// The function of a kernel's entry; loads its module if need be. The context is current.
    pub(crate) fn function<B: NamedEntry>(&self) -> Result<CUfunction, Error> {
        let mut loaded = self.modules.loaded.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(&Function(function)) = loaded.functions.get(B::ENTRY) {
            return Ok(function);
        }
        let module = match loaded.modules.get(B::FAMILY) {
            Some(&Module(module)) => module,
            None => {
                let Some(source) = BUILT_IN.iter().find(|source| source.family == B::FAMILY) else {
                    return Err(missing(B::FAMILY));
                };
                let module = self.load(source)?;
                loaded.modules.insert(B::FAMILY, Module(module));
                module
            }
        };
        let function = self.get_function(module, B::ENTRY)?;
        loaded.functions.insert(B::ENTRY, Function(function));
        Ok(function)
    }

    fn get_function(&self, module: CUmodule, entry: &'static str) -> Result<CUfunction, Error> {
        let name = CString::new(entry).map_err(|_| missing(entry))?;
        let mut function = ptr::null_mut();
        // SAFETY: writes one handle; the name is terminated.
        let code = unsafe { sys::cuModuleGetFunction(&mut function, module, name.as_ptr()) };
        self.check(code, "cuModuleGetFunction", Asked::Name(entry))?;
        Ok(function)
    }

    /// Loads a module, compares the hashes of its parameters, and tells it where panics are reported.
    pub(crate) fn load(&self, source: &ModuleSource) -> Result<CUmodule, Error> {
        let mut module = ptr::null_mut();
        // SAFETY: writes one handle; the text is terminated.
        let code = unsafe {
            sys::cuModuleLoadDataEx(&mut module, source.ptx.as_ptr().cast(), 0, ptr::null_mut(), ptr::null_mut())
        };
        self.check(code, "cuModuleLoadDataEx", Asked::Name(source.family))?;
        match self.prepare(module, source) {
            Ok(()) => Ok(module),
            Err(error) => {
                // SAFETY: just loaded, and nobody else has it.
                let _ = unsafe { sys::cuModuleUnload(module) };
                Err(error)
            }
        }
    }

    fn prepare(&self, module: CUmodule, source: &ModuleSource) -> Result<(), Error> {
        for entry in source.entries {
            let mut found = 0u64;
            let address = self.global(module, entry.hash_symbol, size_of::<u64>())?;
            // SAFETY: copies the variable's eight bytes into ours.
            let code = unsafe { sys::cuMemcpyDtoH_v2((&raw mut found).cast::<c_void>(), address, size_of::<u64>()) };
            self.check(code, "cuMemcpyDtoH", Asked::Name(entry.hash_symbol))?;
            if found != entry.params_hash {
                let (entry, expected) = (entry.name, entry.params_hash);
                return Err(CudaError::StaleModule { entry, expected, found }.into());
            }
        }
        let record = self.fault_address()?;
        let address = self.global(module, RECORD_SYMBOL, size_of::<u64>())?;
        // SAFETY: copies our eight bytes into the variable.
        let code = unsafe { sys::cuMemcpyHtoD_v2(address, (&raw const record).cast::<c_void>(), size_of::<u64>()) };
        self.check(code, "cuMemcpyHtoD", Asked::Name(RECORD_SYMBOL))
    }

    fn global(&self, module: CUmodule, symbol: &'static str, bytes: usize) -> Result<u64, Error> {
        let name = CString::new(symbol).map_err(|_| missing(symbol))?;
        let (mut address, mut found) = (0, 0);
        // SAFETY: writes one address and one size; the name is terminated.
        let code = unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut found, module, name.as_ptr()) };
        self.check(code, "cuModuleGetGlobal", Asked::Name(symbol))?;
        if found == bytes { Ok(address) } else { Err(missing(symbol)) }
    }
}

fn missing(name: &'static str) -> Error {
    let code = sys::Code::NOT_FOUND.0;
    CudaError::Driver { call: "cuModuleGetFunction", asked: Asked::Name(name), code }.into()
}

#[cfg(test)]
pub(super) fn built_in() -> &'static [ModuleSource] {
    &BUILT_IN
}
