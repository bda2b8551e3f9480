//! Parameters that combine over all items: [`Reduce`] and [`Bins`].

#[cfg(any(target_arch = "nvptx64", framewright_host_check))]
use crate::device;
use crate::{
    item::Item,
    param::{Param, ParamKind},
    params::{FNV_BASIS, fnv, fnv_u64},
    problem::Problem,
};
use bytemuck::Pod;
#[cfg(any(target_arch = "nvptx64", framewright_host_check))]
use core::marker::PhantomData;

/// Values that combine to one: a sum, a minimum, or a struct of your own.
///
/// `combine` must be associative and commutative; executors combine in an order that depends on nothing but the image's size and the
/// executor, so integers give the same everywhere and floats the same on every run.
///
/// ```
/// use framewright_kernel::Combine;
///
/// /// How many, and their sum.
/// #[derive(Clone, Copy, PartialEq, Debug, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// struct Mean { count: u64, sum: u64 }
///
/// impl Combine for Mean {
///     const IDENTITY: Self = Self { count: 0, sum: 0 };
///     fn combine(self, other: Self) -> Self {
///         Self { count: self.count + other.count, sum: self.sum + other.sum }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a kernel cannot reduce to `{Self}`: nothing says how two of them combine",
    label = "expected `Sum<…>`, `Min<…>`, `Max<…>`, or a type of yours with `Combine`",
    note = "a sum of numbers is `Reduce<Sum<u64>>`: the kernel does `sum.add(Sum(value))`, the launch takes `&mut Sum<u64>`"
)]
pub trait Combine: Pod + Send + Sync {
    /// What changes nothing when combined.
    const IDENTITY: Self;
    /// Two values as one.
    fn combine(self, other: Self) -> Self;
}

/// A sum; integers wrap.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(transparent)]
pub struct Sum<T>(pub T);
/// A minimum.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(transparent)]
pub struct Min<T>(pub T);
/// A maximum.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(transparent)]
pub struct Max<T>(pub T);

macro_rules! combines {
    ($($name:ident: [$($t:ty, $identity:expr, |$a:ident, $b:ident| $combine:expr;)+])+) => {$(
        // SAFETY: transparent around a Zeroable.
        unsafe impl<T: bytemuck::Zeroable> bytemuck::Zeroable for $name<T> {}
        // SAFETY: transparent around a Pod.
        unsafe impl<T: Pod> Pod for $name<T> {}
        $(impl Combine for $name<$t> {
            const IDENTITY: Self = Self($identity);
            #[inline(always)]
            fn combine(self, other: Self) -> Self {
                let ($a, $b) = (self.0, other.0);
                Self($combine)
            }
        })+
    )+};
}
combines! {
    Sum: [
        u32, 0, |a, b| a.wrapping_add(b);
        u64, 0, |a, b| a.wrapping_add(b);
        i32, 0, |a, b| a.wrapping_add(b);
        i64, 0, |a, b| a.wrapping_add(b);
        f32, 0.0, |a, b| a + b;
        f64, 0.0, |a, b| a + b;
    ]
    Min: [
        u32, u32::MAX, |a, b| if b < a { b } else { a };
        i32, i32::MAX, |a, b| if b < a { b } else { a };
        f32, f32::INFINITY, |a, b| if b < a { b } else { a };
    ]
    Max: [
        u32, 0, |a, b| if b > a { b } else { a };
        i32, i32::MIN, |a, b| if b > a { b } else { a };
        f32, f32::NEG_INFINITY, |a, b| if b > a { b } else { a };
    ]
}

/// A value that the executor combines over all items; the launch writes the result.
///
/// Blocks reach past the edges: there, ask [`Block::covers`](crate::Block::covers) before adding.
pub struct Reduce<T> {
    value: T,
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    shared: u32,
}

impl<T: Combine> Reduce<T> {
    /// Combines a value in.
    #[inline(always)]
    pub fn add(&mut self, value: T) {
        self.value = self.value.combine(value);
    }

    /// What was combined so far: for executors.
    #[doc(hidden)]
    pub fn value(&self) -> T {
        self.value
    }
}

crate::param_struct! {
    /// A [`Reduce`] in a parameter block; all null where the executor reads the value itself.
    pub struct ReduceRaw {
        /// One value a thread block, at most [`ReduceRaw::PARTIALS`].
        pub partials: *mut u8,
        /// How many thread blocks are done; zero before the launch.
        pub done: *mut u8,
        /// The result.
        pub result: *mut u8,
    }
}
impl ReduceRaw {
    /// Thread blocks of a launch that combines, at most.
    pub const PARTIALS: u32 = 1024;
    /// For executors that read the value themselves.
    pub const NONE: Self =
        Self { partials: core::ptr::null_mut(), done: core::ptr::null_mut(), result: core::ptr::null_mut() };
}
// SAFETY: addresses that only unsafe functions of executors use.
unsafe impl Send for ReduceRaw {}
// SAFETY: as above.
unsafe impl Sync for ReduceRaw {}

