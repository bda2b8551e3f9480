//! The list of cases that every executor runs, bit for bit.
//!
//! An executor implements [`Executor`] and is then one line in `tests/tests/conformance.rs`. It is given jobs in batches, so
//! that one with memory of its own can bring a whole batch there, launch, wait once, and bring it back: [`Frame::buffers`]
//! are all bytes with their guards, [`Frame::places`] says where planes lie in them.
//!
//! Each case runs twice, with destination, padding and guards filled with a pattern and with its complement: a byte that is
//! not written, or written beside the picture, is wrong in one of the two.

use crate::{
    formats::{Nv21, Yuv420p16, Yv12},
    frame::{Buffers, Frame, Pattern, Rows, Wrong},
    picture::{Packed, Picture},
    reference::Reference,
};
use framewright::{
    Bgr8, Bgra8, Conversion, Cpu, Format, Gray8, ImageRef, Matrix, Nv12, Offset, Range, Rect, Region, Rgb8, RgbFormat,
    Rgba8, Size, Yuv420p8, YuvFormat,
};
use std::{error::Error, rc::Rc};

/// A conversion to run.
pub struct ConvertJob<S: Format, D: Format> {
    /// What to read.
    pub source: Frame<S>,
    /// The part of it that is the source image, by [`ImageRef::crop`].
    pub region: Option<Region<S>>,
    /// How, with a crop of its own.
    pub conversion: Conversion,
    /// What to write.
    pub destination: Frame<D>,
}

/// A copy to run.
pub struct CopyJob<F: Format> {
    /// What to read.
    pub source: Frame<F>,
    /// The part of it that is the source image.
    pub region: Option<Region<F>>,
    /// What to write.
    pub destination: Frame<F>,
}

/// Something that runs the kernels.
pub trait Executor {
    /// Runs conversions.
    ///
    /// # Errors
    /// What the executor says; every job here is legal, so that any error is a finding.
    fn convert<S: YuvFormat, D: RgbFormat>(&self, jobs: &mut [ConvertJob<S, D>]) -> Result<(), Box<dyn Error>>;

    /// Runs copies.
    ///
    /// # Errors
    /// As [`Executor::convert`].
    fn copy<F: Format>(&self, jobs: &mut [CopyJob<F>]) -> Result<(), Box<dyn Error>>;
}

/// The region of a frame, or all of it.
pub fn source_view<F: Format>(source: &Frame<F>, region: Option<Region<F>>) -> ImageRef<'_, F> {
    let view = source.view();
    region.map_or(view, |region| view.crop(region).expect("the region lies inside"))
}

impl Executor for Cpu {
    fn convert<S: YuvFormat, D: RgbFormat>(&self, jobs: &mut [ConvertJob<S, D>]) -> Result<(), Box<dyn Error>> {
        for job in jobs {
            let source = source_view(&job.source, job.region);
            Cpu::convert(self, &source, &mut job.destination.view_mut(), &job.conversion)?;
        }
        Ok(())
    }

    fn copy<F: Format>(&self, jobs: &mut [CopyJob<F>]) -> Result<(), Box<dyn Error>> {
        for job in jobs {
            Cpu::copy(self, &source_view(&job.source, job.region), &mut job.destination.view_mut())?;
        }
        Ok(())
    }
}

/// A part of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Section {
    /// Conversions at all sizes 1..=17 squared, all pairs of row layouts.
    Sizes,
    /// Conversions with crops: every rectangle up to 9x9, a covering set up to 17x17; and of cropped sources.
    Crops,
    /// Conversions large enough for several threads and blocks, and long thin ones.
    Large,
    /// Copies at all sizes and pairs of row layouts, and every region up to 9x9.
    Copies,
}

/// What a section found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How many cases ran, two runs each.
    pub cases: u64,
    /// How many runs gave something else than the reference.
    pub differing: u64,
    /// The first of them.
    pub first_difference: Option<Difference>,
}

/// A run that gave something else than the reference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Formats, sizes, pitches, crops, colours, pattern.
    pub case: String,
    /// The byte; `None` when the executor refused the job.
    pub wrong: Option<Wrong>,
    /// What it said then.
    pub error: Option<String>,
}

/// Runs a section.
pub fn run(executor: &impl Executor, section: Section) -> Outcome {
    run_section(executor, section, 1, false)
}

/// Runs a section up to the first batch with a difference.
pub fn run_until_difference(executor: &impl Executor, section: Section) -> Outcome {
    run_section(executor, section, 1, true)
}

