//! Running kernels on the CPU.

use crate::{
    call::{Bound, BoundList, Plan, planes_in, planes_out},
    convert::{self, Conversion, RgbFormat, YuvFormat},
    error::Error,
    image::Image,
    location::HostAccess,
    shared::SharedImage,
    view::{AsImage, AsImageMut, ImageMut, ImageRef},
};
use bytemuck::Pod;
use framewright_core::{Format, ResolvedColor, SamePlanes};
use framewright_kernel::{
    Arg, Bins, BinsRaw, Call, Combine, Domain, In, InOut, Kernel, Launch, Out, ParamKind, Reduce, ReduceRaw, Table,
    TableRaw, Uniform, UniformRaw,
    list::{KindList, Last, Pair},
};
use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Runs kernels on the CPU: on all cores with feature `rayon` (the default), small images in the calling thread.
///
/// Nothing is allocated a call by this crate's own code, except a value a task for kernels that reduce or count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu {
    #[cfg_attr(not(feature = "rayon"), allow(dead_code))] // then everything is
    single_threaded: bool,
}

/// Below this many output bytes one thread is faster than waking the others.
#[cfg(feature = "rayon")]
const SMALL_BYTES: u64 = 256 * 1024;

impl Cpu {
    /// All cores.
    pub const fn new() -> Self {
        Self { single_threaded: false }
    }

    /// The calling thread only.
    pub const fn single_threaded() -> Self {
        Self { single_threaded: true }
    }

