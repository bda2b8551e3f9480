//! Parameters that are no images: [`Uniform`] and [`Table`].

use crate::{
    item::Item,
    param::{Param, ParamKind},
    params::{FNV_BASIS, ParamLayout, fnv, fnv_u64},
    problem::Problem,
};
use bytemuck::Pod;
use core::{marker::PhantomData, ops::Deref};

/// What a [`Uniform`] or a [`Table`] holds: any [`Pod`] that threads can share. Of a struct of your own, derive it:
///
/// ```
/// #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// pub struct Gain { factor: f32, offset: f32 }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel as a `Uniform` or in a `Table`: it is no `bytemuck::Pod`",
    label = "expected a number, an array, or a struct of them",
    note = "on a struct write `#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]` and `#[repr(C)]`, with feature `derive` of bytemuck"
)]
pub trait PlainData: Pod + Send + Sync {}
#[diagnostic::do_not_recommend]
impl<T: Pod + Send + Sync> PlainData for T {}

/// A value that all items share, passed by value: any [`bytemuck::Pod`]. The body gets the `T` itself.
pub struct Uniform<T>(T);

impl<T> Deref for Uniform<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// A [`Uniform`] in a parameter block.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct UniformRaw<T>(T);
impl<T> UniformRaw<T> {
    /// The value to pass.
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}
// SAFETY: a Pod has no padding and no pointers; its size and alignment go into the hash, and its type's name through
// `Kernel::SIGNATURE`. That fields were reordered does not show: the PTX check of the sources' hash is for that.
unsafe impl<T: Pod> ParamLayout for UniformRaw<T> {
    const HASH: u64 = fnv_u64(fnv_u64(fnv(FNV_BASIS, b"uniform"), size_of::<T>() as u64), align_of::<T>() as u64);
}

impl<T: PlainData> ParamKind for Uniform<T> {
    type Raw = UniformRaw<T>;
}
// SAFETY: no memory.
unsafe impl<I: Item, T: PlainData> Param<I, ()> for Uniform<T> {
    // rust-cuda refuses parameters of no size, and nobody needs one.
    const PROBLEM: Problem = {
        if size_of::<T>() > 0 {
            Problem::NONE
        } else {
            Problem::NONE.text("a kernel's parameter has a size: leave a `Uniform` out that holds nothing")
        }
    };
    #[inline(always)]
    unsafe fn open(raw: &Self::Raw, _: u32) -> Self {
        Self(raw.0)
    }
}

/// `N` values in memory that all items read.
pub struct Table<T, const N: usize> {
    base: *const u8,
    values: PhantomData<T>,
}

// SAFETY: the values are readable from any thread, as `TableRaw::new`'s caller promised.
unsafe impl<T: Sync, const N: usize> Send for Table<T, N> {}

impl<T: PlainData, const N: usize> Table<T, N> {
    /// Value `index`; past the end the last.
    #[inline(always)]
    pub fn get(&self, index: impl Into<u32>) -> T {
        let index = index.into().min(N as u32 - 1);
        let address = self.base.wrapping_add(index as usize * size_of::<T>());
        // SAFETY: value `index` of the table, which whoever launches promised to be readable and not written.
        unsafe { load(address) }
    }
}

#[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
#[inline(always)]
unsafe fn load<T: Pod>(address: *const u8) -> T {
    // SAFETY: as promised by the caller.
    unsafe { address.cast::<T>().read_unaligned() }
}

#[cfg(any(target_arch = "nvptx64", framewright_host_check))]
#[inline(always)]
unsafe fn load<T: Pod>(address: *const u8) -> T {
    let mut value = T::zeroed();
    let to = (&raw mut value).cast::<u8>();
    let mut o = 0;
    while o < size_of::<T>() {
        // SAFETY: as promised by the caller, in words where the type is aligned to words; any bits are a value of a Pod.
        unsafe {
            if align_of::<T>().is_multiple_of(4) {
                to.add(o).cast::<u32>().write(crate::device::load_scalar::<4>(address.wrapping_add(o)));
                o += 4;
            } else if align_of::<T>().is_multiple_of(2) {
                to.add(o).cast::<u16>().write(crate::device::load_scalar::<2>(address.wrapping_add(o)) as u16);
                o += 2;
            } else {
                to.add(o).write(crate::device::load_scalar::<1>(address.wrapping_add(o)) as u8);
                o += 1;
            }
        }
    }
    value
}

crate::param_struct! {
    /// A [`Table`] in a parameter block.
    pub struct TableRaw {
        /// The first value.
        base: *const u8,
    }
}
impl TableRaw {
    /// A table at `base`.
    ///
    /// # Safety
    /// The table's values lie there, aligned, readable where the kernel runs, and nobody writes them until the launch is done.
    pub const unsafe fn new(base: *const u8) -> Self {
        Self { base }
    }
}
// SAFETY: an address; `new`'s caller promised that reading is right from any thread.
unsafe impl Send for TableRaw {}
// SAFETY: as above.
unsafe impl Sync for TableRaw {}

impl<T: PlainData, const N: usize> ParamKind for Table<T, N> {
    type Raw = TableRaw;
    const HASH: u64 = fnv_u64(fnv_u64(fnv(FNV_BASIS, b"table"), size_of::<T>() as u64), N as u64);
}
// SAFETY: reads inside the table.
unsafe impl<I: Item, T: PlainData, const N: usize> Param<I, ()> for Table<T, N> {
    const PROBLEM: Problem = {
        if N >= 1 && size_of::<T>() > 0 {
            Problem::NONE
        } else {
            Problem::NONE.text("a table holds something: at least one value of at least one byte")
        }
    };
    #[inline(always)]
    unsafe fn open(raw: &Self::Raw, _: u32) -> Self {
        Self { base: raw.base, values: PhantomData }
    }
}
