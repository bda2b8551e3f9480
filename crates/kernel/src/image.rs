//! Images as kernels see them: [`In`], [`Out`], [`InOut`], and the planes of what is read.

#[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
use crate::value::Cells;
use crate::{
    border::Border,
    item::{Domain, Item, Pixel},
    param::{Param, ParamKind},
    params::{FNV_BASIS, ParamLayout, fnv_u64},
    place::Reach,
    plane::{PlaneIn, PlaneOut, Via},
    problem::{self, Problem},
    unroll::unrolled,
    value::{Packed, Takes},
};
use bytemuck::Zeroable;
use core::marker::PhantomData;
use framewright_core::{Format, OnePlane, PlaneEach, PlaneInfo, PlaneList, PlaneSpec, Sample, Subsampling};

/// The planes of format `F` in a parameter block, each a `P`.
#[repr(transparent)]
pub struct Planes<F: Format, P: Copy + Send + Sync + core::fmt::Debug>(<F::Planes as PlaneList>::Array<P>);

impl<F: Format, P: Copy + Send + Sync + core::fmt::Debug> Planes<F, P> {
    /// One `P` a plane, made from the plane's index.
    pub fn new(make: impl FnMut(usize) -> P) -> Self {
        Self(F::Planes::array(make))
    }
    #[inline(always)]
    pub(crate) fn plane(&self, index: usize) -> &P {
        &self.0.as_ref()[index]
    }
}
impl<F: Format, P: Copy + Send + Sync + core::fmt::Debug> Clone for Planes<F, P> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<F: Format, P: Copy + Send + Sync + core::fmt::Debug> Copy for Planes<F, P> {}
impl<F: Format, P: Copy + Send + Sync + core::fmt::Debug> core::fmt::Debug for Planes<F, P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}
// SAFETY: an array of one P a plane; the planes' number, samples and subsampling, and P's hash, go into the hash.
unsafe impl<F: Format, P: ParamLayout + Send + Sync + core::fmt::Debug> ParamLayout for Planes<F, P> {
    const HASH: u64 = {
        let infos: &[PlaneInfo] = F::Planes::INFOS;
        let mut hash = fnv_u64(fnv_u64(FNV_BASIS, P::HASH), infos.len() as u64);
        let mut i = 0;
        while i < infos.len() {
            hash = fnv_u64(hash, infos[i].scalar as u64);
            hash = fnv_u64(hash, infos[i].channels.len() as u64);
            hash = fnv_u64(hash, infos[i].step.x as u64);
            hash = fnv_u64(hash, infos[i].step.y as u64);
            i += 1;
        }
        fnv_u64(hash, size_of::<Self>() as u64)
    };
}

/// An image that the kernel reads, anywhere: [`Plane`]'s methods for the one plane of `Gray8` or `Bgr8`, or
/// [`In::planes`] for several. Reads outside give what the kernel says, and touch nothing.
pub struct In<F: Format> {
    planes: Planes<F, PlaneIn>,
}

/// An image that the kernel writes: what its function returns.
pub struct Out<F: Format> {
    planes: Planes<F, PlaneOut>,
}

/// An image that the kernel changes: it reads the samples of its own item, and what it returns takes their place.
pub struct InOut<F: Format> {
    planes: Planes<F, PlaneIn>,
}

/// A plane of an image that is read, with its type: `let (y, cbcr) = src.planes();`.
pub struct Plane<'a, S: PlaneSpec> {
    plane: &'a PlaneIn,
    spec: PhantomData<fn() -> S>,
}

/// A plane of an [`InOut`] image: only the samples of the kernel's own item.
pub struct PlaneInOut<'a, S: PlaneSpec> {
    plane: &'a PlaneIn,
    spec: PhantomData<fn() -> S>,
}

/// Makes [`Plane`]s of an image's planes.
pub struct Views<'a, F: Format>(&'a Planes<F, PlaneIn>);
impl<'a, F: Format> PlaneEach for Views<'a, F> {
    type Plane<S: PlaneSpec> = Plane<'a, S>;
    #[inline(always)]
    fn plane<S: PlaneSpec>(&mut self, index: usize) -> Plane<'a, S> {
        Plane { plane: self.0.plane(index), spec: PhantomData }
    }
}

