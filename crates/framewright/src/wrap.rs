//! Images of memory that is already there: slices prove that it is, addresses promise it.

use crate::{
    location::{Host, Location},
    parts::{Base, Parts},
    plane::RawPlane,
    view::{ImageMut, ImageRef},
};
use framewright_core::{Expected, Format, Layout, LayoutError, PlaneInfo, PlaneList, Quantity, Size};

/// The planes of a layout in a buffer that starts at `first`.
pub(crate) fn parts_at<F: Format, L: Location>(first: *mut u8, layout: &Layout<F>, place: L::Place) -> Parts<F, L> {
    let rows = layout.first_rows_bytes();
    let bases = F::Planes::array(|i| Base(first.wrapping_add(rows.as_ref()[i] as usize)));
    Parts::new(layout.size(), bases, layout.pitches(), place)
}

/// Checks that a buffer holds a layout, at the samples' alignment.
pub(crate) fn check_buffer<F: Format>(first: *mut u8, len: usize, layout: &Layout<F>) -> Result<(), LayoutError> {
    let last = &F::Planes::INFOS[F::Planes::COUNT - 1];
    check_len(last, len, layout.len_bytes())?;
    for (info, &row) in F::Planes::INFOS.iter().zip(layout.first_rows_bytes().as_ref()) {
        check_alignment(info, first.wrapping_add(row as usize))?;
    }
    Ok(())
}

fn check_len(info: &PlaneInfo, found: usize, expected: u64) -> Result<(), LayoutError> {
    if (found as u64) < expected {
        return Err(LayoutError {
            plane: info.name,
            quantity: Quantity::LengthBytes,
            expected: Expected::AtLeast(expected as i64),
            found: found as i64,
        });
    }
    Ok(())
}

fn check_alignment(info: &PlaneInfo, first_row: *mut u8) -> Result<(), LayoutError> {
    let align = info.scalar.bytes() as usize;
    let past = first_row as usize % align;
    if past != 0 {
        return Err(LayoutError {
            plane: info.name,
            quantity: Quantity::AddressBytes,
            expected: Expected::Exactly(0),
            found: past as i64,
        });
    }
    Ok(())
}

fn check_count<F: Format>(found: usize) -> Result<(), LayoutError> {
    if found == F::Planes::COUNT {
        return Ok(());
    }
    Err(LayoutError {
        plane: F::NAME,
        quantity: Quantity::Planes,
        expected: Expected::Exactly(F::Planes::COUNT as i64),
        found: found as i64,
    })
}

/// The planes at given addresses; everything but the memory itself is checked.
pub(crate) fn parts_of_raw<F: Format, L: Location>(
    size: Size,
    planes: &[RawPlane],
    place: L::Place,
) -> Result<Parts<F, L>, LayoutError> {
    check_count::<F>(planes.len())?;
    for (info, raw) in F::Planes::INFOS.iter().zip(planes) {
        info.len_bytes(size, raw.pitch_bytes)?;
        check_alignment(info, raw.first_row)?;
    }
    let pitches = F::Planes::array(|i| planes[i].pitch_bytes);
    let bases = F::Planes::array(|i| Base(planes[i].first_row));
    Ok(Parts::new(size, bases, F::Planes::resolve(pitches.as_ref())?, place))
}

/// The planes in slices, of which each starts at the lowest byte of its plane.
fn parts_of_slices<F: Format>(
    size: Size,
    slices: &[(*mut u8, usize)],
    pitches_bytes: &[i64],
) -> Result<Parts<F, Host>, LayoutError> {
    check_count::<F>(slices.len())?;
    check_count::<F>(pitches_bytes.len())?;
    let mut raws = [RawPlane { first_row: std::ptr::null_mut(), pitch_bytes: 0 }; 4];
    for (i, info) in F::Planes::INFOS.iter().enumerate() {
        let (first, len) = slices[i];
        let pitch_bytes = pitches_bytes[i];
        check_len(info, len, info.len_bytes(size, pitch_bytes)?)?;
        // Bottom-up rows: the first is the highest in memory.
        let up = if pitch_bytes < 0 { u64::from(info.plane_size(size).height() - 1) } else { 0 };
        let first_row = first.wrapping_add((up * pitch_bytes.unsigned_abs()) as usize);
        raws[i] = RawPlane { first_row, pitch_bytes };
    }
    parts_of_raw(size, &raws[..F::Planes::COUNT], ())
}