    /// Runs a kernel to its end: one of your own, or a built-in one.
    ///
    /// # Errors
    /// [`Error::ArgumentSize`] when the images differ in size, [`Error::Region`] when the call's part reaches past them,
    /// [`Error::Overlap`] when something written shares memory with another image: nothing is written then.
    /// [`Error::KernelPanic`] when the kernel's function panics.
    ///
    /// ```
    /// use framewright::*;
    /// use framewright_kernel::prelude::{In, Out, Pixel, kernel};
    ///
    /// #[kernel]
    /// fn invert(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
    ///     255 - src.get(at)
    /// }
    ///
    /// let mut picture = Image::<Gray8>::new(Size::new(7, 5)?)?;
    /// picture.planes_mut().0.fill(3);
    /// let mut negative = Image::<Gray8>::new(picture.size())?;
    /// Cpu::new().launch(invert(&picture, &mut negative))?;
    /// assert_eq!(negative.planes().0.row(4), [252; 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn launch<K: Kernel, A: CpuArgs<K::Params>>(&self, call: Call<K, A>) -> Result<(), Error> {
        let args = call.args.bind();
        let mut plan = Plan::new::<K>(call.crop);
        args.describe_all(&mut plan);
        let domain = plan.check()?;
        // SAFETY: the arguments are borrowed while the launch runs, here, and the plan found that nothing written is shared.
        let params = unsafe {
            let launch = Launch::<K> { domain, args: args.raw(&domain) };
            self.run(&launch)?
        };
        args.finish(&params);
        Ok(())
    }

    /// Converts YUV to RGB, exactly rounded, and says which matrix and range it used.
    ///
    /// # Errors
    /// [`Error::Region`] when the conversion's crop reaches past the source, [`Error::DestinationSize`] when the destination
    /// is not of the crop's size, [`Error::Overlap`] when they share memory. Nothing is written then.
    ///
    /// ```
    /// use framewright::*;
    /// let mut frame = Image::<Nv12>::new(Size::new(7, 5)?)?;
    /// frame.planes_mut().0.fill(235);
    /// frame.planes_mut().1.fill([128, 128]);
    /// // Any rectangle, also off the chroma grid.
    /// let crop = Rect::new(Offset::new(1, 1), Size::new(3, 2)?);
    /// let mut white = Image::<Rgba8>::new(crop.size)?;
    /// let color = Cpu::new().convert(&frame, &mut white, &Conversion::new().crop(crop))?;
    /// assert_eq!(white.planes().0.row(1), [[255; 4]; 3]);
    /// assert!(color.matrix_assumed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn convert<S, D>(
        &self,
        source: &S,
        destination: &mut D,
        conversion: &Conversion,
    ) -> Result<ResolvedColor, Error>
    where
        S: AsImage<Location: HostAccess, Format: YuvFormat>,
        D: AsImageMut<Location: HostAccess, Format: RgbFormat>,
    {
        let (source, destination) = (source.view(), destination.view_mut());
        self.launch(convert::conversion(source, destination, conversion)?)?;
        Ok(conversion.resolve(source.color(), source.frame_size()))
    }

    /// Copies all planes, from any pitch to any pitch.
    ///
    /// # Errors
    /// [`Error::DestinationSize`] when the sizes differ, [`Error::Overlap`] when memory is shared. Nothing is written then.
    pub fn copy<S, D>(&self, source: &S, destination: &mut D) -> Result<(), Error>
    where
        S: AsImage<Location: HostAccess>,
        D: AsImageMut<Location: HostAccess>,
        <D::Format as Format>::Planes: SamePlanes<<S::Format as Format>::Planes>,
    {
        convert::copies(source.view(), destination.view_mut(), |call| self.launch(call))
    }

    /// Runs a launch to its end.
    ///
    /// # Safety
    /// As [`Launch::open`], for the whole launch.
    unsafe fn run<K: Kernel>(&self, launch: &Launch<K>) -> Result<K::Params, Error> {
        let rows = launch.item_rows();
        #[cfg(feature = "rayon")]
        {
            use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
            let columns = launch.item_columns();
            let row_bytes = u64::from(columns.end - columns.start) * item_bytes::<K>();
            if !self.single_threaded && row_bytes * u64::from(rows.end - rows.start) >= SMALL_BYTES {
                // A task writes at least 64 KiB.
                let per_task = ((64 * 1024) / row_bytes.max(1)).max(1) as u32;
                let tasks = (rows.end - rows.start).div_ceil(per_task);
                let task = |task: u32| {
                    let start = rows.start + task * per_task;
                    // SAFETY: tasks run different rows; the rest is the caller's promise.
                    unsafe { run_rows(launch, start..rows.end.min(start + per_task)) }
                };
                let parallel = (0..tasks).into_par_iter();
                if !framewright_kernel::launch::combines::<K>() {
                    parallel.try_for_each(|t| task(t).map(drop))?;
                    // SAFETY: as promised by the caller.
                    return Ok(unsafe { launch.open() });
                }
                // In the rows' order, so that the result does not depend on which thread was faster.
                let mut parts = Vec::new();
                parallel.map(task).collect_into_vec(&mut parts);
                let mut parts = parts.into_iter();
                let Some(first) = parts.next() else { unreachable!("a launch has rows") };
                return parts.try_fold(first?, |mut all, part| {
                    Launch::<K>::merge(&mut all, &part?);
                    Ok(all)
                });
            }
        }
        // SAFETY: as promised by the caller.
        unsafe { run_rows(launch, rows) }
    }
}

/// Bytes that an item writes, or where it writes nothing its pixels.
#[cfg(feature = "rayon")]
fn item_bytes<K: Kernel>() -> u64 {
    use framewright_kernel::{Item, ParamList};
    let staged = <K::Params as ParamList<K::Item, K::Given>>::STAGE / (32 * K::Item::REPEAT);
    u64::from(staged.max(K::Item::WIDTH * K::Item::HEIGHT))
}

/// Runs rows of items in the calling thread.
///
/// # Safety
/// As [`Launch::run_item_rows`].
unsafe fn run_rows<K: Kernel>(launch: &Launch<K>, rows: Range<u32>) -> Result<K::Params, Error> {
    let mut at = [0; 2];
    // Unwind safe: after a panic nobody sees the parameters, and what was written is documented to stay.
    let run = AssertUnwindSafe(|| {
        // SAFETY: as promised by the caller.
        unsafe {
            let mut params = launch.open();
            launch.run_item_rows(&mut params, rows, &mut at);
            params
        }
    });
    catch_unwind(run).map_err(|_| Error::KernelPanic { kernel: K::NAME, x: at[0], y: at[1] })
}

