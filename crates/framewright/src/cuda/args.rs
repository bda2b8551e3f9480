//! What kernels are launched with on a GPU.

use super::{
    error::{Asked, CudaError},
    memory::{ContextId, Cuda, address},
    scope::{DeviceSource, DeviceTarget, Queued, Scope, private::Token},
};
use crate::{
    call::{Bound, BoundList, planes_in, planes_out},
    error::Error,
    view::{ImageMut, ImageRef},
};
use bytemuck::Pod;
use framewright_core::{Format, SamePlanes};
use framewright_driver::sys;
use framewright_kernel::{
    Arg, Bins, BinsRaw, Combine, Domain, In, InOut, Out, ParamKind, Reduce, ReduceRaw, Table, TableRaw, Uniform,
    UniformRaw,
    list::{KindList, Last, Pair},
};

/// What a queued image can be passed for, too.
impl<F: Format, G: Format> Arg<In<F>> for &Queued<'_, G> where G::Planes: SamePlanes<F::Planes> {}
impl<F: Format, G: Format> Arg<Out<F>> for Queued<'_, G> where G::Planes: SamePlanes<F::Planes> {}
impl<F: Format, G: Format> Arg<InOut<F>> for Queued<'_, G> where G::Planes: SamePlanes<F::Planes> {}

/// What a kernel in a [`Scope`] can be launched with for parameter `P`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used by a kernel on a GPU for parameter `{P}`",
    label = "expected an image of the parameter's format in GPU memory, or a value or reference that outlives the scope",
    note = "upload a host image first: `scope.upload(&host_image, device_image)` gives a source"
)]
pub trait CudaArg<'scope, P: ParamKind>: Arg<P> {
    #[doc(hidden)]
    type Bound: CudaBound<P>;
    /// A [`Queued`] for what is written.
    #[doc(hidden)]
    type Queued;
    #[doc(hidden)]
    fn bind(self, token: Token) -> (Self::Bound, Self::Queued);
}

/// A [`CudaArg`] as a launch uses it.
#[doc(hidden)]
pub trait CudaBound<P: ParamKind>: Bound<P> {
    /// Checks that an image lies on the launch's device.
    fn check(&self, _parameter: &'static str, _place: ContextId) -> Result<(), CudaError> {
        Ok(())
    }
    /// # Safety
    /// Used while the argument is borrowed, until the scope has waited.
    unsafe fn raw(&self, scope: &Scope<'_, '_>, domain: &Domain) -> Result<P::Raw, Error>;
    /// Queues what follows the launch.
    ///
    /// # Safety
    /// As [`CudaBound::raw`].
    unsafe fn after(self, _scope: &Scope<'_, '_>, _raw: &P::Raw) -> Result<(), Error>
    where
        Self: Sized,
    {
        Ok(())
    }
}

/// No image.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

#[diagnostic::do_not_recommend] // The message is about the argument, not about its planes.
impl<'scope, F: Format, S> CudaArg<'scope, In<F>> for S
where
    S: DeviceSource<'scope> + Arg<In<F>>,
    <S::Format as Format>::Planes: SamePlanes<F::Planes>,
{
    type Bound = ImageRef<'scope, S::Format, Cuda>;
    type Queued = Nothing;
    fn bind(self, token: Token) -> (Self::Bound, Nothing) {
        (self.read(token), Nothing)
    }
}
impl<F: Format, G: Format> CudaBound<In<F>> for ImageRef<'_, G, Cuda>
where
    G::Planes: SamePlanes<F::Planes>,
{
    fn check(&self, image: &'static str, place: ContextId) -> Result<(), CudaError> {
        if self.parts.place == place { Ok(()) } else { Err(CudaError::OtherDevice { image }) }
    }
    unsafe fn raw(&self, _: &Scope<'_, '_>, _: &Domain) -> Result<<In<F> as ParamKind>::Raw, Error> {
        // SAFETY: as promised by the caller.
        Ok(unsafe { planes_in::<F, G, Cuda>(&self.parts) })
    }
}

