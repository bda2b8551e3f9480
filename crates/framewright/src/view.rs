//! Borrowed images, and what can be borrowed as one.

use crate::{
    location::{Host, Location},
    parts::{Base, Parts},
    plane::{self, IntoPlanes, PlaneMuts, PlaneRefs},
};
use framewright_core::{
    ColorInfo, Expected, Format, FreePlanes, LayoutError, PlaneList, Quantity, Region, RegionError, SamePlanes, Size,
};
use std::marker::PhantomData;

/// An image borrowed for reading: `Copy`, and cheap to crop.
pub struct ImageRef<'a, F: Format, L: Location = Host> {
    pub(crate) parts: Parts<F, L>,
    pub(crate) borrow: PhantomData<(&'a [u8], fn() -> L)>,
}

/// An image borrowed for writing.
pub struct ImageMut<'a, F: Format, L: Location = Host> {
    pub(crate) parts: Parts<F, L>,
    pub(crate) borrow: PhantomData<(&'a mut [u8], fn() -> L)>,
}

/// What launches read: [`Image`](crate::Image), [`SharedImage`](crate::SharedImage), [`ImageRef`], [`ImageMut`] and
/// references to them.
pub trait AsImage {
    /// The planes.
    type Format: Format;
    /// Whose memory.
    type Location: Location;
    /// Borrows the image for reading.
    fn view(&self) -> ImageRef<'_, Self::Format, Self::Location>;
}

/// What launches write: [`Image`](crate::Image) and [`ImageMut`].
pub trait AsImageMut: AsImage {
    /// Borrows the image for writing.
    fn view_mut(&mut self) -> ImageMut<'_, Self::Format, Self::Location>;
}

impl<'a, F: Format, L: Location> ImageRef<'a, F, L> {
    pub(crate) fn new(parts: Parts<F, L>) -> Self {
        Self { parts, borrow: PhantomData }
    }

    /// An image of `size` made of planes, in the order of the format: each of the kind that the format has there.
    ///
    /// # Errors
    /// [`LayoutError`] when a plane has another size than the format's subsampling gives, or a pitch that the format's type
    /// does not allow.
    ///
    /// # Compile-time errors
    /// Planes in the wrong order, and column cuts:
    /// ```compile_fail,E0277
    /// use framewright::*;
    /// fn columns(frame: Rows<'_, u8>, size: Size) -> Result<(), Box<dyn std::error::Error>> {
    ///     let (luma, chroma) = frame.split_at_row(size.height())?;
    ///     let (left, right) = chroma.split_at_column(size.width() / 2)?;
    ///     ImageRef::<Yuv420p8<Linked>>::from_planes(size, (luma.plane::<Y>(size)?, left, right))?;
    ///     Ok(())
    /// }
    /// ```
    pub fn from_planes(size: Size, planes: impl IntoPlanes<'a, F::Planes, L>) -> Result<Self, LayoutError> {
        let (raws, sizes, places) = planes.collect();
        for (info, found) in F::Planes::INFOS.iter().zip(sizes) {
            let expected = info.plane_size(size);
            let wrong = |quantity, expected: u32, found: u32| LayoutError {
                plane: info.name,
                quantity,
                expected: Expected::Exactly(expected.into()),
                found: found.into(),
            };
            if found.width() != expected.width() {
                return Err(wrong(Quantity::WidthPx, expected.width(), found.width()));
            }
            if found.height() != expected.height() {
                return Err(wrong(Quantity::HeightPx, expected.height(), found.height()));
            }
        }
        let [Some(place), ..] = places else { unreachable!("a format has at least one plane") };
        if let Some(i) = (1..F::Planes::COUNT).find(|&i| places[i] != Some(place)) {
            return Err(LayoutError {
                plane: F::Planes::INFOS[i].name,
                quantity: Quantity::Memories,
                expected: Expected::Exactly(1),
                found: 2,
            });
        }
        let pitches = F::Planes::array(|i| raws[i].pitch_bytes);
        let bases = F::Planes::array(|i| Base(raws[i].first_row));
        Ok(Self::new(Parts::new(size, bases, F::Planes::resolve(pitches.as_ref())?, place)))
    }

    /// The same pixels with other colour information.
    pub fn with_color(mut self, color: ColorInfo) -> Self {
        self.parts.color = color;
        self
    }

