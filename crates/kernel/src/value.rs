//! What kernels return: samples, and tiles of them.

#[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
use crate::plane::PlaneOut;
use crate::{
    item::{Block, Item, Pixel},
    problem::{self, Problem},
};
use framewright_core::{PlaneList, PlaneSpec, Sample, Subsampling};

/// Rows of 32-bit words, little endian: pixels of any sample, packed as they lie in memory.
///
/// The fast form of a tile: 16 pixels of `[u8; 3]` are `Packed<12, H>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packed<const WORDS: usize, const ROWS: usize>(pub [[u32; WORDS]; ROWS]);

impl<const WORDS: usize, const ROWS: usize> Packed<WORDS, ROWS> {
    /// All zero: a tile to fill.
    pub const ZERO: Self = Self([[0; WORDS]; ROWS]);

    /// Byte `i` of row `row`.
    #[inline(always)]
    pub fn byte(&self, i: usize, row: usize) -> u32 {
        (self.0[row][i / 4] >> (8 * (i % 4))) & 0xff
    }
}

/// The samples of plane `S` that a block gives: `[[S; W]; H]`, or [`Packed`] words. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tile of `{S}` samples",
    label = "expected rows of samples, `[[{S}; W]; H]`, or `Packed<WORDS, H>`"
)]
pub trait Tile<S>: Cells {}

/// Rows of bytes.
#[doc(hidden)]
pub trait Cells: Copy {
    const ROW_BYTES: u32;
    const ROWS: u32;
    fn row(&self, row: usize) -> &[u8];
    /// Bytes `offset..offset + 4` of row `row`. From single bytes, which the compiler keeps in registers: a word that is read
    /// across samples would put the tile into local memory.
    ///
    /// # Safety
    /// They are in the row.
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn word(&self, row: u32, offset: u32) -> u32 {
        let from = self.row(row as usize).as_ptr();
        // SAFETY: in the row, as promised by the caller.
        let byte = |i: u32| unsafe { from.add((offset + i) as usize).read() };
        u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
    }
}

impl<const WORDS: usize, const ROWS: usize> Cells for Packed<WORDS, ROWS> {
    const ROW_BYTES: u32 = 4 * WORDS as u32;
    const ROWS: u32 = ROWS as u32;
    #[inline(always)]
    fn row(&self, row: usize) -> &[u8] {
        const { assert!(cfg!(target_endian = "little"), "packed words are little endian") };
        bytemuck::cast_slice(&self.0[row][..])
    }
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn word(&self, row: u32, offset: u32) -> u32 {
        self.0[row as usize][offset as usize / 4]
    }
}
impl<const WORDS: usize, const ROWS: usize, S: Sample> Tile<S> for Packed<WORDS, ROWS> {}

impl<S: Sample, const W: usize, const H: usize> Cells for [[S; W]; H] {
    const ROW_BYTES: u32 = (W * size_of::<S>()) as u32;
    const ROWS: u32 = H as u32;
    #[inline(always)]
    fn row(&self, row: usize) -> &[u8] {
        bytemuck::cast_slice(&self[row][..])
    }
}
impl<S: Sample, const W: usize, const H: usize> Tile<S> for [[S; W]; H] {}

/// A value that a kernel on `Pixel` returns for a plane with samples `S`: the sample. Sealed.
#[diagnostic::on_unimplemented(
    message = "a kernel on `Pixel` returns a `{S}` for this image, and this one a `{Self}`",
    label = "expected `{S}`, the sample of the image that is written"
)]
pub trait IsSample<S>: Copy {
    /// The same.
    #[doc(hidden)]
    fn sample(self) -> S;
}
impl<S: Sample> IsSample<S> for S {
    #[inline(always)]
    fn sample(self) -> S {
        self
    }
}

/// One sample as a tile.
#[derive(Clone, Copy)]
pub(crate) struct One<S>(S);
impl<S: Sample> Cells for One<S> {
    const ROW_BYTES: u32 = size_of::<S>() as u32;
    const ROWS: u32 = 1;
    #[inline(always)]
    fn row(&self, _: usize) -> &[u8] {
        bytemuck::bytes_of(&self.0)
    }
}

/// Bytes of a row of plane `S` that an item covers.
pub(crate) const fn row_bytes<I: Item, S: PlaneSpec>() -> u32 {
    I::WIDTH / <S::Subsampling as Subsampling>::X * size_of::<S::Sample>() as u32
}

/// Rows of plane `S` that an item covers.
pub(crate) const fn rows<I: Item, S: PlaneSpec>() -> u32 {
    I::HEIGHT / <S::Subsampling as Subsampling>::Y
}

/// Bytes of shared memory through which a warp stages plane `S`.
pub(crate) const fn stage<I: Item, S: PlaneSpec>() -> u32 {
    (32 * I::REPEAT * row_bytes::<I, S>() * rows::<I, S>()).next_multiple_of(16)
}

/// What is done with the part of a value that belongs to a plane.
#[doc(hidden)]
pub trait PlaneSink<I: Item> {
    fn plane<S: PlaneSpec, C: Cells>(&mut self, index: usize, cells: C);
}

/// What is done with each plane.
#[doc(hidden)]
pub trait PlaneVisit<I: Item> {
    fn plane<S: PlaneSpec>(&mut self, index: usize);
}