macro_rules! written {
    ($($kind:ident |$parts:ident, $domain:ident| $raw:expr;)+) => {$(
        #[diagnostic::do_not_recommend] // As above.
        impl<'scope, F: Format, S> CudaArg<'scope, $kind<F>> for S
        where
            S: DeviceTarget<'scope> + Arg<$kind<F>>,
            <S::Format as Format>::Planes: SamePlanes<F::Planes>,
        {
            type Bound = ImageMut<'scope, S::Format, Cuda>;
            type Queued = Queued<'scope, S::Format>;
            fn bind(self, token: Token) -> (Self::Bound, Self::Queued) {
                let image = self.write(token);
                let parts = image.parts;
                (image, Queued::new(parts))
            }
        }
        impl<F: Format, G: Format> CudaBound<$kind<F>> for ImageMut<'_, G, Cuda>
        where
            G::Planes: SamePlanes<F::Planes>,
        {
            fn check(&self, image: &'static str, place: ContextId) -> Result<(), CudaError> {
                if self.parts.place == place { Ok(()) } else { Err(CudaError::OtherDevice { image }) }
            }
            unsafe fn raw(&self, _: &Scope<'_, '_>, $domain: &Domain) -> Result<<$kind<F> as ParamKind>::Raw, Error> {
                let $parts = &self.parts;
                Ok($raw)
            }
        }
    )+};
}
written! {
    Out |parts, domain| planes_out::<F, G, Cuda>(parts, domain);
    // SAFETY: as promised by the caller; an item reads only what it writes.
    InOut |parts, _domain| unsafe { planes_in::<F, G, Cuda>(parts) };
}

impl<'scope, T: Pod + Send + Sync> CudaArg<'scope, Uniform<T>> for T {
    type Bound = T;
    type Queued = Nothing;
    fn bind(self, _: Token) -> (T, Nothing) {
        (self, Nothing)
    }
}
impl<T: Pod + Send + Sync> CudaBound<Uniform<T>> for T {
    unsafe fn raw(&self, _: &Scope<'_, '_>, _: &Domain) -> Result<UniformRaw<T>, Error> {
        Ok(UniformRaw::new(*self))
    }
}

impl<'scope, T: Pod + Send + Sync, const N: usize> CudaArg<'scope, Table<T, N>> for &'scope [T; N] {
    type Bound = Self;
    type Queued = Nothing;
    fn bind(self, _: Token) -> (Self, Nothing) {
        (self, Nothing)
    }
}
impl<T: Pod + Send + Sync, const N: usize> CudaBound<Table<T, N>> for &[T; N] {
    unsafe fn raw(&self, scope: &Scope<'_, '_>, _: &Domain) -> Result<TableRaw, Error> {
        let bytes = size_of::<[T; N]>();
        let memory = scope.buffer(bytes as u64)?;
        let device = scope.stream().device();
        let _current = device.inner.enter()?;
        // SAFETY: as many bytes as were allocated, from values that are borrowed until the scope has waited.
        let code =
            unsafe { sys::cuMemcpyHtoDAsync_v2(memory, self.as_ptr().cast(), bytes, scope.stream().inner.raw()) };
        device.inner.check(code, "cuMemcpyHtoDAsync", Asked::Bytes(bytes as u64))?;
        // SAFETY: the values are copied there before the launch, and the memory lives to the scope's end.
        Ok(unsafe { TableRaw::new(address(memory)) })
    }
}

/// Zeroed device memory that lives to the scope's end.
fn zeroed(scope: &Scope<'_, '_>, bytes: usize) -> Result<u64, Error> {
    let memory = scope.buffer(bytes as u64)?;
    let device = scope.stream().device();
    let _current = device.inner.enter()?;
    // SAFETY: as many bytes as were allocated.
    let code = unsafe { sys::cuMemsetD8Async(memory, 0, bytes, scope.stream().inner.raw()) };
    device.inner.check(code, "cuMemsetD8Async", Asked::Bytes(bytes as u64))?;
    Ok(memory)
}

/// Queues a copy to the host.
///
/// # Safety
/// The bytes are device memory that lives to the scope's end, and host memory that is borrowed until then.
unsafe fn fetch(scope: &Scope<'_, '_>, to: *mut u8, from: *mut u8, bytes: usize) -> Result<(), Error> {
    let device = scope.stream().device();
    let _current = device.inner.enter()?;
    // SAFETY: as promised by the caller.
    let code = unsafe { sys::cuMemcpyDtoHAsync_v2(to.cast(), from as u64, bytes, scope.stream().inner.raw()) };
    device.inner.check(code, "cuMemcpyDtoHAsync", Asked::Bytes(bytes as u64))
}

