//! Images that own their memory.

use crate::{
    error::Error,
    location::{Host, HostOwner, Kept, Location},
    parts::Parts,
    plane::{self, PlaneMuts, PlaneRefs, RawPlane},
    view::{AsImage, AsImageMut, ImageMut, ImageRef, facts},
    wrap,
};
use framewright_core::{
    ColorInfo, Format, FreePlanes, Layout, LayoutError, PlaneList, Region, RegionError, SamePlanes, Size,
};

/// An image that owns its memory: our own, or somebody's that is kept alive ([`Image::from_owner`]).
///
/// ```
/// use framewright::*;
/// let mut image = Image::<Nv12>::new(Size::new(5, 3)?)?;
/// let (mut y, mut cbcr) = image.planes_mut();
/// y.fill(16);
/// cbcr.fill([128, 128]);
/// assert_eq!((cbcr.width(), cbcr.height()), (3, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Image<F: Format, L: Location = Host> {
    pub(crate) parts: Parts<F, L>,
    pub(crate) owner: L::Owner,
}

impl<F: Format> Image<F, Host> {
    /// A zeroed image whose rows start on cache lines.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Layout`] when the format's type states a pitch that is shorter than a row.
    pub fn new(size: Size) -> Result<Self, Error> {
        Self::with_layout(&Layout::aligned(size, 64)?)
    }

    /// A zeroed image in one allocation, laid out as `layout` says.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn with_layout(layout: &Layout<F>) -> Result<Self, Error> {
        let bytes = layout.full_len_bytes();
        let Ok(len) = usize::try_from(bytes) else {
            return Err(Error::OutOfMemory { location: Host::NAME, bytes });
        };
        let (owner, first) = HostOwner::zeroed(len)?;
        Ok(Self { parts: wrap::parts_at(first, layout, ()), owner })
    }

    /// Takes over a buffer that holds the planes as `layout` says: a `Vec<u8>`, a `Box<[u8]>`, anything that keeps its bytes
    /// in one place.
    ///
    /// # Errors
    /// [`LayoutError`] when the buffer is too short, or not aligned to the format's samples.
    ///
    /// ```
    /// use framewright::*;
    /// let layout = Layout::<Gray8>::packed(Size::new(4, 2)?)?;
    /// let image = Image::from_owner(vec![1, 2, 3, 4, 5, 6, 7, 8], &layout)?;
    /// assert_eq!(image.planes().0.row(1), [5, 6, 7, 8]);
    ///
    /// let error = Image::from_owner(vec![0; 7], &layout).unwrap_err();
    /// assert_eq!(error.to_string(), "plane Y: buffer is 7 bytes, expected at least 8");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_owner<O>(owner: O, layout: &Layout<F>) -> Result<Self, LayoutError>
    where
        O: AsMut<[u8]> + Send + Sync + 'static,
    {
        let (kept, mut owner) = Kept::new(owner);
        // SAFETY: nobody else has the owner. This is the one time that its bytes are asked for: it is not touched again until
        // it is dropped, so that they stay in place.
        let bytes: *mut [u8] = unsafe { owner.as_mut() }.as_mut();
        wrap::check_buffer(bytes.cast(), bytes.len(), layout)?;
        Ok(Self { parts: wrap::parts_at(bytes.cast(), layout, ()), owner: HostOwner::Foreign(kept) })
    }

    /// Takes over planes at given addresses, in one allocation or several, kept alive by `owner`.
    ///
    /// # Errors
    /// [`LayoutError`] when the count of planes, a pitch or an alignment is not what the format has.
    ///
    /// # Safety
    /// Until `owner` is dropped: for each plane, the visible bytes of each row (`first_row + y * pitch_bytes`) are
    /// initialised, readable and writable from any thread, used by nobody else, and planes and rows do not overlap.
    pub unsafe fn from_raw_owner(
        owner: impl Send + Sync + 'static,
        size: Size,
        planes: &[RawPlane],
    ) -> Result<Self, LayoutError> {
        let parts = wrap::parts_of_raw(size, planes, ())?;
        Ok(Self { parts, owner: HostOwner::Foreign(Kept::new(owner).0) })
    }
}

impl<F: Format, L: Location> Image<F, L> {
    /// The same image with other colour information.
    pub fn with_color(mut self, color: ColorInfo) -> Self {
        self.parts.color = color;
        self
    }

    /// The planes for reading, in the order of the format, each with its own type.
    pub fn planes(&self) -> PlaneRefs<'_, F, L> {
        plane::refs(&self.parts)
    }

    /// The planes for writing.
    pub fn planes_mut(&mut self) -> PlaneMuts<'_, F, L> {
        plane::muts(&self.parts)
    }

    /// Borrows the image for reading.
    pub fn view(&self) -> ImageRef<'_, F, L> {
        ImageRef::new(self.parts)
    }

    /// Borrows the image for writing.
    pub fn view_mut(&mut self) -> ImageMut<'_, F, L> {
        ImageMut::new(self.parts)
    }

    /// The part inside `region`, without a copy.
    ///
    /// # Errors
    /// [`RegionError::Outside`] when the region reaches past the image.
    pub fn crop(&self, region: Region<F>) -> Result<ImageRef<'_, F, L>, RegionError> {
        self.view().crop(region)
    }

    /// The same image under another way of knowing the pitch, such as `Yuv420p8<Linked>` for `Yuv420p8`.
    ///
    /// # Errors
    /// The image unchanged, and [`LayoutError`], when the pitches are not what `G` states.
    pub fn with_pitches<G>(self) -> Result<Image<G, L>, (Self, LayoutError)>
    where
        G: Format,
        G::Planes: SamePlanes<F::Planes>,
    {
        match self.parts.with_pitches() {
            Ok(parts) => Ok(Image { parts, owner: self.owner }),
            Err(error) => Err((self, error)),
        }
    }

    /// The same image with pitches known at run time.
    pub fn with_free_pitches<G>(self) -> Image<G, L>
    where
        G: Format,
        G::Planes: SamePlanes<F::Planes> + FreePlanes,
    {
        Image { parts: self.parts.with_free_pitches(), owner: self.owner }
    }

    /// Address and pitch of each plane, for code of your own.
    pub fn as_raw_planes(&self) -> Vec<RawPlane> {
        (0..F::Planes::COUNT).map(|i| self.parts.raw(i)).collect()
    }
}

facts!(Image<F, L>);

impl<F: Format, L: Location> AsImage for Image<F, L> {
    type Format = F;
    type Location = L;
    fn view(&self) -> ImageRef<'_, F, L> {
        ImageRef::new(self.parts)
    }
}
impl<F: Format, L: Location> AsImageMut for Image<F, L> {
    fn view_mut(&mut self) -> ImageMut<'_, F, L> {
        ImageMut::new(self.parts)
    }
}

/// Images and views go to other threads, as any owned or borrowed bytes do.
const _: () = {
    const fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<Image<framewright_core::Nv12>>();
    send_and_sync::<ImageRef<'_, framewright_core::Nv12>>();
    send_and_sync::<ImageMut<'_, framewright_core::Nv12>>();
};
