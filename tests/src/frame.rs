//! Images in guarded buffers: every byte that is not a visible sample holds a pattern, and must go on holding it.
//!
//! ```text
//! buffer: [ guard | row 0 | padding | row 1 | padding | … | last row | guard ]      separate: a buffer a plane
//! buffer: [ guard | plane 0, last row short | plane 1 | … | guard ]                 together: one buffer
//! ```

use framewright::{Format, ImageMut, ImageRef, PlaneInfo, PlaneList, RawPlane, Size};
use std::{marker::PhantomData, ops::Range, sync::OnceLock};

/// Guard bytes on both sides of a buffer: more than any load or store of a kernel.
const GUARD: usize = ALIGNMENT;
/// Bytes of a buffer at most.
const LONGEST_BUFFER: usize = 1 << 24;
/// What buffers start on; an executor that moves one to other memory must keep its place modulo this.
pub const ALIGNMENT: usize = 64;

/// How the rows of a plane lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rows {
    /// One after the other, from an address on no alignment but the sample's.
    Minimal,
    /// From cache line to cache line.
    Padded,
    /// As odd a pitch as the sample allows, from an odd address.
    Odd,
    /// Bottom-up, with padding.
    Negative,
    /// Bottom-up, one after the other.
    NegativeMinimal,
}

impl Rows {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Minimal, Self::Padded, Self::Odd, Self::Negative, Self::NegativeMinimal];

    fn pitch_bytes(self, info: &PlaneInfo, row_bytes: usize) -> i64 {
        let (row, scalar) = (row_bytes as i64, i64::from(info.scalar.bytes()));
        let odd = row + scalar * (5 + (row / scalar) % 2);
        match self {
            Self::Minimal => row,
            Self::Padded => (row_bytes + 1).next_multiple_of(ALIGNMENT) as i64,
            Self::Odd => odd,
            Self::Negative => -odd,
            Self::NegativeMinimal => -row,
        }
    }

    /// Where the lowest byte lies, modulo the alignment.
    fn phase(self, info: &PlaneInfo) -> usize {
        let scalar = info.scalar.bytes() as usize;
        match self {
            Self::Padded => 0,
            Self::Minimal => 4 * scalar,
            Self::Odd => 3 * scalar,
            Self::Negative => 7 * scalar,
            Self::NegativeMinimal => scalar,
        }
    }
}

/// Whether planes have buffers of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffers {
    /// A buffer a plane.
    Separate,
    /// One buffer, each plane right after the short last row of the one before.
    Together,
}

/// Bytes that start on [`ALIGNMENT`].
struct Buffer {
    storage: Vec<u8>,
    range: Range<usize>,
}

impl Buffer {
    fn filled(len: usize, pattern: Pattern) -> Self {
        let storage = vec![0; len + ALIGNMENT];
        let start = storage.as_ptr().align_offset(ALIGNMENT);
        let mut buffer = Self { storage, range: start..start + len };
        buffer.bytes_mut().copy_from_slice(pattern.bytes(0..len));
        buffer
    }
    fn bytes(&self) -> &[u8] {
        &self.storage[self.range.clone()]
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.range.clone()]
    }
}

/// What buffers are filled with before a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// Some bytes.
    Plain,
    /// The same with all bits flipped: a byte that nobody wrote is wrong after one run at least.
    Flipped,
}

impl Pattern {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Plain, Self::Flipped];

    /// The bytes at `range` of any buffer.
    fn bytes(self, range: Range<usize>) -> &'static [u8] {
        static PLAIN: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
        let [plain, flipped] = PLAIN.get_or_init(|| {
            let byte = |i: usize| ((i as u32).wrapping_mul(0x9e37_79b1) >> 24) as u8;
            [(0..LONGEST_BUFFER).map(byte).collect(), (0..LONGEST_BUFFER).map(|i| !byte(i)).collect()]
        });
        match self {
            Self::Plain => &plain[range],
            Self::Flipped => &flipped[range],
        }
    }
}

/// Where a plane lies.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Which of the frame's buffers.
    pub buffer: usize,
    /// The first byte of the first row in that buffer.
    pub first_row: usize,
    /// Bytes from row to row.
    pub pitch_bytes: i64,
    /// Bytes of a row.
    pub row_bytes: usize,
    /// Rows.
    pub rows: usize,
}

impl Place {
    /// The bytes of row `y` in the buffer.
    pub fn row(&self, y: usize) -> Range<usize> {
        let start = (self.first_row as i64 + self.pitch_bytes * y as i64) as usize;
        start..start + self.row_bytes
    }

    /// From the lowest to the highest byte of all rows.
    pub fn extent(&self) -> Range<usize> {
        let (first, last) = (self.row(0), self.row(self.rows - 1));
        first.start.min(last.start)..first.end.max(last.end)
    }
}

