//! The list of a module's entries, as a host sees it.

/// One entry of a PTX module and the body behind it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The symbol.
    pub name: &'static str,
    /// The PTX module that it is in.
    pub family: &'static str,
    /// The symbol of the hash of its parameter.
    pub hash_symbol: &'static str,
    /// [`ParamLayout::HASH`](crate::ParamLayout::HASH) of its one parameter.
    pub params_hash: u64,
    /// Bytes of its one parameter.
    pub params_size: usize,
    /// Runs on the CPU what a grid would run: parameters, grid, block.
    ///
    /// # Safety
    /// As [`Launch::run_grid`](crate::Launch::run_grid).
    #[cfg(not(target_arch = "nvptx64"))]
    pub run: unsafe fn(params: *const u8, grid: [u32; 3], block: [u32; 3]),
}

/// Threads of a block on the GPU: a warp from left to right, and this many warps from top to bottom.
pub const WARPS: u32 = 4;
/// Threads of a warp.
pub const LANES: u32 = 32;

/// Exports the kernels of one family, which is one PTX module: each line makes a PTX entry `NAME`, the symbol
/// `NAME_PARAMS_HASH`, and a line of the host's `ENTRIES`.
///
/// Entries cannot be generic, so each line names one combination; the body's [`NamedEntry`] must say the same names.
#[macro_export]
macro_rules! entries {
    (family $family:literal; $($(#[$doc:meta])* $name:ident, $hash:ident = $body:ty;)+) => {
        /// The entries of this family's PTX module.
        pub const ENTRIES: &[$crate::Entry] = &[$($crate::Entry {
            name: stringify!($name),
            family: $family,
            hash_symbol: stringify!($hash),
            params_hash: <$crate::Launch<$body> as $crate::ParamLayout>::HASH,
            params_size: core::mem::size_of::<$crate::Launch<$body>>(),
            #[cfg(not(target_arch = "nvptx64"))]
            run: $crate::Launch::<$body>::run_grid,
        }),+];
        $(const _: () = assert!(
            $crate::entry::same(<$body as $crate::entry::NamedEntry>::ENTRY, stringify!($name))
                && $crate::entry::same(<$body as $crate::entry::NamedEntry>::FAMILY, $family),
            "a body's NamedEntry names the entry and the family that export it"
        );)+
        #[cfg(target_arch = "nvptx64")]
        mod ptx_entries {
            use super::*;
            $(
                /// The hash of the parameter block, compared when the module loads.
                #[unsafe(no_mangle)]
                #[used]
                pub static $hash: u64 = <$crate::Launch<$body> as $crate::ParamLayout>::HASH;

                $(#[$doc])*
                ///
                /// # Safety
                /// Launched with blocks of 32 x 4 threads on memory that the parameters describe.
                #[unsafe(no_mangle)]
                pub unsafe extern "ptx-kernel" fn $name(launch: $crate::Launch<$body>) {
                    // SAFETY: as promised by whoever launches.
                    unsafe { $crate::device::run(&launch) }
                }
            )+
        }
    };
}

/// Whether two names are the same, when compiling.
pub const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// The PTX entry of a body.
pub trait NamedEntry: crate::Body {
    /// The symbol.
    const ENTRY: &'static str;
    /// The module that the entry is in.
    const FAMILY: &'static str;
}
