//! YUV 4:2:0 at 8 bits to interleaved RGB: reader, exact colour, writer.

use crate::color::YuvToRgb8;
use framewright_kernel::{
    Instance,
    list::{Last, Pair},
    prelude::*,
};

/// Layout classes of 4:2:0 that the conversion reads: [`Nv12`] and [`Yuv420p8`]. Other formats with such planes are viewed as
/// one of them.
pub trait Yuv420: Format {
    /// Samples of a 16x2 block in registers.
    type Tile: Tile420;
    /// The conversion to three interleaved bytes.
    type ToRgb24: Instance<Params = Parameters<Self, Bgr8>>
    where
        Self: Sized;
    /// The conversion to four interleaved bytes.
    type ToRgb32: Instance<Params = Parameters<Self, Bgra8>>
    where
        Self: Sized;
    /// The samples of a block.
    fn tile(image: &In<Self>, at: &Block<16, 2>) -> Self::Tile
    where
        Self: Sized;
}

/// The parameters of a conversion.
pub type Parameters<S, T> = Pair<In<S>, Pair<Out<T>, Last<Uniform<YuvToRgb8>>>>;

/// Layout classes of interleaved RGB that the conversion writes: [`Bgr8`] for three bytes, [`Bgra8`] for four; the order of
/// the channels is [`YuvToRgb8`]'s.
pub trait Rgb: Format {
    /// 16x2 pixels.
    type Tile: RgbTile;
    /// The conversion from a layout class.
    type From<S: Yuv420>: Instance<Params = Parameters<S, Self>>
    where
        Self: Sized;
}

/// Samples of a 16x2 block with the 8x1 chroma samples that belong to them.
pub trait Tile420: Copy {
    /// The luma code of column `x` (0..16) in row `row` (0..2).
    fn y(&self, x: usize, row: usize) -> u32;
    /// The chroma codes of columns `2 * i` and `2 * i + 1`, the first plane's or channel's first.
    fn chroma(&self, i: usize) -> (u32, u32);
}

/// 16x2 pixels to write. Values are the unclamped results of the colour arithmetic.
pub trait RgbTile: Copy {
    /// A tile to fill.
    const EMPTY: Self;
    /// Writes pixels `4 * quad..4 * quad + 4` of row `row`, saturated.
    fn put(&mut self, quad: usize, row: usize, pixels: [[i32; 3]; 4]);
}

/// [`Tile420`] of [`Nv12`].
#[derive(Clone, Copy, Debug)]
pub struct Nv12Tile {
    y: Packed<4, 2>,
    cbcr: Packed<4, 1>,
}
impl Tile420 for Nv12Tile {
    #[inline(always)]
    fn y(&self, x: usize, row: usize) -> u32 {
        self.y.byte(x, row)
    }
    #[inline(always)]
    fn chroma(&self, i: usize) -> (u32, u32) {
        (self.cbcr.byte(2 * i, 0), self.cbcr.byte(2 * i + 1, 0))
    }
}
impl Yuv420 for Nv12 {
    type Tile = Nv12Tile;
    type ToRgb24 = convert<Self, Bgr8>;
    type ToRgb32 = convert<Self, Bgra8>;
    #[inline(always)]
    fn tile(image: &In<Self>, at: &Block<16, 2>) -> Nv12Tile {
        let (y, cbcr) = image.planes();
        Nv12Tile { y: y.packed(at), cbcr: cbcr.packed(at) }
    }
}

/// [`Tile420`] of [`Yuv420p8`].
#[derive(Clone, Copy, Debug)]
pub struct I420Tile {
    y: Packed<4, 2>,
    cb: Packed<2, 1>,
    cr: Packed<2, 1>,
}
impl Tile420 for I420Tile {
    #[inline(always)]
    fn y(&self, x: usize, row: usize) -> u32 {
        self.y.byte(x, row)
    }
    #[inline(always)]
    fn chroma(&self, i: usize) -> (u32, u32) {
        (self.cb.byte(i, 0), self.cr.byte(i, 0))
    }
}
impl Yuv420 for Yuv420p8 {
    type Tile = I420Tile;
    type ToRgb24 = convert<Self, Bgr8>;
    type ToRgb32 = convert<Self, Bgra8>;
    #[inline(always)]
    fn tile(image: &In<Self>, at: &Block<16, 2>) -> I420Tile {
        let (y, cb, cr) = image.planes();
        I420Tile { y: y.packed(at), cb: cb.packed(at), cr: cr.packed(at) }
    }
}

