//! What a launch does, apart from where: checked once, and the same for every executor.

use crate::{
    error::Error,
    location::Location,
    parts::Parts,
    view::{ImageMut, ImageRef},
};
use framewright_core::{
    Bgr, Bgr8, Bgra, Bgra8, Cb, CbCr, ColorInfo, Cr, CrCb, Format, Full, Gray8, Half, Matrix, Nv12, Pitch, PlaneList,
    Range, Rect, RegionError, ResolvedColor, Rgb, Rgba, SamePlanes, Size, Spec, Y, Yuv420p8,
};
use framewright_kernel::{
    Call,
    list::{Last, Pair},
};
use framewright_kernels::{
    YuvToRgb8,
    copy::copy,
    yuv420::{self, Yuv420},
};

/// How a YUV image becomes RGB: what overrides the image's own colour information, and which part of it.
///
/// The result is the correctly rounded value of the standard's formula for every pixel; chroma is the nearest sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Conversion {
    color: ColorInfo,
    crop: Option<Rect>,
}

impl Conversion {
    /// The whole image, with the colours that it says it has, or else [`ColorInfo::resolve`]'s.
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses this matrix, whatever the image says.
    pub fn matrix(mut self, matrix: Matrix) -> Self {
        self.color.matrix = Some(matrix);
        self
    }

    /// Uses this range, whatever the image says.
    pub fn range(mut self, range: Range) -> Self {
        self.color.range = Some(range);
        self
    }

    /// Converts only this part: any rectangle, also off the source's chroma grid. Gives exactly the pixels that converting
    /// the whole image would.
    pub fn crop(mut self, rect: Rect) -> Self {
        self.crop = Some(rect);
        self
    }

    /// Matrix and range for a source with this information, and what of it is assumed.
    pub fn resolve(&self, source: ColorInfo, frame_size: Size) -> ResolvedColor {
        self.color.or(source).resolve(frame_size)
    }

    /// The part of an image of `size` that is converted.
    ///
    /// # Errors
    /// [`RegionError::Outside`] when the crop reaches past the image.
    pub fn rect(&self, size: Size) -> Result<Rect, RegionError> {
        let rect = self.crop.unwrap_or(Rect::whole(size));
        if rect.is_inside(size) { Ok(rect) } else { Err(RegionError::Outside { rect, size }) }
    }
}

/// Planes that the built-in conversions read, by layout class. Sealed.
#[diagnostic::on_unimplemented(
    message = "no built-in conversion reads these planes as YUV",
    label = "expected 8-bit 4:2:0: luma, then Cb and Cr in planes of their own or interleaved",
    note = "formats with such planes are `Yuv420p8` and `Nv12`, and any format of your own that lists the same"
)]
pub trait YuvPlanes: PlaneList + sealed::Sealed {
    /// The layout class, which the kernels read.
    type Class: Yuv420;
    /// Whether Cr comes first: in the planes' order, or interleaved.
    const CR_FIRST: bool;
}

/// Planes that the built-in conversions write, by layout class. Sealed.
#[diagnostic::on_unimplemented(
    message = "no built-in conversion writes these planes as RGB",
    label = "expected one plane of 8-bit interleaved RGB, BGR, RGBA or BGRA",
    note = "formats with such a plane are `Bgr8`, `Rgb8`, `Bgra8` and `Rgba8`, and any format of your own that lists the same"
)]
pub trait RgbPlanes: PlaneList + sealed::Sealed {
    /// The layout class, which the kernels write.
    type Class: yuv420::Rgb;
    /// Whether blue comes first.
    const BLUE_FIRST: bool;
}

/// A format whose planes are [`YuvPlanes`].
pub trait YuvFormat: Format<Planes: YuvPlanes> {}
impl<F: Format<Planes: YuvPlanes>> YuvFormat for F {}
/// A format whose planes are [`RgbPlanes`].
pub trait RgbFormat: Format<Planes: RgbPlanes> {}
impl<F: Format<Planes: RgbPlanes>> RgbFormat for F {}

macro_rules! yuv {
    ($($($p:ident)+, ($($plane:ty),+) => $class:ty, $cr_first:literal;)*) => {$(
        impl<$($p: Pitch),+> sealed::Sealed for ($($plane,)+) {}
        impl<$($p: Pitch),+> YuvPlanes for ($($plane,)+) {
            type Class = $class;
            const CR_FIRST: bool = $cr_first;
        }
    )*};
}
yuv! {
    P Q R, (Spec<Y, u8, Full, P>, Spec<Cb, u8, Half, Q>, Spec<Cr, u8, Half, R>) => Yuv420p8, false;
    P Q R, (Spec<Y, u8, Full, P>, Spec<Cr, u8, Half, Q>, Spec<Cb, u8, Half, R>) => Yuv420p8, true;
    P Q, (Spec<Y, u8, Full, P>, Spec<CbCr, [u8; 2], Half, Q>) => Nv12, false;
    P Q, (Spec<Y, u8, Full, P>, Spec<CrCb, [u8; 2], Half, Q>) => Nv12, true;
}

macro_rules! rgb {
    ($($component:ty, $sample:ty => $class:ty, $blue_first:literal;)*) => {$(
        impl<P: Pitch> sealed::Sealed for (Spec<$component, $sample, Full, P>,) {}
        impl<P: Pitch> RgbPlanes for (Spec<$component, $sample, Full, P>,) {
            type Class = $class;
            const BLUE_FIRST: bool = $blue_first;
        }
    )*};
}
rgb! {
    Bgr, [u8; 3] => Bgr8, true;
    Rgb, [u8; 3] => Bgr8, false;
    Bgra, [u8; 4] => Bgra8, true;
    Rgba, [u8; 4] => Bgra8, false;
}

