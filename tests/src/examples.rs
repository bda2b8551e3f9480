//! The kernels of `examples/` on an executor, against arithmetic of their own: loops over plain vectors.
//!
//! All sizes 1..=17 squared and one that takes several threads and blocks, each as a whole, as a crop of larger images, and as
//! a part of the launch; row layouts take turns. Destinations are watched to the last guard byte, under two patterns.

use crate::{
    conformance::{Difference, Outcome},
    frame::{Buffers, Frame, Pattern, Rows, Wrong},
};
use framewright::{Bgr8, Cpu, Format, Gray8, ImageRef, Nv12, Offset, PlaneList, Rect, Region, Size};
use framewright_examples::{
    Moments, Normalisation, RgbPlanarF16, blend_logo, box_blur, flip, gamma, grey, grey_tiles, grey_words, invert,
    luma_histogram, mean_variance, nv12_to_planar_f16, sobel, threshold,
};
use framewright_kernel::{Call, half::f16};
use std::error::Error;

/// What a runner says.
pub type Said<T> = Result<T, Box<dyn Error>>;

/// Which part of frames a launch reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    /// The size of the launch's images.
    pub size: Size,
    /// Where they begin in larger frames that are read, by a view; frames are as large as `size` where there is none.
    pub offset: Option<Offset>,
    /// The part that the launch computes.
    pub part: Option<Rect>,
    /// Where the frame that `blend_logo` changes lies in a larger one.
    pub into: Option<Offset>,
    /// Counts cases.
    pub turn: usize,
}

impl Case {
    /// The view of a frame that is read.
    ///
    /// # Errors
    /// None, for frames that the list makes.
    pub fn region<F: Format>(&self) -> Said<Option<Region<F>>> {
        Ok(match self.offset {
            Some(offset) => Some(Region::new(offset, self.size)?),
            None => None,
        })
    }

    /// The region of a larger frame that is changed.
    ///
    /// # Errors
    /// None, for frames that the list makes.
    pub fn changed<F: Format>(&self) -> Said<Option<Region<F>>> {
        Ok(match self.into {
            Some(offset) => Some(Region::new(offset, self.size)?),
            None => None,
        })
    }

    fn view<'a, F: Format>(&self, frame: &'a Frame<F>) -> Said<ImageRef<'a, F>> {
        let view = frame.view();
        Ok(match self.region::<F>()? {
            Some(region) => view.crop(region)?,
            None => view,
        })
    }

    /// The call, of the part.
    pub fn call<K, A>(&self, call: Call<K, A>) -> Call<K, A> {
        match self.part {
            Some(part) => call.crop(part),
            None => call,
        }
    }

    fn computed(&self) -> Rect {
        self.part.unwrap_or(Rect::whole(self.size))
    }
}

/// Something that runs the examples.
#[allow(missing_docs, clippy::missing_errors_doc)]
pub trait Runner {
    fn invert(&self, case: &Case, src: &Frame<Gray8>, dst: &mut Frame<Gray8>) -> Said<()>;
    fn gamma(&self, case: &Case, src: &Frame<Gray8>, curve: &[u8; 256], dst: &mut Frame<Gray8>) -> Said<()>;
    fn threshold(&self, case: &Case, src: &Frame<Gray8>, limit: u8, dst: &mut Frame<Gray8>) -> Said<()>;
    fn box_blur(&self, case: &Case, src: &Frame<Gray8>, dst: &mut Frame<Gray8>) -> Said<()>;
    fn sobel(&self, case: &Case, src: &Frame<Gray8>, dst: &mut Frame<Gray8>) -> Said<()>;
    fn flip_gray8(&self, case: &Case, src: &Frame<Gray8>, axes: [u32; 2], dst: &mut Frame<Gray8>) -> Said<()>;
    fn flip_bgr8(&self, case: &Case, src: &Frame<Bgr8>, axes: [u32; 2], dst: &mut Frame<Bgr8>) -> Said<()>;
    fn blend_logo(&self, case: &Case, frame: &mut Frame<Nv12>, logo: &Frame<Nv12>, alpha: &Frame<Gray8>) -> Said<()>;
    fn nv12_to_planar_f16(
        &self,
        case: &Case,
        src: &Frame<Nv12>,
        to: Normalisation,
        dst: &mut Frame<RgbPlanarF16>,
    ) -> Said<()>;
    /// One of the three versions.
    fn grey(&self, case: &Case, version: usize, src: &Frame<Bgr8>, dst: &mut Frame<Gray8>) -> Said<()>;
    fn luma_histogram(&self, case: &Case, src: &Frame<Nv12>) -> Said<[u64; 256]>;
    fn mean_variance(&self, case: &Case, src: &Frame<Gray8>) -> Said<Moments>;
}