/// Planes into which a kernel on items `I` can return `G`.
#[diagnostic::on_unimplemented(
    message = "a kernel on `{I}` cannot return `{G}` for an image with these planes",
    label = "the value returned for this image has the wrong type",
    note = "on `Pixel` an image of one plane takes its sample (`u8` for `Gray8`, `[u8; 3]` for `Bgr8`), and one of several planes a tuple of them",
    note = "on `Block<W, H>` it takes rows of samples, `[[S; W]; H]`, or `Packed<WORDS, H>`, and of several planes a tuple; subsampled planes have fewer columns and rows"
)]
pub trait Takes<I: Item, G>: PlaneList {
    /// Bytes of shared memory a warp stages through.
    #[doc(hidden)]
    const STAGE: u32;
    /// What is wrong with the value.
    #[doc(hidden)]
    const PROBLEM: Problem;
    /// Gives each plane its part.
    #[doc(hidden)]
    fn split<K: PlaneSink<I>>(given: &G, sink: &mut K);
    /// Visits each plane.
    #[doc(hidden)]
    fn visit<K: PlaneVisit<I>>(visit: &mut K);
}

/// What is wrong with cells `C` for an item in plane `S`.
const fn problem<I: Item, S: PlaneSpec, C: Cells>() -> Problem {
    problem::tile(S::INFO, [I::WIDTH, I::HEIGHT], C::ROW_BYTES, C::ROWS)
}

macro_rules! takes {
    ($n:ident; $($s:ident $v:ident $i:tt),+) => {
        impl<$($s: PlaneSpec, $v: IsSample<$s::Sample>),+> Takes<Pixel, takes!(@of $($v),+)> for ($($s,)+) {
            const STAGE: u32 = 0 $(+ stage::<Pixel, $s>())+;
            const PROBLEM: Problem = Problem::NONE$(.or(problem::<Pixel, $s, One<$s::Sample>>()))+;
            #[inline(always)]
            fn split<K: PlaneSink<Pixel>>(given: &takes!(@of $($v),+), sink: &mut K) {
                $(
                    sink.plane::<$s, _>($i, One(takes!(@get $n given $i).sample()));
                )+
            }
            #[inline(always)]
            fn visit<K: PlaneVisit<Pixel>>(visit: &mut K) {
                $(visit.plane::<$s>($i);)+
            }
        }
        impl<const W: u32, const H: u32, $($s: PlaneSpec, $v: Tile<$s::Sample>),+> Takes<Block<W, H>, takes!(@of $($v),+)>
            for ($($s,)+)
        {
            const STAGE: u32 = 0 $(+ stage::<Block<W, H>, $s>())+;
            const PROBLEM: Problem = Problem::NONE$(.or(problem::<Block<W, H>, $s, $v>()))+;
            #[inline(always)]
            fn split<K: PlaneSink<Block<W, H>>>(given: &takes!(@of $($v),+), sink: &mut K) {
                $(
                    sink.plane::<$s, _>($i, takes!(@get $n given $i));
                )+
            }
            #[inline(always)]
            fn visit<K: PlaneVisit<Block<W, H>>>(visit: &mut K) {
                $(visit.plane::<$s>($i);)+
            }
        }
    };
    // One plane is not wrapped in a tuple.
    (@of $v:ty) => { $v };
    (@of $($v:ty),+) => { ($($v,)+) };
    (@get one $given:ident $i:tt) => { (*$given) };
    (@get many $given:ident $i:tt) => { $given.$i };
}
takes!(one; S0 V0 0);
takes!(many; S0 V0 0, S1 V1 1);
takes!(many; S0 V0 0, S1 V1 1, S2 V2 2);
takes!(many; S0 V0 0, S1 V1 1, S2 V2 2, S3 V3 3);

/// Stores the part of a tile that lies in the domain.
///
/// # Safety
/// The item's pixels inside the domain are writable through `out`, with nobody else using them.
#[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
#[inline(always)]
pub(crate) unsafe fn store<I: Item, S: PlaneSpec, C: Cells>(
    out: &PlaneOut,
    domain: &crate::Domain,
    x: u32,
    y: u32,
    cells: &C,
) {
    let (sx, sy) = (<S::Subsampling as Subsampling>::X, <S::Subsampling as Subsampling>::Y);
    let size = size_of::<S::Sample>() as u32;
    let (px, py) = (x / sx, y / sy);
    let left = px.max(domain.x0 / sx) - px;
    let right = (px + I::WIDTH / sx).min(domain.x1.div_ceil(sx)) - px;
    if left >= right {
        return;
    }
    for row in py.max(domain.y0 / sy)..(py + I::HEIGHT / sy).min(domain.y1.div_ceil(sy)) {
        let bytes = cells.row((row - py) as usize);
        let to = out.base.wrapping_offset(out.pitch_bytes.wrapping_mul(i64::from(row)) as isize);
        let to = to.wrapping_add((px + left) as usize * size as usize);
        let from = bytes.as_ptr().wrapping_add((left * size) as usize);
        // SAFETY: `Takes::PROBLEM` made the row as long as the item is wide, so left to right lies in it; the destination bytes are
        // samples of the domain, which the caller promised to be writable and apart.
        unsafe { core::ptr::copy_nonoverlapping(from, to, ((right - left) * size) as usize) };
    }
}