/// Makes [`PlaneInOut`]s of an image's planes.
pub struct OwnViews<'a, F: Format>(&'a Planes<F, PlaneIn>);
impl<'a, F: Format> PlaneEach for OwnViews<'a, F> {
    type Plane<S: PlaneSpec> = PlaneInOut<'a, S>;
    #[inline(always)]
    fn plane<S: PlaneSpec>(&mut self, index: usize) -> PlaneInOut<'a, S> {
        PlaneInOut { plane: self.0.plane(index), spec: PhantomData }
    }
}

/// The one plane of `F`.
pub type Only<F> = <<F as Format>::Planes as OnePlane>::Plane;
/// The sample of the one plane of `F`: what a kernel on `Pixel` returns for it.
pub type SampleOf<F> = <Only<F> as PlaneSpec>::Sample;

/// The samples and subsampling of a plane, in short.
type Of<S> = <S as PlaneSpec>::Sample;
const fn step<S: PlaneSpec>() -> (u32, u32) {
    (<S::Subsampling as Subsampling>::X, <S::Subsampling as Subsampling>::Y)
}

/// `W` by `H` samples of a block.
#[inline(always)]
fn tile<S: PlaneSpec, I: Item, const W: usize, const H: usize>(plane: &PlaneIn, at: &I, via: Via) -> [[Of<S>; W]; H] {
    const { problem::tile(S::INFO, [I::WIDTH, I::HEIGHT], (W * size_of::<Of<S>>()) as u32, H as u32).refuse() };
    let (sx, sy) = step::<S>();
    // SAFETY: executors make the item with the worst reach over the footprints of all planes, of which this is one.
    unsafe { plane.tile(at.x() / sx, at.y() / sy, at.reach(), via) }
}

/// The same as packed words.
#[inline(always)]
fn packed<S: PlaneSpec, I: Item, const WORDS: usize, const ROWS: usize>(
    plane: &PlaneIn,
    at: &I,
    via: Via,
) -> Packed<WORDS, ROWS> {
    const { problem::tile(S::INFO, [I::WIDTH, I::HEIGHT], 4 * WORDS as u32, ROWS as u32).refuse() };
    let (sx, sy) = step::<S>();
    let x = at.x() / sx * size_of::<Of<S>>() as u32;
    let mut words = [[0; WORDS]; ROWS];
    unrolled!(rows j in ROWS => {
        // SAFETY: as in `tile`, for a row of the load.
        words[j] = unsafe { packed_row(plane, x, at.y() / sy + j as u32, at.reach(), via) };
    });
    Packed(words)
}

/// A row of a block in parts that are the widest vectors which divide it.
///
/// # Safety
/// As [`PlaneIn::words`], for the block's row.
#[inline(always)]
unsafe fn packed_row<const WORDS: usize>(plane: &PlaneIn, x: u32, y: u32, reach: Reach, via: Via) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    // SAFETY: as promised by the caller.
    unsafe {
        if WORDS.is_multiple_of(4) {
            unrolled!(i in WORDS / 4 => {
                let four = plane.words::<4>(x + 16 * i as u32, y, reach, via);
                (words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]) =
                    (four[0], four[1], four[2], four[3]);
            });
        } else if WORDS.is_multiple_of(2) {
            unrolled!(i in WORDS / 2 => {
                let two = plane.words::<2>(x + 8 * i as u32, y, reach, via);
                (words[2 * i], words[2 * i + 1]) = (two[0], two[1]);
            });
        } else {
            unrolled!(i in WORDS => {
                words[i] = plane.words::<1>(x + 4 * i as u32, y, reach, via)[0];
            });
        }
    }
    words
}

