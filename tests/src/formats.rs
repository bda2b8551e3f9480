//! Formats that a user could define.

use framewright::{Cb, Cr, CrCb, Dyn, Format, Full, Half, Spec, Y};

/// Luma, then chroma as Cr, Cb pairs.
pub enum Nv21 {}
impl Format for Nv21 {
    const NAME: &'static str = "nv21";
    type Planes = (Spec<Y, u8>, Spec<CrCb, [u8; 2], Half>);
}

/// Planar 4:2:0 with Cr before Cb.
pub enum Yv12 {}
impl Format for Yv12 {
    const NAME: &'static str = "yv12";
    type Planes = (Spec<Y, u8, Full, Dyn>, Spec<Cr, u8, Half, Dyn>, Spec<Cb, u8, Half, Dyn>);
}

/// Planar 4:2:0 with two bytes a sample.
pub enum Yuv420p16 {}
impl Format for Yuv420p16 {
    const NAME: &'static str = "yuv420p16le";
    type Planes = (Spec<Y, u16>, Spec<Cb, u16, Half>, Spec<Cr, u16, Half>);
}
