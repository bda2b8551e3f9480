//! Lists of parameters, as types: what `#[kernel]` makes of a function's parameters. Nobody writes them by hand.

use crate::{
    item::{Domain, Item},
    param::{Param, ParamKind},
    params::{FNV_BASIS, ParamLayout, fnv_u64},
    place::Reach,
    problem::Problem,
};

/// A parameter and the rest.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pair<A, B>(pub A, pub B);

/// The last parameter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Last<A>(pub A);

// SAFETY: repr(C); both parts' hashes, the second's offset and the size go into the hash.
unsafe impl<A: ParamLayout, B: ParamLayout> ParamLayout for Pair<A, B> {
    const HASH: u64 = {
        let hash = fnv_u64(fnv_u64(FNV_BASIS, A::HASH), B::HASH);
        fnv_u64(fnv_u64(hash, core::mem::offset_of!(Self, 1) as u64), size_of::<Self>() as u64)
    };
}
// SAFETY: repr(C) around one.
unsafe impl<A: ParamLayout> ParamLayout for Last<A> {
    const HASH: u64 = fnv_u64(FNV_BASIS, A::HASH);
}

/// The kinds of a kernel's parameters.
pub trait KindList: 'static {
    /// What the launch passes for them.
    type Raw: ParamLayout + Send + Sync;
    /// Of the layout and what it means.
    const HASH: u64;
}
impl<A: ParamKind, B: KindList> KindList for Pair<A, B> {
    type Raw = Pair<A::Raw, B::Raw>;
    const HASH: u64 = fnv_u64(fnv_u64(fnv_u64(FNV_BASIS, A::HASH), B::HASH), Self::Raw::HASH);
}
impl<A: ParamKind> KindList for Last<A> {
    type Raw = Last<A::Raw>;
    const HASH: u64 = fnv_u64(fnv_u64(FNV_BASIS, A::HASH), Self::Raw::HASH);
}

/// Parameters that a kernel on items `I` can have that returns `G`. Sealed by what executors need.
///
/// # Safety
/// As [`Param`], for each.
#[doc(hidden)]
pub unsafe trait ParamList<I: Item, G>: KindList + Sized {
    /// Bytes of shared memory a warp stages through.
    const STAGE: u32;
    /// Bytes of shared memory a thread block needs beside.
    const SHARED: u32;
    /// Whether something is combined over all items.
    const COMBINES: bool;
    /// The first parameter that does not fit, by its index.
    const PROBLEM: (usize, Problem);
    /// # Safety
    /// As [`Param::open`].
    unsafe fn open(raw: &Self::Raw, shared: u32) -> Self;
    fn reach(&self, x: u32, y: u32) -> Reach;
    /// # Safety
    /// As [`Param::store`].
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    unsafe fn store(&self, domain: &Domain, x: u32, y: u32, given: &G);
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    fn merge(&mut self, later: &Self);
    /// # Safety
    /// As [`Param::publish`].
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    unsafe fn publish(&self, raw: &Self::Raw);
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    unsafe fn begin(&self);
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    unsafe fn put(stage: u32, index: u32, given: &G);
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    unsafe fn flush(&self, domain: &Domain, stage: u32, x: u32, y: u32);
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    unsafe fn finish(&self, raw: &Self::Raw);
}