/// What a kernel on the CPU can be launched with for parameter `P`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used by a kernel on the CPU for parameter `{P}`",
    label = "expected an image of the parameter's format in host memory",
    note = "`In<F>` takes `&Image<F>`, `Out<F>` and `InOut<F>` take `&mut Image<F>`, in `Host` or `Pinned` memory"
)]
pub trait CpuArg<P: ParamKind>: Arg<P> {
    /// The view or reference that stands for it.
    #[doc(hidden)]
    type Bound: CpuBound<P>;
    #[doc(hidden)]
    fn bind(self) -> Self::Bound;
}

/// A [`CpuArg`] as the CPU uses it.
#[doc(hidden)]
pub trait CpuBound<P: ParamKind>: Bound<P> {
    /// # Safety
    /// Used while the argument is borrowed.
    unsafe fn raw(&self, domain: &Domain) -> P::Raw;
    /// Takes what was combined.
    fn finish(self, params: &P);
}

macro_rules! arguments {
    ($kind:ident as $bound:ident: $(<$($life:lifetime)?> $argument:ty, |$s:ident| $bind:expr;)+) => {$(
        #[diagnostic::do_not_recommend] // As for `Arg`.
        impl<$($life,)? F: Format, G: Format, L: HostAccess> CpuArg<$kind<F>> for $argument
        where
            G::Planes: SamePlanes<F::Planes>,
        {
            type Bound = $bound<$($life)?, G, L>;
            fn bind($s) -> Self::Bound {
                $bind
            }
        }
    )+};
}
arguments! { In as ImageRef:
    <'a> &'a Image<G, L>, |self| self.view();
    <'a> &'a SharedImage<G, L>, |self| self.view();
    <'a> ImageRef<'a, G, L>, |self| self;
    <'a> &'a ImageRef<'_, G, L>, |self| self.view();
}
arguments! { Out as ImageMut:
    <'a> &'a mut Image<G, L>, |self| self.view_mut();
    <'a> ImageMut<'a, G, L>, |self| self;
    <'a> &'a mut ImageMut<'_, G, L>, |self| self.view_mut();
}
arguments! { InOut as ImageMut:
    <'a> &'a mut Image<G, L>, |self| self.view_mut();
    <'a> ImageMut<'a, G, L>, |self| self;
    <'a> &'a mut ImageMut<'_, G, L>, |self| self.view_mut();
}

impl<F: Format, G: Format, L: HostAccess> CpuBound<In<F>> for ImageRef<'_, G, L>
where
    G::Planes: SamePlanes<F::Planes>,
{
    unsafe fn raw(&self, _: &Domain) -> <In<F> as ParamKind>::Raw {
        // SAFETY: as promised by the caller.
        unsafe { planes_in::<F, G, L>(&self.parts) }
    }
    fn finish(self, _: &In<F>) {}
}
impl<F: Format, G: Format, L: HostAccess> CpuBound<Out<F>> for ImageMut<'_, G, L>
where
    G::Planes: SamePlanes<F::Planes>,
{
    unsafe fn raw(&self, domain: &Domain) -> <Out<F> as ParamKind>::Raw {
        planes_out::<F, G, L>(&self.parts, domain)
    }
    fn finish(self, _: &Out<F>) {}
}
impl<F: Format, G: Format, L: HostAccess> CpuBound<InOut<F>> for ImageMut<'_, G, L>
where
    G::Planes: SamePlanes<F::Planes>,
{
    unsafe fn raw(&self, _: &Domain) -> <InOut<F> as ParamKind>::Raw {
        // SAFETY: as promised by the caller; an item reads only what it writes.
        unsafe { planes_in::<F, G, L>(&self.parts) }
    }
    fn finish(self, _: &InOut<F>) {}
}

