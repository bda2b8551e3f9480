//! Colour: matrix, range and chroma place, as ITU-T H.273 names them.

use crate::size::Size;

/// How luma and the colour differences were made of red, green and blue (H.273 MatrixCoefficients).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Matrix {
    /// ITU-R BT.601, also BT.470BG and SMPTE 170M (H.273 codes 5 and 6): Kr 0.299, Kb 0.114.
    Bt601,
    /// ITU-R BT.709 (code 1): Kr 0.2126, Kb 0.0722.
    Bt709,
    /// ITU-R BT.2020 non-constant luminance (code 9): Kr 0.2627, Kb 0.0593.
    Bt2020,
    /// SMPTE 240M (code 7): Kr 0.212, Kb 0.087.
    Smpte240m,
    /// FCC 73.682 (code 4): Kr 0.30, Kb 0.11.
    Fcc,
    /// YCgCo (code 8): Cg in the place of Cb, Co in that of Cr. R = Y - Cg + Co, G = Y + Cg, B = Y - Cg - Co.
    YCgCo,
    /// Luma weights of your own.
    Custom(LumaWeights),
}

/// Kr and Kb of a matrix, in millionths; Kg is what is left to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct LumaWeights {
    kr_e6: u32,
    kb_e6: u32,
}

/// Luma weights that no matrix of Y'CbCr has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LumaWeightsError {
    /// Red's weight, in millionths.
    pub kr_e6: u32,
    /// Blue's weight, in millionths.
    pub kb_e6: u32,
}

impl core::fmt::Display for LumaWeightsError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { kr_e6, kb_e6 } = self;
        write!(
            f,
            "luma weights in millionths: Kr is {kr_e6}, Kb is {kb_e6}, expected 1 to 500000 each, and at least 300000 left for Kg"
        )
    }
}
impl core::error::Error for LumaWeightsError {}

impl LumaWeights {
    /// Weights in millionths.
    ///
    /// # Errors
    /// A weight of 0 or above one half, or less than 0.3 left for green: the standards' are from 0.0593 to 0.6780.
    ///
    /// ```
    /// use framewright_core::{LumaWeights, Matrix};
    /// let matrix = Matrix::Custom(LumaWeights::new(250_000, 100_000)?);
    /// assert_eq!(matrix.to_string(), "Kr 0.250000, Kb 0.100000");
    /// # Ok::<(), framewright_core::LumaWeightsError>(())
    /// ```
    pub const fn new(kr_e6: u32, kb_e6: u32) -> Result<Self, LumaWeightsError> {
        const HALF: u32 = 500_000;
        if kr_e6 == 0 || kb_e6 == 0 || kr_e6 > HALF || kb_e6 > HALF || kr_e6 + kb_e6 > 700_000 {
            return Err(LumaWeightsError { kr_e6, kb_e6 });
        }
        Ok(Self { kr_e6, kb_e6 })
    }

    /// Red's weight, in millionths.
    pub const fn kr_e6(self) -> u32 {
        self.kr_e6
    }

    /// Blue's weight, in millionths.
    pub const fn kb_e6(self) -> u32 {
        self.kb_e6
    }
}

/// A code of H.273 MatrixCoefficients that is no matrix of this crate's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnsupportedMatrix {
    /// The code.
    pub code: u8,
}

impl core::fmt::Display for UnsupportedMatrix {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let what = match self.code {
            0 => "identity: the planes are G, B, R, which no conversion here reads",
            10 => "BT.2020 constant luminance, which is no matrix: luma is made of linear light",
            11 => "SMPTE ST 2085 Y'D'zD'x",
            12 => "chromaticity-derived non-constant luminance, whose weights follow from the primaries",
            13 => "chromaticity-derived constant luminance, which is no matrix",
            14 => "ICtCp, which is no matrix of Y'CbCr",
            15 => "IPT-C2",
            16 | 17 => "YCgCo-R, whose chroma has more bits than its luma",
            _ => "reserved",
        };
        write!(f, "H.273 matrix code is {} ({what}), expected 1, 4 to 9, or 2 for unspecified", self.code)
    }
}
impl core::error::Error for UnsupportedMatrix {}

