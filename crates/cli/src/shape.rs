//! A frame's layout before its format is a type: format, sizes, pitches, and the bytes they come to.

use crate::{
    formats::{FormatId, Visit},
    values::Pitches,
};
use framewright::{Format, Layout, LayoutError, PlaneList, Size};

/// How the planes of a frame lie one after another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    /// Which planes.
    pub(crate) format: FormatId,
    /// The visible size.
    pub(crate) size: Size,
    /// The size that the planes are laid out for.
    pub(crate) coded_size: Size,
    /// Bytes from row to row; `None` where rows are not padded.
    pub(crate) pitches: Option<Pitches>,
}

/// What a [`Shape`] comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Measure {
    /// Bytes from frame to frame.
    pub(crate) full_bytes: u64,
    /// Bytes that the last frame must have: without the padding of its last row.
    pub(crate) least_bytes: u64,
    /// The first plane's bytes from row to row.
    pub(crate) first_pitch_bytes: i64,
}

impl Shape {
    /// Rows without padding.
    pub(crate) fn packed(format: FormatId, size: Size) -> Self {
        Self { format, size, coded_size: size, pitches: None }
    }

    /// The layout, as `F` checks it.
    ///
    /// # Errors
    /// A coded size below the visible one, or pitches that the format does not have.
    pub(crate) fn layout<F: Format>(&self) -> Result<Layout<F>, LayoutError> {
        let layout = match &self.pitches {
            None => Layout::new(self.size, Layout::<F>::packed(self.coded_size)?.pitches_bytes().as_ref()),
            Some(Pitches(one)) if one.len() == 1 && F::Planes::COUNT > 1 => Layout::linked(self.size, one[0]),
            Some(Pitches(each)) => Layout::new(self.size, each),
        };
        // Packed pitches of a coded size that is too narrow are that size's fault.
        if self.coded_size.contains(self.size) {
            layout?.with_coded_size(self.coded_size)
        } else {
            Layout::<F>::packed(self.size)?.with_coded_size(self.coded_size)
        }
    }

    /// The bytes of a frame.
    ///
    /// # Errors
    /// As [`Shape::layout`].
    pub(crate) fn measure(&self) -> Result<Measure, LayoutError> {
        struct Bytes<'a>(&'a Shape);
        impl Visit for Bytes<'_> {
            type Output = Result<Measure, LayoutError>;
            fn visit<F: Format>(self) -> Self::Output {
                let layout = self.0.layout::<F>()?;
                Ok(Measure {
                    full_bytes: layout.full_len_bytes(),
                    least_bytes: layout.len_bytes(),
                    first_pitch_bytes: layout.pitches_bytes().as_ref()[0],
                })
            }
        }
        self.format.visit(Bytes(self))
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.format, self.size)?;
        if self.coded_size != self.size {
            write!(f, " coded as {}", self.coded_size)?;
        }
        if let Some(Pitches(pitches)) = &self.pitches {
            let pitches: Vec<_> = pitches.iter().map(i64::to_string).collect();
            write!(f, " with pitch {}", pitches.join(","))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size::fixed::<854, 480>();

    fn padded(pitches: &[i64]) -> Shape {
        Shape { pitches: Some(Pitches(pitches.to_vec())), ..Shape::packed(FormatId::Yuv420p8, SIZE) }
    }

    #[test]
    fn one_pitch_is_the_first_planes_and_the_others_follow() {
        let packed = Shape::packed(FormatId::Yuv420p8, SIZE).measure().unwrap();
        assert_eq!((packed.full_bytes, packed.least_bytes), (614_880, 614_880));
        let linked = padded(&[896]).measure().unwrap();
        assert_eq!(linked.full_bytes, 896 * 480 + 448 * 480);
        assert_eq!(linked.least_bytes, linked.full_bytes - 21);
        assert_eq!(padded(&[896, 448, 448]).measure(), Ok(linked));
    }

    #[test]
    fn wrong_layouts_name_plane_expected_and_found() {
        let error = |shape: Shape| shape.measure().unwrap_err().to_string();
        assert_eq!(error(padded(&[853])), "plane Y: pitch is 853 bytes, expected at least 854");
        assert_eq!(error(padded(&[896, 448])), "plane yuv420p: count is 2 planes, expected 3");
        let narrow = Shape { coded_size: Size::fixed::<853, 480>(), ..Shape::packed(FormatId::Nv12, SIZE) };
        assert_eq!(error(narrow), "plane nv12: width is 853 samples, expected at least 854");
        assert!(padded(&[i64::MIN]).measure().is_err() && padded(&[i64::MAX]).measure().is_err());
    }

    #[test]
    fn coded_rows_count() {
        let coded = Shape { coded_size: Size::fixed::<864, 496>(), ..Shape::packed(FormatId::Nv12, SIZE) };
        assert_eq!(coded.measure().unwrap().full_bytes, 864 * 496 * 3 / 2);
        assert_eq!(coded.to_string(), "nv12 854x480 coded as 864x496");
    }
}
