//! What is done to each frame: from a run-time choice of formats to the library's typed calls.

use crate::{
    device::Device,
    error::Failure,
    formats::{self, FormatId, Visit, VisitRgb, VisitYuv},
    shape::Shape,
};
use framewright::{
    ColorInfo, Conversion, Error, Format, ImageMut, ImageRef, Layout, Matrix, Offset, Range, Rect, Region, RegionError,
    ResolvedColor, RgbFormat, Size, YuvFormat,
};

/// A conversion or copy of frames that all lie alike.
#[derive(Debug)]
pub(crate) struct Job {
    source: Shape,
    color: ColorInfo,
    matrix: Option<Matrix>,
    range: Option<Range>,
    crop: Option<Rect>,
    to: FormatId,
    device: Device,
}

/// What the options say of a [`Job`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Choices {
    /// Instead of the source's.
    pub(crate) matrix: Option<Matrix>,
    /// Instead of the source's.
    pub(crate) range: Option<Range>,
    /// The part that is taken.
    pub(crate) crop: Option<Rect>,
}

/// Checks that this build brings one format to the other, and that a crop is on the grid where it must be.
///
/// # Errors
/// What is wrong, in words.
pub(crate) fn check(from: FormatId, to: FormatId, crop: Option<Rect>) -> Result<(), String> {
    if !from.becomes(to) {
        let has = match formats::list(from.targets()) {
            none if none.is_empty() => format!("{from} (a copy) only"),
            some => format!("{from} (a copy), {some}"),
        };
        return Err(format!("this build has no conversion of {from} to {to}, expected --to {has}"));
    }
    if let Some(Rect { offset, .. }) = crop.filter(|_| from == to) {
        struct OnGrid(Offset);
        impl Visit for OnGrid {
            type Output = Result<(), RegionError>;
            fn visit<F: Format>(self) -> Self::Output {
                Region::<F>::new(self.0, Size::fixed::<1, 1>()).map(drop)
            }
        }
        from.visit(OnGrid(offset)).map_err(|e| format!("{e}; {to} output keeps subsampled chroma"))?;
    }
    Ok(())
}

impl Job {
    /// Plans the conversion of frames that lie as `source` says to packed frames of `to`.
    ///
    /// # Errors
    /// There is no such conversion, or the crop is not one of these frames.
    pub(crate) fn new(
        source: Shape,
        color: ColorInfo,
        to: FormatId,
        choices: Choices,
        device: Device,
    ) -> Result<Self, String> {
        check(source.format, to, choices.crop)?;
        if let Some(rect) = choices.crop.filter(|rect| !rect.is_inside(source.size)) {
            return Err(RegionError::Outside { rect, size: source.size }.to_string());
        }
        let Choices { matrix, range, crop } = choices;
        Ok(Self { source, color, matrix, range, crop, to, device })
    }

    /// How the frames lie that come out.
    pub(crate) fn output(&self) -> Shape {
        Shape::packed(self.to, self.crop.map_or(self.source.size, |rect| rect.size))
    }

    /// What is known of the colours, when YUV stays YUV.
    pub(crate) fn kept_color(&self) -> ColorInfo {
        ColorInfo { matrix: self.matrix, range: self.range, siting: None }.or(self.color)
    }

    /// What had to be assumed of the colours, in words; `None` where nothing had to be.
    pub(crate) fn assumed(&self) -> Option<String> {
        if self.source.format == self.to {
            return None;
        }
        let size = self.source.size;
        let ResolvedColor { matrix, range, matrix_assumed, range_assumed } = self.kept_color().resolve(size);
        match (matrix_assumed, range_assumed) {
            (true, true) => Some(format!("assumed {matrix}, {range} range (unspecified; {size})")),
            (true, false) => Some(format!("assumed {matrix} (unspecified; {size})")),
            (false, true) => Some(format!("assumed {range} range (unspecified)")),
            (false, false) => None,
        }
    }

    /// Makes one frame of another; `output` becomes as long as it must be.
    ///
    /// # Errors
    /// Memory is short, or what the library says.
    pub(crate) fn run(&self, input: &[u8], output: &mut Vec<u8>) -> Result<(), Failure> {
        let bytes = self.output().measure().map_err(Failure::wrong)?.full_bytes;
        let len = usize::try_from(bytes).unwrap_or(usize::MAX);
        if output.len() != len {
            output.clear();
            output.try_reserve_exact(len).map_err(|_| {
                Failure::wrong(format!("output: {bytes} bytes could not be allocated, expected a smaller frame"))
            })?;
            output.resize(len, 0);
        }
        let done = if self.source.format == self.to {
            self.to.visit(Copy { job: self, input, output })
        } else {
            let from = self.source.format;
            from.visit_yuv(ConvertFrom { job: self, input, output }).unwrap_or(Ok(()))
        };
        done.map_err(Failure::wrong)
    }
}