macro_rules! values {
    ($([$life:lifetime] [$($t:ident: $bound:path)?] [$(const $n:ident)?] $kind:ty, $argument:ty;
        |$s:ident| $raw:expr, |$value:ident, $params:ident| $finish:expr;)+) => {$(
        impl<$life $(, $t: $bound + Send + Sync)? $(, const $n: usize)?> CpuArg<$kind> for $argument {
            type Bound = Self;
            fn bind(self) -> Self {
                self
            }
        }
        impl<$life $(, $t: $bound + Send + Sync)? $(, const $n: usize)?> CpuBound<$kind> for $argument {
            unsafe fn raw(&self, _: &Domain) -> <$kind as ParamKind>::Raw {
                let $s = self;
                // SAFETY: as promised by the caller.
                #[allow(unused_unsafe)]
                unsafe {
                    $raw
                }
            }
            fn finish(self, $params: &$kind) {
                let $value = self;
                $finish
            }
        }
    )+};
}
values! {
    ['a] [T: Pod] [const N] Table<T, N>, &'a [T; N]; |s| table(s), |_s, _params| {};
    ['a] [T: Combine] [] Reduce<T>, &'a mut T; |_s| ReduceRaw::NONE, |value, params| *value = params.value();
    ['a] [] [const N] Bins<N>, &'a mut [u64; N]; |_s| BinsRaw::NONE, |value, params| *value = *params.counts();
}
/// # Safety
/// Used while the values are borrowed.
unsafe fn table<T, const N: usize>(values: &[T; N]) -> TableRaw {
    // SAFETY: as promised by the caller.
    unsafe { TableRaw::new(values.as_ptr().cast()) }
}

impl<T: Pod + Send + Sync> CpuArg<Uniform<T>> for T {
    type Bound = T;
    fn bind(self) -> T {
        self
    }
}
impl<T: Pod + Send + Sync> CpuBound<Uniform<T>> for T {
    unsafe fn raw(&self, _: &Domain) -> UniformRaw<T> {
        UniformRaw::new(*self)
    }
    fn finish(self, _: &Uniform<T>) {}
}

/// What a kernel with parameters `P` can be launched with on the CPU: a [`CpuArg`] for each. Sealed.
pub trait CpuArgs<P: KindList> {
    #[doc(hidden)]
    type Bound: CpuBoundList<P>;
    #[doc(hidden)]
    fn bind(self) -> Self::Bound;
}
#[doc(hidden)]
pub trait CpuBoundList<P: KindList>: BoundList<P> {
    /// # Safety
    /// As [`CpuBound::raw`].
    unsafe fn raw(&self, domain: &Domain) -> P::Raw;
    fn finish(self, params: &P);
}
impl<P: ParamKind, Q: KindList, A: CpuArg<P>, B: CpuArgs<Q>> CpuArgs<Pair<P, Q>> for Pair<A, B> {
    type Bound = Pair<A::Bound, B::Bound>;
    fn bind(self) -> Self::Bound {
        Pair(self.0.bind(), self.1.bind())
    }
}
impl<P: ParamKind, A: CpuArg<P>> CpuArgs<Last<P>> for Last<A> {
    type Bound = Last<A::Bound>;
    fn bind(self) -> Self::Bound {
        Last(self.0.bind())
    }
}
impl<P: ParamKind, Q: KindList, A: CpuBound<P>, B: CpuBoundList<Q>> CpuBoundList<Pair<P, Q>> for Pair<A, B> {
    unsafe fn raw(&self, domain: &Domain) -> Pair<P::Raw, Q::Raw> {
        // SAFETY: as promised by the caller.
        unsafe { Pair(self.0.raw(domain), self.1.raw(domain)) }
    }
    fn finish(self, params: &Pair<P, Q>) {
        self.0.finish(&params.0);
        self.1.finish(&params.1);
    }
}
impl<P: ParamKind, A: CpuBound<P>> CpuBoundList<Last<P>> for Last<A> {
    unsafe fn raw(&self, domain: &Domain) -> Last<P::Raw> {
        // SAFETY: as promised by the caller.
        Last(unsafe { self.0.raw(domain) })
    }
    fn finish(self, params: &Last<P>) {
        self.0.finish(&params.0);
    }
}