/// An image in host memory, with all that lies around it.
pub struct Frame<F> {
    size: Size,
    buffers: Vec<Buffer>,
    places: Vec<Place>,
    pattern: Pattern,
    format: PhantomData<fn() -> F>,
}

/// A byte that is not as it should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// The plane's name; "guard" for bytes that belong to none.
    pub plane: &'static str,
    /// The byte in its row; for a guard the byte in its buffer.
    pub byte: usize,
    /// The row; for a guard the buffer.
    pub row: usize,
    /// What it should be.
    pub expected: u8,
    /// What it is.
    pub found: u8,
}

impl<F: Format> Frame<F> {
    /// A frame filled with a pattern. `rows` says how each plane lies, the first again where planes are more.
    pub fn new(size: Size, rows: &[Rows], buffers: Buffers, pattern: Pattern) -> Self {
        let mut lens: Vec<usize> = Vec::new();
        let mut places = Vec::new();
        for (i, info) in F::Planes::INFOS.iter().enumerate() {
            let rows_are = rows[i % rows.len()];
            let (row_bytes, rows) = (info.row_bytes(size) as usize, info.plane_size(size).height() as usize);
            let pitch_bytes = rows_are.pitch_bytes(info, row_bytes);
            let up = pitch_bytes.unsigned_abs() as usize * (rows - 1);
            if lens.is_empty() || buffers == Buffers::Separate {
                lens.push(GUARD + rows_are.phase(info));
            }
            let buffer = lens.len() - 1;
            let lowest = lens[buffer];
            let first_row = if pitch_bytes < 0 { lowest + up } else { lowest };
            lens[buffer] += up + row_bytes;
            places.push(Place { buffer, first_row, pitch_bytes, row_bytes, rows });
        }
        let buffers = lens.iter().map(|len| Buffer::filled(len + GUARD, pattern)).collect();
        Self { size, buffers, places, pattern, format: PhantomData }
    }

    /// The visible size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Where each plane lies.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// All bytes of each buffer with its guards, for executors that move them to memory of their own.
    pub fn buffers(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.buffers.iter().map(Buffer::bytes)
    }

    /// The same for writing: what such an executor brings back.
    pub fn buffers_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [u8]> {
        self.buffers.iter_mut().map(Buffer::bytes_mut)
    }

    /// Sets the samples; `row` gives the bytes of row `y` of plane `i`.
    pub fn fill<'e>(&mut self, row: impl Fn(usize, usize) -> &'e [u8]) {
        for (i, place) in self.places.iter().enumerate() {
            let bytes = self.buffers[place.buffer].bytes_mut();
            (0..place.rows).for_each(|y| bytes[place.row(y)].copy_from_slice(row(i, y)));
        }
    }

    /// The bytes of row `y` of plane `i`.
    pub fn row(&self, i: usize, y: usize) -> &[u8] {
        let place = &self.places[i];
        &self.buffers[place.buffer].bytes()[place.row(y)]
    }

    /// The frame as an image.
    pub fn view(&self) -> ImageRef<'_, F> {
        if self.buffers.len() == F::Planes::COUNT {
            let slices = F::Planes::array(|i| {
                let place = &self.places[i];
                &self.buffers[place.buffer].bytes()[place.extent()]
            });
            return ImageRef::from_slices(slices, self.size, &self.pitches()).expect("the frame is laid out right");
        }
        let planes = self.raw(|buffer| self.buffers[buffer].bytes().as_ptr().cast_mut());
        // SAFETY: the rows lie in the buffers (`new`), which are initialised and borrowed for reading as long as the view.
        unsafe { ImageRef::from_raw_planes(self.size, &planes) }.expect("the frame is laid out right")
    }

    /// The frame as an image to write.
    pub fn view_mut(&mut self) -> ImageMut<'_, F> {
        let pitches = self.pitches();
        if self.buffers.len() == F::Planes::COUNT {
            let slices = self.buffers.iter_mut().zip(&self.places).map(|(b, p)| &mut b.bytes_mut()[p.extent()]);
            return ImageMut::from_slices(slices, self.size, &pitches).expect("the frame is laid out right");
        }
        let bases: Vec<*mut u8> = self.buffers.iter_mut().map(|b| b.bytes_mut().as_mut_ptr()).collect();
        let planes = self.raw(|buffer| bases[buffer]);
        // SAFETY: the rows lie in the buffers (`new`) without overlap, and the buffers are borrowed for writing as long as the
        // view.
        unsafe { ImageMut::from_raw_planes(self.size, &planes) }.expect("the frame is laid out right")
    }

    fn pitches(&self) -> Vec<i64> {
        self.places.iter().map(|p| p.pitch_bytes).collect()
    }

    fn raw(&self, base: impl Fn(usize) -> *mut u8) -> Vec<RawPlane> {
        let plane =
            |p: &Place| RawPlane { first_row: base(p.buffer).wrapping_add(p.first_row), pitch_bytes: p.pitch_bytes };
        self.places.iter().map(plane).collect()
    }

    /// The first byte that is neither the expected sample nor an untouched guard; `row` gives row `y` of plane `i`.
    pub fn first_wrong<'e>(&self, row: impl Fn(usize, usize) -> &'e [u8]) -> Option<Wrong> {
        for (i, place) in self.places.iter().enumerate() {
            for y in 0..place.rows {
                let (found, expected) = (self.row(i, y), row(i, y));
                assert_eq!(found.len(), expected.len(), "row {y} of plane {i}");
                if let Some((byte, expected, found)) = first_unequal(expected, found) {
                    return Some(Wrong { plane: F::Planes::INFOS[i].name, byte, row: y, expected, found });
                }
            }
        }
        (0..self.buffers.len()).find_map(|buffer| self.first_wrong_guard(buffer))
    }

    fn first_wrong_guard(&self, index: usize) -> Option<Wrong> {
        let bytes = self.buffers[index].bytes();
        let guard = |guard: Range<usize>| {
            let pattern = self.pattern.bytes(guard.clone());
            let (byte, expected, found) = first_unequal(pattern, &bytes[guard.clone()])?;
            Some(Wrong { plane: "guard", byte: guard.start + byte, row: index, expected, found })
        };
        // Planes of a buffer follow one another, and so do rows, from the last where they lie bottom-up.
        let mut from = 0;
        for place in self.places.iter().filter(|place| place.buffer == index) {
            for i in 0..place.rows {
                let row = place.row(if place.pitch_bytes < 0 { place.rows - 1 - i } else { i });
                if let Some(wrong) = guard(from..row.start) {
                    return Some(wrong);
                }
                from = row.end;
            }
        }
        guard(from..bytes.len())
    }
}