impl<T: Combine> ParamKind for Reduce<T> {
    type Raw = ReduceRaw;
    const HASH: u64 = fnv_u64(fnv(FNV_BASIS, b"reduce"), size_of::<T>() as u64);
}
// SAFETY: writes what the launch named.
unsafe impl<I: Item, T: Combine> Param<I, ()> for Reduce<T> {
    const COMBINES: bool = true;
    const PROBLEM: Problem = {
        let size = size_of::<T>() as u32;
        if size.is_multiple_of(4) && size >= 4 && size <= 64 {
            Problem::NONE
        } else {
            Problem::NONE.text("a reduced value has 4 to 64 bytes, a multiple of 4, and this one has ").number(size)
        }
    };
    // One value a thread, after the items.
    const SHARED: u32 = (128 * size_of::<T>() as u32).next_multiple_of(16);
    #[inline(always)]
    unsafe fn open(_: &Self::Raw, _shared: u32) -> Self {
        Self {
            value: T::IDENTITY,
            #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
            shared: _shared,
        }
    }
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    fn merge(&mut self, later: &Self) {
        self.value = self.value.combine(later.value);
    }
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    unsafe fn publish(&self, raw: &Self::Raw) {
        // SAFETY: as promised by the caller.
        unsafe { raw.result.cast::<T>().write_unaligned(self.value) }
    }
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn finish(&self, raw: &Self::Raw) {
        // SAFETY: all threads of the block come here, with shared memory for a value each.
        unsafe { device::reduce(self.value, raw, self.shared) }
    }
}

/// `N` counters, a histogram; the launch writes the counts.
///
/// Blocks reach past the edges: there, ask [`Block::covers`](crate::Block::covers) before counting.
pub struct Bins<const N: usize> {
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    counts: [u64; N],
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    counts: PhantomData<[u32; N]>,
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    shared: u32,
}

impl<const N: usize> Bins<N> {
    /// Counts one in bin `index`; nothing when there is no such bin.
    #[inline(always)]
    pub fn count(&mut self, index: impl Into<u32>) {
        let index = index.into();
        #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
        if let Some(count) = self.counts.get_mut(index as usize) {
            *count += 1;
        }
        #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
        if index < N as u32 {
            // SAFETY: a counter of this block's shared memory.
            unsafe { device::count_shared(self.shared + 4 * index) }
        }
    }

    /// The counts so far: for executors.
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    #[doc(hidden)]
    pub fn counts(&self) -> &[u64; N] {
        &self.counts
    }
}

crate::param_struct! {
    /// [`Bins`] in a parameter block; null where the executor reads the counts itself.
    pub struct BinsRaw {
        /// 64-bit counters, zero before the launch.
        pub counts: *mut u8,
    }
}
impl BinsRaw {
    /// For executors that read the counts themselves.
    pub const NONE: Self = Self { counts: core::ptr::null_mut() };
}
// SAFETY: an address that only unsafe functions of executors use.
unsafe impl Send for BinsRaw {}
// SAFETY: as above.
unsafe impl Sync for BinsRaw {}

impl<const N: usize> ParamKind for Bins<N> {
    type Raw = BinsRaw;
    const HASH: u64 = fnv_u64(fnv(FNV_BASIS, b"bins"), N as u64);
}
// SAFETY: writes what the launch named.
unsafe impl<I: Item, const N: usize> Param<I, ()> for Bins<N> {
    const COMBINES: bool = true;
    const PROBLEM: Problem = {
        if N >= 1 && N <= 8192 {
            Problem::NONE
        } else {
            Problem::NONE.text("a kernel counts in 1 to 8192 bins, and these are ").number(N as u32)
        }
    };
    const SHARED: u32 = (4 * N as u32).next_multiple_of(16);
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    #[inline(always)]
    unsafe fn open(_: &Self::Raw, _: u32) -> Self {
        Self { counts: [0; N] }
    }
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn open(_: &Self::Raw, shared: u32) -> Self {
        Self { counts: PhantomData, shared }
    }
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    fn merge(&mut self, later: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&later.counts) {
            *count += more;
        }
    }
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    unsafe fn publish(&self, raw: &Self::Raw) {
        for (i, count) in self.counts.iter().enumerate() {
            // SAFETY: as promised by the caller.
            unsafe {
                let bin = raw.counts.cast::<u64>().add(i);
                bin.write_unaligned(bin.read_unaligned() + count);
            }
        }
    }
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn begin(&self) {
        // SAFETY: the counters are this block's.
        unsafe { device::zero_shared(self.shared, N as u32) }
    }
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn finish(&self, raw: &Self::Raw) {
        // SAFETY: all threads of the block come here, after a barrier.
        unsafe { device::add_counts(self.shared, N as u32, raw.counts) }
    }
}