/// Runs every `stride`-th case of a section; a prime stride meets all row layouts, buffers and colours.
pub fn run_every(executor: &impl Executor, section: Section, stride: usize) -> Outcome {
    run_section(executor, section, stride, false)
}

fn run_section(executor: &impl Executor, section: Section, stride: usize, until_difference: bool) -> Outcome {
    let references = Matrix::ALL
        .iter()
        .flat_map(|&matrix| Range::ALL.map(|range| (matrix, range, Reference::new(matrix, range))))
        .collect();
    let mut run = Run { executor, section, references, outcome: Outcome::default(), turn: 0, stride, until_difference };
    if section == Section::Copies {
        run.copies::<Yuv420p8>();
        run.copies::<Nv12>();
        run.copies::<Gray8>();
        run.copies::<Bgr8>();
        run.copies::<Rgba8>();
        run.copies::<Yuv420p16>();
    } else {
        run.conversions::<Nv12, Bgr8>();
        run.conversions::<Nv12, Rgb8>();
        run.conversions::<Nv12, Bgra8>();
        run.conversions::<Nv12, Rgba8>();
        run.conversions::<Yuv420p8, Bgr8>();
        run.conversions::<Yuv420p8, Rgb8>();
        run.conversions::<Yuv420p8, Bgra8>();
        run.conversions::<Yuv420p8, Rgba8>();
        run.conversions::<Nv21, Bgr8>();
        run.conversions::<Yv12, Rgba8>();
    }
    run.outcome
}

/// Bytes of destinations that are collected before an executor gets them.
const BATCH_BYTES: usize = 1 << 20;
/// Jobs of a batch at most.
const BATCH_JOBS: usize = 1024;

struct Run<'a, E> {
    executor: &'a E,
    section: Section,
    references: Vec<(Matrix, Range, Reference)>,
    outcome: Outcome,
    /// Counts cases, and chooses what a case does not state: colours, row layouts, buffers.
    turn: usize,
    /// One of so many cases runs.
    stride: usize,
    until_difference: bool,
}

fn size(width: u32, height: u32) -> Size {
    Size::new(width, height).expect("a size")
}

/// All sizes from 1x1 to `most` squared.
fn sizes(most: u32) -> impl Iterator<Item = Size> {
    (1..=most).flat_map(move |height| (1..=most).map(move |width| size(width, height)))
}

/// Starts and lengths in a side: all of them when `all`, else those at block and chroma edges.
fn spans(side: u32, all: bool) -> Vec<(u32, u32)> {
    let starts = (0..side).filter(|&at| all || [0, 1, 2, side / 2, side - 1].contains(&at));
    let lengths = |at| (1..=side - at).filter(move |&n| all || n <= 2 || n == side - at || (15..=17).contains(&n));
    starts.flat_map(|at| lengths(at).map(move |n| (at, n))).collect()
}

/// Whether an image is small enough for all its crops.
fn is_small(size: Size) -> bool {
    size.width() <= 9 && size.height() <= 9
}

/// Rectangles in an image: every one up to 9x9, else a covering set.
fn rects(of: Size) -> Vec<Rect> {
    let all = is_small(of);
    let rows = spans(of.height(), all);
    let columns = spans(of.width(), all);
    let rect = |&(x, w): &(u32, u32), &(y, h): &(u32, u32)| Rect::new(Offset::new(x, y), size(w, h));
    rows.iter().flat_map(|row| columns.iter().map(move |column| rect(column, row))).collect()
}

/// The rectangles among them that are regions of `F`.
fn regions<F: Format>(of: Size) -> impl Iterator<Item = Region<F>> {
    rects(of).into_iter().filter_map(|rect| Region::new(rect.offset, rect.size).ok())
}

/// What one case states.
struct Case<S: Format> {
    region: Option<Region<S>>,
    crop: Option<Rect>,
    rows: (Rows, Rows),
}

