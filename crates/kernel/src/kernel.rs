//! Kernels as types: what `#[kernel]` makes of a function.

use crate::{
    combine::{Bins, Combine, Reduce},
    data::{PlainData, Table, Uniform},
    entry::Entry,
    item::{Domain, Item},
    list::{KindList, ParamList},
    param::ParamKind,
    params::{FNV_BASIS, ParamLayout, fnv_u64},
};
use core::marker::PhantomData;

/// A kernel: parameters, and a function from a place to what belongs there. Made by [`kernel`](macro@crate::kernel).
pub trait Kernel: Sized + 'static {
    /// The function's name.
    const NAME: &'static str;
    /// The module that its PTX entries are in: the package's name, where nothing else was said.
    const MODULE: &'static str;
    /// Whether the function can panic. On the GPU such a kernel remembers its name for the report.
    const PANICS: bool;
    /// Of the function's signature, as text.
    const SIGNATURE: u64;
    /// The parameters' names after the place, for messages.
    const PARAMETERS: &'static [&'static str];
    /// What one call is about.
    type Item: Item;
    /// The parameters after the place.
    type Params: ParamList<Self::Item, Self::Given> + Send;
    /// What a call returns for each parameter.
    type Given;
    /// One call.
    fn run(params: &mut Self::Params, at: &Self::Item) -> Self::Given;
}

/// A kernel that is compiled for the GPU.
#[diagnostic::on_unimplemented(
    message = "the kernel `{Self}` is not compiled for the GPU",
    label = "expected a combination that the kernel's `instances(…)` lists",
    note = "PTX entries cannot be generic: add `name = <…>` to `#[kernel(instances(…))]`, or run it on the CPU"
)]
pub trait Instance: Kernel {
    /// The PTX entry.
    const ENTRY: &'static Entry;
}

/// What a kernel's parameter `P` is launched with: `&Image` for `In`, `&mut Image` for `Out`, and so on. The host's crate
/// says what does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for the kernel's parameter `{P}`",
    label = "expected what belongs to `{P}`",
    note = "`In<F>` takes `&Image<F>`, `Out<F>` and `InOut<F>` take `&mut Image<F>` (or views, crops and queued images)",
    note = "`Table<T, N>` takes `&[T; N]`, `Uniform<T>` a `T`, `Reduce<T>` a `&mut T`, `Bins<N>` a `&mut [u64; N]`"
)]
pub trait Arg<P: ParamKind> {}
impl<T: PlainData> Arg<Uniform<T>> for T {}
impl<T: PlainData, const N: usize> Arg<Table<T, N>> for &[T; N] {}
impl<T: Combine> Arg<Reduce<T>> for &mut T {}
impl<const N: usize> Arg<Bins<N>> for &mut [u64; N] {}

/// A kernel with what to launch it with: made by the function of the kernel's name, run by an executor.
#[must_use = "a call does nothing until it is launched"]
pub struct Call<K, A> {
    /// What the launch passes, a [list](crate::list).
    pub args: A,
    /// The part to compute; all where none is given.
    pub crop: Option<framewright_core::Rect>,
    kernel: PhantomData<fn() -> K>,
}

impl<K, A> Call<K, A> {
    /// A call of `K`.
    pub const fn new(args: A) -> Self {
        Self { args, crop: None, kernel: PhantomData }
    }

    /// Computes only this part of the images. What is read stays whole, so that the result is what the whole launch would
    /// give there; an `Out` image is of the part's size, and other images are changed only there.
    pub fn crop(mut self, part: framewright_core::Rect) -> Self {
        self.crop = Some(part);
        self
    }
}

impl<K: Kernel, A> core::fmt::Debug for Call<K, A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "call of {}", K::NAME)
    }
}

/// Everything that one launch passes to the device by value.
#[repr(C)]
pub struct Launch<K: Kernel> {
    /// Which pixels.
    pub domain: Domain,
    /// The parameters.
    pub args: <K::Params as KindList>::Raw,
}

impl<K: Kernel> Clone for Launch<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K: Kernel> Copy for Launch<K> {}

// SAFETY: repr(C); the parts' hashes, the parameters' offset and the size go into the hash.
unsafe impl<K: Kernel> ParamLayout for Launch<K> {
    const HASH: u64 = {
        let hash = fnv_u64(fnv_u64(FNV_BASIS, Domain::HASH), <K::Params as KindList>::HASH);
        let hash = fnv_u64(hash, K::SIGNATURE);
        let hash = fnv_u64(hash, core::mem::offset_of!(Self, args) as u64);
        fnv_u64(hash, size_of::<Self>() as u64)
    };
}
