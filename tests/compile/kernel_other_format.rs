// An image of another format than the kernel reads.
// CHECK: check
// ERROR: E0277 picture
// ERROR: E0277 invert(picture, negative)
// SAYS: parameter `In<framewright::Gray8>`
use framewright::*;
use framewright_kernel::prelude::{In, Out, Pixel, kernel};

#[kernel]
pub fn invert(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
    255 - src.get(at)
}

pub fn run(picture: &Image<Bgr8>, negative: &mut Image<Gray8>) -> Result<(), Error> {
    Cpu::new().launch(invert(picture, negative))
}
