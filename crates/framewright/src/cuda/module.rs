//! PTX modules: loaded when a kernel of theirs is first launched, and refused when their parameters are not ours.

use super::{
    device::DeviceInner,
    error::{Asked, CudaError},
};
use crate::error::Error;
use framewright_driver::sys::{self, CUfunction, CUmodule};
use framewright_kernel::{Entry, fault::RECORD_SYMBOL};
use std::{
    collections::HashMap,
    ffi::{CString, c_void},
    ptr,
    sync::Mutex,
};

/// A PTX module of kernels, with what the host knows of its entries. [`include_kernels!`](crate::include_kernels) makes one.
#[derive(Clone, Copy, Debug)]
pub struct KernelModule {
    pub(crate) name: &'static str,
    /// Terminated, as the driver wants it.
    pub(crate) ptx: &'static str,
    pub(crate) entries: &'static [Entry],
}

impl KernelModule {
    /// A module of `entries`, compiled to `ptx`, which ends with a zero byte.
    ///
    /// Use [`include_kernels!`](crate::include_kernels), which embeds a file.
    ///
    /// # Panics
    /// When the text has no zero byte at its end, or an entry is of another module than the first (in a constant: when
    /// compiling).
    ///
    /// # Safety
    /// The PTX is what the entries' sources give. Parameter hashes are compared when it is loaded, so a stale file is an
    /// error; a file that lies about them is not found out.
    pub const unsafe fn new(ptx: &'static str, entries: &'static [Entry]) -> Self {
        assert!(!entries.is_empty(), "a module has entries");
        assert!(!ptx.is_empty() && ptx.as_bytes()[ptx.len() - 1] == 0, "the PTX text ends with a zero byte");
        Self { name: entries[0].module, ptx, entries }
    }

    /// The entries.
    pub const fn entries(&self) -> &'static [Entry] {
        self.entries
    }
}

/// Embeds the PTX of your own kernels: `include_kernels!("kernels.ptx", my_kernels::ENTRIES)` is a constant
/// [`KernelModule`](crate::cuda::KernelModule) for [`Device::add_kernels`](crate::cuda::Device::add_kernels). The path is
/// relative to the source file, the entries are what [`kernels!`](framewright_kernel::kernels) lists.
#[macro_export]
macro_rules! include_kernels {
    ($path:expr, $entries:expr $(,)?) => {{
        const MODULE: $crate::cuda::KernelModule =
            // SAFETY: whoever names the file says that it is compiled from these kernels, as with a library that is linked;
            // the hashes of the parameters are compared when it is loaded.
            unsafe { $crate::cuda::KernelModule::new(concat!(include_str!($path), "\0"), $entries) };
        MODULE
    }};
}

macro_rules! built_in {
    ($($family:ident),+) => {
        [$(KernelModule {
            name: stringify!($family),
            ptx: concat!(include_str!(concat!("../../ptx/", stringify!($family), ".ptx")), "\0"),
            entries: framewright_kernels::$family::ENTRIES,
        }),+]
    };
}

/// The built-in families. `cargo xtask ptx` writes the files.
static BUILT_IN: [KernelModule; 3] = built_in!(copy, selftest, yuv420);

/// The modules of a context.
#[derive(Default)]
pub(crate) struct Modules {
    loaded: Mutex<Loaded>,
}

#[derive(Default)]
struct Loaded {
    /// What `Device::add_kernels` gave, beside the built-in ones.
    added: Vec<KernelModule>,
    modules: HashMap<&'static str, Module>,
    /// By module and name.
    functions: HashMap<(&'static str, &'static str), Function>,
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
    /// Makes a module known. Nothing is loaded before one of its kernels is launched.
    pub(crate) fn add_kernels(&self, module: KernelModule) -> Result<(), Error> {
        let mut loaded = self.modules.loaded.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut known = BUILT_IN.iter().chain(&loaded.added);
        match known.find(|known| known.name == module.name) {
            // The same again is the same.
            Some(known) if std::ptr::eq(known.ptx, module.ptx) || known.ptx == module.ptx => Ok(()),
            Some(_) => Err(CudaError::ModuleExists { module: module.name }.into()),
            None => {
                loaded.added.push(module);
                Ok(())
            }
        }
    }

    /// The function of a kernel's entry; loads its module if need be. The context is current.
    pub(crate) fn function(&self, entry: &'static Entry) -> Result<CUfunction, Error> {
        let mut loaded = self.modules.loaded.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(&Function(function)) = loaded.functions.get(&(entry.module, entry.name)) {
            return Ok(function);
        }
        let unknown = || CudaError::UnknownKernel { module: entry.module, entry: entry.name };
        let source = BUILT_IN.iter().chain(&loaded.added).find(|source| source.name == entry.module);
        let source = *source.ok_or_else(unknown)?;
        // Its hash is compared with the list's, and the list's with what is launched.
        if !source.entries.iter().any(|known| known.name == entry.name && known.params_hash == entry.params_hash) {
            return Err(unknown().into());
        }
        let module = match loaded.modules.get(entry.module) {
            Some(&Module(module)) => module,
            None => {
                let module = self.load(&source)?;
                loaded.modules.insert(entry.module, Module(module));
                module
            }
        };
        let function = self.get_function(module, entry.name)?;
        loaded.functions.insert((entry.module, entry.name), Function(function));
        Ok(function)
    }

    /// The name of a kernel's entry that a device reported.
    pub(crate) fn entry_named(&self, name: &str) -> Option<&'static str> {
        // Held while a module is loaded, which may be what failed.
        let loaded = self.modules.loaded.try_lock().ok()?;
        let mut entries = BUILT_IN.iter().chain(&loaded.added).flat_map(|module| module.entries);
        entries.find(|entry| entry.name == name).map(|entry| entry.name)
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
    pub(crate) fn load(&self, source: &KernelModule) -> Result<CUmodule, Error> {
        let mut module = ptr::null_mut();
        // SAFETY: writes one handle; the text is terminated.
        let code = unsafe {
            sys::cuModuleLoadDataEx(&mut module, source.ptx.as_ptr().cast(), 0, ptr::null_mut(), ptr::null_mut())
        };
        self.check(code, "cuModuleLoadDataEx", Asked::Name(source.name))?;
        match self.prepare(module, source) {
            Ok(()) => Ok(module),
            Err(error) => {
                // SAFETY: just loaded, and nobody else has it.
                let _ = unsafe { sys::cuModuleUnload(module) };
                Err(error)
            }
        }
    }

    fn prepare(&self, module: CUmodule, source: &KernelModule) -> Result<(), Error> {
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
pub(super) fn built_in() -> &'static [KernelModule] {
    &BUILT_IN
}