impl<'scope, T: Combine> CudaArg<'scope, Reduce<T>> for &'scope mut T {
    type Bound = Self;
    type Queued = Nothing;
    fn bind(self, _: Token) -> (Self, Nothing) {
        (self, Nothing)
    }
}
impl<T: Combine> CudaBound<Reduce<T>> for &mut T {
    unsafe fn raw(&self, scope: &Scope<'_, '_>, _: &Domain) -> Result<ReduceRaw, Error> {
        // The counter and the result on lines of their own, then a value a thread block.
        let memory = zeroed(scope, 256 + ReduceRaw::PARTIALS as usize * size_of::<T>())?;
        Ok(ReduceRaw {
            done: address(memory),
            result: address(memory).wrapping_add(128),
            partials: address(memory).wrapping_add(256),
        })
    }
    unsafe fn after(self, scope: &Scope<'_, '_>, raw: &ReduceRaw) -> Result<(), Error> {
        // SAFETY: as promised by the caller; any bits are a value of a Pod.
        unsafe { fetch(scope, (&raw mut *self).cast(), raw.result, size_of::<T>()) }
    }
}

impl<'scope, const N: usize> CudaArg<'scope, Bins<N>> for &'scope mut [u64; N] {
    type Bound = Self;
    type Queued = Nothing;
    fn bind(self, _: Token) -> (Self, Nothing) {
        (self, Nothing)
    }
}
impl<const N: usize> CudaBound<Bins<N>> for &mut [u64; N] {
    unsafe fn raw(&self, scope: &Scope<'_, '_>, _: &Domain) -> Result<BinsRaw, Error> {
        Ok(BinsRaw { counts: address(zeroed(scope, 8 * N)?) })
    }
    unsafe fn after(self, scope: &Scope<'_, '_>, raw: &BinsRaw) -> Result<(), Error> {
        // SAFETY: as promised by the caller.
        unsafe { fetch(scope, self.as_mut_ptr().cast(), raw.counts, 8 * N) }
    }
}