impl<S: PlaneSpec> Plane<'_, S> {
    /// The sample of a pixel; of a subsampled plane the one that the pixel shares.
    #[inline(always)]
    pub fn get(&self, at: &Pixel) -> Of<S> {
        let (sx, sy) = step::<S>();
        self.plane.sample(at.x() / sx, at.y() / sy, Via::ReadOnly)
    }

    /// The samples of a block, row by row: `[[S; W]; H]` with as many as the block has in this plane (half the columns and
    /// rows for the chroma of 4:2:0). Past the edges they are the nearest inside. On the GPU these are vector loads.
    #[inline(always)]
    pub fn tile<const W: usize, const H: usize>(&self, at: &impl Item) -> [[Of<S>; W]; H] {
        tile::<S, _, W, H>(self.plane, at, Via::ReadOnly)
    }

    /// The samples of a block as packed little-endian words: [`Plane::tile`] for those who work on words.
    #[inline(always)]
    pub fn packed<const WORDS: usize, const ROWS: usize>(&self, at: &impl Item) -> Packed<WORDS, ROWS> {
        packed::<S, _, WORDS, ROWS>(self.plane, at, Via::ReadOnly)
    }

    /// `W` by `H` samples with the item in their middle: its own and as many around it. Past the edges of the plane they are
    /// what `border` says.
    #[inline(always)]
    pub fn window<const W: usize, const H: usize>(&self, at: &impl Item, border: Border<Of<S>>) -> [[Of<S>; W]; H] {
        window::<S, _, W, H>(self.plane, at, border)
    }

    /// The sample in column `x` and row `y` of this plane, or the nearest inside.
    #[inline(always)]
    pub fn at(&self, x: u32, y: u32) -> Of<S> {
        self.plane.sample(x, y, Via::ReadOnly)
    }

    /// The sample in column `x` and row `y` of this plane; past the edges what `border` says.
    #[inline(always)]
    pub fn read(&self, x: i32, y: i32, border: Border<Of<S>>) -> Of<S> {
        let columns = self.plane.columns::<Of<S>>();
        match (border.place(x, columns), border.place(y, self.plane.rows()), border) {
            (Some(x), Some(y), _) => self.plane.sample(x, y, Via::ReadOnly),
            (_, _, Border::Constant(sample)) => sample,
            // Only the constant has no place.
            _ => Of::<S>::zeroed(),
        }
    }

    /// Samples of a row of this plane.
    #[inline(always)]
    pub fn width(&self) -> u32 {
        self.plane.columns::<Of<S>>()
    }

    /// Rows of this plane.
    #[inline(always)]
    pub fn height(&self) -> u32 {
        self.plane.rows()
    }
}

/// The samples in these columns of a row; where there is none `outside`.
#[inline(always)]
fn window_row<S: Sample, const W: usize>(plane: &PlaneIn, row: u32, columns: [Option<u32>; W], outside: S) -> [S; W] {
    let mut samples = [outside; W];
    unrolled!(i in W => {
        if let Some(column) = columns[i] {
            samples[i] = plane.sample(column, row, Via::ReadOnly);
        }
    });
    samples
}

/// [`Plane::window`] for any item.
#[inline(always)]
fn window<S: PlaneSpec, I: Item, const W: usize, const H: usize>(
    plane: &PlaneIn,
    at: &I,
    border: Border<Of<S>>,
) -> [[Of<S>; W]; H] {
    let (sx, sy) = step::<S>();
    let (own_w, own_h) = (I::WIDTH.div_ceil(sx), I::HEIGHT.div_ceil(sy));
    const { problem::window(S::INFO, [I::WIDTH, I::HEIGHT], [W as u32, H as u32]).refuse() };
    let x = (at.x() / sx) as i32 - (W as i32 - own_w as i32) / 2;
    let y = (at.y() / sy) as i32 - (H as i32 - own_h as i32) / 2;
    let columns: [Option<u32>; W] = core::array::from_fn(|i| border.place(x + i as i32, plane.columns::<Of<S>>()));
    let outside = match border {
        Border::Constant(sample) => sample,
        _ => Of::<S>::zeroed(),
    };
    let mut window = [[outside; W]; H];
    unrolled!(rows j in H => {
        if let Some(row) = border.place(y + j as i32, plane.rows()) {
            window[j] = window_row(plane, row, columns, outside);
        }
    });
    window
}

impl<S: PlaneSpec> PlaneInOut<'_, S> {
    /// The sample of the kernel's pixel, as it was before.
    #[inline(always)]
    pub fn get(&self, at: &Pixel) -> Of<S> {
        let (sx, sy) = step::<S>();
        self.plane.sample(at.x() / sx, at.y() / sy, Via::Written)
    }

    /// The samples of the kernel's block, as they were before; see [`Plane::tile`].
    #[inline(always)]
    pub fn tile<const W: usize, const H: usize>(&self, at: &impl Item) -> [[Of<S>; W]; H] {
        tile::<S, _, W, H>(self.plane, at, Via::Written)
    }

    /// The samples of the kernel's block as packed words, as they were before; see [`Plane::packed`].
    #[inline(always)]
    pub fn packed<const WORDS: usize, const ROWS: usize>(&self, at: &impl Item) -> Packed<WORDS, ROWS> {
        packed::<S, _, WORDS, ROWS>(self.plane, at, Via::Written)
    }
}

impl<F: Format> In<F> {
    /// The planes, each with its type: `let (y, cbcr) = src.planes();`.
    #[inline(always)]
    pub fn planes(&self) -> <F::Planes as PlaneList>::Each<Views<'_, F>> {
        F::Planes::each(&mut Views(&self.planes))
    }
}

