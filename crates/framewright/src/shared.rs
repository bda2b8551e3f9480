//! Images that several owners read.

use crate::{
    image::Image,
    location::{Host, HostOwner, Kept, Location},
    plane::{PlaneRefs, RawPlane},
    view::{AsImage, ImageRef},
    wrap,
};
use framewright_core::{ColorInfo, Format, Layout, LayoutError, Region, RegionError, Size};
use std::sync::Arc;

/// A read-only image with shared ownership: a decoder's reference-counted frame, or an [`Image`] that is finished.
pub struct SharedImage<F: Format, L: Location = Host> {
    image: Arc<Image<F, L>>,
}

impl<F: Format> SharedImage<F, Host> {
    /// Wraps bytes that `owner` keeps in one place and nobody changes.
    ///
    /// # Errors
    /// [`LayoutError`] when the buffer is too short, or not aligned to the format's samples.
    pub fn from_owner<O>(owner: O, layout: &Layout<F>) -> Result<Self, LayoutError>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        let (kept, owner) = Kept::new(owner);
        // SAFETY: nobody changes the owner. This is the one time that its bytes are asked for; they are never written through
        // this pointer.
        let bytes: *const [u8] = unsafe { owner.as_ref() }.as_ref();
        let first = bytes.cast::<u8>().cast_mut();
        wrap::check_buffer(first, bytes.len(), layout)?;
        let image = Image { parts: wrap::parts_at(first, layout, ()), owner: HostOwner::Foreign(kept) };
        Ok(Self { image: Arc::new(image) })
    }

    /// Wraps planes at given addresses, kept alive by `owner`.
    ///
    /// # Errors
    /// [`LayoutError`] when the count of planes, a pitch or an alignment is not what the format has.
    ///
    /// # Safety
    /// Until `owner` is dropped: for each plane, the visible bytes of each row (`first_row + y * pitch_bytes`) are
    /// initialised, readable from any thread, and nobody writes them.
    pub unsafe fn from_raw_owner(
        owner: impl Send + Sync + 'static,
        size: Size,
        planes: &[RawPlane],
    ) -> Result<Self, LayoutError> {
        let parts = wrap::parts_of_raw(size, planes, ())?;
        Ok(Self { image: Arc::new(Image { parts, owner: HostOwner::Foreign(Kept::new(owner).0) }) })
    }
}

impl<F: Format, L: Location> SharedImage<F, L> {
    /// Borrows the image.
    pub fn view(&self) -> ImageRef<'_, F, L> {
        self.image.view()
    }

    /// The visible size in pixels.
    pub fn size(&self) -> Size {
        self.image.size()
    }

    /// What is known of the colours.
    pub fn color(&self) -> ColorInfo {
        self.image.color()
    }

    /// The planes, in the order of the format, each with its own type.
    pub fn planes(&self) -> PlaneRefs<'_, F, L> {
        self.image.planes()
    }

    /// The part inside `region`, without a copy.
    ///
    /// # Errors
    /// [`RegionError::Outside`] when the region reaches past the image.
    pub fn crop(&self, region: Region<F>) -> Result<ImageRef<'_, F, L>, RegionError> {
        self.image.crop(region)
    }
}

impl<F: Format, L: Location> From<Image<F, L>> for SharedImage<F, L> {
    fn from(image: Image<F, L>) -> Self {
        Self { image: Arc::new(image) }
    }
}
impl<F: Format, L: Location> Clone for SharedImage<F, L> {
    fn clone(&self) -> Self {
        Self { image: self.image.clone() }
    }
}
impl<F: Format, L: Location> AsImage for SharedImage<F, L> {
    type Format = F;
    type Location = L;
    fn view(&self) -> ImageRef<'_, F, L> {
        self.image.view()
    }
}
impl<F: Format, L: Location> std::fmt::Debug for SharedImage<F, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "shared {:?}", self.image)
    }
}
