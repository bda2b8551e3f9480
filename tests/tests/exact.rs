//! Conversion is the correctly rounded value of the standard's formula: all 2^24 triples of codes, every matrix and range,
//! through images.
//!
//! For each Cr there is one image of 256x256 pixels: each block of 2x2 pixels shares one Cb, and 64 blocks with the same Cb
//! hold the 256 luma codes.

use framewright::{
    Bgr8, Bgra8, Conversion, Cpu, Image, ImageRef, Layout, Matrix, Nv12, Range, Rgb8, RgbFormat, Rgba8, Size, Yuv420p8,
    YuvFormat,
};
use framewright_tests::{
    picture::{Picture, Rgb},
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

/// The triples that differ from what was expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Differences {
    compared: u64,
    count: u64,
    /// Column, row, expected, found.
    first: Option<(u32, u32, [u8; 3], [u8; 3])>,
}

impl Differences {
    fn compare(&mut self, expected: &Rgb, found: impl Fn(u32, u32) -> [u8; 3]) {
        for y in 0..SIDE {
            for x in 0..SIDE {
                let (expected, found) = (expected.get(x, y), found(x, y));
                self.compared += 1;
                if expected != found {
                    self.count += 1;
                    self.first.get_or_insert((x, y, expected, found));
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

fn converted<S: YuvFormat, D: RgbFormat>(source: &Image<S>, conversion: &Conversion) -> Image<D> {
    let mut destination = Image::new(SIZE).expect("memory");
    Cpu::single_threaded().convert(source, &mut destination, conversion).expect("the sizes agree");
    destination
}

/// Both source formats to all four outputs against the reference, for one Cr.
fn compare_all(picture: &Picture, expected: &Rgb, conversion: &Conversion) -> Differences {
    fn outputs<S: YuvFormat>(source: &Image<S>, expected: &Rgb, conversion: &Conversion, into: &mut Differences) {
        let bgr = converted::<S, Bgr8>(source, conversion);
        let (bgr,) = bgr.planes();
        into.compare(expected, |x, y| {
            let [b, g, r] = bgr.row(y)[x as usize];
            [r, g, b]
        });
        let rgb = converted::<S, Rgb8>(source, conversion);
        let (rgb,) = rgb.planes();
        into.compare(expected, |x, y| rgb.row(y)[x as usize]);
        let bgra = converted::<S, Bgra8>(source, conversion);
        let (bgra,) = bgra.planes();
        into.compare(expected, |x, y| {
            let [b, g, r, a] = bgra.row(y)[x as usize];
            assert_eq!(a, 255, "opacity");
            [r, g, b]
        });
        let rgba = converted::<S, Rgba8>(source, conversion);
        let (rgba,) = rgba.planes();
        into.compare(expected, |x, y| {
            let [r, g, b, a] = rgba.row(y)[x as usize];
            assert_eq!(a, 255, "opacity");
            [r, g, b]
        });
    }
    let mut differences = Differences::default();
    outputs::<Nv12>(&image(picture), expected, conversion, &mut differences);
    outputs::<Yuv420p8>(&image(picture), expected, conversion, &mut differences);
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
        let bgr = converted::<Nv12, Bgr8>(&image(picture), conversion);
        let mut differences = Differences::default();
        let (plane,) = bgr.planes();
        differences.compare(expected, |x, y| {
            let [b, g, r] = plane.row(y)[x as usize];
            [r, g, b]
        });
        differences
    }
    for matrix in Matrix::ALL {
        for range in Range::ALL {
            let conversion = Conversion::new().matrix(matrix).range(range);
            let right = Weights::of(matrix);
            for (kr, kb) in [(0, 1), (0, -1), (1, 0), (-1, 0)] {
                let wrong = Weights { kr_e4: right.kr_e4 + kr, kb_e4: right.kb_e4 + kb };
                let found = scan(&Reference::with_weights(wrong, range), &conversion, (0..=255).step_by(15), bgr_only);
                assert!(found.count > 0, "{matrix} {range} with Kr {kr:+} and Kb {kb:+} ten-thousandths");
                assert!(found.first.is_some_and(|(_, _, expected, found)| expected != found));
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

/// The comparer counts each wrong pixel once and names the first.
#[test]
fn the_comparer_finds_one_wrong_level() {
    let reference = Reference::new(Matrix::Bt709, Range::Limited);
    let expected = picture(77).rgb(&reference);
    let mut none = Differences::default();
    none.compare(&expected, |x, y| expected.get(x, y));
    assert_eq!(none, Differences { compared: 1 << 16, count: 0, first: None });

    let mut one = Differences::default();
    let spoilt = |x: u32, y: u32| {
        let [r, g, b] = expected.get(x, y);
        if (x, y) == (255, 255) { [r, g, b ^ 1] } else { [r, g, b] }
    };
    one.compare(&expected, spoilt);
    assert_eq!((one.count, one.first), (1, Some((255, 255, expected.get(255, 255), spoilt(255, 255)))));
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