impl Runner for Cpu {
    fn invert(&self, case: &Case, src: &Frame<Gray8>, dst: &mut Frame<Gray8>) -> Said<()> {
        Ok(self.launch(case.call(invert(case.view(src)?, dst.view_mut())))?)
    }
    fn gamma(&self, case: &Case, src: &Frame<Gray8>, curve: &[u8; 256], dst: &mut Frame<Gray8>) -> Said<()> {
        Ok(self.launch(case.call(gamma(case.view(src)?, curve, dst.view_mut())))?)
    }
    fn threshold(&self, case: &Case, src: &Frame<Gray8>, limit: u8, dst: &mut Frame<Gray8>) -> Said<()> {
        Ok(self.launch(case.call(threshold(case.view(src)?, limit, dst.view_mut())))?)
    }
    fn box_blur(&self, case: &Case, src: &Frame<Gray8>, dst: &mut Frame<Gray8>) -> Said<()> {
        Ok(self.launch(case.call(box_blur(case.view(src)?, dst.view_mut())))?)
    }
    fn sobel(&self, case: &Case, src: &Frame<Gray8>, dst: &mut Frame<Gray8>) -> Said<()> {
        Ok(self.launch(case.call(sobel(case.view(src)?, dst.view_mut())))?)
    }
    fn flip_gray8(&self, case: &Case, src: &Frame<Gray8>, axes: [u32; 2], dst: &mut Frame<Gray8>) -> Said<()> {
        Ok(self.launch(case.call(flip::<Gray8, _, _, _>(case.view(src)?, axes, dst.view_mut())))?)
    }
    fn flip_bgr8(&self, case: &Case, src: &Frame<Bgr8>, axes: [u32; 2], dst: &mut Frame<Bgr8>) -> Said<()> {
        Ok(self.launch(case.call(flip::<Bgr8, _, _, _>(case.view(src)?, axes, dst.view_mut())))?)
    }
    fn blend_logo(&self, case: &Case, frame: &mut Frame<Nv12>, logo: &Frame<Nv12>, alpha: &Frame<Gray8>) -> Said<()> {
        let mut whole = frame.view_mut();
        let frame = match case.changed()? {
            Some(region) => whole.crop_mut(region)?,
            None => whole,
        };
        Ok(self.launch(case.call(blend_logo(frame, case.view(logo)?, case.view(alpha)?)))?)
    }
    fn nv12_to_planar_f16(
        &self,
        case: &Case,
        src: &Frame<Nv12>,
        to: Normalisation,
        dst: &mut Frame<RgbPlanarF16>,
    ) -> Said<()> {
        Ok(self.launch(case.call(nv12_to_planar_f16(case.view(src)?, to, dst.view_mut())))?)
    }
    fn grey(&self, case: &Case, version: usize, src: &Frame<Bgr8>, dst: &mut Frame<Gray8>) -> Said<()> {
        let (src, dst) = (case.view(src)?, dst.view_mut());
        match version {
            0 => self.launch(case.call(grey(src, dst)))?,
            1 => self.launch(case.call(grey_tiles(src, dst)))?,
            _ => self.launch(case.call(grey_words(src, dst)))?,
        }
        Ok(())
    }
    fn luma_histogram(&self, case: &Case, src: &Frame<Nv12>) -> Said<[u64; 256]> {
        let mut counts = [7; 256];
        self.launch(case.call(luma_histogram(case.view(src)?, &mut counts)))?;
        Ok(counts)
    }
    fn mean_variance(&self, case: &Case, src: &Frame<Gray8>) -> Said<Moments> {
        let mut moments = Moments { count: 7, ..Moments::default() };
        self.launch(case.call(mean_variance(case.view(src)?, &mut moments)))?;
        Ok(moments)
    }
}

