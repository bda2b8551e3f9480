// Single pixels for an image whose chroma is subsampled.
// CHECK: check
// ERROR: E0080 (u8, [u8; 2])
// SAYS: plane `CbCr`: a sample stands for 2 x 2 pixels, and a place of this kernel has 1 x 1; take `Block<2, 2>`
use framewright_kernel::prelude::*;

/// Luma and chroma.
pub enum Pair {}
impl Format for Pair {
    const NAME: &'static str = "pair";
    type Planes = (Spec<Y, u8>, Spec<CbCr, [u8; 2], Half>);
}

#[kernel]
pub fn grey(at: Pixel, dst: Out<Pair>) -> (u8, [u8; 2]) {
    (at.x() as u8, [128; 2])
}

pub fn run(to: &mut framewright::Image<Pair>) -> Result<(), framewright::Error> {
    framewright::Cpu::new().launch(grey(to))
}