    /// The planes, in the order of the format, each with its own type.
    pub fn planes(&self) -> PlaneRefs<'a, F, L> {
        plane::refs(&self.parts)
    }

    /// The part inside `region`, without a copy: all planes, chroma with luma.
    ///
    /// # Errors
    /// [`RegionError::Outside`] when the region reaches past the image.
    pub fn crop(&self, region: Region<F>) -> Result<Self, RegionError> {
        Ok(Self::new(self.parts.crop_on_grid(region.rect())?))
    }

    /// The same image under another way of knowing the pitch, such as `Yuv420p8<Linked>` for `Yuv420p8`.
    ///
    /// # Errors
    /// [`LayoutError`] when the pitches are not what `G` states.
    pub fn with_pitches<G>(&self) -> Result<ImageRef<'a, G, L>, LayoutError>
    where
        G: Format,
        G::Planes: SamePlanes<F::Planes>,
    {
        Ok(ImageRef::new(self.parts.with_pitches()?))
    }

    /// The same image with pitches known at run time.
    pub fn with_free_pitches<G>(&self) -> ImageRef<'a, G, L>
    where
        G: Format,
        G::Planes: SamePlanes<F::Planes> + FreePlanes,
    {
        ImageRef::new(self.parts.with_free_pitches())
    }
}

impl<'a, F: Format, L: Location> ImageMut<'a, F, L> {
    pub(crate) fn new(parts: Parts<F, L>) -> Self {
        Self { parts, borrow: PhantomData }
    }

    /// The same pixels with other colour information.
    pub fn with_color(mut self, color: ColorInfo) -> Self {
        self.parts.color = color;
        self
    }

    /// The planes for reading.
    pub fn planes(&self) -> PlaneRefs<'_, F, L> {
        plane::refs(&self.parts)
    }

    /// The planes for writing, in the order of the format, each with its own type.
    pub fn planes_mut(&mut self) -> PlaneMuts<'_, F, L> {
        plane::muts(&self.parts)
    }

    /// The planes for writing, for as long as this borrow lasts.
    pub fn into_planes(self) -> PlaneMuts<'a, F, L> {
        plane::muts(&self.parts)
    }

    /// The part inside `region`, without a copy.
    ///
    /// # Errors
    /// [`RegionError::Outside`] when the region reaches past the image.
    pub fn crop_mut(&mut self, region: Region<F>) -> Result<ImageMut<'_, F, L>, RegionError> {
        Ok(ImageMut::new(self.parts.crop_on_grid(region.rect())?))
    }

    /// A shorter borrow of the same image.
    pub fn reborrow(&mut self) -> ImageMut<'_, F, L> {
        ImageMut::new(self.parts)
    }

    /// The same image under another way of knowing the pitch.
    ///
    /// # Errors
    /// [`LayoutError`] when the pitches are not what `G` states.
    pub fn with_pitches<G>(self) -> Result<ImageMut<'a, G, L>, LayoutError>
    where
        G: Format,
        G::Planes: SamePlanes<F::Planes>,
    {
        Ok(ImageMut::new(self.parts.with_pitches()?))
    }
}

/// What every kind of image tells of itself.
macro_rules! facts {
    ($($t:ty),*) => {$(
        impl<F: Format, L: Location> $t {
            /// The visible size in pixels.
            pub fn size(&self) -> Size {
                self.parts.size
            }

            /// The visible size of the whole frame that this was cropped from, or the size.
            pub fn frame_size(&self) -> Size {
                self.parts.frame_size
            }

            /// What is known of the colours.
            pub fn color(&self) -> ColorInfo {
                self.parts.color
            }

            /// Bytes from row to row, a plane each.
            pub fn pitches_bytes(&self) -> <F::Planes as PlaneList>::Array<i64> {
                F::Planes::pitches_bytes(self.parts.pitches)
            }
        }

        impl<F: Format, L: Location> std::fmt::Debug for $t {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{} {} in {}, pitches {:?} bytes", F::NAME, self.size(), L::NAME, self.pitches_bytes())
            }
        }
    )*};
}
pub(crate) use facts;
facts!(ImageRef<'_, F, L>, ImageMut<'_, F, L>);

impl<F: Format, L: Location> Clone for ImageRef<'_, F, L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F: Format, L: Location> Copy for ImageRef<'_, F, L> {}

impl<F: Format, L: Location> AsImage for ImageRef<'_, F, L> {
    type Format = F;
    type Location = L;
    fn view(&self) -> ImageRef<'_, F, L> {
        *self
    }
}
impl<F: Format, L: Location> AsImage for ImageMut<'_, F, L> {
    type Format = F;
    type Location = L;
    fn view(&self) -> ImageRef<'_, F, L> {
        ImageRef::new(self.parts)
    }
}
impl<F: Format, L: Location> AsImageMut for ImageMut<'_, F, L> {
    fn view_mut(&mut self) -> ImageMut<'_, F, L> {
        self.reborrow()
    }
}
impl<T: AsImage + ?Sized> AsImage for &T {
    type Format = T::Format;
    type Location = T::Location;
    fn view(&self) -> ImageRef<'_, T::Format, T::Location> {
        (**self).view()
    }
}