struct Copy<'a> {
    job: &'a Job,
    input: &'a [u8],
    output: &'a mut [u8],
}

impl Visit for Copy<'_> {
    type Output = Result<(), Error>;
    fn visit<F: Format>(self) -> Self::Output {
        let mut source = ImageRef::<F>::from_slice(self.input, &self.job.source.layout()?)?;
        if let Some(rect) = self.job.crop {
            source = source.crop(Region::new(rect.offset, rect.size)?)?;
        }
        let mut destination = ImageMut::from_slice(self.output, &Layout::packed(source.size())?)?;
        self.job.device.copy(&source, &mut destination)
    }
}

struct ConvertFrom<'a> {
    job: &'a Job,
    input: &'a [u8],
    output: &'a mut [u8],
}

impl VisitYuv for ConvertFrom<'_> {
    type Output = Result<(), Error>;
    fn visit<S: YuvFormat>(self) -> Self::Output {
        let source = ImageRef::<S>::from_slice(self.input, &self.job.source.layout()?)?.with_color(self.job.color);
        self.job.to.visit_rgb(ConvertTo { job: self.job, source, output: self.output }).unwrap_or(Ok(()))
    }
}

struct ConvertTo<'a, S: Format> {
    job: &'a Job,
    source: ImageRef<'a, S>,
    output: &'a mut [u8],
}

impl<S: YuvFormat> VisitRgb for ConvertTo<'_, S> {
    type Output = Result<(), Error>;
    fn visit<D: RgbFormat>(self) -> Self::Output {
        let job = self.job;
        let rect = job.crop.unwrap_or(Rect::whole(self.source.size()));
        let mut destination = ImageMut::<D>::from_slice(self.output, &Layout::packed(rect.size)?)?;
        let mut conversion = Conversion::new().crop(rect);
        if let Some(matrix) = job.matrix {
            conversion = conversion.matrix(matrix);
        }
        if let Some(range) = job.range {
            conversion = conversion.range(range);
        }
        job.device.convert(&self.source, &mut destination, &conversion).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framewright::Cpu;

    fn job(from: FormatId, to: FormatId, choices: Choices, color: ColorInfo) -> Result<Job, String> {
        Job::new(Shape::packed(from, Size::fixed::<4, 4>()), color, to, choices, Device::Cpu(Cpu::new()))
    }

    #[test]
    fn crops_are_on_the_grid_only_where_chroma_stays_subsampled() {
        let crop = |text| Choices { crop: Some(crate::values::crop(text).unwrap()), ..Choices::default() };
        let unknown = ColorInfo::UNSPECIFIED;
        let job = |to, text| job(FormatId::Yuv420p8, to, crop(text), unknown);
        assert!(job(FormatId::Yuv420p8, "2x2+2+2").is_ok());
        let error = job(FormatId::Yuv420p8, "2x2+2+1").unwrap_err();
        assert_eq!(
            error,
            "crop offset y is 1 pixels, expected a multiple of 2 (the nearest are 0 and 2); yuv420p output keeps subsampled chroma"
        );
        assert!(job(FormatId::Bgr8, "3x3+1+1").is_ok());
        assert!(job(FormatId::Bgr8, "4x3+1+1").unwrap_err().contains("reaches past"));
        assert!(job(FormatId::Bgr8, "1x1+4294967295+0").is_err());
    }

    #[test]
    fn what_this_build_lacks_is_said_with_what_it_has() {
        let error = |from, to| job(from, to, Choices::default(), ColorInfo::UNSPECIFIED).unwrap_err();
        assert_eq!(
            error(FormatId::Gray8, FormatId::Bgr8),
            "this build has no conversion of gray to bgr24, expected --to gray (a copy) only"
        );
        assert!(error(FormatId::Nv12, FormatId::Gray8).ends_with("nv12 (a copy), bgr24, rgb24, bgra, rgba"));
    }

    #[test]
    fn only_what_was_assumed_is_said() {
        let said = |choices, color| job(FormatId::Nv12, FormatId::Bgr8, choices, color).unwrap().assumed();
        let none = Choices::default();
        let unknown = ColorInfo::UNSPECIFIED;
        assert_eq!(said(none, unknown).unwrap(), "assumed BT.601, limited range (unspecified; 4x4)");
        let full = ColorInfo { range: Some(Range::Full), ..unknown };
        assert_eq!(said(none, full).unwrap(), "assumed BT.601 (unspecified; 4x4)");
        let matrix = Choices { matrix: Some(Matrix::Bt709), ..none };
        assert_eq!(said(matrix, unknown).unwrap(), "assumed limited range (unspecified)");
        assert_eq!(said(matrix, full), None);
        assert_eq!(job(FormatId::Nv12, FormatId::Nv12, none, unknown).unwrap().assumed(), None);
    }
}
