//! Where the planes of a format lie in one buffer.

use crate::{
    error::{Expected, LayoutError, Quantity},
    format::Format,
    planes::{FreePlanes, PlaneList},
    size::Size,
    spec::PlaneInfo,
};

/// Visible size, coded size and pitches of a frame whose planes follow one another in one buffer.
///
/// Decoders code more than they show (1920x1088 for 1080): planes are laid out for the *coded* size, and an image made by
/// the layout shows the *visible* size, from the top left corner.
///
/// ```
/// use framewright_core::*;
/// // What FFmpeg's decoder gives for 854x480: rows padded to 896 and 448 bytes.
/// let layout = Layout::<Yuv420p8>::new(Size::new(854, 480)?, &[896, 448, 448])?;
/// assert_eq!(layout.offsets_bytes().as_ref(), [0, 896 * 480, 896 * 480 + 448 * 240]);
/// // The last row needs no padding.
/// assert_eq!(layout.len_bytes(), 896 * 480 + 448 * 240 + 448 * 239 + 427);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Layout<F: Format> {
    size: Size,
    coded_size: Size,
    pitches: <F::Planes as PlaneList>::Pitches,
}

impl<F: Format> Layout<F> {
    /// No padding: each plane's pitch is its row.
    ///
    /// # Errors
    /// [`LayoutError`] when the format's type states another pitch, or the buffer would not fit 63 bits.
    pub fn packed(size: Size) -> Result<Self, LayoutError> {
        Self::aligned(size, 1)
    }

    /// Each plane's pitch is its row rounded up to `align_bytes`; where the format links pitches, the first plane's is and
    /// the others follow.
    ///
    /// # Errors
    /// As [`Layout::packed`].
    pub fn aligned(size: Size, align_bytes: u32) -> Result<Self, LayoutError> {
        let up = |info: &PlaneInfo| i64::from(info.row_bytes(size).div_ceil(align_bytes)) * i64::from(align_bytes);
        let first = up(&F::Planes::INFOS[0]);
        let first = F::Planes::follow(0, first).unwrap_or(first);
        let pitches = F::Planes::array(|i| match i {
            0 => first,
            _ => F::Planes::follow(i, first).unwrap_or_else(|| up(&F::Planes::INFOS[i])),
        });
        Self::new(size, pitches.as_ref())
    }

    /// The first plane's pitch, and the others follow from it by subsampling: `864` gives `864, 432, 432` for yuv420p.
    ///
    /// # Errors
    /// As [`Layout::new`].
    pub fn linked(size: Size, first_pitch_bytes: i64) -> Result<Self, LayoutError> {
        let first = &F::Planes::INFOS[0];
        let elements = first_pitch_bytes.unsigned_abs().div_ceil(u64::from(first.element_bytes()));
        let pitches = F::Planes::array(|i| {
            if i == 0 {
                return first_pitch_bytes;
            }
            let info = &F::Planes::INFOS[i];
            let step = (info.step.x / first.step.x).max(1);
            // A pitch near 2^63 saturates here and is refused below.
            let bytes = elements.div_ceil(u64::from(step)).saturating_mul(u64::from(info.element_bytes()));
            i64::try_from(bytes).unwrap_or(i64::MAX) * first_pitch_bytes.signum()
        });
        Self::new(size, pitches.as_ref())
    }

    /// A pitch in bytes for each plane; negative where rows lie bottom-up.
    ///
    /// # Errors
    /// [`LayoutError`] when the count of pitches is not the format's, a pitch is shorter than a row, no multiple of the
    /// sample, or not what the format's type states, or the buffer would not fit 63 bits.
    pub fn new(size: Size, pitches_bytes: &[i64]) -> Result<Self, LayoutError> {
        if pitches_bytes.len() != F::Planes::COUNT {
            return Err(LayoutError {
                plane: F::NAME,
                quantity: Quantity::Planes,
                expected: Expected::Exactly(F::Planes::COUNT as i64),
                found: pitches_bytes.len() as i64,
            });
        }
        for (info, &pitch) in F::Planes::INFOS.iter().zip(pitches_bytes) {
            check_pitch(info, size, pitch)?;
        }
        Self { size, coded_size: size, pitches: F::Planes::resolve(pitches_bytes)? }.checked()
    }