impl<'a, F: Format> ImageRef<'a, F, Host> {
    /// Wraps a buffer that holds all planes as `layout` says, without a copy.
    ///
    /// # Errors
    /// [`LayoutError`] when the buffer is too short, or not aligned to the format's samples.
    pub fn from_slice(bytes: &'a [u8], layout: &Layout<F>) -> Result<Self, LayoutError> {
        let first = bytes.as_ptr().cast_mut();
        check_buffer(first, bytes.len(), layout)?;
        Ok(Self::new(parts_at(first, layout, ())))
    }

    /// Wraps planes in buffers of their own, without a copy: what a decoder gives.
    ///
    /// Each slice starts at the lowest byte of its plane and has at least `|pitch| * (rows - 1) + row` bytes: the last row
    /// may be short. Where the pitch is negative the first row is the highest in memory.
    ///
    /// # Errors
    /// [`LayoutError`] that names the plane when a slice is too short, a pitch shorter than a row, or an alignment wrong.
    ///
    /// ```
    /// use framewright::*;
    /// let (y, u, v) = (vec![0; 896 * 480], vec![0; 448 * 240], vec![0; 448 * 239 + 427]);
    /// let size = Size::new(854, 480)?;
    /// let frame = ImageRef::<Yuv420p8>::from_slices([&y, &u, &v], size, &[896, 448, 448])?;
    ///
    /// let error = ImageRef::<Yuv420p8>::from_slices([&y, &u, &v], size, &[896, 448, 426]).unwrap_err();
    /// assert_eq!(error.to_string(), "plane Cr: pitch is 426 bytes, expected at least 427");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_slices(
        planes: <F::Planes as PlaneList>::Array<&'a [u8]>,
        size: Size,
        pitches_bytes: &[i64],
    ) -> Result<Self, LayoutError> {
        let slices = F::Planes::array(|i| {
            let slice = planes.as_ref()[i];
            (Base(slice.as_ptr().cast_mut()), slice.len())
        });
        let mut four = [(std::ptr::null_mut(), 0); 4];
        for (slot, (base, len)) in four.iter_mut().zip(slices.as_ref()) {
            *slot = (base.0, *len);
        }
        Ok(Self::new(parts_of_slices(size, &four[..F::Planes::COUNT], pitches_bytes)?))
    }

    /// Wraps planes at given addresses: `data` and `linesize` of an FFmpeg frame.
    ///
    /// # Errors
    /// [`LayoutError`] when the count of planes, a pitch or an alignment is not what the format has.
    ///
    /// # Safety
    /// For `'a`: for each plane, the visible bytes of each row (`first_row + y * pitch_bytes`) are initialised, readable from
    /// any thread, and nobody writes them.
    pub unsafe fn from_raw_planes(size: Size, planes: &[RawPlane]) -> Result<Self, LayoutError> {
        Ok(Self::new(parts_of_raw(size, planes, ())?))
    }
}

impl<'a, F: Format> ImageMut<'a, F, Host> {
    /// Wraps a buffer that holds all planes as `layout` says, without a copy.
    ///
    /// # Errors
    /// [`LayoutError`] when the buffer is too short, or not aligned to the format's samples.
    pub fn from_slice(bytes: &'a mut [u8], layout: &Layout<F>) -> Result<Self, LayoutError> {
        check_buffer(bytes.as_mut_ptr(), bytes.len(), layout)?;
        Ok(Self::new(parts_at(bytes.as_mut_ptr(), layout, ())))
    }

    /// Wraps planes in buffers of their own, without a copy. As [`ImageRef::from_slices`].
    ///
    /// # Errors
    /// [`LayoutError`] that names the plane when a slice is too short, a pitch shorter than a row, or an alignment wrong.
    pub fn from_slices(
        planes: impl IntoIterator<Item = &'a mut [u8]>,
        size: Size,
        pitches_bytes: &[i64],
    ) -> Result<Self, LayoutError> {
        let mut four = [(std::ptr::null_mut(), 0); 4];
        let mut count = 0;
        for slice in planes {
            if let Some(slot) = four.get_mut(count) {
                *slot = (slice.as_mut_ptr(), slice.len());
            }
            count += 1;
        }
        check_count::<F>(count)?;
        Ok(Self::new(parts_of_slices(size, &four[..count], pitches_bytes)?))
    }

    /// Wraps planes at given addresses for writing.
    ///
    /// # Errors
    /// [`LayoutError`] when the count of planes, a pitch or an alignment is not what the format has.
    ///
    /// # Safety
    /// For `'a`: for each plane, the visible bytes of each row (`first_row + y * pitch_bytes`) are initialised, readable and
    /// writable from any thread, used by nobody else, and planes and rows do not overlap.
    pub unsafe fn from_raw_planes(size: Size, planes: &[RawPlane]) -> Result<Self, LayoutError> {
        Ok(Self::new(parts_of_raw(size, planes, ())?))
    }
}
