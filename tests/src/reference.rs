//! YUV to RGB by exact rationals, from the text of the standards and from nothing of framewright's.
//!
//! ITU-T H.273 8.3 (and ITU-R BT.601-7 2.5, BT.709-6 3, BT.2020-2 table 4) with Y' in [0, 1] and Cb, Cr in [-1/2, 1/2]:
//!
//! ```text
//! R = Y' + 2 (1 - Kr) Cr
//! B = Y' + 2 (1 - Kb) Cb
//! G = (Y' - Kr R - Kb B) / (1 - Kr - Kb)
//!   = Y' - 2 Kb (1 - Kb) / Kg Cb - 2 Kr (1 - Kr) / Kg Cr
//! limited: Y' = (y - 16) / 219, C = (c - 128) / 224        full: Y' = y / 255, C = (c - 128) / 255
//! level = clamp(floor(255 x + 1/2), 0, 255)
//! ```

use framewright::{Matrix, Range};

/// A luma weight in ten-thousandths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weights {
    /// Red's, times 10000.
    pub kr_e4: i64,
    /// Blue's, times 10000.
    pub kb_e4: i64,
}

impl Weights {
    /// The standard's.
    ///
    /// # Panics
    /// For a matrix that this reference does not know.
    pub fn of(matrix: Matrix) -> Self {
        match matrix {
            Matrix::Bt601 => Self { kr_e4: 2990, kb_e4: 1140 },
            Matrix::Bt709 => Self { kr_e4: 2126, kb_e4: 722 },
            Matrix::Bt2020 => Self { kr_e4: 2627, kb_e4: 593 },
            Matrix::Smpte240m => Self { kr_e4: 2120, kb_e4: 870 },
            Matrix::Fcc => Self { kr_e4: 3000, kb_e4: 1100 },
            other => panic!("{other} is not in the reference"),
        }
    }
}

/// What one channel's terms are: numerators over one denominator, with the half that rounds.
struct Channel {
    luma: [i64; 256],
    cb: [i64; 256],
    cr: [i64; 256],
    denominator: i64,
}

impl Channel {
    /// `255 (Y' + cb / over Cb + cr / over Cr) + 1/2` for all codes.
    fn new(range: Range, cb: i128, cr: i128, over: i128) -> Self {
        let (luma_zero, luma_codes, chroma_codes) = match range {
            Range::Limited => (16, 219, 224),
            Range::Full => (0, 255, 255),
        };
        // Twice a common denominator of all terms, so that one half is a whole numerator.
        let denominator = 2 * luma_codes * chroma_codes * over;
        let whole = |numerator: i128, by: i128| {
            assert_eq!(numerator * denominator % by, 0, "the common denominator holds every term's");
            i64::try_from(numerator * denominator / by).expect("numerators fit 64 bits")
        };
        let chroma = |factor: i128, code: usize| whole(255 * factor * (code as i128 - 128), over * chroma_codes);
        Self {
            luma: std::array::from_fn(|y| whole(255 * (y as i128 - luma_zero), luma_codes) + whole(1, 2)),
            cb: std::array::from_fn(|code| chroma(cb, code)),
            cr: std::array::from_fn(|code| chroma(cr, code)),
            denominator: i64::try_from(denominator).expect("the denominator fits 64 bits"),
        }
    }

    fn level(&self, y: u8, cb: u8, cr: u8) -> u8 {
        let numerator = self.luma[usize::from(y)] + self.cb[usize::from(cb)] + self.cr[usize::from(cr)];
        numerator.div_euclid(self.denominator).clamp(0, 255) as u8
    }
}

/// The conversion of one matrix and range.
pub struct Reference {
    /// Red by luma and Cr, blue by luma and Cb: each is a function of two codes, but in YCgCo.
    red: Outer,
    blue: Outer,
    green: Channel,
}

/// Red or blue.
enum Outer {
    /// All levels by luma and one chroma code.
    OfTwo(Vec<u8>),
    OfThree(Box<Channel>),
}

impl Reference {
    /// The standard's conversion.
    pub fn new(matrix: Matrix, range: Range) -> Self {
        if matrix == Matrix::YCgCo {
            // R = Y - Cg + Co, G = Y + Cg, B = Y - Cg - Co, with Cg where Cb is and Co where Cr is.
            let channel = |cg: i128, co: i128| Channel::new(range, cg, co, 1);
            let (red, blue) = (Outer::OfThree(channel(-1, 1).into()), Outer::OfThree(channel(-1, -1).into()));
            return Self { red, green: channel(1, 0), blue };
        }
        Self::with_weights(Weights::of(matrix), range)
    }