/// Bytes of each plane of an image, without padding.
struct Bytes {
    planes: Vec<(Vec<u8>, usize)>,
}

impl Bytes {
    /// `byte(plane, row, byte)`.
    fn new<F: Format>(size: Size, byte: impl Fn(usize, usize, usize) -> u8) -> Self {
        let plane = |(i, info): (usize, &framewright::PlaneInfo)| {
            let (row, rows) = (info.row_bytes(size) as usize, info.plane_size(size).height() as usize);
            ((0..row * rows).map(|at| byte(i, at / row, at % row)).collect(), row)
        };
        Self { planes: F::Planes::INFOS.iter().enumerate().map(plane).collect() }
    }

    fn noise<F: Format>(size: Size, seed: usize) -> Self {
        Self::new::<F>(size, |plane, row, byte| {
            let mut x =
                (seed as u32).wrapping_mul(0x9e37_79b1) ^ (plane as u32) << 27 ^ (row as u32) << 13 ^ byte as u32;
            x = (x ^ x >> 16).wrapping_mul(0x85eb_ca6b);
            x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
            // A quarter are the least and the largest, which rounding and saturation meet.
            match x & 7 {
                0 => 0,
                1 => 255,
                _ => (x >> 24) as u8,
            }
        })
    }

    fn row(&self, plane: usize, y: usize) -> &[u8] {
        let (bytes, row) = &self.planes[plane];
        &bytes[y * row..(y + 1) * row]
    }

    fn at(&self, plane: usize, byte: usize, y: usize) -> u8 {
        self.row(plane, y)[byte]
    }
}

/// A frame with these bytes.
fn frame<F: Format>(size: Size, bytes: &Bytes, turn: usize, pattern: Pattern) -> Frame<F> {
    let mut frame =
        Frame::new(size, &rows(turn), if turn % 7 < 4 { Buffers::Separate } else { Buffers::Together }, pattern);
    frame.fill(|plane, y| bytes.row(plane, y));
    frame
}

fn empty<F: Format>(size: Size, turn: usize, pattern: Pattern) -> Frame<F> {
    Frame::new(size, &rows(turn), Buffers::Separate, pattern)
}

fn rows(turn: usize) -> [Rows; 3] {
    [Rows::ALL[turn % 5], Rows::ALL[turn / 5 % 5], Rows::ALL[(turn + 2) % 5]]
}

/// One example in one case under one pattern: what is wrong.
type Check<R> = fn(&R, &Case, Pattern) -> Said<Option<Wrong>>;

/// The larger frame of a case.
fn around(case: &Case) -> Size {
    match case.offset {
        Some(offset) => sized(case.size.width() + offset.x + 3, case.size.height() + offset.y + 2),
        None => case.size,
    }
}

fn sized(width: u32, height: u32) -> Size {
    Size::new(width, height).unwrap_or_else(|_| unreachable!("sizes of cases are small"))
}

/// What is read: bytes of the larger frame, and where the view begins.
struct Source<F> {
    bytes: Bytes,
    frame: Frame<F>,
    x: usize,
    y: usize,
}

impl<F: Format> Source<F> {
    fn new(case: &Case, seed: usize) -> Self {
        let bytes = Bytes::noise::<F>(around(case), seed);
        let frame = frame(around(case), &bytes, case.turn + seed, Pattern::Plain);
        let offset = case.offset.unwrap_or(Offset::new(0, 0));
        Self { bytes, frame, x: offset.x as usize, y: offset.y as usize }
    }

    /// Channel `c` of the first plane at a pixel of the view.
    fn first(&self, x: usize, y: usize, channels: usize, c: usize) -> u8 {
        self.bytes.at(0, (self.x + x) * channels + c, self.y + y)
    }

    /// Channel `c` of the second plane, of pairs at half the size, at a pixel of the view.
    fn chroma(&self, x: usize, y: usize, c: usize) -> u8 {
        self.bytes.at(1, (self.x + x) / 2 * 2 + c, (self.y + y) / 2)
    }
}