impl RgbTile for Packed<12, 2> {
    const EMPTY: Self = Self::ZERO;
    #[inline(always)]
    fn put(&mut self, quad: usize, row: usize, [p, q, r, s]: [[i32; 3]; 4]) {
        self.0[row][3 * quad] = pack_sat_u8x4([p[0], p[1], p[2], q[0]]);
        self.0[row][3 * quad + 1] = pack_sat_u8x4([q[1], q[2], r[0], r[1]]);
        self.0[row][3 * quad + 2] = pack_sat_u8x4([r[2], s[0], s[1], s[2]]);
    }
}
impl Rgb for Bgr8 {
    type Tile = Packed<12, 2>;
    type From<S: Yuv420> = S::ToRgb24;
}

/// A pixel with an opaque fourth channel. By `or`, since a register for 255 is one too many for some GPUs.
#[inline(always)]
fn opaque([a, b, c]: [i32; 3]) -> u32 {
    pack_sat_u8x4([a, b, c, 0]) | 0xff00_0000
}

impl RgbTile for Packed<16, 2> {
    const EMPTY: Self = Self::ZERO;
    #[inline(always)]
    fn put(&mut self, quad: usize, row: usize, [p, q, r, s]: [[i32; 3]; 4]) {
        self.0[row][4 * quad] = opaque(p);
        self.0[row][4 * quad + 1] = opaque(q);
        self.0[row][4 * quad + 2] = opaque(r);
        self.0[row][4 * quad + 3] = opaque(s);
    }
}
impl Rgb for Bgra8 {
    type Tile = Packed<16, 2>;
    type From<S: Yuv420> = S::ToRgb32;
}

/// Converts YUV 4:2:0 to RGB, correctly rounded. Chroma is the nearest sample: each serves its 2x2 pixels.
#[kernel(module = "yuv420", panics = false, instances(
    framewright_nv12_to_rgb24 = <Nv12, Bgr8>,
    framewright_nv12_to_rgb32 = <Nv12, Bgra8>,
    framewright_i420_to_rgb24 = <Yuv420p8, Bgr8>,
    framewright_i420_to_rgb32 = <Yuv420p8, Bgra8>,
))]
pub fn convert<S: Yuv420, T: Rgb>(at: Block<16, 2>, src: In<S>, dst: Out<T>, color: Uniform<YuvToRgb8>) -> T::Tile {
    let samples = S::tile(src, at);
    let mut pixels = T::Tile::EMPTY;
    // Spelled out, not looped: a tile that is indexed by a run-time number would live in local memory on the GPU. In this order
    // ptxas needs no more registers than it allows itself, on every GPU that is checked.
    convert_quad(&samples, &color, &mut pixels, 2);
    convert_quad(&samples, &color, &mut pixels, 3);
    convert_quad(&samples, &color, &mut pixels, 0);
    convert_quad(&samples, &color, &mut pixels, 1);
    pixels
}

/// Pixels `4 * quad..4 * quad + 4` of both rows.
#[inline(always)]
fn convert_quad(samples: &impl Tile420, color: &YuvToRgb8, pixels: &mut impl RgbTile, quad: usize) {
    let (cb, cr) = samples.chroma(2 * quad);
    let left = color.chroma(cb, cr);
    let (cb, cr) = samples.chroma(2 * quad + 1);
    let right = color.chroma(cb, cr);
    let four = |row| {
        [
            color.pixel(samples.y(4 * quad, row), left),
            color.pixel(samples.y(4 * quad + 1, row), left),
            color.pixel(samples.y(4 * quad + 2, row), right),
            color.pixel(samples.y(4 * quad + 3, row), right),
        ]
    };
    pixels.put(quad, 0, four(0));
    pixels.put(quad, 1, four(1));
}

framewright_kernel::kernels! {
    /// The entries of this family's PTX module.
    pub ENTRIES: convert<Nv12, Bgr8>, convert<Nv12, Bgra8>, convert<Yuv420p8, Bgr8>, convert<Yuv420p8, Bgra8>
}
