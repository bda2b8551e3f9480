//! The kinds of parameters, and what executors do with each.

use crate::{item::Domain, item::Item, params::ParamLayout, place::Reach, problem::Problem};

/// A kind of parameter: [`In`](crate::In), [`Out`](crate::Out), [`InOut`](crate::InOut), [`Table`](crate::Table),
/// [`Uniform`](crate::Uniform), [`Reduce`](crate::Reduce) or [`Bins`](crate::Bins).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no parameter of a kernel",
    label = "expected `In`, `Out`, `InOut`, `Table`, `Uniform`, `Reduce` or `Bins`"
)]
pub trait ParamKind: 'static {
    /// What a launch passes for it.
    type Raw: ParamLayout + Send + Sync;
    /// Changes when the kind means something else by the same bytes.
    const HASH: u64 = <Self::Raw as ParamLayout>::HASH;
}

/// A parameter of a kernel on items `I` for which the kernel's function returns `G` a call: `()` where it is not written.
///
/// # Safety
/// For executors: the methods' promises, and `reach` covers every vector load of an item.
#[diagnostic::on_unimplemented(
    message = "a kernel on `{I}` cannot return `{G}` for `{Self}`",
    label = "the value returned for this parameter has the wrong type",
    note = "on `Pixel` an output of one plane takes its sample (`u8` for `Gray8`, `[u8; 3]` for `Bgr8`), and one of several planes a tuple of them",
    note = "on `Block<W, H>` it takes rows of samples, `[[S; W]; H]`, or `Packed<WORDS, H>`, and of several planes a tuple; subsampled planes have fewer"
)]
#[doc(hidden)]
pub unsafe trait Param<I: Item, G>: ParamKind + Sized {
    /// Bytes of shared memory a warp stages through; a multiple of 16.
    const STAGE: u32 = 0;
    /// Bytes of shared memory a thread block needs beside; a multiple of 16.
    const SHARED: u32 = 0;
    /// Whether something is combined over all items.
    const COMBINES: bool = false;
    /// Why the kernel cannot be, where the types alone do not say.
    const PROBLEM: Problem = Problem::NONE;

    /// # Safety
    /// `raw` describes memory that this parameter may use until the launch is done.
    unsafe fn open(raw: &Self::Raw, shared: u32) -> Self;

    /// What the loads of the item at `x`, `y` may assume.
    #[inline(always)]
    fn reach(&self, _x: u32, _y: u32) -> Reach {
        Reach::Aligned
    }

    /// Stores the part of a value that lies in the domain.
    ///
    /// # Safety
    /// Nobody else uses the pixels of this item in what is written.
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    #[inline(always)]
    unsafe fn store(&self, _domain: &Domain, _x: u32, _y: u32, _given: &G) {}

    /// Takes in what a later part of the launch combined.
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    fn merge(&mut self, _later: &Self) {}

    /// Writes what was combined to where the launch says: for drivers that stand in for one.
    ///
    /// # Safety
    /// As [`Param::open`].
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    unsafe fn publish(&self, _raw: &Self::Raw) {}

    /// Prepares shared memory; a barrier follows.
    ///
    /// # Safety
    /// All threads of a block call it.
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn begin(&self) {}

    /// Puts item `index` of the warp's row into its staging memory.
    ///
    /// # Safety
    /// `stage` are [`Param::STAGE`] bytes of shared memory of the warp.
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn put(_stage: u32, _index: u32, _given: &G) {}

    /// Stores the warp's staged row of items, whose first is at `x`, `y`.
    ///
    /// # Safety
    /// All lanes of the warp call it, after a barrier.
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn flush(&self, _domain: &Domain, _stage: u32, _x: u32, _y: u32) {}

    /// Combines over threads and blocks.
    ///
    /// # Safety
    /// All threads of a block call it, after all items.
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn finish(&self, _raw: &Self::Raw) {}
}