impl<E: Executor> Run<'_, E> {
    fn conversions<S: YuvFormat, D: RgbFormat>(&mut self) {
        let mut batch = Vec::new();
        match self.section {
            Section::Sizes => {
                for size in sizes(17) {
                    let shown = self.show::<S, D>(&Picture::noise(size, 17 * size.height() + size.width()));
                    for from in Rows::ALL {
                        for to in Rows::ALL {
                            let case = Case { region: None, crop: None, rows: (from, to) };
                            self.convert::<S, D>(&mut batch, &shown, &case);
                        }
                    }
                }
            }
            Section::Crops => {
                for size in sizes(17) {
                    let shown = self.show::<S, D>(&Picture::noise(size, 99 * size.height() + size.width()));
                    for (i, rect) in rects(size).into_iter().enumerate() {
                        // Of the larger sizes each pair of formats takes every fifth rectangle, each another one.
                        if is_small(size) || (i + self.turn).is_multiple_of(5) {
                            self.convert::<S, D>(
                                &mut batch,
                                &shown,
                                &Case { region: None, crop: Some(rect), rows: self.rows() },
                            );
                        }
                    }
                    for (i, region) in regions::<S>(size).enumerate() {
                        let inner = rects(region.size());
                        let crop = (i % 2 == 1).then(|| inner[(7 * i) % inner.len()]);
                        self.convert::<S, D>(
                            &mut batch,
                            &shown,
                            &Case { region: Some(region), crop, rows: self.rows() },
                        );
                    }
                }
            }
            Section::Large => {
                for (w, h) in
                    [(1283, 717), (640, 480), (3, 40_001), (100_003, 1), (50_001, 2), (1, 100_000), (33, 3000)]
                {
                    let shown = self.show::<S, D>(&Picture::noise(size(w, h), w));
                    let inner = Rect::new(Offset::new(w / 3, h / 3), size(w - w / 3, h - h / 3));
                    for crop in [None, Some(inner)] {
                        self.convert::<S, D>(&mut batch, &shown, &Case { region: None, crop, rows: self.rows() });
                    }
                }
            }
            Section::Copies => unreachable!("copies are no conversions"),
        }
        self.flush_conversions(&mut batch);
    }

    fn rows(&self) -> (Rows, Rows) {
        let all = Rows::ALL.len();
        (Rows::ALL[self.turn % all], Rows::ALL[self.turn / all % all])
    }

    fn buffers(&self) -> (Buffers, Buffers) {
        let which = |bit: usize| if (self.turn / 3) & bit == 0 { Buffers::Separate } else { Buffers::Together };
        (which(1), which(2))
    }

    /// A picture with what the reference makes of it, in the colours whose turn it is.
    fn show<S: Format, D: Format>(&self, picture: &Picture) -> Shown {
        let (matrix, range, reference) = &self.references[self.turn % self.references.len()];
        Shown {
            size: picture.size(),
            yuv: picture.planes::<S>(),
            rgb: Rc::new(picture.rgb(reference).planes::<D>()),
            conversion: Conversion::new().matrix(*matrix).range(*range),
        }
    }

    fn convert<S: YuvFormat, D: RgbFormat>(&mut self, batch: &mut Conversions<S, D>, shown: &Shown, case: &Case<S>) {
        if self.is_over() || !self.turn.is_multiple_of(self.stride) {
            self.turn += 1;
            return;
        }
        let size = shown.size;
        let part = case.region.map_or(Rect::whole(size), Region::rect);
        let crop = case.crop.unwrap_or(Rect::whole(part.size));
        let seen = Rect::new(Offset::new(part.offset.x + crop.offset.x, part.offset.y + crop.offset.y), crop.size);
        let buffers = self.buffers();
        for pattern in Pattern::BOTH {
            let mut source = Frame::new(size, &[case.rows.0, self.rows().1], buffers.0, pattern);
            source.fill(|i, y| shown.yuv.row(i, y));
            let destination = Frame::new(crop.size, &[case.rows.1], buffers.1, pattern);
            let conversion = case.crop.map_or(shown.conversion, |rect| shown.conversion.crop(rect));
            let job = ConvertJob { source, region: case.region, conversion, destination };
            batch.push((job, shown.rgb.clone(), seen));
        }
        self.outcome.cases += 1;
        self.turn += 1;
        let bytes = batch.len() * (crop.size.pixels() as usize + 1) * 4;
        if batch.len() >= BATCH_JOBS || bytes >= BATCH_BYTES {
            self.flush_conversions(batch);
        }
    }

    fn flush_conversions<S: YuvFormat, D: RgbFormat>(&mut self, batch: &mut Conversions<S, D>) {
        let (mut jobs, expected): (Vec<_>, Vec<_>) = batch.drain(..).map(|(job, rgb, rect)| (job, (rgb, rect))).unzip();
        let result = self.executor.convert(&mut jobs);
        let label = |job: &ConvertJob<S, D>| {
            let (region, conversion) = (job.region, job.conversion);
            format!("{} to {}, region {region:?}, {conversion:?}", frame(&job.source), frame(&job.destination))
        };
        self.record(result, jobs.first().map(label));
        for (job, (rgb, rect)) in jobs.iter().zip(&expected) {
            if let Some(wrong) = job.destination.first_wrong(|i, y| rgb.part::<D>(*rect, i, y)) {
                self.differs(label(job), wrong);
            }
        }
    }

    fn copies<F: Format>(&mut self) {
        let mut batch = Vec::new();
        for size in sizes(17) {
            let shown = Rc::new(Packed::new::<F>(size, copied_byte));
            for from in Rows::ALL {
                for to in Rows::ALL {
                    self.copy::<F>(&mut batch, size, &shown, None, (from, to));
                }
            }
            for (i, region) in regions::<F>(size).enumerate() {
                if is_small(size) || (i + self.turn).is_multiple_of(5) {
                    self.copy::<F>(&mut batch, size, &shown, Some(region), self.rows());
                }
            }
        }
        for (w, h) in [(1283, 717), (100_003, 1), (1, 100_000), (33, 3000)] {
            let shown = Rc::new(Packed::new::<F>(size(w, h), copied_byte));
            self.copy::<F>(&mut batch, size(w, h), &shown, None, self.rows());
        }
        self.flush_copies(&mut batch);
    }

    fn copy<F: Format>(
        &mut self,
        batch: &mut Copies<F>,
        size: Size,
        shown: &Rc<Packed>,
        region: Option<Region<F>>,
        rows: (Rows, Rows),
    ) {
        if self.is_over() || !self.turn.is_multiple_of(self.stride) {
            self.turn += 1;
            return;
        }
        let buffers = self.buffers();
        let to = region.map_or(size, Region::size);
        for pattern in Pattern::BOTH {
            let mut source = Frame::new(size, &[rows.0, self.rows().1], buffers.0, pattern);
            source.fill(|i, y| shown.row(i, y));
            let destination = Frame::new(to, &[rows.1, self.rows().0], buffers.1, pattern);
            batch.push((
                CopyJob { source, region, destination },
                shown.clone(),
                region.map_or(Rect::whole(size), Region::rect),
            ));
        }
        self.outcome.cases += 1;
        self.turn += 1;
        if batch.len() >= BATCH_JOBS || batch.len() * to.pixels() as usize * 4 >= BATCH_BYTES {
            self.flush_copies(batch);
        }
    }

    fn flush_copies<F: Format>(&mut self, batch: &mut Copies<F>) {
        let (mut jobs, expected): (Vec<_>, Vec<_>) =
            batch.drain(..).map(|(job, shown, rect)| (job, (shown, rect))).unzip();
        let result = self.executor.copy(&mut jobs);
        let label = |job: &CopyJob<F>| {
            format!("copy {} to {}, region {:?}", frame(&job.source), frame(&job.destination), job.region)
        };
        self.record(result, jobs.first().map(label));
        for (job, (shown, rect)) in jobs.iter().zip(&expected) {
            if let Some(wrong) = job.destination.first_wrong(|i, y| shown.part::<F>(*rect, i, y)) {
                self.differs(label(job), wrong);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.until_difference && self.outcome.differing > 0
    }

    fn differs(&mut self, case: String, wrong: Wrong) {
        self.outcome.differing += 1;
        self.outcome.first_difference.get_or_insert(Difference { case, wrong: Some(wrong), error: None });
    }

    fn record(&mut self, result: Result<(), Box<dyn Error>>, first: Option<String>) {
        if let Err(error) = result {
            self.outcome.differing += 1;
            let case = format!("the batch that starts with {}", first.unwrap_or_default());
            let difference = Difference { case, wrong: None, error: Some(error.to_string()) };
            self.outcome.first_difference.get_or_insert(difference);
        }
    }
}

/// Jobs with what they must give.
type Conversions<S, D> = Vec<(ConvertJob<S, D>, Rc<Packed>, Rect)>;

/// The same for copies.
type Copies<F> = Vec<(CopyJob<F>, Rc<Packed>, Rect)>;

/// A picture, the colours it is converted with, and the result.
struct Shown {
    size: Size,
    yuv: Packed,
    rgb: Rc<Packed>,
    conversion: Conversion,
}

/// What the source of a copy holds: no two rows or planes alike.
fn copied_byte(plane: usize, y: usize, byte: usize) -> u8 {
    let n = (plane as u32) << 28 ^ (y as u32).wrapping_mul(0x85eb_ca6b) ^ (byte as u32).wrapping_mul(0xc2b2_ae35);
    ((n ^ n >> 15).wrapping_mul(0x9e37_79b1) >> 24) as u8
}

fn frame<F: Format>(frame: &Frame<F>) -> String {
    let places: Vec<_> = frame.places().iter().map(|p| (p.buffer, p.first_row, p.pitch_bytes)).collect();
    format!("{} {} planes (buffer, first row, pitch) {places:?}", F::NAME, frame.size())
}
