//! Scopes: launches that borrow images, and a wait at the end.

use super::{
    args::{CudaArgs, CudaBoundList, QueuedList},
    error::CudaError,
    memory::Cuda,
    stream::{Stream, StreamInner},
};
use crate::{
    call::Plan,
    convert::{self, Conversion, RgbFormat, YuvFormat},
    error::Error,
    image::Image,
    location::{HostAccess, Location},
    parts::Parts,
    shared::SharedImage,
    view::{ImageMut, ImageRef},
};
use framewright_core::{Format, SamePlanes, Size};
use framewright_driver::sys::CUdeviceptr;
use framewright_kernel::{Call, Instance, Launch};
use std::{cell::RefCell, marker::PhantomData};

/// Queues work on one stream while it borrows images; see [`Stream::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    stream: Stream,
    /// Device images that live to the end of the scope.
    temporaries: RefCell<Vec<Box<dyn Send>>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// An image that work of this scope writes: a source or destination of later launches in it, which run after. The host
/// cannot read it before the scope has ended.
#[must_use = "a queued image is a source of later launches; `drop` it where none follows"]
pub struct Queued<'scope, F: Format> {
    pub(super) parts: Parts<F, Cuda>,
    scope: PhantomData<&'scope mut &'scope ()>,
}

impl Stream {
    /// Runs `work`, which queues launches on this stream that borrow images, and waits until they are done: also when `work`
    /// fails or panics. In the manner of [`std::thread::scope`].
    ///
    /// # Errors
    /// What `work` returns, or else what went wrong on the device.
    ///
    /// ```no_run
    /// # use framewright::{cuda::*, *};
    /// # fn decode(_: u32) -> Image<Nv12> { todo!() }
    /// # fn f(stream: &Stream, frames: &[Image<Nv12>], pictures: &mut [Image<Rgb8>]) -> Result<(), Error> {
    /// // Many frames through two buffers: each launch waits for the one before on the GPU, and the host goes on.
    /// let size = frames[0].size();
    /// stream.scope(|scope| {
    ///     let (mut nv12, mut rgb) = (scope.temporary::<Nv12>(size)?, scope.temporary::<Rgb8>(size)?);
    ///     for (frame, picture) in frames.iter().zip(pictures.iter_mut()) {
    ///         nv12 = scope.upload(frame, nv12)?;
    ///         rgb = scope.convert(&nv12, rgb, &Conversion::new())?;
    ///         scope.download(&rgb, picture)?;
    ///     }
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub fn scope<'env, T, E, W>(&self, work: W) -> Result<T, E>
    where
        E: From<Error>,
        W: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<T, E>,
    {
        // Waits in its own drop if `work` panics: then before the temporaries, which are dropped after it.
        struct Settle<'a>(&'a StreamInner);
        impl Drop for Settle<'_> {
            fn drop(&mut self) {
                // The panic goes on; a lost context shows at the next call.
                let _ = self.0.settle();
            }
        }
        let scope = Scope::unsettled(self);
        let settle = Settle(&self.inner);
        let result = work(&scope);
        std::mem::forget(settle);
        let settled = self.inner.settle();
        let result = result?;
        settled?;
        Ok(result)
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// A scope; whoever makes it waits for its end.
    pub(super) fn unsettled(stream: &Stream) -> Self {
        Self { stream: stream.clone(), temporaries: RefCell::new(Vec::new()), scope: PhantomData, env: PhantomData }
    }

    /// What must live until the work is done.
    pub(super) fn into_temporaries(self) -> Vec<Box<dyn Send>> {
        self.temporaries.into_inner()
    }

    /// The stream.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// A device image that lives to the end of the scope. Its content is whatever the memory holds.
    ///
    /// # Errors
    /// As [`Device::image`](crate::cuda::Device::image).
    pub fn temporary<F: Format>(&'scope self, size: Size) -> Result<Queued<'scope, F>, Error> {
        let image = self.stream.device().image::<F>(size)?;
        let queued = Queued { parts: image.parts, scope: PhantomData };
        self.temporaries.borrow_mut().push(Box::new(image.owner));
        Ok(queued)
    }

    /// Takes a destination into the scope as if a launch had written it: the start of a loop that goes through one buffer.
    ///
    /// # Errors
    /// [`CudaError::OtherDevice`] when it is not of the stream's device.
    pub fn queued<D: DeviceTarget<'scope>>(&'scope self, image: D) -> Result<Queued<'scope, D::Format>, Error> {
        let image = image.write(token());
        self.check_device(&image.parts, "destination")?;
        Ok(Queued { parts: image.parts, scope: PhantomData })
    }

    /// Queues a conversion of YUV to RGB, exactly rounded; the same bytes as [`Cpu::convert`](crate::Cpu::convert).
    ///
    /// # Errors
    /// As [`Cpu::convert`](crate::Cpu::convert); [`CudaError::OtherDevice`] when an image is not of the stream's device; or
    /// what the driver says. Nothing is queued then.
    pub fn convert<S, D>(
        &'scope self,
        source: S,
        destination: D,
        conversion: &Conversion,
    ) -> Result<Queued<'scope, D::Format>, Error>
    where
        S: DeviceSource<'scope, Format: YuvFormat>,
        D: DeviceTarget<'scope, Format: RgbFormat>,
    {
        let (source, destination) = (source.read(token()), destination.write(token()));
        self.check_device(&source.parts, "source")?;
        self.check_device(&destination.parts, "destination")?;
        let parts = destination.parts;
        // SAFETY: both borrows last for 'scope, and the scope waits for the launch before it ends.
        unsafe { self.run(convert::conversion(source, destination, conversion)?)? };
        Ok(Queued { parts, scope: PhantomData })
    }

    /// Queues a kernel: one of your own, whose PTX was given to the device by
    /// [`Device::add_kernels`](crate::cuda::Device::add_kernels), or a built-in one. Gives a [`Queued`] for each image that it
    /// writes: nothing for none, one, or a tuple in the parameters' order. What it reduces or counts is written when the scope
    /// ends.
    ///
    /// # Errors
    /// As [`Cpu::launch`](crate::Cpu::launch), except that a panic on the device is an error at the scope's end;
    /// [`CudaError::OtherDevice`] when an image is not of the stream's device, [`CudaError::UnknownKernel`] when the kernel's
    /// module was not added; or what the driver says. Nothing is queued then.
    ///
    /// ```no_run
    /// # use framewright::{cuda::*, *};
    /// # use framewright_kernel::prelude::{In, Out, Pixel, kernel};
    /// # #[kernel]
    /// # fn invert(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 { 255 - src.get(at) }
    /// # fn f(stream: &Stream, picture: &Image<Gray8, Cuda>, negative: &mut Image<Gray8, Cuda>) -> Result<(), Error> {
    /// stream.scope(|scope| {
    ///     let negative = scope.launch(invert(picture, negative))?;
    ///     // A source of later launches in this scope.
    ///     let back = scope.launch(invert(&negative, scope.temporary::<Gray8>(negative.size())?))?;
    ///     drop(back);
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub fn launch<K, A>(&'scope self, call: Call<K, A>) -> Result<<A::Queued as QueuedList>::Tuple, Error>
    where
        K: Instance,
        A: CudaArgs<'scope, K::Params>,
    {
        let (args, queued) = call.args.bind(token());
        let mut call_of = Call::<K, _>::new(args);
        call_of.crop = call.crop;
        // SAFETY: the arguments are borrowed for 'scope, and the scope waits for the launch before it ends.
        unsafe { self.run(call_of)? };
        Ok(queued.tuple())
    }

    /// Checks and queues a call.
    ///
    /// # Safety
    /// The arguments stay borrowed until the scope has waited.
    unsafe fn run<K: Instance, B: CudaBoundList<K::Params>>(&self, call: Call<K, B>) -> Result<(), Error> {
        call.args.check(K::PARAMETERS, self.stream.device().context_id())?;
        let mut plan = Plan::new::<K>(call.crop);
        call.args.describe_all(&mut plan);
        let domain = plan.check()?;
        // SAFETY: as promised by the caller; the plan found that nothing written is shared.
        unsafe {
            let args = call.args.raw(self, &domain)?;
            self.stream.inner.launch(&Launch::<K> { domain, args })?;
            call.args.after(self, &args)
        }
    }

    /// Device memory that lives to the end of the scope.
    pub(super) fn buffer(&self, bytes: u64) -> Result<CUdeviceptr, Error> {
        let memory = self.stream.device().allocate(bytes)?;
        let address = memory.address;
        self.temporaries.borrow_mut().push(Box::new(memory));
        Ok(address)
    }

    /// Queues a copy of all planes on the device, from any pitch to any pitch.
    ///
    /// # Errors
    /// As [`Scope::convert`].
    pub fn copy<S, D>(&'scope self, source: S, destination: D) -> Result<Queued<'scope, D::Format>, Error>
    where
        S: DeviceSource<'scope>,
        D: DeviceTarget<'scope>,
        <D::Format as Format>::Planes: SamePlanes<<S::Format as Format>::Planes>,
    {
        let (source, destination) = (source.read(token()), destination.write(token()));
        self.check_device(&source.parts, "source")?;
        self.check_device(&destination.parts, "destination")?;
        let parts = destination.parts;
        // SAFETY: as in `convert`.
        convert::copies(source, destination, |call| unsafe { self.run(call) })?;
        Ok(Queued { parts, scope: PhantomData })
    }

    /// Queues a copy of all planes from the host. From pinned memory the host goes on meanwhile.
    ///
    /// # Errors
    /// [`Error::DestinationSize`] when the sizes differ, [`CudaError::OtherDevice`], or what the driver says.
    pub fn upload<S, D>(&'scope self, source: S, destination: D) -> Result<Queued<'scope, D::Format>, Error>
    where
        S: HostSource<'scope>,
        D: DeviceTarget<'scope>,
        <D::Format as Format>::Planes: SamePlanes<<S::Format as Format>::Planes>,
    {
        let (source, mut destination) = (source.read(token()), destination.write(token()));
        self.check_device(&destination.parts, "destination")?;
        // SAFETY: as in `convert`.
        unsafe { self.stream.inner.upload(&source.parts, &destination.parts)? };
        // What is known of the colours goes along.
        destination.parts.color = source.parts.color;
        destination.parts.frame_size = source.parts.frame_size;
        Ok(Queued { parts: destination.parts, scope: PhantomData })
    }

    /// Queues a copy of all planes to the host, whose image is borrowed until the scope ends.
    ///
    /// # Errors
    /// As [`Scope::upload`].
    pub fn download<S, D>(&'scope self, source: S, destination: D) -> Result<(), Error>
    where
        S: DeviceSource<'scope>,
        D: HostTarget<'scope>,
        <D::Format as Format>::Planes: SamePlanes<<S::Format as Format>::Planes>,
    {
        let (source, destination) = (source.read(token()), destination.write(token()));
        self.check_device(&source.parts, "source")?;
        // SAFETY: as in `convert`.
        unsafe { self.stream.inner.download(&source.parts, &destination.parts) }
    }

    fn check_device<F: Format>(&self, parts: &Parts<F, Cuda>, image: &'static str) -> Result<(), CudaError> {
        if parts.place == self.stream.device().context_id() { Ok(()) } else { Err(CudaError::OtherDevice { image }) }
    }
}

impl<F: Format> Queued<'_, F> {
    /// What a launch of the scope writes to `parts`.
    pub(super) fn new(parts: Parts<F, Cuda>) -> Self {
        Self { parts, scope: PhantomData }
    }

    /// The visible size in pixels.
    pub fn size(&self) -> Size {
        self.parts.size
    }
}

impl<F: Format> std::fmt::Debug for Queued<'_, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "queued {} {}", F::NAME, self.size())
    }
}

