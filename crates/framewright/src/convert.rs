//! What a launch does, apart from where: checked once, and the same for every executor.

use crate::{
    error::Error,
    location::Location,
    overlap::Extent,
    parts::Parts,
    view::{ImageMut, ImageRef},
};
use framewright_core::{
    Bgr, Bgra, Cb, CbCr, ColorInfo, Cr, CrCb, Format, Full, Half, Matrix, Pitch, PlaneList, Range, Rect, RegionError,
    ResolvedColor, Rgb, Rgba, SamePlanes, Size, Spec, Y,
};
use framewright_kernel::{Domain, Launch, PlaneIn, PlaneOut};
use framewright_kernels::{
    Convert, CopyRows, I420Planes, Nv12Planes, Rgb24, Rgb32, RgbTarget, Yuv420Source, YuvToRgb8,
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
    /// The reader that kernels use.
    type Source: Yuv420Source;
    /// Whether Cr comes first where the chroma channels are interleaved.
    const CR_FIRST: bool;
    /// The reader of planes.
    #[doc(hidden)]
    fn source(planes: [PlaneIn; 3]) -> Self::Source;
}

/// Planes that the built-in conversions write, by layout class. Sealed.
#[diagnostic::on_unimplemented(
    message = "no built-in conversion writes these planes as RGB",
    label = "expected one plane of 8-bit interleaved RGB, BGR, RGBA or BGRA",
    note = "formats with such a plane are `Bgr8`, `Rgb8`, `Bgra8` and `Rgba8`, and any format of your own that lists the same"
)]
pub trait RgbPlanes: PlaneList + sealed::Sealed {
    /// The writer that kernels use.
    type Target: RgbTarget;
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
    ($($($p:ident)+, ($($plane:ty),+) => $source:ty, $cr_first:literal, |$planes:ident| $make:expr;)*) => {$(
        impl<$($p: Pitch),+> sealed::Sealed for ($($plane,)+) {}
        impl<$($p: Pitch),+> YuvPlanes for ($($plane,)+) {
            type Source = $source;
            const CR_FIRST: bool = $cr_first;
            fn source($planes: [PlaneIn; 3]) -> $source {
                $make
            }
        }
    )*};
}
yuv! {
    P Q R, (Spec<Y, u8, Full, P>, Spec<Cb, u8, Half, Q>, Spec<Cr, u8, Half, R>) => I420Planes, false,
        |p| I420Planes { y: p[0], cb: p[1], cr: p[2] };
    P Q R, (Spec<Y, u8, Full, P>, Spec<Cr, u8, Half, Q>, Spec<Cb, u8, Half, R>) => I420Planes, false,
        |p| I420Planes { y: p[0], cb: p[2], cr: p[1] };
    P Q, (Spec<Y, u8, Full, P>, Spec<CbCr, [u8; 2], Half, Q>) => Nv12Planes, false, |p| Nv12Planes { y: p[0], cbcr: p[1] };
    P Q, (Spec<Y, u8, Full, P>, Spec<CrCb, [u8; 2], Half, Q>) => Nv12Planes, true, |p| Nv12Planes { y: p[0], cbcr: p[1] };
}

macro_rules! rgb {
    ($($component:ty, $sample:ty => $target:ty, $blue_first:literal;)*) => {$(
        impl<P: Pitch> sealed::Sealed for (Spec<$component, $sample, Full, P>,) {}
        impl<P: Pitch> RgbPlanes for (Spec<$component, $sample, Full, P>,) {
            type Target = $target;
            const BLUE_FIRST: bool = $blue_first;
        }
    )*};
}
rgb! {
    Bgr, [u8; 3] => Rgb24, true;
    Rgb, [u8; 3] => Rgb24, false;
    Bgra, [u8; 4] => Rgb32, true;
    Rgba, [u8; 4] => Rgb32, false;
}

/// The body that converts `S` to `D`.
pub(crate) type ConvertBody<S, D> =
    Convert<<<S as Format>::Planes as YuvPlanes>::Source, <<D as Format>::Planes as RgbPlanes>::Target>;

/// The kernel's view of plane `index`.
///
/// # Safety
/// The parts' planes stay readable and unwritten while the kernel runs.
unsafe fn plane_in<F: Format, L: Location>(parts: &Parts<F, L>, index: usize) -> PlaneIn {
    let (info, raw) = (&parts.infos()[index], parts.raw(index));
    let rows = info.plane_size(parts.size).height();
    // SAFETY: as promised by the caller; both counts are at least 1, since sizes are.
    unsafe { PlaneIn::new(raw.first_row, raw.pitch_bytes, info.row_bytes(parts.size), rows) }
}