/// What a kernel with parameters `P` can be launched with in a [`Scope`]: a [`CudaArg`] for each. Sealed.
pub trait CudaArgs<'scope, P: KindList> {
    #[doc(hidden)]
    type Bound: CudaBoundList<P>;
    /// What is written.
    type Queued: QueuedList;
    #[doc(hidden)]
    fn bind(self, token: Token) -> (Self::Bound, Self::Queued);
}
#[doc(hidden)]
pub trait CudaBoundList<P: KindList>: BoundList<P> + Sized {
    fn check(&self, parameters: &[&'static str], place: ContextId) -> Result<(), CudaError>;
    /// # Safety
    /// As [`CudaBound::raw`].
    unsafe fn raw(&self, scope: &Scope<'_, '_>, domain: &Domain) -> Result<P::Raw, Error>;
    /// # Safety
    /// As [`CudaBound::after`].
    unsafe fn after(self, scope: &Scope<'_, '_>, raw: &P::Raw) -> Result<(), Error>;
}
impl<'scope, P: ParamKind, Q: KindList, A: CudaArg<'scope, P>, B: CudaArgs<'scope, Q>> CudaArgs<'scope, Pair<P, Q>>
    for Pair<A, B>
where
    Pair<A::Queued, B::Queued>: QueuedList,
{
    type Bound = Pair<A::Bound, B::Bound>;
    type Queued = Pair<A::Queued, B::Queued>;
    fn bind(self, token: Token) -> (Self::Bound, Self::Queued) {
        let ((a, p), (b, q)) = (self.0.bind(token), self.1.bind(token));
        (Pair(a, b), Pair(p, q))
    }
}
impl<'scope, P: ParamKind, A: CudaArg<'scope, P>> CudaArgs<'scope, Last<P>> for Last<A>
where
    Last<A::Queued>: QueuedList,
{
    type Bound = Last<A::Bound>;
    type Queued = Last<A::Queued>;
    fn bind(self, token: Token) -> (Self::Bound, Self::Queued) {
        let (a, q) = self.0.bind(token);
        (Last(a), Last(q))
    }
}
impl<P: ParamKind, Q: KindList, A: CudaBound<P>, B: CudaBoundList<Q>> CudaBoundList<Pair<P, Q>> for Pair<A, B> {
    fn check(&self, parameters: &[&'static str], place: ContextId) -> Result<(), CudaError> {
        self.0.check(parameters.first().copied().unwrap_or_default(), place)?;
        self.1.check(parameters.get(1..).unwrap_or_default(), place)
    }
    unsafe fn raw(&self, scope: &Scope<'_, '_>, domain: &Domain) -> Result<Pair<P::Raw, Q::Raw>, Error> {
        // SAFETY: as promised by the caller.
        unsafe { Ok(Pair(self.0.raw(scope, domain)?, self.1.raw(scope, domain)?)) }
    }
    unsafe fn after(self, scope: &Scope<'_, '_>, raw: &Pair<P::Raw, Q::Raw>) -> Result<(), Error> {
        // SAFETY: as promised by the caller.
        unsafe {
            self.0.after(scope, &raw.0)?;
            self.1.after(scope, &raw.1)
        }
    }
}
impl<P: ParamKind, A: CudaBound<P>> CudaBoundList<Last<P>> for Last<A> {
    fn check(&self, parameters: &[&'static str], place: ContextId) -> Result<(), CudaError> {
        self.0.check(parameters.first().copied().unwrap_or_default(), place)
    }
    unsafe fn raw(&self, scope: &Scope<'_, '_>, domain: &Domain) -> Result<Last<P::Raw>, Error> {
        // SAFETY: as promised by the caller.
        Ok(Last(unsafe { self.0.raw(scope, domain)? }))
    }
    unsafe fn after(self, scope: &Scope<'_, '_>, raw: &Last<P::Raw>) -> Result<(), Error> {
        // SAFETY: as promised by the caller.
        unsafe { self.0.after(scope, &raw.0) }
    }
}

/// What a launch gives for the images that it writes: nothing, a [`Queued`], or a tuple of them. Sealed.
pub trait QueuedList {
    /// That.
    type Tuple;
    #[doc(hidden)]
    type Kept: Flat<Tuple = Self::Tuple>;
    #[doc(hidden)]
    fn kept(self) -> Self::Kept;
    #[doc(hidden)]
    fn tuple(self) -> Self::Tuple
    where
        Self: Sized,
    {
        self.kept().flat()
    }
}
impl<R: QueuedList> QueuedList for Pair<Nothing, R> {
    type Tuple = R::Tuple;
    type Kept = R::Kept;
    fn kept(self) -> R::Kept {
        self.1.kept()
    }
}
impl<'scope, F: Format, R: QueuedList> QueuedList for Pair<Queued<'scope, F>, R>
where
    (Queued<'scope, F>, R::Kept): Flat,
{
    type Tuple = <Self::Kept as Flat>::Tuple;
    type Kept = (Queued<'scope, F>, R::Kept);
    fn kept(self) -> Self::Kept {
        (self.0, self.1.kept())
    }
}
impl QueuedList for Last<Nothing> {
    type Tuple = ();
    type Kept = ();
    fn kept(self) {}
}
impl<'scope, F: Format> QueuedList for Last<Queued<'scope, F>> {
    type Tuple = Queued<'scope, F>;
    type Kept = (Queued<'scope, F>, ());
    fn kept(self) -> Self::Kept {
        (self.0, ())
    }
}

/// Nested pairs as a tuple; one alone is itself.
#[doc(hidden)]
pub trait Flat {
    type Tuple;
    fn flat(self) -> Self::Tuple;
}
macro_rules! flat {
    ($($nested:ty, $pattern:pat => $tuple:ty, $value:expr, [$($t:ident),*];)+) => {$(
        impl<$($t),*> Flat for $nested {
            type Tuple = $tuple;
            fn flat(self) -> $tuple {
                let $pattern = self;
                $value
            }
        }
    )+};
}
flat! {
    (), () => (), (), [];
    (A, ()), (a, ()) => A, a, [A];
    (A, (B, ())), (a, (b, ())) => (A, B), (a, b), [A, B];
    (A, (B, (C, ()))), (a, (b, (c, ()))) => (A, B, C), (a, b, c), [A, B, C];
    (A, (B, (C, (D, ())))), (a, (b, (c, (d, ())))) => (A, B, C, D), (a, b, c, d), [A, B, C, D];
}
