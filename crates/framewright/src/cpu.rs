//! Running kernels on the CPU.

use crate::{
    convert::{self, Conversion, RgbFormat, YuvFormat},
    error::Error,
    location::HostAccess,
    view::{AsImage, AsImageMut},
};
use framewright_core::{Format, ResolvedColor, SamePlanes};
use framewright_kernel::{Body, Launch};

/// Runs kernels on the CPU: on all cores with feature `rayon` (the default), small images in the calling thread.
///
/// Nothing is allocated a call by this crate's own code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu {
    #[cfg_attr(not(feature = "rayon"), allow(dead_code))] // then everything is
    single_threaded: bool,
}

/// Below this many output bytes one thread is faster than waking the others.
#[cfg(feature = "rayon")]
const SMALL_BYTES: u64 = 256 * 1024;

impl Cpu {
    /// All cores.
    pub const fn new() -> Self {
        Self { single_threaded: false }
    }

    /// The calling thread only.
    pub const fn single_threaded() -> Self {
        Self { single_threaded: true }
    }

    /// Converts YUV to RGB, exactly rounded, and says which matrix and range it used.
    ///
    /// # Errors
    /// [`Error::Region`] when the conversion's crop reaches past the source, [`Error::DestinationSize`] when the destination
    /// is not of the crop's size, [`Error::Overlap`] when they share memory. Nothing is written then.
    ///
    /// ```
    /// use framewright::*;
    /// let mut frame = Image::<Nv12>::new(Size::new(7, 5)?)?;
    /// frame.planes_mut().0.fill(235);
    /// frame.planes_mut().1.fill([128, 128]);
    /// // Any rectangle, also off the chroma grid.
    /// let crop = Rect::new(Offset::new(1, 1), Size::new(3, 2)?);
    /// let mut white = Image::<Rgba8>::new(crop.size)?;
    /// let color = Cpu::new().convert(&frame, &mut white, &Conversion::new().crop(crop))?;
    /// assert_eq!(white.planes().0.row(1), [[255; 4]; 3]);
    /// assert!(color.matrix_assumed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn convert<S, D>(
        &self,
        source: &S,
        destination: &mut D,
        conversion: &Conversion,
    ) -> Result<ResolvedColor, Error>
    where
        S: AsImage<Location: HostAccess, Format: YuvFormat>,
        D: AsImageMut<Location: HostAccess, Format: RgbFormat>,
    {
        let (source, destination) = (source.view(), destination.view_mut());
        // SAFETY: the launch runs here, while both are borrowed.
        unsafe {
            let launch = convert::plan_convert(&source, &destination, conversion)?;
            self.run(&launch);
        }
        Ok(conversion.resolve(source.color(), source.frame_size()))
    }

    /// Copies all planes, from any pitch to any pitch.
    ///
    /// # Errors
    /// [`Error::DestinationSize`] when the sizes differ, [`Error::Overlap`] when memory is shared. Nothing is written then.
    pub fn copy<S, D>(&self, source: &S, destination: &mut D) -> Result<(), Error>
    where
        S: AsImage<Location: HostAccess>,
        D: AsImageMut<Location: HostAccess>,
        <D::Format as Format>::Planes: SamePlanes<<S::Format as Format>::Planes>,
    {
        let (source, destination) = (source.view(), destination.view_mut());
        // SAFETY: the launches run here, while both are borrowed.
        unsafe {
            convert::plan_copy(&source, &destination, |launch| {
                self.run(launch);
                Ok(())
            })
        }
    }

    /// Runs a launch to its end.
    ///
    /// # Safety
    /// As [`Launch::run_block_rows`], for the whole launch.
    unsafe fn run<B: Body>(&self, launch: &Launch<B>) {
        let rows = launch.block_rows();
        #[cfg(feature = "rayon")]
        {
            use rayon::iter::{IntoParallelIterator, ParallelIterator};
            let row_bytes = u64::from(launch.domain.x1) * u64::from(B::PIXEL_BYTES) * u64::from(B::HEIGHT);
            if !self.single_threaded && row_bytes * u64::from(rows.end - rows.start) >= SMALL_BYTES {
                // A task writes at least 64 KiB.
                let per_task = ((64 * 1024) / row_bytes.max(1)).max(1) as u32;
                let tasks = (rows.end - rows.start).div_ceil(per_task);
                (0..tasks).into_par_iter().for_each(|task| {
                    let start = rows.start + task * per_task;
                    // SAFETY: tasks write different rows; the rest is the caller's promise.
                    unsafe { launch.run_block_rows(start..rows.end.min(start + per_task)) };
                });
                return;
            }
        }
        // SAFETY: as promised by the caller.
        unsafe { launch.run_block_rows(rows) };
    }
}