    /// The conversion with other luma weights, to plant an error.
    pub fn with_weights(weights: Weights, range: Range) -> Self {
        let (one, kr, kb) = (10_000, i128::from(weights.kr_e4), i128::from(weights.kb_e4));
        let kg = one - kr - kb;
        let red = Channel::new(range, 0, 2 * (one - kr), one);
        let blue = Channel::new(range, 2 * (one - kb), 0, one);
        let green = Channel::new(range, -2 * kb * (one - kb), -2 * kr * (one - kr), one * kg);
        let pairs = || (0..=255u8).flat_map(|y| (0..=255u8).map(move |c| (y, c)));
        Self {
            red: Outer::OfTwo(pairs().map(|(y, cr)| red.level(y, 0, cr)).collect()),
            blue: Outer::OfTwo(pairs().map(|(y, cb)| blue.level(y, cb, 0)).collect()),
            green,
        }
    }

    /// Red, green, blue of codes.
    pub fn rgb(&self, y: u8, cb: u8, cr: u8) -> [u8; 3] {
        let outer = |outer: &Outer, c: u8| match outer {
            Outer::OfTwo(levels) => levels[usize::from(y) << 8 | usize::from(c)],
            Outer::OfThree(channel) => channel.level(y, cb, cr),
        };
        [outer(&self.red, cr), self.green.level(y, cb, cr), outer(&self.blue, cb)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rgb(matrix: Matrix, range: Range, [y, cb, cr]: [u8; 3]) -> [u8; 3] {
        Reference::new(matrix, range).rgb(y, cb, cr)
    }

    /// Codes and colours that the standards print or that a hand can compute.
    #[test]
    fn known_colours() {
        use {Matrix::*, Range::*};
        for matrix in Matrix::ALL {
            assert_eq!(rgb(matrix, Limited, [16, 128, 128]), [0; 3]);
            assert_eq!(rgb(matrix, Limited, [235, 128, 128]), [255; 3]);
            assert_eq!(rgb(matrix, Limited, [0, 128, 128]), [0; 3], "blacker than black is clamped after");
            assert_eq!(rgb(matrix, Full, [77, 128, 128]), [77; 3]);
        }
        // 75 % and 100 % bars' red, green and blue.
        assert_eq!(rgb(Bt601, Limited, [81, 90, 240]), [254, 0, 0]);
        assert_eq!(rgb(Bt601, Limited, [145, 54, 34]), [0, 255, 1]);
        assert_eq!(rgb(Bt601, Limited, [41, 240, 110]), [0, 0, 255]);
        assert_eq!(rgb(Bt709, Limited, [63, 102, 240]), [255, 1, 0]);
        // 1.772 * 125 = 221.5: an exact tie, which rounds up; and down from below zero -221.5 + 230.
        assert_eq!(rgb(Bt601, Full, [10, 253, 128])[2], 232);
        assert_eq!(rgb(Bt601, Full, [230, 3, 128])[2], 9);
        // 100 - 1.772 * 0.114 / 0.587 * 100 = 65.59.
        assert_eq!(rgb(Bt601, Full, [100, 228, 128])[1], 66);
        // YCgCo in full range is whole numbers: 100 - 20 + 30, 100 + 20, 100 - 20 - 30.
        assert_eq!(rgb(YCgCo, Full, [100, 148, 158]), [110, 120, 50]);
        // SMPTE 240M: R = 100 + 1.576 * 50 = 178.8. FCC: B = 100 + 1.78 * 50 = 189.
        assert_eq!(rgb(Smpte240m, Full, [100, 128, 178])[0], 179);
        assert_eq!(rgb(Fcc, Full, [100, 178, 128])[2], 189);
        // BT.2020: R = 100 + 1.4746 * 50 = 173.73, G = 100 - 0.571353 * 50 = 71.43.
        assert_eq!(rgb(Bt2020, Full, [100, 128, 178]), [174, 71, 100]);
    }

    /// Luma weighs what the definition says: Kr R + Kg G + Kb B gives Y' back, up to the rounding of three levels.
    #[test]
    fn luma_comes_back() {
        for matrix in Matrix::ALL.into_iter().filter(|matrix| *matrix != Matrix::YCgCo) {
            let (reference, w) = (Reference::new(matrix, Range::Full), Weights::of(matrix));
            for (y, cb, cr) in [(120, 140, 100), (128, 100, 150), (90, 120, 135), (200, 128, 120)] {
                let [r, g, b] = reference.rgb(y, cb, cr).map(f64::from);
                let (kr, kb) = (w.kr_e4 as f64 / 1e4, w.kb_e4 as f64 / 1e4);
                let luma = kr * r + (1.0 - kr - kb) * g + kb * b;
                assert!((luma - f64::from(y)).abs() <= 0.5, "{matrix}: {y} comes back as {luma}");
            }
        }
    }
}
