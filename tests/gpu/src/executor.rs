//! The CUDA executor for the conformance list: a batch of jobs goes to the device in one copy, with all guards, and comes
//! back in one.

use framewright::{
    Format, Gray8, ImageRef, Layout, Region, RgbFormat, Size, YuvFormat,
    cuda::{Cuda, Stream},
};
use framewright::{Image, RawPlane};
use framewright_tests::{
    conformance::{ConvertJob, CopyJob, Executor},
    frame::{ALIGNMENT, Frame},
};
use std::error::Error;

/// Runs jobs on a stream.
#[derive(Debug)]
pub struct Gpu {
    /// Where jobs run.
    pub stream: Stream,
}

/// All buffers of a batch, one after the other, each on the alignment that frames start on.
#[derive(Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

/// A frame of any format, as bytes.
pub(crate) trait AnyFrame {
    fn push_to(&self, batch: &mut Batch);
    fn planes_at(&self, base: *mut u8, starts: &[usize]) -> Vec<RawPlane>;
    fn count(&self) -> usize;
    fn bring_back_from(&mut self, bytes: &[u8], starts: &[usize]);
}
impl<F: Format> AnyFrame for Frame<F> {
    fn push_to(&self, batch: &mut Batch) {
        batch.push(self);
    }
    fn planes_at(&self, base: *mut u8, starts: &[usize]) -> Vec<RawPlane> {
        planes(self, base, starts)
    }
    fn count(&self) -> usize {
        self.buffers().len()
    }
    fn bring_back_from(&mut self, bytes: &[u8], starts: &[usize]) {
        bring_back(self, bytes, starts);
    }
}

impl Batch {
    fn push<F: Format>(&mut self, frame: &Frame<F>) {
        for buffer in frame.buffers() {
            self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0x5a);
            self.starts.push(self.bytes.len());
            self.bytes.extend_from_slice(buffer);
        }
    }

    fn row(&self) -> Result<Layout<Gray8>, Box<dyn Error>> {
        Ok(Layout::packed(Size::new(self.bytes.len() as u32, 1)?)?)
    }
}

/// A frame's planes on the device, and the start of its next buffer's index.
fn planes<F: Format>(frame: &Frame<F>, base: *mut u8, starts: &[usize]) -> Vec<RawPlane> {
    let plane = |p: &framewright_tests::frame::Place| RawPlane {
        first_row: base.wrapping_add(starts[p.buffer] + p.first_row),
        pitch_bytes: p.pitch_bytes,
    };
    frame.places().iter().map(plane).collect()
}

fn bring_back<F: Format>(frame: &mut Frame<F>, bytes: &[u8], starts: &[usize]) {
    for (buffer, &start) in frame.buffers_mut().zip(starts) {
        let end = start + buffer.len();
        buffer.copy_from_slice(&bytes[start..end]);
    }
}

impl Gpu {
    /// Uploads a batch, runs `launches` on its device addresses, and downloads it.
    fn round_trip(
        &self,
        batch: &mut Batch,
        launches: impl FnOnce(*mut u8, &[usize]) -> Result<(), Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let layout = batch.row()?;
        let mut arena: Image<Gray8, Cuda> = self.stream.device().image_with_layout(&layout)?;
        let host = ImageRef::from_slice(&batch.bytes, &layout)?;
        self.stream.scope(|scope| scope.upload(host, &mut arena).map(drop))?;
        launches(arena.as_raw_planes()[0].first_row, &batch.starts)?;
        let mut back = framewright::ImageMut::from_slice(&mut batch.bytes, &layout)?;
        self.stream.scope(|scope| scope.download(&arena, back.reborrow()))?;
        Ok(())
    }
}

