//! `asm!` where the host only checks the device code (`cargo xtask rust-cuda`): it assembles nothing and checks the operands.
//!
//! Inputs are evaluated and must fit their register, outputs are assigned, and it takes an `unsafe` block, all as in the real one.

/// What may be in a register of `BITS` bits, as rustc's NVPTX target has it.
pub(super) trait Register<const BITS: u32>: Copy {
    /// Any value, for an output.
    fn any() -> Self;
}
macro_rules! registers {
    ($($bits:literal: $($t:ty),+;)+) => {$($(
        impl Register<$bits> for $t {
            fn any() -> Self {
                core::hint::black_box(<$t>::default())
            }
        }
    )+)+};
}
registers! {
    16: i16, u16;
    32: i32, u32, f32;
    64: i64, u64, f64;
}
impl<T> Register<64> for *const T {
    fn any() -> Self {
        core::hint::black_box(core::ptr::null())
    }
}
impl<T> Register<64> for *mut T {
    fn any() -> Self {
        core::hint::black_box(core::ptr::null_mut())
    }
}

/// # Safety
/// None here; the assembler's is the caller's to know.
pub(super) unsafe fn input<const BITS: u32, T: Register<BITS>>(value: T) {
    core::hint::black_box(value);
}

/// # Safety
/// As [`input`].
pub(super) unsafe fn output<const BITS: u32, T: Register<BITS>>() -> T {
    T::any()
}

/// # Safety
/// As [`input`].
pub(super) unsafe fn executed() {}

macro_rules! asm {
    ($($rest:tt)*) => {{
        $crate::device::host_check::executed();
        $crate::device::host_check::operands!($($rest)*);
    }};
}
macro_rules! operands {
    ($line:literal $(, $($rest:tt)*)?) => { $($crate::device::host_check::operands!($($rest)*);)? };
    (in(reg16) $value:expr $(, $($rest:tt)*)?) => { $crate::device::host_check::operand!(16, $value $(, $($rest)*)?) };
    (in(reg32) $value:expr $(, $($rest:tt)*)?) => { $crate::device::host_check::operand!(32, $value $(, $($rest)*)?) };
    (in(reg64) $value:expr $(, $($rest:tt)*)?) => { $crate::device::host_check::operand!(64, $value $(, $($rest)*)?) };
    (out(reg16) $place:ident $(, $($rest:tt)*)?) => { $crate::device::host_check::result!(16, $place $(, $($rest)*)?) };
    (out(reg32) $place:ident $(, $($rest:tt)*)?) => { $crate::device::host_check::result!(32, $place $(, $($rest)*)?) };
    (out(reg64) $place:ident $(, $($rest:tt)*)?) => { $crate::device::host_check::result!(64, $place $(, $($rest)*)?) };
    (const $value:expr $(, $($rest:tt)*)?) => {
        let _: usize = const { $value };
        $($crate::device::host_check::operands!($($rest)*);)?
    };
    (options($($option:ident),+)) => {};
}
macro_rules! operand {
    ($bits:literal, $value:expr $(, $($rest:tt)*)?) => {
        $crate::device::host_check::input::<$bits, _>($value);
        $($crate::device::host_check::operands!($($rest)*);)?
    };
}
macro_rules! result {
    ($bits:literal, $place:ident $(, $($rest:tt)*)?) => {
        $place = $crate::device::host_check::output::<$bits, _>();
        $($crate::device::host_check::operands!($($rest)*);)?
    };
}
pub(super) use {asm, operand, operands, result};
