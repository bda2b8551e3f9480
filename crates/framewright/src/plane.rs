//! One plane of an image, by what it holds.

use crate::{
    location::{Host, HostAccess, Location},
    parts::{Base, Parts},
    rows::Window,
};
use framewright_core::{Format, Pitch, PlaneList, PlaneMap, PlaneSpec, Sample, Size};
use std::marker::PhantomData;

/// Where a plane's first row starts and the signed bytes from row to row, as FFmpeg's `data[i]` and `linesize[i]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawPlane {
    /// The first byte of the first row. In host memory a pointer, on a device its address.
    pub first_row: *mut u8,
    /// Bytes from row to row; negative where rows lie bottom-up.
    pub pitch_bytes: i64,
}

/// A borrowed plane: rows of samples, of which `S` says what they are.
///
/// A plane of an image in host memory can be read; one of a device image only travels.
pub struct PlaneRef<'a, S: PlaneSpec, L: Location = Host> {
    pub(crate) base: Base,
    pub(crate) pitch: <S::Pitch as Pitch>::Repr,
    pub(crate) size: Size,
    pub(crate) place: L::Place,
    pub(crate) borrow: PhantomData<(&'a [u8], fn() -> L)>,
}

/// A plane borrowed for writing.
pub struct PlaneMut<'a, S: PlaneSpec, L: Location = Host> {
    base: Base,
    pitch: <S::Pitch as Pitch>::Repr,
    size: Size,
    place: L::Place,
    borrow: PhantomData<(&'a mut [u8], fn() -> L)>,
}

/// The planes of an image of format `F` as a tuple of [`PlaneRef`]s.
pub type PlaneRefs<'a, F, L> = <<F as Format>::Planes as PlaneList>::Map<RefMap<'a, L>>;
/// The planes of an image of format `F` as a tuple of [`PlaneMut`]s.
pub type PlaneMuts<'a, F, L> = <<F as Format>::Planes as PlaneList>::Map<MutMap<'a, L>>;

/// Makes [`PlaneRef`]s of an image's planes.
pub struct RefMap<'a, L: Location> {
    size: Size,
    place: L::Place,
    bases: [Base; 4],
    borrow: PhantomData<(&'a [u8], fn() -> L)>,
}
/// Makes [`PlaneMut`]s of an image's planes.
pub struct MutMap<'a, L: Location> {
    size: Size,
    place: L::Place,
    bases: [Base; 4],
    borrow: PhantomData<(&'a mut [u8], fn() -> L)>,
}

fn four_bases<F: Format, L: Location>(parts: &Parts<F, L>) -> [Base; 4] {
    let bases = parts.bases.as_ref();
    std::array::from_fn(|i| bases.get(i).copied().unwrap_or(Base(std::ptr::null_mut())))
}

impl<'a, L: Location> PlaneMap for RefMap<'a, L> {
    type Plane<S: PlaneSpec> = PlaneRef<'a, S, L>;
    fn plane<S: PlaneSpec>(&mut self, index: usize, pitch: <S::Pitch as Pitch>::Repr) -> PlaneRef<'a, S, L> {
        PlaneRef {
            base: self.bases[index],
            pitch,
            size: S::INFO.plane_size(self.size),
            place: self.place,
            borrow: PhantomData,
        }
    }
}

impl<'a, L: Location> PlaneMap for MutMap<'a, L> {
    type Plane<S: PlaneSpec> = PlaneMut<'a, S, L>;
    fn plane<S: PlaneSpec>(&mut self, index: usize, pitch: <S::Pitch as Pitch>::Repr) -> PlaneMut<'a, S, L> {
        PlaneMut {
            base: self.bases[index],
            pitch,
            size: S::INFO.plane_size(self.size),
            place: self.place,
            borrow: PhantomData,
        }
    }
}

pub(crate) fn refs<'a, F: Format, L: Location>(parts: &Parts<F, L>) -> PlaneRefs<'a, F, L> {
    let mut map = RefMap { size: parts.size, place: parts.place, bases: four_bases(parts), borrow: PhantomData };
    F::Planes::map(&mut map, parts.pitches)
}

pub(crate) fn muts<'a, F: Format, L: Location>(parts: &Parts<F, L>) -> PlaneMuts<'a, F, L> {
    let mut map = MutMap { size: parts.size, place: parts.place, bases: four_bases(parts), borrow: PhantomData };
    F::Planes::map(&mut map, parts.pitches)
}

impl<'a, S: PlaneSpec, L: Location> PlaneRef<'a, S, L> {
    /// Samples from left to right.
    pub fn width(&self) -> u32 {
        self.size.width()
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.size.height()
    }

    /// Bytes from row to row.
    pub fn pitch_bytes(&self) -> i64 {
        S::Pitch::bytes(self.pitch)
    }

    /// Address and pitch, for code of your own.
    pub fn as_raw(&self) -> RawPlane {
        RawPlane { first_row: self.base.0, pitch_bytes: self.pitch_bytes() }
    }
}

/// The address of row `y`.
fn row_address(base: Base, pitch_bytes: i64, y: u32) -> *mut u8 {
    base.0.wrapping_offset((pitch_bytes * i64::from(y)) as isize)
}

impl<'a, S: PlaneSpec, L: HostAccess> PlaneRef<'a, S, L> {
    /// The samples of row `y`.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, y: u32) -> &'a [S::Sample] {
        assert!(y < self.height(), "plane {}: row is {y}, expected below {}", S::INFO.name, self.height());
        let row = row_address(self.base, self.pitch_bytes(), y).cast::<S::Sample>();
        // SAFETY: a plane's visible rows are readable, aligned bytes for 'a (Parts); any bytes are valid samples (Pod); nobody
        // writes them while 'a borrows the image.
        unsafe { std::slice::from_raw_parts(row, self.width() as usize) }
    }

    /// All rows from top to bottom.
    pub fn rows(self) -> impl ExactSizeIterator<Item = &'a [S::Sample]> {
        (0..self.height() as usize).map(move |y| self.row(y as u32))
    }

    /// The sample in column `x` of row `y`; `None` outside.
    pub fn get(&self, x: u32, y: u32) -> Option<S::Sample> {
        if x < self.width() && y < self.height() { Some(self.row(y)[x as usize]) } else { None }
    }
}

