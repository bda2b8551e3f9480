//! One image at a time, with the wait included.

use super::{device::Device, memory::Cuda, stream::Stream};
use crate::{error::Error, image::Image, location::HostAccess, view::AsImage};
use framewright_core::Layout;

impl Stream {
    /// A new device image with the content of a host image, its colours and its place in the frame, when done.
    ///
    /// # Errors
    /// As [`Device::image`] and [`Scope::upload`](crate::cuda::Scope::upload).
    pub fn upload<S>(&self, source: &S) -> Result<Image<S::Format, Cuda>, Error>
    where
        S: AsImage<Location: HostAccess>,
    {
        let source = source.view();
        let mut image = self.device().image::<S::Format>(source.size())?;
        image.parts.color = source.color();
        image.parts.frame_size = source.frame_size();
        self.scope(|scope| scope.upload(source, &mut image).map(drop))?;
        Ok(image)
    }

    /// A new host image with the content of a device image, when done.
    ///
    /// # Errors
    /// As [`Image::new`] and [`Scope::download`](crate::cuda::Scope::download).
    pub fn download<S>(&self, source: &S) -> Result<Image<S::Format>, Error>
    where
        S: AsImage<Location = Cuda>,
    {
        let source = source.view();
        let mut image = Image::with_layout(&Layout::aligned(source.size(), 64)?)?;
        image.parts.color = source.color();
        image.parts.frame_size = source.frame_size();
        self.scope(|scope| scope.download(source, &mut image))?;
        Ok(image)
    }
}

impl Device {
    /// Launches a kernel that panics, for tests of how that is reported. The device's context is lost afterwards.
    ///
    /// # Errors
    /// The panic, as every kernel's.
    #[doc(hidden)]
    pub fn selftest_panic(&self, at: (u32, u32)) -> Result<(), Error> {
        use framewright_core::{Gray8, Size};
        let mut image = self.image::<Gray8>(Size::fixed::<64, 8>())?;
        let call = framewright_kernels::selftest::panic_at(&mut image, [at.0, at.1]);
        self.stream()?.scope(|scope| scope.launch(call).map(drop))
    }
}
