//! The kernels of `examples/` on a stream: each case goes to the device with its guards, is launched, and comes back.

use crate::executor::Gpu;
use framewright::cuda::{Device, KernelModule, Scope};
use framewright::{Bgr8, Error, Format, Gray8, ImageMut, ImageRef, Nv12, cuda::Cuda};
use framewright_examples::{
    ENTRIES, Moments, Normalisation, RgbPlanarF16, blend_logo, box_blur, flip, gamma, grey, grey_tiles, grey_words,
    invert, luma_histogram, mean_variance, nv12_to_planar_f16, sobel, threshold,
};
use framewright_tests::{
    examples::{Case, Runner, Said},
    frame::Frame,
};

/// The examples' PTX.
pub fn module() -> KernelModule {
    framewright::include_kernels!("../../../examples/ptx/examples.ptx", ENTRIES)
}

/// The view of a frame on the device that a case reads.
fn view<F: Format>(
    case: &Case,
    device: &Device,
    frame: &Frame<F>,
    planes: &[framewright::RawPlane],
) -> Said<ImageRef<'static, F, Cuda>> {
    // SAFETY: the planes lie in the arena, which outlives the scope that uses the view.
    let view = unsafe { device.wrap::<F>(frame.size(), planes)? };
    Ok(match case.region::<F>()? {
        Some(region) => view.crop(region)?,
        None => view,
    })
}

impl Gpu {
    /// Launches with one frame that is read and one that is written.
    fn one_to_one<S: Format, D: Format>(
        &self,
        case: &Case,
        src: &Frame<S>,
        dst: &mut Frame<D>,
        launch: impl for<'s> FnOnce(
            &'s Scope<'s, '_>,
            ImageRef<'static, S, Cuda>,
            ImageMut<'static, D, Cuda>,
        ) -> Result<(), Error>,
    ) -> Said<()> {
        let device = self.stream.device().clone();
        self.with_frames(&[src], &mut [dst], |planes| {
            let source = view(case, &device, src, &planes[0])?;
            // SAFETY: as for the view; the frame's bytes are its own.
            let destination =
                unsafe { device.wrap_mut::<D>(case.part.map_or(case.size, |part| part.size), &planes[1])? };
            Ok(self.stream.scope(|scope| launch(scope, source, destination))?)
        })
    }
}

impl Runner for Gpu {
    fn invert(&self, case: &Case, src: &Frame<Gray8>, dst: &mut Frame<Gray8>) -> Said<()> {
        self.one_to_one(case, src, dst, |scope, src, dst| scope.launch(case.call(invert(src, dst))).map(drop))
    }
    fn gamma(&self, case: &Case, src: &Frame<Gray8>, curve: &[u8; 256], dst: &mut Frame<Gray8>) -> Said<()> {
        // The table must outlive the scope.
        let curve: &'static [u8; 256] = Box::leak(Box::new(*curve));
        self.one_to_one(case, src, dst, |scope, src, dst| scope.launch(case.call(gamma(src, curve, dst))).map(drop))
    }
    fn threshold(&self, case: &Case, src: &Frame<Gray8>, limit: u8, dst: &mut Frame<Gray8>) -> Said<()> {
        self.one_to_one(case, src, dst, |scope, src, dst| scope.launch(case.call(threshold(src, limit, dst))).map(drop))
    }
    fn box_blur(&self, case: &Case, src: &Frame<Gray8>, dst: &mut Frame<Gray8>) -> Said<()> {
        self.one_to_one(case, src, dst, |scope, src, dst| scope.launch(case.call(box_blur(src, dst))).map(drop))
    }
    fn sobel(&self, case: &Case, src: &Frame<Gray8>, dst: &mut Frame<Gray8>) -> Said<()> {
        self.one_to_one(case, src, dst, |scope, src, dst| scope.launch(case.call(sobel(src, dst))).map(drop))
    }
    fn flip_gray8(&self, case: &Case, src: &Frame<Gray8>, axes: [u32; 2], dst: &mut Frame<Gray8>) -> Said<()> {
        self.one_to_one(case, src, dst, |scope, src, dst| {
            scope.launch(case.call(flip::<Gray8, _, _, _>(src, axes, dst))).map(drop)
        })
    }
    fn flip_bgr8(&self, case: &Case, src: &Frame<Bgr8>, axes: [u32; 2], dst: &mut Frame<Bgr8>) -> Said<()> {
        self.one_to_one(case, src, dst, |scope, src, dst| {
            scope.launch(case.call(flip::<Bgr8, _, _, _>(src, axes, dst))).map(drop)
        })
    }
    fn blend_logo(&self, case: &Case, frame: &mut Frame<Nv12>, logo: &Frame<Nv12>, alpha: &Frame<Gray8>) -> Said<()> {
        let device = self.stream.device().clone();
        let size = frame.size();
        self.with_frames(&[logo, alpha], &mut [frame], |planes| {
            let (logo, alpha) = (view(case, &device, logo, &planes[0])?, view(case, &device, alpha, &planes[1])?);
            // SAFETY: as for the views; the frame's bytes are its own.
            let mut whole = unsafe { device.wrap_mut::<Nv12>(size, &planes[2])? };
            let frame = match case.changed()? {
                Some(region) => whole.crop_mut(region)?,
                None => whole,
            };
            Ok(self.stream.scope(|scope| scope.launch(case.call(blend_logo(frame, logo, alpha))).map(drop))?)
        })
    }
    fn nv12_to_planar_f16(
        &self,
        case: &Case,
        src: &Frame<Nv12>,
        to: Normalisation,
        dst: &mut Frame<RgbPlanarF16>,
    ) -> Said<()> {
        self.one_to_one(case, src, dst, |scope, src, dst| {
            scope.launch(case.call(nv12_to_planar_f16(src, to, dst))).map(drop)
        })
    }
    fn grey(&self, case: &Case, version: usize, src: &Frame<Bgr8>, dst: &mut Frame<Gray8>) -> Said<()> {
        self.one_to_one(case, src, dst, |scope, src, dst| match version {
            0 => scope.launch(case.call(grey(src, dst))).map(drop),
            1 => scope.launch(case.call(grey_tiles(src, dst))).map(drop),
            _ => scope.launch(case.call(grey_words(src, dst))).map(drop),
        })
    }
    fn luma_histogram(&self, case: &Case, src: &Frame<Nv12>) -> Said<[u64; 256]> {
        let (device, mut counts) = (self.stream.device().clone(), [7; 256]);
        self.with_frames(&[src], &mut [], |planes| {
            let src = view(case, &device, src, &planes[0])?;
            Ok(self.stream.scope(|scope| scope.launch(case.call(luma_histogram(src, &mut counts))))?)
        })?;
        Ok(counts)
    }
    fn mean_variance(&self, case: &Case, src: &Frame<Gray8>) -> Said<Moments> {
        let (device, mut moments) = (self.stream.device().clone(), Moments { count: 7, ..Moments::default() });
        self.with_frames(&[src], &mut [], |planes| {
            let src = view(case, &device, src, &planes[0])?;
            Ok(self.stream.scope(|scope| scope.launch(case.call(mean_variance(src, &mut moments))))?)
        })?;
        Ok(moments)
    }
}
