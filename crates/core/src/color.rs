//! Colour: matrix, range and chroma place, as ITU-T H.273 names them.

use crate::size::Size;

/// Which luma weights the colours were coded with (H.273 MatrixCoefficients).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Matrix {
    /// ITU-R BT.601, also BT.470BG and SMPTE 170M (H.273 codes 5 and 6): Kr 0.299, Kb 0.114.
    Bt601,
    /// ITU-R BT.709 (code 1): Kr 0.2126, Kb 0.0722.
    Bt709,
    /// ITU-R BT.2020 non-constant luminance (code 9): Kr 0.2627, Kb 0.0593.
    Bt2020,
}

impl Matrix {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bt601, Self::Bt709, Self::Bt2020];

    /// Kr and Kb in ten-thousandths, which is exact for every standard here.
    pub const fn kr_kb_e4(self) -> (i64, i64) {
        match self {
            Self::Bt601 => (2990, 1140),
            Self::Bt709 => (2126, 722),
            Self::Bt2020 => (2627, 593),
        }
    }

    /// The short name that the program uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bt601 => "bt601",
            Self::Bt709 => "bt709",
            Self::Bt2020 => "bt2020",
        }
    }
}

impl core::fmt::Display for Matrix {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Bt601 => "BT.601",
            Self::Bt709 => "BT.709",
            Self::Bt2020 => "BT.2020",
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
    fn the_rule_turns_at_1280_and_576() {
        let matrix = |w, h| ColorInfo::default().resolve(Size::new(w, h).unwrap()).matrix;
        assert_eq!(matrix(1279, 576), Matrix::Bt601);
        assert_eq!(matrix(1280, 2), Matrix::Bt709);
        assert_eq!(matrix(720, 577), Matrix::Bt709);
        // BT.2020 is never guessed.
        assert_eq!(matrix(7680, 4320), Matrix::Bt709);
    }
}
