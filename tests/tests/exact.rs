//! Conversion is the correctly rounded value of the standard's formula: all 2^24 triples of codes, every matrix and range,
//! through images.
//!
//! For each Cr there is one image of 256x256 pixels: each block of 2x2 pixels shares one Cb, and 64 blocks with the same Cb
//! hold the 256 luma codes.

use framewright::{
    Bgr8, Bgra8, Conversion, Cpu, Image, ImageRef, Layout, LumaWeights, Matrix, Nv12, PlaneList, Range, Rgb8,
    RgbFormat, Rgba8, Size, Yuv420p8, YuvFormat,
};
use framewright_tests::{
    picture::{Packed, Picture, Rgb},
    reference::{Reference, Weights},
};
use std::sync::Mutex;

const SIDE: u32 = 256;
const SIZE: Size = Size::fixed::<SIDE, SIDE>();

/// The picture that holds all Y and Cb with this Cr.
fn picture(cr: u8) -> Picture {
    let (mut luma, mut cbs, crs) = (vec![0; 256 * 256], vec![0; 128 * 128], vec![cr; 128 * 128]);
    for (block, cb) in cbs.iter_mut().enumerate() {
        *cb = (block / 64) as u8;
        let (x, y) = (block % 128 * 2, block / 128 * 2);
        for (i, (dx, dy)) in [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().enumerate() {
            luma[(y + dy) * 256 + x + dx] = (block % 64 * 4 + i) as u8;
        }
    }
    let image = ImageRef::<Yuv420p8>::from_slices([&luma, &cbs, &crs], SIZE, &[256, 128, 128]);
    Picture::of(image.expect("the planes are as long"))
}

/// The pixels that differ from what was expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Differences {
    compared: u64,
    count: u64,
    /// Format, column, row, the bytes expected and those found, three or four.
    first: Option<(&'static str, u32, u32, [u8; 4], [u8; 4])>,
}

impl Differences {
    /// Compares the rows of an image of format `D`.
    fn compare<'a, D: RgbFormat>(&mut self, expected: &Packed, found: impl Fn(u32) -> &'a [u8]) {
        let bytes = D::Planes::INFOS[0].element_bytes() as usize;
        for y in 0..SIDE {
            let (expected, found) = (expected.row(0, y as usize), found(y));
            assert_eq!(expected.len(), found.len());
            self.compared += (found.len() / bytes) as u64;
            if expected == found {
                continue;
            }
            for (x, (expected, found)) in expected.chunks(bytes).zip(found.chunks(bytes)).enumerate() {
                if expected != found {
                    self.count += 1;
                    let four = |pixel: &[u8]| std::array::from_fn(|i| pixel.get(i).copied().unwrap_or(0));
                    self.first.get_or_insert((D::NAME, x as u32, y, four(expected), four(found)));
                }
            }
        }
    }

    fn add(&mut self, other: Self) {
        self.compared += other.compared;
        self.count += other.count;
        self.first = self.first.or(other.first);
    }
}

/// An image of a picture.
fn image<S: YuvFormat>(picture: &Picture) -> Image<S> {
    let layout = Layout::packed(SIZE).expect("a layout");
    Image::from_owner(picture.planes::<S>().concat(), &layout).expect("the planes fill the layout")
}

/// Converts to a format and compares: a macro, since the plane's sample has another type each time.
macro_rules! convert_and_compare {
    ($source:expr, $($format:ty),+; $expected:expr, $conversion:expr, $differences:expr) => {$(
        let mut destination = Image::<$format>::new(SIZE).expect("memory");
        Cpu::single_threaded().convert($source, &mut destination, $conversion).expect("the sizes agree");
        let (plane,) = destination.planes();
        $differences.compare::<$format>(&$expected.planes::<$format>(), |y| plane.row(y).as_flattened());
    )+};
}

/// Both source formats to all four outputs against the reference, for one Cr.
fn compare_all(picture: &Picture, expected: &Rgb, conversion: &Conversion) -> Differences {
    let mut differences = Differences::default();
    let (nv12, i420) = (image::<Nv12>(picture), image::<Yuv420p8>(picture));
    convert_and_compare!(&nv12, Bgr8, Rgb8, Bgra8, Rgba8; expected, conversion, differences);
    convert_and_compare!(&i420, Bgr8, Rgb8, Bgra8, Rgba8; expected, conversion, differences);
    differences
}

/// Compares every Cr in `crs` on all cores.
fn scan(
    reference: &Reference,
    conversion: &Conversion,
    crs: impl Iterator<Item = u8> + Send,
    compare: fn(&Picture, &Rgb, &Conversion) -> Differences,
) -> Differences {
    let (crs, total) = (Mutex::new(crs), Mutex::new(Differences::default()));
    std::thread::scope(|threads| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            threads.spawn(|| {
                loop {
                    let Some(cr) = crs.lock().expect("no panic").next() else { break };
                    let picture = picture(cr);
                    let found = compare(&picture, &picture.rgb(reference), conversion);
                    total.lock().expect("no panic").add(found);
                }
            });
        }
    });
    total.into_inner().expect("no panic")
}

#[test]
fn all_triples_of_all_matrices_and_ranges() {
    for matrix in Matrix::ALL {
        for range in Range::ALL {
            let conversion = Conversion::new().matrix(matrix).range(range);
            let found = scan(&Reference::new(matrix, range), &conversion, 0..=255, compare_all);
            assert_eq!(found.compared, 8 << 24, "two formats, four outputs, all triples");
            assert_eq!(found, Differences { compared: found.compared, ..Differences::default() }, "{matrix} {range}");
        }
    }
}