/// Only this module asks for the views behind arguments: a view of a [`Queued`] must not reach another stream.
pub(super) mod private {
    #[derive(Clone, Copy, Debug)]
    pub struct Token(());
    pub(super) const fn token() -> Token {
        Token(())
    }
    pub trait Sealed {}
}
use private::{Sealed, Token, token};

/// What a launch of a scope reads on the device: `&Image`, `&SharedImage`, [`ImageRef`], or `&`[`Queued`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no source of a launch on a GPU",
    label = "expected an image in GPU memory",
    note = "upload a host image first: `scope.upload(&host_image, device_image)` gives a source"
)]
pub trait DeviceSource<'scope>: Sealed {
    /// The planes.
    type Format: Format;
    #[doc(hidden)]
    fn read(self, token: Token) -> ImageRef<'scope, Self::Format, Cuda>;
}

/// What a launch of a scope writes on the device: `&mut Image`, [`ImageMut`], or a [`Queued`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no destination of a launch on a GPU",
    label = "expected an image in GPU memory, for writing",
    note = "take a `&mut Image<_, Cuda>`, an `ImageMut`, or the `Queued` of an earlier launch"
)]
pub trait DeviceTarget<'scope>: Sealed {
    /// The planes.
    type Format: Format;
    #[doc(hidden)]
    fn write(self, token: Token) -> ImageMut<'scope, Self::Format, Cuda>;
}

