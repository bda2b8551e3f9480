//! What an image and its views have in common: where each plane starts, its pitch, the sizes, the colours.

use crate::{location::Location, overlap::Extent, plane::RawPlane};
use framewright_core::{
    ColorInfo, Format, FreePlanes, LayoutError, PlaneInfo, PlaneList, Rect, RegionError, SamePlanes, Size,
};

/// The first byte of a plane's first row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Base(pub(crate) *mut u8);

// SAFETY: an address; what may be done with it follows from the image or view that holds it.
unsafe impl Send for Base {}
// SAFETY: as above.
unsafe impl Sync for Base {}

/// The planes of an image in memory. Invariant, for as long as whoever holds it says: each plane's visible rows are bytes of
/// its location's memory, at the plane's alignment.
pub(crate) struct Parts<F: Format, L: Location> {
    pub(crate) size: Size,
    /// The visible size of the whole frame that this is a crop of, or `size`.
    pub(crate) frame_size: Size,
    pub(crate) color: ColorInfo,
    pub(crate) bases: <F::Planes as PlaneList>::Array<Base>,
    pub(crate) pitches: <F::Planes as PlaneList>::Pitches,
    /// Which of the location's memories: nothing for the host, the context for a GPU.
    pub(crate) place: L::Place,
}

impl<F: Format, L: Location> Clone for Parts<F, L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F: Format, L: Location> Copy for Parts<F, L> {}

impl<F: Format, L: Location> Parts<F, L> {
    /// Planes that start at these addresses.
    pub(crate) fn new(
        size: Size,
        bases: <F::Planes as PlaneList>::Array<Base>,
        pitches: <F::Planes as PlaneList>::Pitches,
        place: L::Place,
    ) -> Self {
        Self { size, frame_size: size, color: ColorInfo::UNSPECIFIED, bases, pitches, place }
    }

    pub(crate) fn infos(&self) -> &'static [PlaneInfo] {
        F::Planes::INFOS
    }

    /// Address, pitch, row bytes and rows of plane `index`.
    pub(crate) fn raw(&self, index: usize) -> RawPlane {
        let pitches = F::Planes::pitches_bytes(self.pitches);
        RawPlane { first_row: self.bases.as_ref()[index].0, pitch_bytes: pitches.as_ref()[index] }
    }

    /// Where plane `index` lies.
    pub(crate) fn extent(&self, index: usize) -> Extent {
        let (info, raw) = (&self.infos()[index], self.raw(index));
        Extent::new(raw.first_row, raw.pitch_bytes, info.row_bytes(self.size), info.plane_size(self.size).height())
    }

    /// The part inside `rect`, whose corner must lie on the format's grid.
    pub(crate) fn crop_on_grid(&self, rect: Rect) -> Result<Self, RegionError> {
        if !rect.is_inside(self.size) {
            return Err(RegionError::Outside { rect, size: self.size });
        }
        debug_assert!(
            rect.offset.x.is_multiple_of(F::Planes::STEP.x) && rect.offset.y.is_multiple_of(F::Planes::STEP.y)
        );
        Ok(self.crop_down(rect))
    }

    /// The part inside `rect` with the corner moved down to the grid of each plane.
    pub(crate) fn crop_down(&self, rect: Rect) -> Self {
        let bases = F::Planes::array(|i| {
            let info = &self.infos()[i];
            let raw = self.raw(i);
            let rows = i64::from(rect.offset.y / info.step.y);
            let columns = (rect.offset.x / info.step.x) as usize;
            let row = raw.first_row.wrapping_offset((raw.pitch_bytes * rows) as isize);
            Base(row.wrapping_add(columns * info.element_bytes() as usize))
        });
        Self { size: rect.size, bases, ..*self }
    }

    /// The same planes under another way of knowing the pitch.
    pub(crate) fn with_pitches<G>(&self) -> Result<Parts<G, L>, LayoutError>
    where
        G: Format,
        G::Planes: SamePlanes<F::Planes>,
    {
        let own = F::Planes::pitches_bytes(self.pitches);
        Ok(Parts {
            size: self.size,
            frame_size: self.frame_size,
            color: self.color,
            bases: G::Planes::array(|i| self.bases.as_ref()[i]),
            pitches: G::Planes::resolve(own.as_ref())?,
            place: self.place,
        })
    }

    /// The same planes with pitches known at run time, which always fits.
    pub(crate) fn with_free_pitches<G>(&self) -> Parts<G, L>
    where
        G: Format,
        G::Planes: SamePlanes<F::Planes> + FreePlanes,
    {
        self.with_pitches().unwrap_or_else(|_| unreachable!("free pitches take any"))
    }
}
