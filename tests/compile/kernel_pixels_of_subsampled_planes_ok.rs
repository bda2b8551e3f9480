// Single pixels for an image whose chroma is subsampled.
// CHECK: check
use framewright_kernel::prelude::*;

/// Luma and chroma.
pub enum Pair {}
impl Format for Pair {
    const NAME: &'static str = "pair";
    type Planes = (Spec<Y, u8>, Spec<CbCr, [u8; 2], Full>);
}

#[kernel]
pub fn grey(at: Pixel, dst: Out<Pair>) -> (u8, [u8; 2]) {
    (at.x() as u8, [128; 2])
}

pub fn run(to: &mut framewright::Image<Pair>) -> Result<(), framewright::Error> {
    framewright::Cpu::new().launch(grey(to))
}