/// What [`Plane`] does, for the images that have one plane.
impl<F: Format<Planes: OnePlane>> In<F> {
    /// The one plane.
    #[inline(always)]
    pub fn plane(&self) -> Plane<'_, Only<F>> {
        Plane { plane: self.planes.plane(0), spec: PhantomData }
    }
    /// [`Plane::get`].
    #[inline(always)]
    pub fn get(&self, at: &Pixel) -> SampleOf<F> {
        self.plane().get(at)
    }
    /// [`Plane::tile`].
    #[inline(always)]
    pub fn tile<const W: usize, const H: usize>(&self, at: &impl Item) -> [[SampleOf<F>; W]; H] {
        self.plane().tile(at)
    }
    /// [`Plane::packed`].
    #[inline(always)]
    pub fn packed<const WORDS: usize, const ROWS: usize>(&self, at: &impl Item) -> Packed<WORDS, ROWS> {
        self.plane().packed(at)
    }
    /// [`Plane::window`].
    #[inline(always)]
    pub fn window<const W: usize, const H: usize>(
        &self,
        at: &impl Item,
        border: Border<SampleOf<F>>,
    ) -> [[SampleOf<F>; W]; H] {
        self.plane().window(at, border)
    }
    /// [`Plane::at`].
    #[inline(always)]
    pub fn at(&self, x: u32, y: u32) -> SampleOf<F> {
        self.plane().at(x, y)
    }
    /// [`Plane::read`].
    #[inline(always)]
    pub fn read(&self, x: i32, y: i32, border: Border<SampleOf<F>>) -> SampleOf<F> {
        self.plane().read(x, y, border)
    }
}

impl<F: Format> InOut<F> {
    /// The planes, each with its type, as they were before: `let (y, cbcr) = frame.planes();`.
    #[inline(always)]
    pub fn planes(&self) -> <F::Planes as PlaneList>::Each<OwnViews<'_, F>> {
        F::Planes::each(&mut OwnViews(&self.planes))
    }
}

/// What [`PlaneInOut`] does, for the images that have one plane.
impl<F: Format<Planes: OnePlane>> InOut<F> {
    /// The one plane.
    #[inline(always)]
    pub fn plane(&self) -> PlaneInOut<'_, Only<F>> {
        PlaneInOut { plane: self.planes.plane(0), spec: PhantomData }
    }
    /// [`PlaneInOut::get`].
    #[inline(always)]
    pub fn get(&self, at: &Pixel) -> SampleOf<F> {
        self.plane().get(at)
    }
    /// [`PlaneInOut::tile`].
    #[inline(always)]
    pub fn tile<const W: usize, const H: usize>(&self, at: &impl Item) -> [[SampleOf<F>; W]; H] {
        self.plane().tile(at)
    }
    /// [`PlaneInOut::packed`].
    #[inline(always)]
    pub fn packed<const WORDS: usize, const ROWS: usize>(&self, at: &impl Item) -> Packed<WORDS, ROWS> {
        self.plane().packed(at)
    }
}

impl<F: Format> ParamKind for In<F> {
    type Raw = Planes<F, PlaneIn>;
}
impl<F: Format> ParamKind for Out<F> {
    type Raw = Planes<F, PlaneOut>;
}
impl<F: Format> ParamKind for InOut<F> {
    type Raw = Planes<F, PlaneIn>;
}

/// The worst reach over the planes of an image.
#[inline(always)]
fn reach<I: Item, F: Format>(planes: &Planes<F, PlaneIn>, x: u32, y: u32) -> Reach {
    if !I::VECTORS {
        return Reach::Edge;
    }
    let infos: &'static [PlaneInfo] = F::Planes::INFOS;
    let mut worst = Reach::Aligned;
    let mut i = 0;
    while i < F::Planes::COUNT {
        let (step, element) = (infos[i].step, infos[i].element_bytes());
        let (bytes, rows) = (I::WIDTH / step.x * element, I::HEIGHT / step.y);
        worst = worst.max(planes.plane(i).reach(x / step.x * element, y / step.y, bytes, rows));
        i += 1;
    }
    worst
}

// SAFETY: reads through planes as they were made; `reach` covers the footprint of an item in every plane.
unsafe impl<I: Item, F: Format> Param<I, ()> for In<F> {
    #[inline(always)]
    unsafe fn open(raw: &Self::Raw, _: u32) -> Self {
        Self { planes: *raw }
    }
    #[inline(always)]
    fn reach(&self, x: u32, y: u32) -> Reach {
        reach::<I, F>(&self.planes, x, y)
    }
}

