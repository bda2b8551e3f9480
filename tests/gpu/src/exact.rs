//! All colours, large frames, many streams: device against CPU and against the exact reference.

use crate::report::Part;
use framewright::{
    AsImage, Bgr8, Bgra8, Conversion, Cpu, Error, Format, Image, Matrix, Nv12, Offset, Range, Rect, Rgb8, RgbFormat,
    Rgba8, Size, Yuv420p8, YuvFormat,
    cuda::{Device, Stream},
};
use framewright_tests::reference::Reference;

/// A count of cases with the first difference.
#[derive(Debug, Default)]
pub struct Count {
    /// How many.
    pub cases: u64,
    /// How many differ.
    pub differing: u64,
    /// The first.
    pub first: Option<String>,
}

impl Count {
    /// Takes in one comparison.
    pub fn add(&mut self, cases: u64, difference: Option<String>) {
        self.cases += cases;
        if let Some(difference) = difference {
            self.differing += 1;
            self.first.get_or_insert(difference);
        }
    }

    /// As a part of a report.
    pub fn part(self, name: &str, seconds: f64) -> Part {
        let Self { cases, differing, first } = self;
        Part { name: name.to_owned(), cases, differing, first_difference: first, seconds }
    }
}

/// A frame in which each (Y, Cb, Cr) of 8 bits occurs once: 4096x4096, each 2x2 block has one pair and four lumas.
fn all_triples() -> Result<Image<Nv12>, Error> {
    let mut frame = Image::<Nv12>::new(Size::fixed::<4096, 4096>())?;
    let (mut luma, mut chroma) = frame.planes_mut();
    // Block b = (row / 2) * 2048 + column / 2 has pair b / 64 and lumas 4 * (b % 64) to + 3.
    for (row, samples) in chroma.rows_mut().enumerate() {
        for (column, sample) in samples.iter_mut().enumerate() {
            let pair = (row * 2048 + column) / 64;
            *sample = [(pair >> 8) as u8, pair as u8];
        }
    }
    for (row, samples) in luma.rows_mut().enumerate() {
        for (column, sample) in samples.iter_mut().enumerate() {
            let block = (row / 2) * 2048 + column / 2;
            *sample = (4 * (block % 64) + 2 * (row % 2) + column % 2) as u8;
        }
    }
    Ok(frame)
}

/// All 2^24 triples in each matrix and range, on the device, against exact rationals.
pub fn triples(stream: &Stream) -> Result<Count, Error> {
    let frame = all_triples()?;
    let (luma, chroma) = frame.planes();
    let on_device = stream.upload(&frame)?;
    let mut bgr = stream.device().image::<Bgr8>(frame.size())?;
    let mut count = Count::default();
    for matrix in Matrix::ALL {
        for range in Range::ALL {
            let conversion = Conversion::new().matrix(matrix).range(range);
            stream.scope(|scope| scope.convert(&on_device, &mut bgr, &conversion).map(drop))?;
            let found = stream.download(&bgr)?;
            let reference = Reference::new(matrix, range);
            let rows = found.planes().0;
            let first = (0..4096u32).find_map(|y| {
                let (lumas, pairs) = (luma.row(y), chroma.row(y / 2));
                rows.row(y).iter().enumerate().find_map(|(x, &[b, g, r])| {
                    let ([cb, cr], expected) =
                        (pairs[x / 2], reference.rgb(lumas[x], pairs[x / 2][0], pairs[x / 2][1]));
                    ([r, g, b] != expected).then(|| {
                        format!(
                            "{matrix} {range}: Y {} Cb {cb} Cr {cr}: {:?}, expected {expected:?}",
                            lumas[x],
                            [r, g, b]
                        )
                    })
                })
            });
            count.add(1 << 24, first);
        }
    }
    Ok(count)
}

fn noise<F: YuvFormat>(size: Size, seed: u32) -> Result<Image<F>, Error> {
    let mut image = Image::<F>::new(size)?;
    let mut state = seed | 1;
    let len = framewright::Layout::<F>::aligned(size, 64)?.full_len_bytes() as usize;
    // A buffer of noise with the image's own layout, copied in.
    let bytes: Vec<u8> = (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 11) as u8
        })
        .collect();
    let layout = framewright::Layout::<F>::aligned(size, 64)?;
    let source = framewright::ImageRef::<F>::from_slice(&bytes, &layout)?;
    copy(&source, &mut image)?;
    Ok(image)
}