/// An example with one `Gray8` in and one out.
fn gray<R>(
    case: &Case,
    pattern: Pattern,
    run: impl FnOnce(&Frame<Gray8>, &mut Frame<Gray8>) -> Said<R>,
    sample: impl Fn(&dyn Fn(i64, i64) -> i64, i64, i64) -> i64,
) -> Said<Option<Wrong>> {
    let source = Source::<Gray8>::new(case, 1);
    let part = case.computed();
    let mut dst = empty::<Gray8>(part.size, case.turn / 3, pattern);
    run(&source.frame, &mut dst)?;
    let get = |x: i64, y: i64| i64::from(source.first(x as usize, y as usize, 1, 0));
    let expected = Bytes::new::<Gray8>(part.size, |_, y, x| {
        let (x, y) = (x as i64 + i64::from(part.offset.x), y as i64 + i64::from(part.offset.y));
        u8::try_from(sample(&get, x, y)).unwrap_or_else(|_| unreachable!("references are bytes"))
    });
    Ok(dst.first_wrong(|plane, y| expected.row(plane, y)))
}

fn check_invert<R: Runner>(runner: &R, case: &Case, pattern: Pattern) -> Said<Option<Wrong>> {
    gray(case, pattern, |src, dst| runner.invert(case, src, dst), |get, x, y| 255 - get(x, y))
}

fn check_gamma<R: Runner>(runner: &R, case: &Case, pattern: Pattern) -> Said<Option<Wrong>> {
    let curve: [u8; 256] = std::array::from_fn(|i| (i * 7 + case.turn) as u8);
    let run = |src: &Frame<Gray8>, dst: &mut Frame<Gray8>| runner.gamma(case, src, &curve, dst);
    gray(case, pattern, run, |get, x, y| ((get(x, y) * 7 + case.turn as i64) % 256).abs())
}

fn check_threshold<R: Runner>(runner: &R, case: &Case, pattern: Pattern) -> Said<Option<Wrong>> {
    let limit = (case.turn * 11 % 256) as u8;
    let run = |src: &Frame<Gray8>, dst: &mut Frame<Gray8>| runner.threshold(case, src, limit, dst);
    gray(case, pattern, run, |get, x, y| if get(x, y) < i64::from(limit) { 0 } else { 255 })
}

fn check_box_blur<R: Runner>(runner: &R, case: &Case, pattern: Pattern) -> Said<Option<Wrong>> {
    let (right, bottom) = (i64::from(case.size.width()) - 1, i64::from(case.size.height()) - 1);
    gray(
        case,
        pattern,
        |src, dst| runner.box_blur(case, src, dst),
        |get, x, y| {
            let sum: i64 = (-1..=1)
                .flat_map(|j| (-1..=1).map(move |i| (i, j)))
                .map(|(i, j)| get((x + i).clamp(0, right), (y + j).clamp(0, bottom)))
                .sum();
            // The nearest whole number to sum / 9; a ninth is never a half.
            (0..=255).min_by_key(|mean| (9 * mean - sum).abs()).unwrap_or(0)
        },
    )
}

fn check_sobel<R: Runner>(runner: &R, case: &Case, pattern: Pattern) -> Said<Option<Wrong>> {
    let mirrored = |i: i64, n: u32| {
        let n = i64::from(n);
        let i = if i < 0 { -i } else { i };
        let i = if i >= n { 2 * (n - 1) - i } else { i };
        i.clamp(0, n - 1)
    };
    const WEIGHTS: [[i64; 3]; 3] = [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]];
    gray(
        case,
        pattern,
        |src, dst| runner.sobel(case, src, dst),
        |get, x, y| {
            let (mut across, mut down) = (0, 0);
            for j in 0..3 {
                for i in 0..3 {
                    let sample = get(mirrored(x + i - 1, case.size.width()), mirrored(y + j - 1, case.size.height()));
                    across += WEIGHTS[j as usize][i as usize] * sample;
                    down += WEIGHTS[i as usize][j as usize] * sample;
                }
            }
            (across.abs() + down.abs()).min(255)
        },
    )
}

fn axes(case: &Case) -> [u32; 2] {
    [(case.turn % 2) as u32, (case.turn / 2 % 2) as u32 * 9]
}