impl Matrix {
    /// The standards' of them.
    pub const ALL: [Self; 6] = [Self::Bt601, Self::Bt709, Self::Bt2020, Self::Smpte240m, Self::Fcc, Self::YCgCo];

    /// Kr and Kb; none for YCgCo, which has no such weights.
    pub const fn luma_weights(self) -> Option<LumaWeights> {
        let (kr_e6, kb_e6) = match self {
            Self::Bt601 => (299_000, 114_000),
            Self::Bt709 => (212_600, 72_200),
            Self::Bt2020 => (262_700, 59_300),
            Self::Smpte240m => (212_000, 87_000),
            Self::Fcc => (300_000, 110_000),
            Self::YCgCo => return None,
            Self::Custom(weights) => return Some(weights),
        };
        Some(LumaWeights { kr_e6, kb_e6 })
    }

    /// The short name that the program uses, FFmpeg's where it has one.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bt601 => "bt601",
            Self::Bt709 => "bt709",
            Self::Bt2020 => "bt2020",
            Self::Smpte240m => "smpte240m",
            Self::Fcc => "fcc",
            Self::YCgCo => "ycgco",
            Self::Custom(_) => "custom",
        }
    }

    /// The matrix of a code of H.273 MatrixCoefficients, which is also FFmpeg's `AVColorSpace`; `None` for 2, unspecified.
    ///
    /// # Errors
    /// A code that stands for another kind of colour, which the message names.
    ///
    /// ```
    /// use framewright_core::Matrix;
    /// assert_eq!(Matrix::from_h273(9), Ok(Some(Matrix::Bt2020)));
    /// assert_eq!(Matrix::from_h273(2), Ok(None));
    /// assert!(Matrix::from_h273(14).is_err_and(|error| error.to_string().contains("ICtCp")));
    /// ```
    pub const fn from_h273(code: u8) -> Result<Option<Self>, UnsupportedMatrix> {
        Ok(Some(match code {
            1 => Self::Bt709,
            2 => return Ok(None),
            4 => Self::Fcc,
            5 | 6 => Self::Bt601,
            7 => Self::Smpte240m,
            8 => Self::YCgCo,
            9 => Self::Bt2020,
            _ => return Err(UnsupportedMatrix { code }),
        }))
    }

    /// The code of H.273; of BT.601, which has two, SMPTE 170M's (6). None for weights of one's own.
    pub const fn h273(self) -> Option<u8> {
        Some(match self {
            Self::Bt709 => 1,
            Self::Fcc => 4,
            Self::Bt601 => 6,
            Self::Smpte240m => 7,
            Self::YCgCo => 8,
            Self::Bt2020 => 9,
            Self::Custom(_) => return None,
        })
    }
}

impl core::fmt::Display for Matrix {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Bt601 => "BT.601",
            Self::Bt709 => "BT.709",
            Self::Bt2020 => "BT.2020",
            Self::Smpte240m => "SMPTE 240M",
            Self::Fcc => "FCC",
            Self::YCgCo => "YCgCo",
            Self::Custom(LumaWeights { kr_e6, kb_e6 }) => return write!(f, "Kr 0.{kr_e6:06}, Kb 0.{kb_e6:06}"),
        })
    }
}

/// Which codes stand for black and white (H.273 VideoFullRangeFlag).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Range {
    /// At 8 bits luma 16 to 235, chroma 16 to 240: video's usual. Also called TV or MPEG range.
    Limited,
    /// At 8 bits 0 to 255. Also called PC or JPEG range.
    Full,
}

impl Range {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Limited, Self::Full];

    /// The short name that the program uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Limited => "limited",
            Self::Full => "full",
        }
    }
}