    /// The same pitches with planes laid out for `coded_size`, of which the frame shows the top left.
    ///
    /// # Errors
    /// [`LayoutError`] when the coded size is smaller than the visible one, or a pitch is shorter than a coded row.
    pub fn with_coded_size(self, coded_size: Size) -> Result<Self, LayoutError> {
        let smaller = |quantity, expected: u32, found: u32| LayoutError {
            plane: F::NAME,
            quantity,
            expected: Expected::AtLeast(expected.into()),
            found: found.into(),
        };
        if coded_size.width() < self.size.width() {
            return Err(smaller(Quantity::WidthPx, self.size.width(), coded_size.width()));
        }
        if coded_size.height() < self.size.height() {
            return Err(smaller(Quantity::HeightPx, self.size.height(), coded_size.height()));
        }
        for (info, &pitch) in F::Planes::INFOS.iter().zip(self.pitches_bytes().as_ref()) {
            check_pitch(info, coded_size, pitch)?;
        }
        Self { coded_size, ..self }.checked()
    }

    fn checked(self) -> Result<Self, LayoutError> {
        let total: i128 = (0..F::Planes::COUNT).map(|i| self.extent(i)).sum();
        if i64::try_from(total).is_err() {
            return Err(LayoutError {
                plane: F::NAME,
                quantity: Quantity::LengthBytes,
                expected: Expected::AtMost(i64::MAX),
                found: i64::MAX,
            });
        }
        Ok(self)
    }

    /// Bytes from the start of plane `index` to the start of what follows.
    fn extent(&self, index: usize) -> i128 {
        let rows = F::Planes::INFOS[index].plane_size(self.coded_size).height();
        i128::from(self.pitches_bytes().as_ref()[index].unsigned_abs()) * i128::from(rows)
    }

    /// The size that images of this layout show.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The size that the planes are laid out for.
    pub fn coded_size(&self) -> Size {
        self.coded_size
    }

    /// Bytes from row to row, a plane each.
    pub fn pitches_bytes(&self) -> <F::Planes as PlaneList>::Array<i64> {
        F::Planes::pitches_bytes(self.pitches)
    }

    /// The pitches as the format stores them.
    pub fn pitches(&self) -> <F::Planes as PlaneList>::Pitches {
        self.pitches
    }

    /// The lowest byte of each plane, counted from the start of the buffer.
    pub fn offsets_bytes(&self) -> <F::Planes as PlaneList>::Array<u64> {
        let mut end = 0;
        F::Planes::array(|i| {
            let start = end;
            end += self.extent(i) as u64;
            start
        })
    }

    /// Bytes that a buffer must have: to the end of the last visible row, without that row's padding.
    pub fn len_bytes(&self) -> u64 {
        let last = F::Planes::COUNT - 1;
        let info = &F::Planes::INFOS[last];
        let pitch = self.pitches_bytes().as_ref()[last];
        let start = self.offsets_bytes().as_ref()[last];
        if pitch < 0 {
            // Bottom-up: the first row is the highest, and its padding is what may be missing.
            let coded_rows = u64::from(info.plane_size(self.coded_size).height());
            return start + pitch.unsigned_abs() * (coded_rows - 1) + u64::from(info.row_bytes(self.size));
        }
        start + plane_len_bytes(info, self.size, pitch)
    }

    /// Bytes of the whole buffer, every coded row with its padding: the distance between frames of a raw file.
    pub fn full_len_bytes(&self) -> u64 {
        (0..F::Planes::COUNT).map(|i| self.extent(i) as u64).sum()
    }