fn check_flip<R: Runner, F: Format>(
    run: impl Fn(&R, &Case, &Frame<F>, [u32; 2], &mut Frame<F>) -> Said<()>,
    runner: &R,
    case: &Case,
    pattern: Pattern,
) -> Said<Option<Wrong>> {
    let channels = F::Planes::INFOS[0].channels.len();
    let source = Source::<F>::new(case, 2);
    let (part, axes) = (case.computed(), axes(case));
    let mut dst = empty::<F>(part.size, case.turn / 2, pattern);
    run(runner, case, &source.frame, axes, &mut dst)?;
    let turned = |axis: u32, at: usize, side: u32| if axis == 0 { at } else { side as usize - 1 - at };
    let expected = Bytes::new::<F>(part.size, |_, y, byte| {
        let x = turned(axes[0], byte / channels + part.offset.x as usize, case.size.width());
        let y = turned(axes[1], y + part.offset.y as usize, case.size.height());
        source.first(x, y, channels, byte % channels)
    });
    Ok(dst.first_wrong(|plane, y| expected.row(plane, y)))
}

fn check_flip_gray8<R: Runner>(runner: &R, case: &Case, pattern: Pattern) -> Said<Option<Wrong>> {
    check_flip(R::flip_gray8, runner, case, pattern)
}

fn check_flip_bgr8<R: Runner>(runner: &R, case: &Case, pattern: Pattern) -> Said<Option<Wrong>> {
    check_flip(R::flip_bgr8, runner, case, pattern)
}

fn check_grey<R: Runner, const VERSION: usize>(runner: &R, case: &Case, pattern: Pattern) -> Said<Option<Wrong>> {
    let source = Source::<Bgr8>::new(case, 8);
    let part = case.computed();
    let mut dst = empty::<Gray8>(part.size, case.turn, pattern);
    runner.grey(case, VERSION, &source.frame, &mut dst)?;
    let expected = Bytes::new::<Gray8>(part.size, |_, y, x| {
        let (x, y) = (x + part.offset.x as usize, y + part.offset.y as usize);
        let [b, g, r] = [0, 1, 2].map(|c| i64::from(source.first(x, y, 3, c)));
        // The nearest whole number to the weighted mean, the upper of two.
        let sum = 29 * b + 150 * g + 77 * r;
        (0..=255u8).rev().min_by_key(|&level| (256 * i64::from(level) - sum).abs()).unwrap_or(0)
    });
    Ok(dst.first_wrong(|plane, y| expected.row(plane, y)))
}

fn check_blend_logo<R: Runner>(runner: &R, case: &Case, pattern: Pattern) -> Said<Option<Wrong>> {
    // The frame is as large as the launch; a part must lie on its chroma grid.
    let part = case.part.map(|part| Rect::new(Offset::new(part.offset.x / 2 * 2, part.offset.y / 2 * 2), part.size));
    // Every third is placed in a larger frame, as a logo would be.
    let into = case.turn.is_multiple_of(3).then(|| Offset::new(2 * (case.turn as u32 % 5), 4));
    let case = &Case { part, into, ..*case };
    let at = into.unwrap_or(Offset::new(0, 0));
    let whole =
        if into.is_some() { sized(case.size.width() + at.x + 3, case.size.height() + at.y + 1) } else { case.size };
    let (logo, alpha) = (Source::<Nv12>::new(case, 3), Source::<Gray8>::new(case, 4));
    let before = Bytes::noise::<Nv12>(whole, 5);
    let mut image = frame::<Nv12>(whole, &before, case.turn / 2, pattern);
    runner.blend_logo(case, &mut image, &logo.frame, &alpha.frame)?;
    let part = case.computed();
    let (left, top) = (part.offset.x as usize, part.offset.y as usize);
    let (right, bottom) = (left + part.size.width() as usize, top + part.size.height() as usize);
    let inside = |x: usize, y: usize| x >= left && x < right && y >= top && y < bottom;
    // a + (b - a) * n / d to nearest, half up.
    let mix = |a: u8, b: u8, n: i64, d: i64| {
        let (a, b) = (i64::from(a), i64::from(b));
        (2 * (a * d + (b - a) * n) + d).div_euclid(2 * d) as u8
    };
    let expected = Bytes::new::<Nv12>(whole, |plane, row, byte| {
        let old = before.at(plane, byte, row);
        let step = if plane == 0 { 1 } else { 2 };
        // Places in the launch, whose corner is at `at`.
        let (Some(byte), Some(row)) = (byte.checked_sub(at.x as usize), row.checked_sub(at.y as usize / step)) else {
            return old;
        };
        if plane == 0 {
            if !inside(byte, row) {
                return old;
            }
            return mix(old, logo.first(byte, row, 1, 0), i64::from(alpha.first(byte, row, 1, 0)), 255);
        }
        let pixels = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| (byte / 2 * 2 + i, 2 * row + j));
        let shared: Vec<_> = pixels.into_iter().filter(|&(x, y)| inside(x, y)).collect();
        if shared.is_empty() {
            return old;
        }
        let sum: i64 = shared.iter().map(|&(x, y)| i64::from(alpha.first(x, y, 1, 0))).sum();
        mix(old, logo.chroma(byte / 2 * 2, 2 * row, byte % 2), sum, 255 * shared.len() as i64)
    });
    Ok(image.first_wrong(|plane, y| expected.row(plane, y)))
}