fn extent<F: Format, L: Location>(parts: &Parts<F, L>, index: usize) -> Extent {
    let (info, raw) = (&parts.infos()[index], parts.raw(index));
    Extent::new(raw.first_row, raw.pitch_bytes, info.row_bytes(parts.size), info.plane_size(parts.size).height())
}

/// Checks that no plane written is read, or written twice.
fn check_apart<S: Format, D: Format, L: Location, M: Location>(
    source: &Parts<S, L>,
    destination: &Parts<D, M>,
) -> Result<(), Error> {
    for j in 0..D::Planes::COUNT {
        let to = extent(destination, j);
        let overlap = |name| Error::Overlap { source: name, destination: destination.infos()[j].name };
        if let Some(i) = (0..S::Planes::COUNT).find(|&i| extent(source, i).overlaps(&to)) {
            return Err(overlap(source.infos()[i].name));
        }
        if let Some(i) = (0..j).find(|&i| extent(destination, i).overlaps(&to)) {
            return Err(overlap(destination.infos()[i].name));
        }
    }
    Ok(())
}

/// The launch that converts `source` to `destination`; all that can be checked is.
///
/// # Errors
/// The crop reaches past the source, the destination has another size, or memory is shared.
///
/// # Safety
/// The launch may run while both borrows last, and not after.
pub(crate) unsafe fn plan_convert<S: YuvFormat, D: RgbFormat, L: Location, M: Location>(
    source: &ImageRef<'_, S, L>,
    destination: &ImageMut<'_, D, M>,
    conversion: &Conversion,
) -> Result<Launch<ConvertBody<S, D>>, Error> {
    let rect = conversion.rect(source.size())?;
    check_size(rect.size, destination.size())?;
    check_apart(&source.parts, &destination.parts)?;
    let color = conversion.resolve(source.color(), source.frame_size());

    // The kernel's blocks lie on the chroma grid: start there, and let the domain begin a pixel later where the crop does.
    let step = S::Planes::STEP;
    let (left, top) = (rect.offset.x % step.x, rect.offset.y % step.y);
    let on_grid = framewright_core::Offset::new(rect.offset.x - left, rect.offset.y - top);
    let (x1, y1) = (left + rect.size.width(), top + rect.size.height());
    let covered = Size::new(x1, y1).unwrap_or(rect.size);
    let parts = source.parts.crop_down(Rect::new(on_grid, covered));

    // SAFETY: the caller runs the launch only while the source is borrowed.
    let planes = [0, 1, 2].map(|i| unsafe { plane_in(&parts, i.min(S::Planes::COUNT - 1)) });
    let raw = destination.parts.raw(0);
    let pixel = <D::Planes as RgbPlanes>::Target::PIXEL_BYTES as usize;
    let coefficients = YuvToRgb8::new(color.matrix, color.range, D::Planes::BLUE_FIRST);
    Ok(Launch {
        domain: Domain { x0: left, y0: top, x1, y1 },
        out: PlaneOut {
            base: raw
                .first_row
                .wrapping_sub(left as usize * pixel)
                .wrapping_offset(-(raw.pitch_bytes * i64::from(top)) as isize),
            pitch_bytes: raw.pitch_bytes,
        },
        body: Convert {
            source: S::Planes::source(planes),
            color: if S::Planes::CR_FIRST { coefficients.with_swapped_chroma() } else { coefficients },
            target: std::marker::PhantomData,
        },
    })
}

/// The launches that copy `source` to `destination`, a plane each, given to `launch` in order.
///
/// # Errors
/// The destination has another size, memory is shared, or what `launch` says.
///
/// # Safety
/// The launches may run while both borrows last, and not after.
pub(crate) unsafe fn plan_copy<S: Format, D: Format, L: Location, M: Location, E: From<Error>>(
    source: &ImageRef<'_, S, L>,
    destination: &ImageMut<'_, D, M>,
    mut launch: impl FnMut(&Launch<CopyRows>) -> Result<(), E>,
) -> Result<(), E>
where
    D::Planes: SamePlanes<S::Planes>,
{
    check_size(source.size(), destination.size())?;
    check_apart(&source.parts, &destination.parts)?;
    for i in 0..S::Planes::COUNT {
        let info = &S::Planes::INFOS[i];
        let raw = destination.parts.raw(i);
        launch(&Launch {
            domain: Domain {
                x0: 0,
                y0: 0,
                x1: info.row_bytes(source.size()),
                y1: info.plane_size(source.size()).height(),
            },
            out: PlaneOut { base: raw.first_row, pitch_bytes: raw.pitch_bytes },
            // SAFETY: the caller runs the launch only while the source is borrowed.
            body: CopyRows { source: unsafe { plane_in(&source.parts, i) } },
        })?;
    }
    Ok(())
}

fn check_size(expected: Size, found: Size) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::DestinationSize { expected, found }) }
}

mod sealed {
    pub trait Sealed {}
}
