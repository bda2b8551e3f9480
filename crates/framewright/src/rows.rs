//! Regions of one allocation, before they are planes: the safe way from a decoder's single tensor to typed planes.
//!
//! Many tools hand out a yuv420p frame as one array of `h * 3 / 2` rows. Its chroma region looks like two pictures side by
//! side, and cutting it down its columns copies without complaint, with V read from the wrong place: the rows of U and V are
//! *half* as long, so that each row of the array holds two rows of one plane. Here a column cut is a [`Window`], which keeps
//! the pitch of what it was cut from and is no plane; the two planes are the region's halves by bytes, [`Rows::halves`].
//!
//! ```text
//! array row      what it holds (yuv420p, 8 wide)
//! 0..h           Y Y Y Y Y Y Y Y
//! h              U U U U|U U U U    two rows of U
//! h + 1          V V V V|V V V V    two rows of V (h = 4)
//! ```

use crate::{
    location::{Host, HostAccess, Location},
    parts::Base,
    plane::PlaneRef,
};
use framewright_core::{
    Cb, Component, Cr, Dyn, Expected, Full, Half, LayoutError, Per, Pitch, PlaneSpec, Quantity, Sample, Size, Spec,
};
use std::marker::PhantomData;

/// Whole rows of one allocation: `columns` samples of type `S` every `P` bytes. Can be divided by rows only.
///
/// ```
/// use framewright::*;
/// // A 4x4 yuv420p frame as one array of 6 rows.
/// let array: Vec<u8> = (0..24).collect();
/// let size = Size::new(4, 4)?;
/// let rows = Rows::new(&array, size.width(), 4)?;
/// let (luma, chroma) = rows.split_at_row(size.height())?;
/// let (cb, cr) = chroma.halves(size)?;
/// let frame = ImageRef::<Yuv420p8<Linked>>::from_planes(size, (luma.plane::<Y>(size)?, cb, cr))?;
/// let (_, cb, cr) = frame.planes();
/// assert_eq!((cb.row(1), cr.row(0)), (&[18, 19][..], &[20, 21][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Rows<'a, S: Sample, P: Pitch = Dyn, L: Location = Host> {
    base: Base,
    len_bytes: u64,
    pitch: P::Repr,
    columns: u32,
    place: L::Place,
    borrow: PhantomData<(&'a [u8], fn() -> (S, L))>,
}

/// Some columns of [`Rows`]: can be read, and keeps the pitch of what it was cut from. No image is made of it.
pub struct Window<'a, S: Sample, P: Pitch = Dyn, L: Location = Host> {
    base: Base,
    pitch: P::Repr,
    columns: u32,
    rows: u32,
    borrow: PhantomData<(&'a [u8], fn() -> (S, L))>,
}

fn wrong(plane: &'static str, quantity: Quantity, expected: Expected, found: u64) -> LayoutError {
    LayoutError { plane, quantity, expected, found: i64::try_from(found).unwrap_or(i64::MAX) }
}

impl<'a, S: Sample> Rows<'a, S, Dyn, Host> {
    /// The rows of `bytes`, `columns` samples each and `pitch_bytes` apart; the last may be short of its padding.
    ///
    /// # Errors
    /// As [`Rows::with_pitch`].
    pub fn new(bytes: &'a [u8], columns: u32, pitch_bytes: i64) -> Result<Self, LayoutError> {
        Self::with_pitch(bytes, columns, pitch_bytes)
    }
}