// SAFETY: each part keeps its promise.
unsafe impl<I: Item, G, H, A: Param<I, G>, B: ParamList<I, H>> ParamList<I, Pair<G, H>> for Pair<A, B> {
    const STAGE: u32 = A::STAGE + B::STAGE;
    const SHARED: u32 = A::SHARED + B::SHARED;
    const COMBINES: bool = A::COMBINES || B::COMBINES;
    const PROBLEM: (usize, Problem) =
        if A::PROBLEM.is_some() { (0, A::PROBLEM) } else { (B::PROBLEM.0 + 1, B::PROBLEM.1) };
    #[inline(always)]
    unsafe fn open(raw: &Self::Raw, shared: u32) -> Self {
        // SAFETY: as promised by the caller; the rest's shared memory comes after this one's.
        unsafe { Self(A::open(&raw.0, shared), B::open(&raw.1, shared + A::SHARED)) }
    }
    #[inline(always)]
    fn reach(&self, x: u32, y: u32) -> Reach {
        self.0.reach(x, y).max(self.1.reach(x, y))
    }
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    #[inline(always)]
    unsafe fn store(&self, domain: &Domain, x: u32, y: u32, given: &Pair<G, H>) {
        // SAFETY: as promised by the caller.
        unsafe {
            self.0.store(domain, x, y, &given.0);
            self.1.store(domain, x, y, &given.1);
        }
    }
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    fn merge(&mut self, later: &Self) {
        self.0.merge(&later.0);
        self.1.merge(&later.1);
    }
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    unsafe fn publish(&self, raw: &Self::Raw) {
        // SAFETY: as promised by the caller.
        unsafe {
            self.0.publish(&raw.0);
            self.1.publish(&raw.1);
        }
    }
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn begin(&self) {
        // SAFETY: as promised by the caller.
        unsafe {
            self.0.begin();
            self.1.begin();
        }
    }
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn put(stage: u32, index: u32, given: &Pair<G, H>) {
        // SAFETY: as promised by the caller.
        unsafe {
            A::put(stage, index, &given.0);
            B::put(stage + A::STAGE, index, &given.1);
        }
    }
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn flush(&self, domain: &Domain, stage: u32, x: u32, y: u32) {
        // SAFETY: as promised by the caller.
        unsafe {
            self.0.flush(domain, stage, x, y);
            self.1.flush(domain, stage + A::STAGE, x, y);
        }
    }
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn finish(&self, raw: &Self::Raw) {
        // SAFETY: as promised by the caller.
        unsafe {
            self.0.finish(&raw.0);
            self.1.finish(&raw.1);
        }
    }
}

// SAFETY: the one part keeps its promise.
unsafe impl<I: Item, G, A: Param<I, G>> ParamList<I, Last<G>> for Last<A> {
    const STAGE: u32 = A::STAGE;
    const SHARED: u32 = A::SHARED;
    const COMBINES: bool = A::COMBINES;
    const PROBLEM: (usize, Problem) = (0, A::PROBLEM);
    #[inline(always)]
    unsafe fn open(raw: &Self::Raw, shared: u32) -> Self {
        // SAFETY: as promised by the caller.
        Self(unsafe { A::open(&raw.0, shared) })
    }
    #[inline(always)]
    fn reach(&self, x: u32, y: u32) -> Reach {
        self.0.reach(x, y)
    }
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    #[inline(always)]
    unsafe fn store(&self, domain: &Domain, x: u32, y: u32, given: &Last<G>) {
        // SAFETY: as promised by the caller.
        unsafe { self.0.store(domain, x, y, &given.0) }
    }
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    fn merge(&mut self, later: &Self) {
        self.0.merge(&later.0);
    }
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    unsafe fn publish(&self, raw: &Self::Raw) {
        // SAFETY: as promised by the caller.
        unsafe { self.0.publish(&raw.0) }
    }
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn begin(&self) {
        // SAFETY: as promised by the caller.
        unsafe { self.0.begin() }
    }
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn put(stage: u32, index: u32, given: &Last<G>) {
        // SAFETY: as promised by the caller.
        unsafe { A::put(stage, index, &given.0) }
    }
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn flush(&self, domain: &Domain, stage: u32, x: u32, y: u32) {
        // SAFETY: as promised by the caller.
        unsafe { self.0.flush(domain, stage, x, y) }
    }
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn finish(&self, raw: &Self::Raw) {
        // SAFETY: as promised by the caller.
        unsafe { self.0.finish(&raw.0) }
    }
}