fn copy<F: Format>(source: &framewright::ImageRef<'_, F>, image: &mut Image<F>) -> Result<(), Error> {
    Cpu::new().copy(source, image)
}

/// Converts on both and says where they differ.
fn compare<S: YuvFormat, D: RgbFormat>(
    stream: &Stream,
    frame: &Image<S>,
    conversion: &Conversion,
    to: Size,
) -> Result<Option<String>, Error> {
    let mut expected = Image::<D>::new(to)?;
    Cpu::new().convert(frame, &mut expected, conversion)?;
    let on_device = stream.upload(frame)?;
    let mut converted = stream.device().image::<D>(to)?;
    stream.scope(|scope| scope.convert(&on_device, &mut converted, conversion).map(drop))?;
    let found = stream.download(&converted)?;
    Ok(first_unequal(&expected, &found).map(|at| format!("{} to {} {}: {at}", S::NAME, D::NAME, frame.size())))
}

/// The first byte in which two interleaved images differ.
fn first_unequal<D: RgbFormat>(expected: &Image<D>, found: &Image<D>) -> Option<String> {
    let bytes = |image: &Image<D>| {
        let view = AsImage::view(image);
        let raw = image.as_raw_planes()[0];
        let row = <<D as Format>::Planes as framewright::PlaneList>::INFOS[0].row_bytes(view.size()) as usize;
        let rows = view.size().height();
        let row_at = move |y: u32| {
            let at = raw.first_row.wrapping_offset(raw.pitch_bytes as isize * y as isize);
            // SAFETY: row y of the image, which outlives this use.
            unsafe { std::slice::from_raw_parts(at.cast_const(), row) }
        };
        (rows, row_at)
    };
    let ((rows, a), (_, b)) = (bytes(expected), bytes(found));
    (0..rows).find_map(|y| {
        let (a, b) = (a(y), b(y));
        let x = a.iter().zip(b).position(|(a, b)| a != b)?;
        Some(format!("row {y}, byte {x}: {}, expected {}", b[x], a[x]))
    })
}

/// Large frames of every pair, also odd and cropped.
pub fn large(stream: &Stream, small: bool) -> Result<Count, Error> {
    let mut count = Count::default();
    let sizes: &[(u32, u32)] =
        if small { &[(1921, 1083)] } else { &[(1920, 1080), (3839, 2161), (7680, 4320), (7681, 4321)] };
    for &(w, h) in sizes {
        let size = Size::new(w, h)?;
        let nv12 = noise::<Nv12>(size, w)?;
        let i420 = noise::<Yuv420p8>(size, h)?;
        let crop = Rect::new(Offset::new((w / 3) | 1, (h / 5) | 1), Size::new(w / 2, h / 2)?);
        let whole = Conversion::new();
        let part = Conversion::new().matrix(Matrix::Bt2020).range(Range::Full).crop(crop);
        for (conversion, to) in [(whole, size), (part, crop.size)] {
            let pixels = to.pixels();
            count.add(pixels, compare::<_, Bgr8>(stream, &nv12, &conversion, to)?);
            count.add(pixels, compare::<_, Rgb8>(stream, &i420, &conversion, to)?);
            count.add(pixels, compare::<_, Bgra8>(stream, &nv12, &conversion, to)?);
            count.add(pixels, compare::<_, Rgba8>(stream, &i420, &conversion, to)?);
        }
    }
    Ok(count)
}

/// Eight threads, each with a stream of its own, at the same time.
pub fn streams(device: &Device, rounds: u32) -> Result<Count, Error> {
    let results: Vec<Result<Count, Error>> = std::thread::scope(|threads| {
        let running: Vec<_> = (0..8u32)
            .map(|i| {
                threads.spawn(move || {
                    let stream = device.stream()?;
                    let mut count = Count::default();
                    for round in 0..rounds {
                        let size = Size::new(641 + 32 * i + round, 359 + i)?;
                        let frame = noise::<Nv12>(size, 1 + 100 * round + i)?;
                        count.add(size.pixels(), compare::<_, Bgr8>(&stream, &frame, &Conversion::new(), size)?);
                    }
                    Ok(count)
                })
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut all = Count::default();
    for result in results {
        let count = result?;
        all.cases += count.cases;
        all.differing += count.differing;
        all.first = all.first.or(count.first);
    }
    Ok(all)
}
