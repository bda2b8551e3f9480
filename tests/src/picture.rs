//! What an image shows, apart from where its bytes lie: codes by pixel, made by a hash, or taken from an image.

use crate::reference::Reference;
use framewright::{Channel, Format, ImageRef, PlaneList, Rect, Size, Yuv420p8};

/// The codes of a 4:2:0 image.
pub struct Picture {
    size: Size,
    y: Vec<u8>,
    cb: Vec<u8>,
    cr: Vec<u8>,
}

/// The same as red, green, blue.
pub struct Rgb {
    size: Size,
    pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// All codes equally often, legal and wild.
    pub fn noise(size: Size, seed: u32) -> Self {
        let chroma = size.subsampled(2, 2).pixels();
        let codes = |salt: u32, count: u64| {
            let hash = |i: u32| (i ^ seed.wrapping_mul(0x85eb_ca6b) ^ salt).wrapping_mul(0x9e37_79b1);
            (0..count as u32).map(|i| (hash(hash(i) >> 15 ^ i) >> 24) as u8).collect()
        };
        Self { size, y: codes(1 << 28, size.pixels()), cb: codes(2 << 28, chroma), cr: codes(3 << 28, chroma) }
    }

    /// The codes of an image.
    pub fn of(image: ImageRef<'_, Yuv420p8>) -> Self {
        let (y, cb, cr) = image.planes();
        Self {
            size: image.size(),
            y: y.rows().collect::<Vec<_>>().concat(),
            cb: cb.rows().collect::<Vec<_>>().concat(),
            cr: cr.rows().collect::<Vec<_>>().concat(),
        }
    }

    /// The size in pixels.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The codes as the planes of any 4:2:0 format without padding, by the names of its channels.
    ///
    /// # Panics
    /// When the format has other channels.
    pub fn planes<F: Format>(&self) -> Packed {
        let planes = F::Planes::INFOS.iter().map(|info| {
            interleaved(info.channels, info.plane_size(self.size), |channel, plane| {
                let codes = match channel {
                    Channel::Y => &self.y,
                    Channel::Cb => &self.cb,
                    Channel::Cr => &self.cr,
                    other => panic!("{other:?} is no channel of YUV"),
                };
                plane.zip(codes).for_each(|(to, &code)| *to = code);
            })
        });
        Packed { planes: planes.collect(), row_bytes: row_bytes::<F>(self.size) }
    }

    /// What the reference makes of it.
    pub fn rgb(&self, reference: &Reference) -> Rgb {
        let (width, chroma_width) = (self.size.width() as usize, self.size.width().div_ceil(2) as usize);
        let pixel = |(i, &y): (usize, &u8)| {
            let at = i / width / 2 * chroma_width + i % width / 2;
            reference.rgb(y, self.cb[at], self.cr[at])
        };
        Rgb { size: self.size, pixels: self.y.iter().enumerate().map(pixel).collect() }
    }
}

impl Rgb {
    /// The pixels as the plane of any RGB format without padding, by the names of its channels.
    ///
    /// # Panics
    /// When the format has other channels.
    pub fn planes<F: Format>(&self) -> Packed {
        let plane = interleaved(F::Planes::INFOS[0].channels, self.size, |channel, plane| {
            let pixels = plane.zip(&self.pixels);
            match channel {
                Channel::R => pixels.for_each(|(to, &[r, _, _])| *to = r),
                Channel::G => pixels.for_each(|(to, &[_, g, _])| *to = g),
                Channel::B => pixels.for_each(|(to, &[_, _, b])| *to = b),
                Channel::A => pixels.for_each(|(to, _)| *to = 255),
                other => panic!("{other:?} is no channel of RGB"),
            }
        });
        Packed { planes: vec![plane], row_bytes: row_bytes::<F>(self.size) }
    }

    /// The pixel in column `x` of row `y`.
    pub fn get(&self, x: u32, y: u32) -> [u8; 3] {
        self.pixels[(y * self.size.width() + x) as usize]
    }
}

/// The bytes of an image's planes, row after row.
pub struct Packed {
    planes: Vec<Vec<u8>>,
    row_bytes: Vec<usize>,
}

impl Packed {
    /// Planes of given bytes.
    pub fn new<F: Format>(size: Size, byte: impl Fn(usize, usize, usize) -> u8) -> Self {
        let row_bytes = row_bytes::<F>(size);
        let planes = F::Planes::INFOS.iter().enumerate().map(|(i, info)| {
            let rows = info.plane_size(size).height() as usize;
            (0..rows).flat_map(|y| (0..row_bytes[i]).map(move |b| (y, b))).map(|(y, b)| byte(i, y, b)).collect()
        });
        Self { planes: planes.collect(), row_bytes }
    }

    /// The planes one after the other.
    pub fn concat(&self) -> Vec<u8> {
        self.planes.concat()
    }

    /// All bytes of row `y` of plane `i`.
    pub fn row(&self, i: usize, y: usize) -> &[u8] {
        &self.planes[i][y * self.row_bytes[i]..][..self.row_bytes[i]]
    }

    /// The bytes of row `y` of plane `i` of format `F` in the part inside `rect`.
    pub fn part<F: Format>(&self, rect: Rect, i: usize, y: usize) -> &[u8] {
        let info = &F::Planes::INFOS[i];
        let x = (rect.offset.x / info.step.x * info.element_bytes()) as usize;
        &self.row(i, (rect.offset.y / info.step.y) as usize + y)[x..][..info.row_bytes(rect.size) as usize]
    }
}

/// A plane of interleaved channels; `fill` sets all bytes of one. Not by nested iterators: this runs for every colour.
fn interleaved(
    channels: &[Channel],
    size: Size,
    fill: impl Fn(Channel, std::iter::StepBy<std::slice::IterMut<'_, u8>>),
) -> Vec<u8> {
    let mut plane = vec![0; size.pixels() as usize * channels.len()];
    for (i, &channel) in channels.iter().enumerate() {
        fill(channel, plane[i..].iter_mut().step_by(channels.len()));
    }
    plane
}

fn row_bytes<F: Format>(size: Size) -> Vec<usize> {
    F::Planes::INFOS.iter().map(|info| info.row_bytes(size) as usize).collect()
}
