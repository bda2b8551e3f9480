//! GPU memory and pinned host memory as locations of images.

use super::{device::Device, error::Asked};
use crate::{
    error::Error,
    image::Image,
    location::{DeviceAccess, HostAccess, Kept, Location, sealed::Sealed},
    plane::RawPlane,
    view::{ImageMut, ImageRef},
    wrap,
};
use framewright_core::{Format, Layout, LayoutError, Size};
use framewright_driver::sys::{self, CUcontext, CUdeviceptr};
use std::ptr;

/// Memory of an NVIDIA GPU.
#[derive(Clone, Copy, Debug)]
pub enum Cuda {}

/// Page-locked memory of the host, which a GPU copies from and to while the CPU goes on.
#[derive(Clone, Copy, Debug)]
pub enum Pinned {}

/// Which context a device image lies in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct ContextId(usize);

impl ContextId {
    pub(crate) fn of(context: CUcontext) -> Self {
        Self(context as usize)
    }
}

impl Sealed for Cuda {}
impl Location for Cuda {
    type Owner = CudaOwner;
    type Place = ContextId;
    const NAME: &'static str = "GPU memory";
}
impl DeviceAccess for Cuda {}

impl Sealed for Pinned {}
impl Location for Pinned {
    type Owner = PinnedOwner;
    type Place = ();
    const NAME: &'static str = "pinned host memory";
}
impl HostAccess for Pinned {}

/// What keeps a device image's memory alive.
#[derive(Debug)]
pub struct CudaOwner(Owned);

#[derive(Debug)]
enum Owned {
    Allocated(Allocation),
    /// Somebody else's memory, with the context that it lies in.
    #[allow(dead_code)] // held to be dropped
    Foreign(Kept, Device),
}

/// Device memory of our own.
#[derive(Debug)]
pub(crate) struct Allocation {
    device: Device,
    pub(crate) address: CUdeviceptr,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Ok(_current) = self.device.inner.enter() {
            // SAFETY: allocated in `allocate`, freed once. In a lost context there is nothing left to free.
            let _ = unsafe { sys::cuMemFree_v2(self.address) };
        }
    }
}

/// What keeps a pinned image's memory alive.
#[derive(Debug)]
pub struct PinnedOwner {
    device: Device,
    first: ptr::NonNull<u8>,
}

// SAFETY: the owner is the only one that frees; the bytes are reached through the image's borrows.
unsafe impl Send for PinnedOwner {}
// SAFETY: as above.
unsafe impl Sync for PinnedOwner {}

impl Drop for PinnedOwner {
    fn drop(&mut self) {
        if let Ok(_current) = self.device.inner.enter() {
            // SAFETY: allocated in `pinned_with_layout`, freed once.
            let _ = unsafe { sys::cuMemFreeHost(self.first.as_ptr().cast()) };
        }
    }
}

/// Bytes that device rows are a multiple of: what `cuMemAllocPitch` gives on every GPU so far, so that each row starts on its
/// own set of cache lines and every vector access is aligned.
const PITCH_BYTES: u32 = 512;

impl Device {
    /// An image on this device whose rows are 512 bytes apart or a multiple. Its content is whatever the memory holds.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], which leaves everything usable; [`Error::Layout`] when the format's type states a pitch that
    /// is shorter than a row; or what the driver says.
    pub fn image<F: Format>(&self, size: Size) -> Result<Image<F, Cuda>, Error> {
        self.image_with_layout(&Layout::aligned(size, PITCH_BYTES)?)
    }

    /// An image on this device, laid out as `layout` says.
    ///
    /// # Errors
    /// As [`Device::image`].
    pub fn image_with_layout<F: Format>(&self, layout: &Layout<F>) -> Result<Image<F, Cuda>, Error> {
        let allocation = self.allocate(layout.full_len_bytes())?;
        let first = address(allocation.address);
        let parts = wrap::parts_at(first, layout, self.context_id());
        Ok(Image { parts, owner: CudaOwner(Owned::Allocated(allocation)) })
    }

    /// Memory on this device, freed when dropped.
    pub(crate) fn allocate(&self, bytes: u64) -> Result<Allocation, Error> {
        let _current = self.inner.enter()?;
        let mut address = 0;
        // SAFETY: writes one address.
        let code = unsafe { sys::cuMemAlloc_v2(&mut address, bytes as usize) };
        self.inner.check(code, "cuMemAlloc", Asked::Bytes(bytes))?;
        Ok(Allocation { device: self.clone(), address })
    }