    /// Bytes from the start of the buffer to the first row of each plane: the lowest byte, or the last coded row's start
    /// where the pitch is negative.
    pub fn first_rows_bytes(&self) -> <F::Planes as PlaneList>::Array<u64> {
        let offsets = self.offsets_bytes();
        let pitches = self.pitches_bytes();
        F::Planes::array(|i| {
            let rows = F::Planes::INFOS[i].plane_size(self.coded_size).height();
            let pitch = pitches.as_ref()[i];
            offsets.as_ref()[i] + if pitch < 0 { pitch.unsigned_abs() * u64::from(rows - 1) } else { 0 }
        })
    }

    /// The same layout with the pitches known at run time.
    pub fn with_free_pitches<G>(self) -> Layout<G>
    where
        G: Format,
        G::Planes: FreePlanes + crate::planes::SamePlanes<F::Planes>,
    {
        let pitches = self.pitches_bytes();
        Layout {
            size: self.size,
            coded_size: self.coded_size,
            pitches: G::Planes::resolve(pitches.as_ref()).unwrap_or_else(|_| unreachable!("free pitches take any")),
        }
    }
}

/// Bytes from the lowest to the highest byte of a plane's visible rows.
pub(crate) fn plane_len_bytes(info: &PlaneInfo, size: Size, pitch_bytes: i64) -> u64 {
    let rows = info.plane_size(size).height();
    pitch_bytes.unsigned_abs() * u64::from(rows - 1) + u64::from(info.row_bytes(size))
}

/// Checks a pitch against the row it must hold and the sample it must not cut.
fn check_pitch(info: &PlaneInfo, size: Size, pitch_bytes: i64) -> Result<(), LayoutError> {
    let wrong =
        |expected| LayoutError { plane: info.name, quantity: Quantity::PitchBytes, expected, found: pitch_bytes };
    let row = i64::from(info.row_bytes(size));
    if pitch_bytes.unsigned_abs() < row.unsigned_abs() {
        return Err(wrong(Expected::AtLeast(row)));
    }
    let scalar = i64::from(info.scalar.bytes());
    if pitch_bytes % scalar != 0 {
        return Err(wrong(Expected::MultipleOf(scalar)));
    }
    Ok(())
}

impl PlaneInfo {
    /// Checks that `pitch_bytes` can be the pitch of this plane in an image of `size`, and gives the bytes from the lowest
    /// to the highest of its rows: `|pitch| * (rows - 1) + row`.
    ///
    /// # Errors
    /// [`LayoutError`] when the pitch is shorter than a row or no multiple of the scalar, or the plane would not fit 63 bits.
    pub fn len_bytes(&self, size: Size, pitch_bytes: i64) -> Result<u64, LayoutError> {
        check_pitch(self, size, pitch_bytes)?;
        let rows = self.plane_size(size).height();
        let total = i128::from(pitch_bytes.unsigned_abs()) * i128::from(rows);
        match i64::try_from(total) {
            Ok(_) => Ok(plane_len_bytes(self, size, pitch_bytes)),
            Err(_) => Err(LayoutError {
                plane: self.name,
                quantity: Quantity::PitchBytes,
                expected: Expected::AtMost(i64::MAX / i64::from(rows)),
                found: pitch_bytes,
            }),
        }
    }
}