/// What an upload reads: `&Image`, `&SharedImage` or [`ImageRef`] in host memory. Sealed.
pub trait HostSource<'scope>: Sealed {
    /// The planes.
    type Format: Format;
    /// Ordinary or pinned memory.
    type Location: HostAccess;
    #[doc(hidden)]
    fn read(self, token: Token) -> ImageRef<'scope, Self::Format, Self::Location>;
}

/// What a download writes: `&mut Image` or [`ImageMut`] in host memory. Sealed.
pub trait HostTarget<'scope>: Sealed {
    /// The planes.
    type Format: Format;
    /// Ordinary or pinned memory.
    type Location: HostAccess;
    #[doc(hidden)]
    fn write(self, token: Token) -> ImageMut<'scope, Self::Format, Self::Location>;
}

impl<F: Format, L: Location> Sealed for &Image<F, L> {}
impl<F: Format, L: Location> Sealed for &mut Image<F, L> {}
impl<F: Format, L: Location> Sealed for &SharedImage<F, L> {}
impl<F: Format, L: Location> Sealed for ImageRef<'_, F, L> {}
impl<F: Format, L: Location> Sealed for ImageMut<'_, F, L> {}
impl<F: Format> Sealed for Queued<'_, F> {}
impl<F: Format> Sealed for &Queued<'_, F> {}

