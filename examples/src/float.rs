//! What networks take: planes of `f16`.

use framewright_kernel::prelude::*;

/// Red, green and blue as planes of `f16`: what networks call CHW.
#[derive(Clone, Copy, Debug)]
pub enum RgbPlanarF16 {}
impl Format for RgbPlanarF16 {
    const NAME: &'static str = "gbrpf16-rgb";
    type Planes = (Spec<R, f16>, Spec<G, f16>, Spec<B, f16>);
}

/// From codes to what a network wants: `value = rgb * scale + offset` a channel, with `rgb` in 0..=1.
#[derive(Clone, Copy, PartialEq, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Normalisation {
    /// 1 / deviation, for red, green and blue.
    pub scale: [f32; 3],
    /// -mean / deviation.
    pub offset: [f32; 3],
}

impl Normalisation {
    /// For channels of this mean and deviation, in 0..=1. A deviation of 0 gives infinities.
    pub fn new(mean: [f32; 3], deviation: [f32; 3]) -> Self {
        Self {
            scale: core::array::from_fn(|i| 1.0 / deviation[i]),
            offset: core::array::from_fn(|i| -mean[i] / deviation[i]),
        }
    }
}

/// NV12 (BT.709, limited range) to planar RGB in `f16`, normalised. Chroma is the nearest sample.
///
/// In `f32`, in this order, each operation rounded by itself: `y = (Y - 16) / 219`, `b = (Cb - 128) / 224`,
/// `r = (Cr - 128) / 224`; the channels by the standard's formula, clamped to 0..=1; times `scale`, plus `offset`; then rounded
/// to `f16`, ties to even. So CPU and GPU give the same bits.
#[kernel]
pub fn nv12_to_planar_f16(
    at: Pixel,
    frame: In<Nv12>,
    to: Uniform<Normalisation>,
    dst: Out<RgbPlanarF16>,
) -> (f16, f16, f16) {
    let (y, cbcr) = frame.planes();
    let [cb, cr] = cbcr.get(at);
    let y = (f32::from(y.get(at)) - 16.0) * (1.0 / 219.0);
    let (b, r) = ((f32::from(cb) - 128.0) * (1.0 / 224.0), (f32::from(cr) - 128.0) * (1.0 / 224.0));
    let rgb = [y + 1.5748 * r, (y - 0.187_324_27 * b) - 0.468_124_27 * r, y + 1.8556 * b];
    let [r, g, b] = [0, 1, 2].map(|i| f16_from_f32(rgb[i].clamp(0.0, 1.0) * to.scale[i] + to.offset[i]));
    (r, g, b)
}
