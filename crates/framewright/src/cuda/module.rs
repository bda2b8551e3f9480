//! Modules of PTX or machine code: loaded when a kernel of theirs is first launched, and refused when their parameters are not ours.

use super::{
    code,
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

/// Kernels compiled for one or several architectures, with what the host knows of their entries.
/// [`include_kernels!`](crate::include_kernels) makes one.
#[derive(Clone, Copy)]
pub struct KernelModule {
    pub(crate) name: &'static str,
    /// PTX or cubins, each terminated, as the driver wants the former.
    pub(crate) files: &'static [&'static [u8]],
    pub(crate) entries: &'static [Entry],
}

impl std::fmt::Debug for KernelModule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let codes: Vec<_> = self.files.iter().map(|file| code::Code::of(file)).collect();
        let entries: Vec<_> = self.entries.iter().map(|entry| entry.name).collect();
        f.debug_struct("KernelModule")
            .field("name", &self.name)
            .field("files", &codes)
            .field("entries", &entries)
            .finish()
    }
}

impl KernelModule {
    /// A module of `entries`, compiled to `files`: PTX or cubins, one for each architecture, each with a zero byte at its end.
    ///
    /// Use [`include_kernels!`](crate::include_kernels), which embeds files.
    ///
    /// # Panics
    /// When there is no entry or no file, or one without a zero byte at its end (in a constant: when compiling).
    ///
    /// # Safety
    /// The files are what the entries' sources give. Parameter hashes are compared when one is loaded, so a stale file is an
    /// error; a file that lies about them is not found out.
    pub const unsafe fn new(files: &'static [&'static [u8]], entries: &'static [Entry]) -> Self {
        assert!(!entries.is_empty(), "a module has entries");
        assert!(!files.is_empty(), "a module has a file of PTX, or a cubin");
        let mut i = 0;
        while i < files.len() {
            assert!(matches!(files[i], [_, .., 0]), "a file of PTX ends with a zero byte");
            i += 1;
        }
        Self { name: entries[0].module, files, entries }
    }

    /// The entries.
    pub const fn entries(&self) -> &'static [Entry] {
        self.entries
    }
}

/// Embeds your own kernels as they were compiled: `include_kernels!("kernels.ptx", my_kernels::ENTRIES)` is a constant
/// [`KernelModule`](crate::cuda::KernelModule) for [`Device::add_kernels`](crate::cuda::Device::add_kernels). The path is
/// relative to the source file, the entries are what [`kernels!`](framewright_kernel::kernels) lists.
///
/// For several architectures it takes a list: `include_kernels!(["sm_75.ptx", "sm_90.ptx", "sm_90.cubin"], …)`. What each is for
/// stands in it; a device takes a cubin for it before PTX, and the newest before older ones. Where a driver is too old for the
/// PTX of one, the next is tried.
#[macro_export]
macro_rules! include_kernels {
    ([$($path:expr),+ $(,)?], $entries:expr $(,)?) => {{
        const MODULE: $crate::cuda::KernelModule =
            // SAFETY: whoever names the files says that they are compiled from these kernels, as with a library that is linked;
            // the hashes of the parameters are compared when one is loaded.
            unsafe { $crate::cuda::KernelModule::new(&[$({
                const FILE: &[u8] = include_bytes!($path);
                const TERMINATED: &[u8; FILE.len() + 1] = &$crate::cuda::terminated(FILE);
                TERMINATED
            }),+], $entries) };
        MODULE
    }};
    ($path:expr, $entries:expr $(,)?) => { $crate::include_kernels!([$path], $entries) };
}

/// A file and a zero byte: for [`include_kernels!`](crate::include_kernels).
#[doc(hidden)]
pub const fn terminated<const N: usize>(file: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.split_at_mut(N - 1).0.copy_from_slice(file);
    bytes
}

macro_rules! built_in {
    ($($family:ident),+) => {
        [$(KernelModule {
            name: stringify!($family),
            files: &[concat!(include_str!(concat!("../../ptx/", stringify!($family), ".ptx")), "\0").as_bytes()],
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
            Some(known) if std::ptr::eq(known.files, module.files) || known.files == module.files => Ok(()),
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
        let capability = self.compute_capability()?;
        let mut files = code::candidates(source.files, capability).into_iter();
        let Some(mut file) = files.next() else {
            let oldest = source.files.iter().filter_map(|file| code::Code::of(file)).map(code::Code::sm).min();
            let (module, oldest) = (source.name, oldest.unwrap_or_default());
            return Err(CudaError::NoCode { module, oldest: (oldest / 10, oldest % 10), found: capability }.into());
        };
        let module = loop {
            let mut module = ptr::null_mut();
            // SAFETY: writes one handle; the text is terminated, a cubin knows its size.
            let code = unsafe {
                sys::cuModuleLoadDataEx(&mut module, file.as_ptr().cast(), 0, ptr::null_mut(), ptr::null_mut())
            };
            match files.next() {
                // Newer than the driver: another may do.
                Some(next) if [sys::Code::UNSUPPORTED_PTX_VERSION, sys::Code::NO_BINARY_FOR_GPU].contains(&code) => {
                    file = next;
                }
                _ => {
                    self.check(code, "cuModuleLoadDataEx", Asked::Name(source.name))?;
                    break module;
                }
            }
        };
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