impl<'a, S: Sample, P: Pitch> Rows<'a, S, P, Host> {
    /// The rows of `bytes` with a pitch that the type `P` states or allows.
    ///
    /// # Errors
    /// [`LayoutError`] when there are no columns, the pitch is shorter than a row or not what `P` states, the bytes are
    /// fewer than a row, or address or pitch cut a sample.
    pub fn with_pitch(bytes: &'a [u8], columns: u32, pitch_bytes: i64) -> Result<Self, LayoutError> {
        const NAME: &str = "rows";
        if columns == 0 || columns > framewright_core::MAX_SIDE_PX {
            return Err(wrong(NAME, Quantity::WidthPx, Expected::AtLeast(1), columns.into()));
        }
        let row = i64::from(columns) * size_of::<S>() as i64;
        let scalar = S::KIND.bytes() as usize;
        let pitch_error =
            |expected| LayoutError { plane: NAME, quantity: Quantity::PitchBytes, expected, found: pitch_bytes };
        if pitch_bytes < row {
            return Err(pitch_error(Expected::AtLeast(row)));
        }
        if pitch_bytes % scalar as i64 != 0 {
            return Err(pitch_error(Expected::MultipleOf(scalar as i64)));
        }
        if (bytes.len() as u64) < row as u64 {
            return Err(wrong(NAME, Quantity::LengthBytes, Expected::AtLeast(row), bytes.len() as u64));
        }
        let past = bytes.as_ptr() as usize % scalar;
        if past != 0 {
            return Err(wrong(NAME, Quantity::AddressBytes, Expected::Exactly(0), past as u64));
        }
        Ok(Self {
            base: Base(bytes.as_ptr().cast_mut()),
            len_bytes: bytes.len() as u64,
            pitch: P::resolve(pitch_bytes, pitch_bytes).map_err(pitch_error)?,
            columns,
            place: (),
            borrow: PhantomData,
        })
    }
}

impl<'a, S: Sample, P: Pitch, L: Location> Rows<'a, S, P, L> {
    /// Samples of a row.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Bytes from row to row.
    pub fn pitch_bytes(&self) -> i64 {
        P::bytes(self.pitch)
    }

    fn row_bytes(&self) -> u64 {
        u64::from(self.columns) * size_of::<S>() as u64
    }

    /// Whole rows; bytes may be left after the last.
    pub fn rows(&self) -> u32 {
        if self.len_bytes < self.row_bytes() {
            return 0;
        }
        let rows = (self.len_bytes - self.row_bytes()) / self.pitch_bytes().unsigned_abs() + 1;
        u32::try_from(rows).unwrap_or(u32::MAX)
    }

    /// The first `row` rows, and all bytes after them.
    ///
    /// # Errors
    /// [`LayoutError`] when there are not as many rows.
    pub fn split_at_row(self, row: u32) -> Result<(Self, Self), LayoutError> {
        if row > self.rows() {
            return Err(wrong("rows", Quantity::HeightPx, Expected::AtLeast(row.into()), self.rows().into()));
        }
        let at = (u64::from(row) * self.pitch_bytes().unsigned_abs()).min(self.len_bytes);
        let upper = Self { len_bytes: at, ..self };
        let base = Base(self.base.0.wrapping_add(at as usize));
        Ok((upper, Self { base, len_bytes: self.len_bytes - at, ..self }))
    }

    /// The columns left of `column` and the others, as windows: each keeps this pitch.
    ///
    /// # Errors
    /// [`LayoutError`] when a side would be empty.
    pub fn split_at_column(self, column: u32) -> Result<(Window<'a, S, P, L>, Window<'a, S, P, L>), LayoutError> {
        if column == 0 || column >= self.columns {
            let most = Expected::AtMost(i64::from(self.columns) - 1);
            return Err(wrong("rows", Quantity::WidthPx, most, column.into()));
        }
        let window = |start: u32, columns: u32| Window {
            base: Base(self.base.0.wrapping_add(start as usize * size_of::<S>())),
            pitch: self.pitch,
            columns,
            rows: self.rows(),
            borrow: PhantomData,
        };
        Ok((window(0, column), window(column, self.columns - column)))
    }