fn check_nv12_to_planar_f16<R: Runner>(runner: &R, case: &Case, pattern: Pattern) -> Said<Option<Wrong>> {
    let source = Source::<Nv12>::new(case, 6);
    let (mean, deviation) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
    let to = Normalisation::new(mean.map(|m| m as f32), deviation.map(|d| d as f32));
    let part = case.computed();
    let mut dst = empty::<RgbPlanarF16>(part.size, case.turn, pattern);
    runner.nv12_to_planar_f16(case, &source.frame, to, &mut dst)?;
    let expected = Bytes::new::<RgbPlanarF16>(part.size, |plane, y, byte| {
        let (x, y) = (byte / 2 + part.offset.x as usize, y + part.offset.y as usize);
        let [luma, cb, cr] = [source.first(x, y, 1, 0), source.chroma(x, y, 0), source.chroma(x, y, 1)];
        let value = network_value(luma, cb, cr, plane, &to);
        // The bits follow from the documented order of operations; that those are right, from the formula in f64.
        let (kr, kb) = (0.2126, 0.0722);
        let [luma, b, r] =
            [(f64::from(luma) - 16.0) / 219.0, (f64::from(cb) - 128.0) / 224.0, (f64::from(cr) - 128.0) / 224.0];
        let exact = match plane {
            0 => luma + 2.0 * (1.0 - kr) * r,
            1 => luma - 2.0 * kb * (1.0 - kb) / (1.0 - kr - kb) * b - 2.0 * kr * (1.0 - kr) / (1.0 - kr - kb) * r,
            _ => luma + 2.0 * (1.0 - kb) * b,
        };
        let exact = (exact.clamp(0.0, 1.0) - mean[plane]) / deviation[plane];
        assert!((value.to_f64() - exact).abs() <= 0.002, "channel {plane}: {value} for {exact}");
        value.to_le_bytes()[byte % 2]
    });
    Ok(dst.first_wrong(|plane, y| expected.row(plane, y)))
}

/// A channel in `f32`, in the order that the example documents.
fn network_value(luma: u8, cb: u8, cr: u8, channel: usize, to: &Normalisation) -> f16 {
    let third = |code: u8, zero: f32, codes: f32| (f32::from(code) - zero) * (1.0f32 / codes);
    let (luma, b, r) = (third(luma, 16.0, 219.0), third(cb, 128.0, 224.0), third(cr, 128.0, 224.0));
    let value = match channel {
        0 => luma + r * 1.5748,
        1 => {
            let less_blue = luma - b * 0.187_324_27;
            less_blue - r * 0.468_124_27
        }
        _ => luma + b * 1.8556,
    };
    let scaled = value.clamp(0.0, 1.0) * to.scale[channel];
    f16::from_f32(scaled + to.offset[channel])
}

/// An error where a number is wrong.
fn right(what: &str, at: usize, expected: u64, found: u64) -> Said<()> {
    if expected == found { Ok(()) } else { Err(format!("{what} {at} is {found}, expected {expected}").into()) }
}