impl<'a, S: PlaneSpec, L: Location> PlaneMut<'a, S, L> {
    /// Samples from left to right.
    pub fn width(&self) -> u32 {
        self.size.width()
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.size.height()
    }

    /// Bytes from row to row.
    pub fn pitch_bytes(&self) -> i64 {
        S::Pitch::bytes(self.pitch)
    }

    /// The plane for reading.
    pub fn as_ref(&self) -> PlaneRef<'_, S, L> {
        PlaneRef { base: self.base, pitch: self.pitch, size: self.size, place: self.place, borrow: PhantomData }
    }
}

impl<'a, S: PlaneSpec, L: HostAccess> PlaneMut<'a, S, L> {
    /// The samples of row `y`.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row_mut(&mut self, y: u32) -> &mut [S::Sample] {
        assert!(y < self.height(), "plane {}: row is {y}, expected below {}", S::INFO.name, self.height());
        let row = row_address(self.base, self.pitch_bytes(), y).cast::<S::Sample>();
        // SAFETY: a plane's visible rows are writable, aligned bytes for 'a, and this borrow of the plane is the only one; rows
        // do not overlap, since a pitch is at least a row.
        unsafe { std::slice::from_raw_parts_mut(row, self.width() as usize) }
    }

    /// All rows from top to bottom.
    pub fn rows_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [S::Sample]> {
        let (base, pitch, width) = (self.base, self.pitch_bytes(), self.width() as usize);
        (0..self.height() as usize).map(move |y| {
            let row = row_address(base, pitch, y as u32).cast::<S::Sample>();
            // SAFETY: as in row_mut, and each row is handed out once.
            unsafe { std::slice::from_raw_parts_mut(row, width) }
        })
    }

    /// Writes `sample` everywhere.
    pub fn fill(&mut self, sample: S::Sample) {
        self.rows_mut().for_each(|row| row.fill(sample));
    }
}

impl<S: PlaneSpec, L: Location> Clone for PlaneRef<'_, S, L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: PlaneSpec, L: Location> Copy for PlaneRef<'_, S, L> {}

impl<S: PlaneSpec, L: Location> std::fmt::Debug for PlaneRef<'_, S, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PlaneRef({} {}, pitch {} bytes)", S::INFO.name, self.size, self.pitch_bytes())
    }
}
impl<S: PlaneSpec, L: Location> std::fmt::Debug for PlaneMut<'_, S, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PlaneMut({} {}, pitch {} bytes)", S::INFO.name, self.size, self.pitch_bytes())
    }
}

/// What can be the plane `S` of an image: a [`PlaneRef`] of exactly that kind.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the plane that the format has here",
    label = "expected `PlaneRef` of `{S}`",
    note = "Cb (U) and Cr (V) are different planes: give them in the order of the format's planes",
    note = "a `Window` (a column cut) keeps the pitch of what it was cut from and is no plane; the two planes of a contiguous chroma region are its halves by bytes: `chroma.halves(frame_size)`"
)]
pub trait IntoPlane<'a, S: PlaneSpec, L: Location>: sealed::Sealed {
    /// The plane.
    fn into_plane(self) -> PlaneRef<'a, S, L>;
}

impl<'a, S: PlaneSpec, L: Location> IntoPlane<'a, S, L> for PlaneRef<'a, S, L> {
    fn into_plane(self) -> Self {
        self
    }
}

/// What planes tell an image that is made of them, one after the other: address and pitch, size, place.
pub type Collected<L> = ([RawPlane; 4], [Size; 4], [Option<<L as Location>::Place>; 4]);

/// A tuple of [`IntoPlane`], one for each plane of the list.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of this format's planes",
    label = "expected one plane for each `Spec` of the format"
)]
pub trait IntoPlanes<'a, List: PlaneList, L: Location> {
    /// The planes one after the other.
    #[doc(hidden)]
    fn collect(self) -> Collected<L>;
}

macro_rules! into_planes {
    ($($($plane:ident $spec:ident $i:tt),+;)*) => {$(
        impl<'a, L: Location, $($plane, $spec: PlaneSpec),+> IntoPlanes<'a, ($($spec,)+), L> for ($($plane,)+)
        where
            $($plane: IntoPlane<'a, $spec, L>),+
        {
            fn collect(self) -> Collected<L> {
                let mut raws = [RawPlane { first_row: std::ptr::null_mut(), pitch_bytes: 0 }; 4];
                let mut sizes = [Size::fixed::<1, 1>(); 4];
                let mut places = [None; 4];
                $(
                    let plane = self.$i.into_plane();
                    raws[$i] = plane.as_raw();
                    sizes[$i] = plane.size;
                    places[$i] = Some(plane.place);
                )+
                (raws, sizes, places)
            }
        }
    )*};
}
into_planes! {
    A S0 0;
    A S0 0, B S1 1;
    A S0 0, B S1 1, C S2 2;
    A S0 0, B S1 1, C S2 2, D S3 3;
}

mod sealed {
    pub trait Sealed {}
    impl<S: super::PlaneSpec, L: super::Location> Sealed for super::PlaneRef<'_, S, L> {}
    impl<S: super::Sample, P: super::Pitch, L: super::Location> Sealed for super::Window<'_, S, P, L> {}
}
