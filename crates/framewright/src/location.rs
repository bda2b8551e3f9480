//! Whose memory an image is in, as a type.

use std::{any::Any, ptr::NonNull};

/// A place where images live. Sealed.
pub trait Location: sealed::Sealed + Sized + Send + Sync + 'static {
    /// What keeps an image's memory alive, and frees it when dropped.
    type Owner: Send + Sync + 'static;
    /// Which memory of this kind: nothing for the host, the context for a GPU.
    type Place: Copy + PartialEq + Send + Sync + std::fmt::Debug + 'static;
    /// As messages name it.
    const NAME: &'static str;
}

/// Locations whose bytes the CPU can read and write. Sealed.
#[diagnostic::on_unimplemented(
    message = "images in `{Self}` cannot be read by the CPU",
    label = "expected an image in host memory",
    note = "download it to a `Host` image first"
)]
pub trait HostAccess: Location {}

/// Locations whose bytes kernels on a GPU can read and write. Sealed.
#[diagnostic::on_unimplemented(
    message = "images in `{Self}` cannot be used by a GPU",
    label = "expected an image in GPU memory",
    note = "upload it to a `Cuda` image first"
)]
pub trait DeviceAccess: Location {}

/// Ordinary memory of the process.
#[derive(Clone, Copy, Debug)]
pub enum Host {}

impl Location for Host {
    type Owner = HostOwner;
    type Place = ();
    const NAME: &'static str = "host memory";
}
impl HostAccess for Host {}

/// One cache line: what host images are allocated in, so that rows can start on one.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, bytemuck::Zeroable)]
pub struct Line([u8; 64]);

/// What keeps a host image's memory alive.
#[derive(Debug)]
pub enum HostOwner {
    /// Memory of our own.
    #[allow(dead_code)] // held to be dropped
    Lines(Vec<Line>),
    /// Somebody else's, kept until the image goes.
    #[allow(dead_code)] // held to be dropped
    Foreign(Kept),
}

/// Something that is kept, not touched, and dropped at the end. Not a `Box`: moving one would claim to be alone in using
/// bytes inside the owner that the image uses.
#[derive(Debug)]
pub struct Kept(NonNull<dyn Any + Send + Sync>);

impl Kept {
    pub(crate) fn new<O: Send + Sync + 'static>(owner: O) -> (Self, NonNull<O>) {
        let owner = NonNull::from(Box::leak(Box::new(owner)));
        (Self(owner), owner)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a leaked box in `new`, and is dropped once, here.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

// SAFETY: what is kept is Send and Sync.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

impl HostOwner {
    /// Zeroed memory for `bytes`, with the address of its first byte.
    pub(crate) fn zeroed(bytes: usize) -> Result<(Self, *mut u8), crate::Error> {
        let count = bytes.div_ceil(size_of::<Line>());
        let mut lines = Vec::new();
        if lines.try_reserve_exact(count).is_err() {
            return Err(crate::Error::OutOfMemory { location: Host::NAME, bytes: bytes as u64 });
        }
        lines.resize(count, Line([0; 64]));
        let first = lines.as_mut_ptr().cast();
        Ok((Self::Lines(lines), first))
    }
}

pub(crate) mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Host {}
}