impl<F: Format> Clone for Layout<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F: Format> Copy for Layout<F> {}
impl<F: Format> PartialEq for Layout<F> {
    fn eq(&self, other: &Self) -> bool {
        (self.size, self.coded_size, self.pitches) == (other.size, other.coded_size, other.pitches)
    }
}
impl<F: Format> Eq for Layout<F> {}
impl<F: Format> core::fmt::Debug for Layout<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Layout")
            .field("format", &F::NAME)
            .field("size", &self.size)
            .field("coded_size", &self.coded_size)
            .field("pitches_bytes", &self.pitches_bytes())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Linked, Nv12, Yuv420p8, pitch::Bytes};

    fn size(w: u32, h: u32) -> Size {
        Size::new(w, h).unwrap()
    }

    #[test]
    fn odd_sizes_round_chroma_up() {
        let i420 = Layout::<Yuv420p8>::packed(size(5, 5)).unwrap();
        assert_eq!(i420.pitches_bytes(), [5, 3, 3]);
        assert_eq!(i420.len_bytes(), 25 + 9 + 9);
        let nv12 = Layout::<Nv12>::packed(size(5, 5)).unwrap();
        assert_eq!((nv12.pitches_bytes(), nv12.len_bytes()), ([5, 6], 25 + 18));
        let linked = Layout::<Nv12<Linked>>::packed(size(5, 5)).unwrap();
        assert_eq!(linked.pitches_bytes(), [5, 6]);
    }

    #[test]
    fn linked_pitches_follow_and_free_ones_may_differ() {
        let follow = Layout::<Yuv420p8>::linked(size(854, 480), 864).unwrap();
        assert_eq!(follow.pitches_bytes(), [864, 432, 432]);
        assert!(Layout::<Yuv420p8<Linked>>::new(size(5, 5), &[16, 8, 8]).is_ok());
        // FFmpeg's 16/16/16 for a 5-wide yuv420p is free, not linked.
        assert!(Layout::<Yuv420p8>::new(size(5, 5), &[16, 16, 16]).is_ok());
        let error = Layout::<Yuv420p8<Linked>>::new(size(5, 5), &[16, 16, 16]).unwrap_err();
        assert_eq!((error.plane, error.expected), ("Cb", Expected::Exactly(8)));
    }

    #[test]
    fn a_static_pitch_is_checked_and_not_stored() {
        type Fixed = Yuv420p8<Linked<Bytes<896>>>;
        assert!(Layout::<Fixed>::new(size(854, 480), &[896, 448, 448]).is_ok());
        assert_eq!(Layout::<Fixed>::packed(size(854, 480)).unwrap().pitches_bytes(), [896, 448, 448]);
        assert_eq!(size_of::<Layout<Fixed>>(), 2 * size_of::<Size>());
        assert!(Layout::<Fixed>::packed(size(900, 480)).is_err());
    }

    #[test]
    fn coded_rows_come_before_chroma() {
        let hd = Layout::<Nv12>::new(size(1920, 1080), &[2048, 2048]).unwrap();
        let coded = hd.with_coded_size(size(1920, 1088)).unwrap();
        assert_eq!(coded.offsets_bytes(), [0, 2048 * 1088]);
        assert_eq!(coded.len_bytes(), 2048 * 1088 + 2048 * 539 + 1920);
        assert_eq!(coded.full_len_bytes(), 2048 * 1088 + 2048 * 544);
        assert!(hd.with_coded_size(size(1920, 1079)).is_err());
        assert!(hd.with_coded_size(size(2050, 1080)).is_err());
    }

    #[test]
    fn huge_pitches_are_errors_not_overflows() {
        for pitch in [i64::MAX, i64::MIN, i64::MAX / 2, 1 << 62] {
            assert!(Layout::<Yuv420p8>::linked(size(4, 1 << 20), pitch).is_err(), "{pitch}");
            assert!(Layout::<Yuv420p8>::new(size(4, 1 << 20), &[pitch; 3]).is_err(), "{pitch}");
        }
    }

    #[test]
    fn a_negative_pitch_counts_from_the_last_row() {
        let layout = Layout::<Yuv420p8>::new(size(4, 4), &[-8, -4, -4]).unwrap();
        assert_eq!(layout.first_rows_bytes(), [24, 32 + 4, 40 + 4]);
        assert_eq!(layout.len_bytes(), 32 + 8 + 4 + 2);
    }
}