/// Where two slices of one length differ first, and the bytes there.
fn first_unequal(expected: &[u8], found: &[u8]) -> Option<(usize, u8, u8)> {
    if expected == found {
        return None;
    }
    let at = expected.iter().zip(found).position(|(a, b)| a != b)?;
    Some((at, expected[at], found[at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use framewright::{Nv12, Yuv420p8};

    /// The checker is itself checked: any one byte changed anywhere in a frame is found, and named.
    #[test]
    fn every_single_byte_is_watched() {
        let size = Size::fixed::<5, 3>();
        for rows in Rows::ALL {
            for buffers in [Buffers::Separate, Buffers::Together] {
                let mut frame = Frame::<Yuv420p8>::new(size, &[rows, Rows::Odd], buffers, Pattern::Plain);
                let shown: Vec<u8> = (0..15).collect();
                let row = |i: usize, y: usize| if i == 0 { &shown[5 * y..5 * y + 5] } else { &shown[3 * y..3 * y + 3] };
                frame.fill(row);
                let check = |frame: &Frame<Yuv420p8>| frame.first_wrong(row);
                assert_eq!(check(&frame), None, "{rows:?} {buffers:?}");
                let (mut samples, mut guards) = (0, 0);
                for buffer in 0..frame.buffers.len() {
                    for at in 0..frame.buffers[buffer].range.len() {
                        frame.buffers[buffer].bytes_mut()[at] ^= 1;
                        match check(&frame) {
                            Some(Wrong { plane: "guard", .. }) => guards += 1,
                            Some(_) => samples += 1,
                            None => panic!("{rows:?} {buffers:?}: byte {at} of buffer {buffer} is not watched"),
                        }
                        frame.buffers[buffer].bytes_mut()[at] ^= 1;
                    }
                }
                assert_eq!(samples, 15 + 6 + 6);
                assert!(guards >= 2 * GUARD);
            }
        }
    }

    #[test]
    fn frames_are_what_they_say() {
        let size = Size::fixed::<6, 4>();
        let pitch = |rows| Frame::<Nv12>::new(size, &[rows], Buffers::Together, Pattern::Plain).view().pitches_bytes();
        assert_eq!(pitch(Rows::Minimal), [6, 6]);
        assert_eq!(pitch(Rows::Padded), [64, 64]);
        assert_eq!(pitch(Rows::Odd), [11, 11]);
        assert_eq!(pitch(Rows::Negative), [-11, -11]);
        let frame = Frame::<Nv12>::new(size, &[Rows::Padded], Buffers::Separate, Pattern::Plain);
        assert_eq!(frame.view().planes().0.as_raw().first_row as usize % ALIGNMENT, 0);
    }
}
