//! The list of a module's entries, as a host sees it.

use crate::{
    kernel::{Instance, Kernel, Launch},
    params::ParamLayout,
};

/// One entry of a PTX module and the kernel behind it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The symbol.
    pub name: &'static str,
    /// The PTX module that it is in.
    pub module: &'static str,
    /// The symbol of the hash of its parameter.
    pub hash_symbol: &'static str,
    /// [`ParamLayout::HASH`] of its one parameter.
    pub params_hash: u64,
    /// Bytes of its one parameter.
    pub params_size: usize,
    /// Runs on the CPU what a grid would run: parameters, grid, block.
    ///
    /// # Safety
    /// As [`Launch::run_grid`].
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    pub run: unsafe fn(params: *const u8, grid: [u32; 3], block: [u32; 3]),
}

impl Entry {
    /// The entry `name` of kernel `K`.
    pub const fn of<K: Kernel>(name: &'static str, hash_symbol: &'static str) -> Self {
        Self {
            name,
            module: K::MODULE,
            hash_symbol,
            params_hash: Launch::<K>::HASH,
            params_size: size_of::<Launch<K>>(),
            #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
            run: Launch::<K>::run_grid,
        }
    }

    /// The entry of `K`.
    pub const fn instance<K: Instance>() -> Self {
        *K::ENTRY
    }
}

/// Lists kernels' entries for the host: `kernels! { pub ENTRIES: invert, convert<Nv12, Bgr8> }`.
#[macro_export]
macro_rules! kernels {
    ($(#[$meta:meta])* $vis:vis $name:ident: $($kernel:ty),+ $(,)?) => {
        $(#[$meta])*
        $vis const $name: &[$crate::Entry] = &[$($crate::Entry::instance::<$kernel>()),+];
    };
}

/// Defines what happens when a kernel of this crate panics on the GPU: the host is told which and where. Once in the package
/// that is compiled to PTX, and in none that it depends on.
///
/// With feature `rust-cuda` it is empty: `cuda_std` brings a handler of its own, which stops the launch and tells nothing.
#[cfg(not(feature = "rust-cuda"))]
#[macro_export]
macro_rules! panic_handler {
    () => {
        #[cfg(target_arch = "nvptx64")]
        #[panic_handler]
        fn framewright_panic(info: &::core::panic::PanicInfo<'_>) -> ! {
            $crate::device::panicked(info)
        }
    };
}
/// Empty: `cuda_std` has the handler of panics, which stops the launch and tells nothing.
#[cfg(feature = "rust-cuda")]
#[macro_export]
macro_rules! panic_handler {
    () => {};
}

/// Threads of a block on the GPU: a warp from left to right, and this many warps from top to bottom.
pub const WARPS: u32 = 4;
/// Threads of a warp.
pub const LANES: u32 = 32;