/// The scan would see a constant that is wrong by one ten-thousandth, in either weight and direction.
#[test]
fn a_planted_wrong_constant_is_found() {
    fn bgr_only(picture: &Picture, expected: &Rgb, conversion: &Conversion) -> Differences {
        let mut differences = Differences::default();
        convert_and_compare!(&image::<Nv12>(picture), Bgr8; expected, conversion, differences);
        differences
    }
    for matrix in Matrix::ALL.into_iter().filter(|matrix| *matrix != Matrix::YCgCo) {
        for range in Range::ALL {
            let conversion = Conversion::new().matrix(matrix).range(range);
            let right = Weights::of(matrix);
            for (kr, kb) in [(0, 1), (0, -1), (1, 0), (-1, 0)] {
                let wrong = Weights { kr_e4: right.kr_e4 + kr, kb_e4: right.kb_e4 + kb };
                let found = scan(&Reference::with_weights(wrong, range), &conversion, (0..=255).step_by(15), bgr_only);
                assert!(found.count > 0, "{matrix} {range} with Kr {kr:+} and Kb {kb:+} ten-thousandths");
                assert!(found.first.is_some_and(|(_, _, _, expected, found)| expected != found));
            }
            let other = if matrix == Matrix::Bt709 { Matrix::Bt601 } else { Matrix::Bt709 };
            let found = scan(&Reference::new(other, range), &conversion, 100..=100, bgr_only);
            assert!(found.count > 0, "{matrix} {range} is told from {other}");
        }
        let conversion = Conversion::new().matrix(matrix).range(Range::Full);
        let found = scan(&Reference::new(matrix, Range::Limited), &conversion, 100..=100, bgr_only);
        assert!(found.count > 0, "{matrix} full is told from limited");
    }
}

/// Weights of one's own: at most one level off, and at most one triple in a thousand.
#[test]
fn weights_of_ones_own_are_nearly_exact() {
    fn compare(picture: &Picture, expected: &Rgb, conversion: &Conversion) -> Differences {
        let mut differences = Differences::default();
        convert_and_compare!(&image::<Nv12>(picture), Bgr8; expected, conversion, differences);
        if let Some((_, _, _, expected, found)) = differences.first {
            assert!(expected.iter().zip(found).all(|(a, b)| a.abs_diff(b) <= 1), "{expected:?}, found {found:?}");
        }
        differences
    }
    for (kr_e4, kb_e4) in [(2500, 1000), (5000, 2000), (100, 100), (3333, 3333), (2220, 667)] {
        let weights = LumaWeights::new(100 * kr_e4 as u32, 100 * kb_e4 as u32).expect("weights");
        for range in Range::ALL {
            let conversion = Conversion::new().matrix(Matrix::Custom(weights)).range(range);
            let reference = Reference::with_weights(Weights { kr_e4, kb_e4 }, range);
            let found = scan(&reference, &conversion, (0..=255).step_by(5), compare);
            assert!(found.count * 1000 <= found.compared, "{weights:?} {range}: {found:?}");
        }
    }
    // The weights of a standard give the standard's bytes, but for its own roundings.
    let weights = Matrix::Bt2020.luma_weights().expect("weights");
    let conversion = Conversion::new().matrix(Matrix::Custom(weights)).range(Range::Full);
    let found = scan(&Reference::new(Matrix::Bt2020, Range::Full), &conversion, (0..=255).step_by(5), compare);
    assert_eq!(found.count, 0);
}

/// The comparer counts each wrong pixel once and names the first.
#[test]
fn the_comparer_finds_one_wrong_level() {
    let reference = Reference::new(Matrix::Bt709, Range::Limited);
    let expected = picture(77).rgb(&reference).planes::<Rgba8>();
    let mut none = Differences::default();
    none.compare::<Rgba8>(&expected, |y| expected.row(0, y as usize));
    assert_eq!(none, Differences { compared: 1 << 16, count: 0, first: None });

    for byte in 0..4 {
        let mut spoilt = expected.row(0, 255).to_vec();
        spoilt[4 * 254 + byte] ^= 1;
        let mut one = Differences::default();
        one.compare::<Rgba8>(&expected, |y| if y == 255 { &spoilt } else { expected.row(0, y as usize) });
        assert_eq!((one.compared, one.count), (1 << 16, 1));
        let (name, x, y, right, wrong) = one.first.expect("one");
        assert_eq!((name, x, y, wrong[byte]), ("rgba", 254, 255, right[byte] ^ 1));
    }
}

/// The images hold every triple once.
#[test]
fn the_images_hold_every_triple() {
    for cr in [0, 1, 200, 255] {
        let image = image::<Nv12>(&picture(cr));
        let (y, c) = image.planes();
        let mut seen = vec![false; 1 << 16];
        for (row, line) in y.rows().enumerate() {
            for (x, &luma) in line.iter().enumerate() {
                let [cb, found_cr] = c.row(row as u32 / 2)[x / 2];
                assert_eq!(found_cr, cr);
                assert!(!std::mem::replace(&mut seen[usize::from(luma) << 8 | usize::from(cb)], true));
            }
        }
        assert!(seen.iter().all(|&seen| seen));
    }
}
