//! The layout of parameter blocks as a number, so that a stale PTX module is refused and never launched.
//!
//! PTX is untyped: a module compiled for another parameter layout would read every later field from the wrong place. Each
//! entry therefore exports the hash of its parameter type, and the host compares it with its own when the module loads.

/// Data that is passed to kernels by value: `#[repr(C)]`, the same on host and device.
///
/// Implement it with [`param_struct!`](crate::param_struct), which derives the hash from the field names, their types'
/// hashes and their offsets.
///
/// # Safety
/// `HASH` must differ when the layout differs, and the type must have one layout on all targets (`#[repr(C)]`, no `usize`).
pub unsafe trait ParamLayout: Copy {
    /// FNV-1a over names, types, sizes and offsets.
    const HASH: u64;
}

/// The offset basis of FNV-1a.
pub const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// Goes on with an FNV-1a hash over `bytes`.
pub const fn fnv(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

/// Goes on with an FNV-1a hash over a number.
pub const fn fnv_u64(hash: u64, value: u64) -> u64 {
    fnv(hash, &value.to_le_bytes())
}

macro_rules! scalars {
    ($($t:ty),*) => {$(
        // SAFETY: the name of a primitive number stands for its one layout.
        unsafe impl ParamLayout for $t {
            const HASH: u64 = fnv(FNV_BASIS, stringify!($t).as_bytes());
        }
    )*};
}
scalars!(u8, u16, u32, u64, i32, i64, f32);

// SAFETY: pointers have 8 bytes on every target that we compile for; the hash tells const from mut.
unsafe impl ParamLayout for *const u8 {
    const HASH: u64 = fnv(FNV_BASIS, b"*const u8");
}
// SAFETY: as above.
unsafe impl ParamLayout for *mut u8 {
    const HASH: u64 = fnv(FNV_BASIS, b"*mut u8");
}

// SAFETY: an array is N elements without padding between them; both go into the hash.
unsafe impl<T: ParamLayout, const N: usize> ParamLayout for [T; N] {
    const HASH: u64 = fnv_u64(fnv_u64(FNV_BASIS, T::HASH), N as u64);
}

/// Defines a parameter struct: `#[repr(C)]` and `Copy`, with its [`ParamLayout`].
///
/// ```
/// framewright_kernel::param_struct! {
///     /// How much to add to each channel.
///     pub struct Offsets {
///         /// In levels.
///         pub add: i32,
///         /// Which channels.
///         pub mask: u32,
///     }
/// }
/// use framewright_kernel::ParamLayout;
/// assert_ne!(Offsets::HASH, 0);
/// ```
#[macro_export]
macro_rules! param_struct {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<$($g:ident : $bound:path),+>)? {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $t:ty),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name $(<$($g),+>)? {
            $($(#[$field_meta])* $field_vis $field: $t),+
        }
        // SAFETY: the struct is repr(C), and every field is ParamLayout; names, types and offsets go into the hash.
        unsafe impl $(<$($g: $bound + $crate::params::ParamLayout),+>)? $crate::params::ParamLayout
            for $name $(<$($g),+>)?
        {
            const HASH: u64 = {
                let hash = $crate::params::fnv($crate::params::FNV_BASIS, stringify!($name).as_bytes());
                $(
                    let hash = $crate::params::fnv(hash, stringify!($field).as_bytes());
                    let hash = $crate::params::fnv_u64(hash, <$t as $crate::params::ParamLayout>::HASH);
                    let hash = $crate::params::fnv_u64(hash, core::mem::offset_of!(Self, $field) as u64);
                )+
                $crate::params::fnv_u64(hash, core::mem::size_of::<Self>() as u64)
            };
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    mod one {
        crate::param_struct! {
            #[allow(unreachable_pub, dead_code)]
            pub struct P { a: u32, b: i64 }
        }
    }
    mod flipped {
        crate::param_struct! {
            #[allow(unreachable_pub, dead_code)]
            pub struct P { a: i32, b: i64 }
        }
    }

    #[test]
    fn a_flipped_field_type_changes_the_hash() {
        assert_ne!(one::P::HASH, flipped::P::HASH);
        assert_ne!(<[u32; 2]>::HASH, <[u32; 3]>::HASH);
    }
}