impl Gpu {
    /// Brings frames to the device, gives their planes there in this order to `work`, and brings the written ones back.
    pub(crate) fn with_frames(
        &self,
        read: &[&dyn AnyFrame],
        written: &mut [&mut dyn AnyFrame],
        work: impl FnOnce(&[Vec<RawPlane>]) -> Result<(), Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let mut batch = Batch::default();
        read.iter().for_each(|frame| frame.push_to(&mut batch));
        written.iter().for_each(|frame| frame.push_to(&mut batch));
        self.round_trip(&mut batch, |base, mut starts| {
            let all = read.iter().copied().chain(written.iter().map(|frame| &**frame));
            let planes = all.map(|frame| {
                let (own, rest) = starts.split_at(frame.count());
                starts = rest;
                frame.planes_at(base, own)
            });
            work(&planes.collect::<Vec<_>>())
        })?;
        let mut starts = &batch.starts[read.iter().map(|frame| frame.count()).sum()..];
        for frame in written {
            let (own, rest) = starts.split_at(frame.count());
            starts = rest;
            frame.bring_back_from(&batch.bytes, own);
        }
        Ok(())
    }
}

fn cropped<'a, F: Format>(
    view: ImageRef<'a, F, Cuda>,
    region: Option<Region<F>>,
) -> Result<ImageRef<'a, F, Cuda>, Box<dyn Error>> {
    Ok(match region {
        Some(region) => view.crop(region)?,
        None => view,
    })
}

impl Executor for Gpu {
    fn convert<S: YuvFormat, D: RgbFormat>(&self, jobs: &mut [ConvertJob<S, D>]) -> Result<(), Box<dyn Error>> {
        if jobs.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::default();
        for job in &*jobs {
            batch.push(&job.source);
            batch.push(&job.destination);
        }
        let device = self.stream.device().clone();
        self.round_trip(&mut batch, |base, mut starts| {
            self.stream.scope(|scope| {
                for job in &*jobs {
                    let (from, rest) = starts.split_at(job.source.buffers().len());
                    let (to, rest) = rest.split_at(job.destination.buffers().len());
                    starts = rest;
                    // SAFETY: the planes lie in the arena, which outlives the scope; each job has bytes of its own.
                    let (source, destination) = unsafe {
                        (
                            device.wrap::<S>(job.source.size(), &planes(&job.source, base, from))?,
                            device.wrap_mut::<D>(job.destination.size(), &planes(&job.destination, base, to))?,
                        )
                    };
                    let _queued = scope.convert(cropped(source, job.region)?, destination, &job.conversion)?;
                }
                Ok(())
            })
        })?;
        let mut starts = &batch.starts[..];
        for job in jobs {
            let (from, rest) = starts.split_at(job.source.buffers().len());
            let (to, rest) = rest.split_at(job.destination.buffers().len());
            starts = rest;
            bring_back(&mut job.source, &batch.bytes, from);
            bring_back(&mut job.destination, &batch.bytes, to);
        }
        Ok(())
    }

    fn copy<F: Format>(&self, jobs: &mut [CopyJob<F>]) -> Result<(), Box<dyn Error>> {
        if jobs.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::default();
        for job in &*jobs {
            batch.push(&job.source);
            batch.push(&job.destination);
        }
        let device = self.stream.device().clone();
        self.round_trip(&mut batch, |base, mut starts| {
            self.stream.scope(|scope| {
                for job in &*jobs {
                    let (from, rest) = starts.split_at(job.source.buffers().len());
                    let (to, rest) = rest.split_at(job.destination.buffers().len());
                    starts = rest;
                    // SAFETY: as in `convert`.
                    let (source, destination) = unsafe {
                        (
                            device.wrap::<F>(job.source.size(), &planes(&job.source, base, from))?,
                            device.wrap_mut::<F>(job.destination.size(), &planes(&job.destination, base, to))?,
                        )
                    };
                    let _queued = scope.copy(cropped(source, job.region)?, destination)?;
                }
                Ok(())
            })
        })?;
        let mut starts = &batch.starts[..];
        for job in jobs {
            let (from, rest) = starts.split_at(job.source.buffers().len());
            let (to, rest) = rest.split_at(job.destination.buffers().len());
            starts = rest;
            bring_back(&mut job.source, &batch.bytes, from);
            bring_back(&mut job.destination, &batch.bytes, to);
        }
        Ok(())
    }
}