/// Stores each plane's part.
#[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
struct Store<'a, P> {
    plane: P,
    domain: &'a Domain,
    x: u32,
    y: u32,
}
#[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
impl<I: Item, P: Fn(usize) -> PlaneOut> crate::value::PlaneSink<I> for Store<'_, P> {
    #[inline(always)]
    fn plane<S: PlaneSpec, C: Cells>(&mut self, index: usize, cells: C) {
        // SAFETY: `Param::store`'s caller promised that nobody else uses the item's pixels in these planes.
        unsafe { crate::value::store::<I, S, C>(&(self.plane)(index), self.domain, self.x, self.y, &cells) }
    }
}

/// Puts each plane's part into the staging memory.
#[cfg(any(target_arch = "nvptx64", framewright_host_check))]
struct Put {
    stage: u32,
    index: u32,
}
#[cfg(any(target_arch = "nvptx64", framewright_host_check))]
impl<I: Item> crate::value::PlaneSink<I> for Put {
    #[inline(always)]
    fn plane<S: PlaneSpec, C: crate::value::Cells>(&mut self, _: usize, cells: C) {
        // SAFETY: the warp's staging memory, as `Param::put`'s caller promised; each plane has its part.
        unsafe { crate::device::put::<C>(self.stage, 32 * I::REPEAT, self.index, &cells) };
        self.stage += crate::value::stage::<I, S>();
    }
}

/// Stores each plane's part of the staging memory.
#[cfg(any(target_arch = "nvptx64", framewright_host_check))]
struct Flush<'a, P> {
    plane: P,
    domain: &'a Domain,
    stage: u32,
    x: u32,
    y: u32,
}
#[cfg(any(target_arch = "nvptx64", framewright_host_check))]
impl<I: Item, P: Fn(usize) -> PlaneOut> crate::value::PlaneVisit<I> for Flush<'_, P> {
    #[inline(always)]
    fn plane<S: PlaneSpec>(&mut self, index: usize) {
        // SAFETY: as `Param::flush`'s caller promised.
        unsafe { crate::device::flush::<I, S>(&(self.plane)(index), self.domain, self.stage, self.x, self.y) };
        self.stage += crate::value::stage::<I, S>();
    }
}

macro_rules! stores {
    (|$image:ident| $plane:expr) => {
        #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
        #[inline(always)]
        unsafe fn store(&self, domain: &Domain, x: u32, y: u32, given: &G) {
            let $image = &self.planes;
            <F::Planes as Takes<I, G>>::split(given, &mut Store { plane: $plane, domain, x, y });
        }
        #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
        #[inline(always)]
        unsafe fn put(stage: u32, index: u32, given: &G) {
            <F::Planes as Takes<I, G>>::split(given, &mut Put { stage, index });
        }
        #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
        #[inline(always)]
        unsafe fn flush(&self, domain: &Domain, stage: u32, x: u32, y: u32) {
            let $image = &self.planes;
            <F::Planes as Takes<I, G>>::visit(&mut Flush { plane: $plane, domain, stage, x, y });
        }
    };
}

// SAFETY: reads nothing.
unsafe impl<I: Item, G, F: Format> Param<I, G> for Out<F>
where
    F::Planes: Takes<I, G>,
{
    const STAGE: u32 = <F::Planes as Takes<I, G>>::STAGE;
    const PROBLEM: Problem = <F::Planes as Takes<I, G>>::PROBLEM;
    #[inline(always)]
    unsafe fn open(raw: &Self::Raw, _: u32) -> Self {
        Self { planes: *raw }
    }
    stores!(|planes| |i: usize| *planes.plane(i));
}

// SAFETY: reads the item's own samples; `reach` covers their footprint.
unsafe impl<I: Item, G, F: Format> Param<I, G> for InOut<F>
where
    F::Planes: Takes<I, G>,
{
    const STAGE: u32 = <F::Planes as Takes<I, G>>::STAGE;
    const PROBLEM: Problem = <F::Planes as Takes<I, G>>::PROBLEM;
    #[inline(always)]
    unsafe fn open(raw: &Self::Raw, _: u32) -> Self {
        Self { planes: *raw }
    }
    #[inline(always)]
    fn reach(&self, x: u32, y: u32) -> Reach {
        reach::<I, F>(&self.planes, x, y)
    }
    stores!(|planes| |i: usize| planes.plane(i).out());
}