impl<'scope, F: Format> DeviceSource<'scope> for &'scope Image<F, Cuda> {
    type Format = F;
    fn read(self, _: Token) -> ImageRef<'scope, F, Cuda> {
        (*self).view()
    }
}
impl<'scope, F: Format> DeviceSource<'scope> for &'scope SharedImage<F, Cuda> {
    type Format = F;
    fn read(self, _: Token) -> ImageRef<'scope, F, Cuda> {
        (*self).view()
    }
}
impl<'scope, F: Format> DeviceSource<'scope> for ImageRef<'scope, F, Cuda> {
    type Format = F;
    fn read(self, _: Token) -> ImageRef<'scope, F, Cuda> {
        self
    }
}
impl<'scope, F: Format, L: HostAccess> HostSource<'scope> for &'scope Image<F, L> {
    type Format = F;
    type Location = L;
    fn read(self, _: Token) -> ImageRef<'scope, F, L> {
        (*self).view()
    }
}
impl<'scope, F: Format, L: HostAccess> HostSource<'scope> for &'scope SharedImage<F, L> {
    type Format = F;
    type Location = L;
    fn read(self, _: Token) -> ImageRef<'scope, F, L> {
        (*self).view()
    }
}
impl<'scope, F: Format, L: HostAccess> HostSource<'scope> for ImageRef<'scope, F, L> {
    type Format = F;
    type Location = L;
    fn read(self, _: Token) -> ImageRef<'scope, F, L> {
        self
    }
}
impl<'scope, F: Format> DeviceSource<'scope> for &Queued<'scope, F> {
    type Format = F;
    fn read(self, _: Token) -> ImageRef<'scope, F, Cuda> {
        ImageRef::new(self.parts)
    }
}
impl<'scope, F: Format> DeviceTarget<'scope> for Queued<'scope, F> {
    type Format = F;
    fn write(self, _: Token) -> ImageMut<'scope, F, Cuda> {
        ImageMut::new(self.parts)
    }
}
impl<'scope, F: Format> DeviceTarget<'scope> for &'scope mut Image<F, Cuda> {
    type Format = F;
    fn write(self, _: Token) -> ImageMut<'scope, F, Cuda> {
        self.view_mut()
    }
}
impl<'scope, F: Format> DeviceTarget<'scope> for ImageMut<'scope, F, Cuda> {
    type Format = F;
    fn write(self, _: Token) -> ImageMut<'scope, F, Cuda> {
        self
    }
}
impl<'scope, F: Format, L: HostAccess> HostTarget<'scope> for &'scope mut Image<F, L> {
    type Format = F;
    type Location = L;
    fn write(self, _: Token) -> ImageMut<'scope, F, L> {
        self.view_mut()
    }
}
impl<'scope, F: Format, L: HostAccess> HostTarget<'scope> for ImageMut<'scope, F, L> {
    type Format = F;
    type Location = L;
    fn write(self, _: Token) -> ImageMut<'scope, F, L> {
        self
    }
}