    /// A zeroed image in page-locked host memory, whose rows start on cache lines.
    ///
    /// # Errors
    /// As [`Device::image`].
    pub fn pinned<F: Format>(&self, size: Size) -> Result<Image<F, Pinned>, Error> {
        self.pinned_with_layout(&Layout::aligned(size, 64)?)
    }

    /// A zeroed image in page-locked host memory, laid out as `layout` says.
    ///
    /// # Errors
    /// As [`Device::image`].
    pub fn pinned_with_layout<F: Format>(&self, layout: &Layout<F>) -> Result<Image<F, Pinned>, Error> {
        let _current = self.inner.enter()?;
        let bytes = layout.full_len_bytes();
        let mut first = ptr::null_mut();
        // SAFETY: writes one pointer; 1 is portable: pinned for all contexts.
        let code = unsafe { sys::cuMemHostAlloc(&mut first, bytes as usize, 1) };
        self.inner.check(code, "cuMemHostAlloc", Asked::Bytes(bytes))?;
        let Some(first) = ptr::NonNull::new(first.cast::<u8>()) else {
            return Err(Error::OutOfMemory { location: Pinned::NAME, bytes });
        };
        let owner = PinnedOwner { device: self.clone(), first };
        // SAFETY: fresh memory of this many bytes.
        unsafe { first.write_bytes(0, bytes as usize) };
        Ok(Image { parts: wrap::parts_at(first.as_ptr(), layout, ()), owner })
    }

    /// Wraps planes at given device addresses for reading, without a copy: another library's image.
    ///
    /// # Errors
    /// [`LayoutError`] when the count of planes, a pitch or an alignment is not what the format has.
    ///
    /// # Safety
    /// For `'a`: each plane's rows are readable memory of this device's primary context, and nobody writes them.
    pub unsafe fn wrap<'a, F: Format>(
        &self,
        size: Size,
        planes: &[RawPlane],
    ) -> Result<ImageRef<'a, F, Cuda>, LayoutError> {
        Ok(ImageRef::new(wrap::parts_of_raw(size, planes, self.context_id())?))
    }

    /// Wraps planes at given device addresses for writing, without a copy.
    ///
    /// # Errors
    /// As [`Device::wrap`].
    ///
    /// # Safety
    /// For `'a`: each plane's rows are writable memory of this device's primary context, used by nobody else, and planes and
    /// rows do not overlap.
    pub unsafe fn wrap_mut<'a, F: Format>(
        &self,
        size: Size,
        planes: &[RawPlane],
    ) -> Result<ImageMut<'a, F, Cuda>, LayoutError> {
        Ok(ImageMut::new(wrap::parts_of_raw(size, planes, self.context_id())?))
    }

    /// Takes over planes at given device addresses, kept alive by `owner`.
    ///
    /// # Errors
    /// As [`Device::wrap`].
    ///
    /// # Safety
    /// As [`Device::wrap_mut`], until `owner` is dropped.
    pub unsafe fn wrap_owned<F: Format>(
        &self,
        owner: impl Send + Sync + 'static,
        size: Size,
        planes: &[RawPlane],
    ) -> Result<Image<F, Cuda>, LayoutError> {
        let parts = wrap::parts_of_raw(size, planes, self.context_id())?;
        Ok(Image { parts, owner: CudaOwner(Owned::Foreign(Kept::new(owner).0, self.clone())) })
    }

    /// Free and total bytes of the device's memory.
    ///
    /// # Errors
    /// What the driver says.
    pub fn memory_bytes(&self) -> Result<(u64, u64), Error> {
        let _current = self.inner.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: writes two sizes.
        let code = unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) };
        self.inner.check(code, "cuMemGetInfo", Asked::Nothing)?;
        Ok((free as u64, total as u64))
    }
}

impl Device {
    /// Makes the PTX of your own kernels known to this device; [`include_kernels!`](crate::include_kernels) embeds it. It is
    /// loaded when one of its kernels is first launched.
    ///
    /// # Errors
    /// [`CudaError::ModuleExists`](crate::cuda::CudaError::ModuleExists) when another module has the same name.
    pub fn add_kernels(&self, module: super::KernelModule) -> Result<(), Error> {
        self.inner.add_kernels(module)
    }
}

impl<F: Format> Image<F, Cuda> {
    /// The device that the image lies on.
    pub fn device(&self) -> &Device {
        match &self.owner.0 {
            Owned::Allocated(allocation) => &allocation.device,
            Owned::Foreign(_, device) => device,
        }
    }
}

/// A device address as the pointer type that planes have. It is never dereferenced on the host.
pub(crate) fn address(address: CUdeviceptr) -> *mut u8 {
    ptr::without_provenance_mut(address as usize)
}