/// The layout classes of formats.
pub(crate) type Source<S> = <<S as Format>::Planes as YuvPlanes>::Class;
pub(crate) type Target<D> = <<D as Format>::Planes as RgbPlanes>::Class;
/// The kernel that converts `S` to `D`.
pub(crate) type ConvertKernel<S, D> = <Target<D> as yuv420::Rgb>::From<Source<S>>;
/// What it is launched with.
pub(crate) type ConvertArgs<'s, 'd, S, D, L, M> =
    Pair<ImageRef<'s, Source<S>, L>, Pair<ImageMut<'d, Target<D>, M>, Last<YuvToRgb8>>>;

/// The same planes in memory as another format, whose planes have the same samples and subsampling and pitches known at run
/// time.
fn seen_as<F: Format, C: Format, L: Location>(parts: &Parts<F, L>) -> Parts<C, L> {
    let pitches = F::Planes::pitches_bytes(parts.pitches);
    let Ok(pitches) = C::Planes::resolve(pitches.as_ref()) else { unreachable!("a layout class takes any pitch") };
    Parts {
        size: parts.size,
        frame_size: parts.frame_size,
        color: parts.color,
        bases: C::Planes::array(|i| parts.bases.as_ref()[i]),
        pitches,
        place: parts.place,
    }
}

/// The call that converts `source` to `destination`.
///
/// # Errors
/// The crop reaches past the source, or the destination has another size than it.
pub(crate) fn conversion<'s, 'd, S: YuvFormat, D: RgbFormat, L: Location, M: Location>(
    source: ImageRef<'s, S, L>,
    destination: ImageMut<'d, D, M>,
    conversion: &Conversion,
) -> Result<Call<ConvertKernel<S, D>, ConvertArgs<'s, 'd, S, D, L, M>>, Error> {
    let rect = conversion.rect(source.size())?;
    check_size(rect.size, destination.size())?;
    let color = conversion.resolve(source.color(), source.frame_size());
    let coefficients = YuvToRgb8::new(color.matrix, color.range, D::Planes::BLUE_FIRST);
    let coefficients = if S::Planes::CR_FIRST { coefficients.with_swapped_chroma() } else { coefficients };
    let source = ImageRef::new(seen_as::<S, Source<S>, L>(&source.parts));
    let destination = ImageMut::new(seen_as::<D, Target<D>, M>(&destination.parts));
    Ok(Call::new(Pair(source, Pair(destination, Last(coefficients)))).crop(rect))
}

/// What a copy of one plane is launched with: its rows as bytes.
pub(crate) type CopyArgs<'s, 'd, L, M> = Pair<ImageRef<'s, Gray8, L>, Last<ImageMut<'d, Gray8, M>>>;

/// The calls that copy `source` to `destination`, a plane each, given to `launch` in order.
///
/// # Errors
/// The destination has another size, or what `launch` says.
pub(crate) fn copies<'s, 'd, S: Format, D: Format, L: Location, M: Location, E: From<Error>>(
    source: ImageRef<'s, S, L>,
    destination: ImageMut<'d, D, M>,
    mut launch: impl FnMut(Call<copy, CopyArgs<'s, 'd, L, M>>) -> Result<(), E>,
) -> Result<(), E>
where
    D::Planes: SamePlanes<S::Planes>,
{
    check_size(source.size(), destination.size())?;
    // Before anything is written: a plane's own launch sees only that plane.
    check_apart(&source.parts, &destination.parts)?;
    for (i, info) in S::Planes::INFOS.iter().enumerate() {
        let rows = info.plane_size(source.size());
        let size = Size::new(info.row_bytes(source.size()), rows.height()).map_err(Error::from)?;
        let from = ImageRef::new(rows_of(&source.parts, i, size));
        let to = ImageMut::new(rows_of(&destination.parts, i, size));
        launch(Call::new(Pair(from, Last(to))))?;
    }
    Ok(())
}

/// The rows of plane `index` as an image of bytes.
fn rows_of<F: Format, L: Location>(parts: &Parts<F, L>, index: usize, size: Size) -> Parts<Gray8, L> {
    let pitch = parts.raw(index).pitch_bytes;
    let Ok(pitches) = <Gray8 as Format>::Planes::resolve(&[pitch]) else { unreachable!("bytes take any pitch") };
    Parts::new(size, [parts.bases.as_ref()[index]], pitches, parts.place)
}

/// Checks that no plane written is read, or written twice.
fn check_apart<S: Format, D: Format, L: Location, M: Location>(
    source: &Parts<S, L>,
    destination: &Parts<D, M>,
) -> Result<(), Error> {
    for (j, to) in destination.infos().iter().enumerate() {
        let written = destination.extent(j);
        let overlap = |name| Error::Overlap { source: name, destination: to.name };
        if let Some(i) = (0..S::Planes::COUNT).find(|&i| source.extent(i).overlaps(&written)) {
            return Err(overlap(source.infos()[i].name));
        }
        if let Some(i) = (0..j).find(|&i| destination.extent(i).overlaps(&written)) {
            return Err(overlap(destination.infos()[i].name));
        }
    }
    Ok(())
}

fn check_size(expected: Size, found: Size) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::DestinationSize { expected, found }) }
}

mod sealed {
    pub trait Sealed {}
}