impl core::fmt::Display for Range {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a chroma sample lies among the luma samples that share it (H.273 Chroma420SampleLocType).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum ChromaSiting {
    /// Between the rows, at the left column: MPEG-2, H.264, HEVC (code 0).
    Left,
    /// In the middle of four: JPEG, MPEG-1 (code 1).
    Center,
    /// At the top left sample: BT.2020 (code 2).
    TopLeft,
}

/// What is known of an image's colours; `None` is H.273's "unspecified".
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct ColorInfo {
    /// The luma weights.
    pub matrix: Option<Matrix>,
    /// The range of codes.
    pub range: Option<Range>,
    /// The place of chroma.
    pub siting: Option<ChromaSiting>,
}

impl ColorInfo {
    /// Nothing known.
    pub const UNSPECIFIED: Self = Self { matrix: None, range: None, siting: None };

    /// Matrix and range.
    pub const fn new(matrix: Matrix, range: Range) -> Self {
        Self { matrix: Some(matrix), range: Some(range), siting: None }
    }

    /// What is known here, and `other`'s where nothing is.
    pub fn or(self, other: Self) -> Self {
        Self {
            matrix: self.matrix.or(other.matrix),
            range: self.range.or(other.range),
            siting: self.siting.or(other.siting),
        }
    }

    /// Decides what is unspecified, as mpv and libplacebo do: BT.709 for a frame 1280 wide or more, or more than 576 high,
    /// else BT.601; limited range. `frame_size` is the visible size of the whole frame, before any crop.
    ///
    /// ```
    /// use framewright_core::*;
    /// let color = ColorInfo::UNSPECIFIED.resolve(Size::new(854, 480)?);
    /// assert_eq!((color.matrix, color.range), (Matrix::Bt601, Range::Limited));
    /// assert!(color.matrix_assumed && color.range_assumed);
    /// # Ok::<(), SizeError>(())
    /// ```
    pub fn resolve(self, frame_size: Size) -> ResolvedColor {
        let by_size =
            if frame_size.width() >= 1280 || frame_size.height() > 576 { Matrix::Bt709 } else { Matrix::Bt601 };
        ResolvedColor {
            matrix: self.matrix.unwrap_or(by_size),
            range: self.range.unwrap_or(Range::Limited),
            matrix_assumed: self.matrix.is_none(),
            range_assumed: self.range.is_none(),
        }
    }
}

/// Matrix and range as a conversion uses them, and whether they were known or assumed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct ResolvedColor {
    /// The luma weights.
    pub matrix: Matrix,
    /// The range of codes.
    pub range: Range,
    /// Whether the matrix was unspecified and decided by size.
    pub matrix_assumed: bool,
    /// Whether the range was unspecified.
    pub range_assumed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_h273_go_there_and_back() {
        for matrix in Matrix::ALL {
            let code = matrix.h273().expect("a standard's");
            assert_eq!(Matrix::from_h273(code), Ok(Some(matrix)));
        }
        assert_eq!(Matrix::from_h273(5), Ok(Some(Matrix::Bt601)));
        let supported = (0..=u8::MAX).filter(|&code| Matrix::from_h273(code).is_ok()).count();
        assert_eq!(supported, 8, "1, 2 and 4 to 9");
    }

    #[test]
    fn odd_weights_are_refused() {
        assert!(LumaWeights::new(500_000, 200_000).is_ok());
        for (kr, kb) in [(0, 1), (1, 0), (500_001, 1), (1, 500_001), (400_000, 300_001), (u32::MAX, u32::MAX)] {
            let error = LumaWeights::new(kr, kb).expect_err("no weights");
            assert_eq!((error.kr_e6, error.kb_e6), (kr, kb));
        }
        for weights in Matrix::ALL.into_iter().filter_map(Matrix::luma_weights) {
            assert_eq!(LumaWeights::new(weights.kr_e6(), weights.kb_e6()), Ok(weights));
        }
    }

    #[test]
    fn the_rule_turns_at_1280_and_576() {
        let matrix = |w, h| ColorInfo::default().resolve(Size::new(w, h).unwrap()).matrix;
        assert_eq!(matrix(1279, 576), Matrix::Bt601);
        assert_eq!(matrix(1280, 2), Matrix::Bt709);
        assert_eq!(matrix(720, 577), Matrix::Bt709);
        // BT.2020 is never guessed.
        assert_eq!(matrix(7680, 4320), Matrix::Bt709);
    }
}