    /// These rows as the unsubsampled plane of component `C` of a frame of `size`.
    ///
    /// # Errors
    /// [`LayoutError`] when rows or columns are fewer than the frame's.
    pub fn plane<C: Component>(self, size: Size) -> Result<PlaneRef<'a, Spec<C, S, Full, P>, L>, LayoutError>
    where
        Spec<C, S, Full, P>: PlaneSpec<Pitch = P>,
    {
        if self.columns < size.width() {
            return Err(wrong(C::NAME, Quantity::WidthPx, Expected::AtLeast(size.width().into()), self.columns.into()));
        }
        if self.rows() < size.height() {
            return Err(wrong(
                C::NAME,
                Quantity::HeightPx,
                Expected::AtLeast(size.height().into()),
                self.rows().into(),
            ));
        }
        Ok(PlaneRef { base: self.base, pitch: self.pitch, size, place: self.place, borrow: PhantomData })
    }

    /// These rows as the contiguous chroma region of a 4:2:0 frame of `size`: its two planes, which are its halves by bytes,
    /// also where the count of chroma rows is odd.
    ///
    /// # Errors
    /// [`LayoutError`] when the region has fewer bytes than the two planes.
    #[allow(clippy::type_complexity)] // two planes by their full names is what this gives
    pub fn halves(
        self,
        size: Size,
    ) -> Result<
        (PlaneRef<'a, Spec<Cb, S, Half, Per<P, 2>>, L>, PlaneRef<'a, Spec<Cr, S, Half, Per<P, 2>>, L>),
        LayoutError,
    >
    where
        Spec<Cb, S, Half, Per<P, 2>>: PlaneSpec<Pitch = Per<P, 2>>,
        Spec<Cr, S, Half, Per<P, 2>>: PlaneSpec<Pitch = Per<P, 2>>,
    {
        let info = <Spec<Cr, S, Half, Per<P, 2>> as PlaneSpec>::INFO;
        let chroma = info.plane_size(size);
        let pitch_bytes = Per::<P, 2>::bytes(self.pitch);
        let plane_len = info.len_bytes(size, pitch_bytes)?;
        let half = pitch_bytes.unsigned_abs() * u64::from(chroma.height());
        if self.len_bytes < half + plane_len {
            let expected = Expected::AtLeast((half + plane_len) as i64);
            return Err(wrong(info.name, Quantity::LengthBytes, expected, self.len_bytes));
        }
        let second = Base(self.base.0.wrapping_add(half as usize));
        Ok((
            PlaneRef { base: self.base, pitch: self.pitch, size: chroma, place: self.place, borrow: PhantomData },
            PlaneRef { base: second, pitch: self.pitch, size: chroma, place: self.place, borrow: PhantomData },
        ))
    }
}

impl<'a, S: Sample, P: Pitch, L: Location> Window<'a, S, P, L> {
    /// Samples of a row.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Rows.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Bytes from row to row: of what this was cut from.
    pub fn pitch_bytes(&self) -> i64 {
        P::bytes(self.pitch)
    }
}

impl<'a, S: Sample, P: Pitch, L: HostAccess> Window<'a, S, P, L> {
    /// The samples of row `y`.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, y: u32) -> &'a [S] {
        assert!(y < self.rows, "window: row is {y}, expected below {}", self.rows);
        let row = self.base.0.wrapping_offset((self.pitch_bytes() * i64::from(y)) as isize).cast::<S>();
        // SAFETY: the window's columns lie in a whole row of the bytes that `Rows` borrowed for 'a, at the sample's alignment;
        // any bytes are valid samples (Pod).
        unsafe { std::slice::from_raw_parts(row, self.columns as usize) }
    }
}

impl<S: Sample, P: Pitch, L: Location> Clone for Rows<'_, S, P, L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Sample, P: Pitch, L: Location> Copy for Rows<'_, S, P, L> {}
impl<S: Sample, P: Pitch, L: Location> Clone for Window<'_, S, P, L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Sample, P: Pitch, L: Location> Copy for Window<'_, S, P, L> {}
impl<S: Sample, P: Pitch, L: Location> std::fmt::Debug for Rows<'_, S, P, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rows({} x {}, pitch {} bytes)", self.columns, self.rows(), self.pitch_bytes())
    }
}
impl<S: Sample, P: Pitch, L: Location> std::fmt::Debug for Window<'_, S, P, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Window({} x {}, pitch {} bytes)", self.columns, self.rows, self.pitch_bytes())
    }
}
