//! What does not fit together in a kernel, as a text that is written while compiling.

use framewright_core::PlaneInfo;

/// A message, or none. Made in constants, so that a kernel that cannot be is refused where it is written, in words that
/// hold its numbers.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    bytes: [u8; Self::CAPACITY],
    len: usize,
}

impl Problem {
    const CAPACITY: usize = 320;
    /// All is well.
    pub const NONE: Self = Self { bytes: [0; Self::CAPACITY], len: 0 };

    pub const fn is_some(&self) -> bool {
        self.len > 0
    }

    /// The first of two.
    pub const fn or(self, other: Self) -> Self {
        if self.is_some() { self } else { other }
    }

    pub(crate) const fn text(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() && self.len < Self::CAPACITY {
            self.bytes[self.len] = text[i];
            self.len += 1;
            i += 1;
        }
        self
    }

    pub(crate) const fn number(self, number: u32) -> Self {
        let problem = if number >= 10 { self.number(number / 10) } else { self };
        let digit = [b'0' + (number % 10) as u8];
        match core::str::from_utf8(&digit) {
            Ok(digit) => problem.text(digit),
            Err(_) => problem,
        }
    }

    /// `16 x 2`.
    pub(crate) const fn size(self, size: [u32; 2]) -> Self {
        self.number(size[0]).text(" x ").number(size[1])
    }

    /// Fails with the message where there is one: at the place of the caller.
    #[track_caller]
    pub const fn refuse(&self) {
        if self.is_some() {
            match core::str::from_utf8(self.bytes.split_at(self.len).0) {
                Ok(text) => panic!("{}", text),
                // Cut inside a character, which no message has at its end.
                Err(_) => panic!("the kernel's parts do not fit together"),
            }
        }
    }
}

/// Places of `item` pixels on a plane whose samples each stand for several pixels.
pub(crate) const fn place(plane: PlaneInfo, item: [u32; 2]) -> Problem {
    let step = [plane.step.x, plane.step.y];
    if item[0].is_multiple_of(step[0]) && item[1].is_multiple_of(step[1]) {
        return Problem::NONE;
    }
    let problem = Problem::NONE.text("plane `").text(plane.name).text("`: a sample stands for ").size(step);
    let problem = problem.text(" pixels, and a place of this kernel has ").size(item);
    let least = Problem::NONE.number(step[0]).text(", ").number(step[1]);
    problem.text("; take `Block<").append(least).text(">` or a multiple of it")
}

/// A tile of `bytes` a row and `rows` rows for places of `item` pixels.
pub(crate) const fn tile(plane: PlaneInfo, item: [u32; 2], bytes: u32, rows: u32) -> Problem {
    let off = place(plane, item);
    if off.is_some() {
        return off;
    }
    let (columns, expected_rows) = (item[0] / plane.step.x, item[1] / plane.step.y);
    let element = plane.element_bytes();
    if bytes == columns * element && rows == expected_rows {
        return Problem::NONE;
    }
    let problem = Problem::NONE.text("plane `").text(plane.name).text("`: a block of ").size(item);
    let problem = problem.text(" pixels has ").number(expected_rows).text(" rows of ").number(columns);
    let problem = problem.text(" samples (").number(columns * element).text(" bytes) there, and this tile has ");
    let problem = problem.number(rows).text(" of ");
    if bytes.is_multiple_of(element) {
        problem.number(bytes / element).text(" samples (").number(bytes).text(" bytes)")
    } else {
        problem.number(bytes).text(" bytes")
    }
}

/// A window of `size` samples around places of `item` pixels.
pub(crate) const fn window(plane: PlaneInfo, item: [u32; 2], size: [u32; 2]) -> Problem {
    let own = [item[0].div_ceil(plane.step.x), item[1].div_ceil(plane.step.y)];
    let fits = size[0] >= own[0]
        && size[1] >= own[1]
        && (size[0] - own[0]).is_multiple_of(2)
        && (size[1] - own[1]).is_multiple_of(2);
    if fits {
        return Problem::NONE;
    }
    let problem = Problem::NONE.text("plane `").text(plane.name).text("`: a window of ").size(size);
    let problem = problem.text(" samples cannot lie in the same way on both sides of the ").size(own);
    problem.text(" that a place of this kernel has there: add an even number, ").size([own[0] + 2, own[1] + 2])
}

impl Problem {
    const fn append(mut self, other: Self) -> Self {
        let mut i = 0;
        while i < other.len && self.len < Self::CAPACITY {
            self.bytes[self.len] = other.bytes[i];
            self.len += 1;
            i += 1;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use framewright_core::{CbCr, Half, PlaneSpec, Spec, Y};
    use std::{panic::catch_unwind, string::String};

    fn said(problem: Problem) -> Option<String> {
        let payload = catch_unwind(|| problem.refuse()).err()?;
        Some(
            payload
                .downcast_ref::<String>()
                .cloned()
                .unwrap_or_else(|| (*payload.downcast_ref::<&str>().unwrap()).into()),
        )
    }

    const LUMA: PlaneInfo = Spec::<Y, u8>::INFO;
    const CHROMA: PlaneInfo = Spec::<CbCr, [u8; 2], Half>::INFO;

    #[test]
    fn places() {
        assert_eq!(said(place(LUMA, [1, 1])), None);
        assert_eq!(said(place(CHROMA, [16, 2])), None);
        let expected = "plane `CbCr`: a sample stands for 2 x 2 pixels, and a place of this kernel has 1 x 1; take `Block<2, 2>` or a multiple of it";
        assert_eq!(said(place(CHROMA, [1, 1])).as_deref(), Some(expected));
        assert!(said(place(CHROMA, [16, 1])).is_some());
        assert!(said(place(CHROMA, [15, 2])).is_some());
    }

    #[test]
    fn tiles() {
        assert_eq!(said(tile(CHROMA, [16, 2], 16, 1)), None);
        let expected = "plane `CbCr`: a block of 16 x 2 pixels has 1 rows of 8 samples (16 bytes) there, and this tile has 2 of 16 samples (32 bytes)";
        assert_eq!(said(tile(CHROMA, [16, 2], 32, 2)).as_deref(), Some(expected));
        assert!(said(tile(CHROMA, [16, 2], 15, 1)).is_some_and(|text| text.ends_with("this tile has 1 of 15 bytes")));
    }

    #[test]
    fn windows() {
        assert_eq!(said(window(LUMA, [1, 1], [3, 5])), None);
        assert_eq!(said(window(LUMA, [4, 2], [6, 2])), None);
        let said = said(window(LUMA, [1, 1], [4, 3])).expect("an even window around a pixel");
        assert!(said.contains("a window of 4 x 3 samples"), "{said}");
        assert!(said.ends_with("3 x 3"), "{said}");
    }

    #[test]
    fn what_is_too_long_is_cut() {
        let long = [b'a'; Problem::CAPACITY + 1];
        let text = core::str::from_utf8(&long).expect("letters");
        assert_eq!(said(Problem::NONE.text(text).text("b")).map(|text| text.len()), Some(Problem::CAPACITY));
    }
}