fn check_luma_histogram<R: Runner>(runner: &R, case: &Case, _: Pattern) -> Said<Option<Wrong>> {
    let source = Source::<Nv12>::new(case, 7);
    let found = runner.luma_histogram(case, &source.frame)?;
    let mut expected = [0u64; 256];
    for (x, y) in pixels(case.computed()) {
        expected[usize::from(source.first(x, y, 1, 0))] += 1;
    }
    (0..256).try_for_each(|i| right("bin", i, expected[i], found[i]))?;
    Ok(None)
}

fn check_mean_variance<R: Runner>(runner: &R, case: &Case, _: Pattern) -> Said<Option<Wrong>> {
    let source = Source::<Gray8>::new(case, 8);
    let found = runner.mean_variance(case, &source.frame)?;
    let samples: Vec<u64> = pixels(case.computed()).map(|(x, y)| source.first(x, y, 1, 0).into()).collect();
    let (sum, squares) = (samples.iter().sum(), samples.iter().map(|s| s * s).sum());
    right("count", 0, samples.len() as u64, found.count)?;
    right("sum", 0, sum, found.sum)?;
    right("sum of squares", 0, squares, found.squares)?;
    let mean = sum as f64 / samples.len() as f64;
    let variance = samples.iter().map(|&s| (s as f64 - mean).powi(2)).sum::<f64>() / samples.len() as f64;
    let said = found.mean_variance().ok_or("no samples")?;
    assert!((said.0 - mean).abs() < 1e-9 && (said.1 - variance).abs() < 1e-6, "{said:?} for {mean}, {variance}");
    Ok(None)
}

fn pixels(part: Rect) -> impl Iterator<Item = (usize, usize)> {
    let (x, y) = (part.offset.x as usize, part.offset.y as usize);
    let (width, height) = (part.size.width() as usize, part.size.height() as usize);
    (y..y + height).flat_map(move |row| (x..x + width).map(move |column| (column, row)))
}

/// The cases: sizes, each as a whole, as a view, as a part.
fn cases(stride: usize) -> impl Iterator<Item = Case> {
    let sizes = (1..=17).flat_map(|height| (1..=17).map(move |width| (width, height)));
    let all = sizes.chain([(701, 503), (129, 40), (1, 300), (1030, 3)]).flat_map(|(width, height)| {
        let size = sized(width, height);
        let part = Rect::new(
            Offset::new(width / 3, height / 2),
            sized((width - width / 3).div_ceil(2), (height - height / 2).div_ceil(2)),
        );
        [(None, None), (Some(Offset::new(2, 4)), None), (None, Some(part)), (Some(Offset::new(4, 2)), Some(part))]
            .map(|(offset, part)| Case { size, offset, part, into: None, turn: 0 })
    });
    all.enumerate().map(|(turn, case)| Case { turn, ..case }).step_by(stride)
}

/// Runs every `stride`-th case with each example under both patterns.
pub fn run<R: Runner>(runner: &R, stride: usize) -> Outcome {
    let checks: [(&str, Check<R>); 14] = [
        ("invert", check_invert),
        ("gamma", check_gamma),
        ("threshold", check_threshold),
        ("box_blur", check_box_blur),
        ("sobel", check_sobel),
        ("flip_gray8", check_flip_gray8),
        ("flip_bgr8", check_flip_bgr8),
        ("blend_logo", check_blend_logo),
        ("nv12_to_planar_f16", check_nv12_to_planar_f16),
        ("luma_histogram", check_luma_histogram),
        ("mean_variance", check_mean_variance),
        ("grey", check_grey::<R, 0>),
        ("grey_tiles", check_grey::<R, 1>),
        ("grey_words", check_grey::<R, 2>),
    ];
    let mut outcome = Outcome::default();
    for case in cases(stride) {
        for (name, check) in checks {
            outcome.cases += 1;
            for pattern in Pattern::BOTH {
                let (wrong, error) = match check(runner, &case, pattern) {
                    Ok(None) => continue,
                    Ok(wrong) => (wrong, None),
                    Err(error) => (None, Some(error.to_string())),
                };
                outcome.differing += 1;
                let case = || format!("{name} {case:?} {pattern:?}");
                outcome.first_difference.get_or_insert_with(|| Difference { case: case(), wrong, error });
            }
        }
    }
    outcome
}
