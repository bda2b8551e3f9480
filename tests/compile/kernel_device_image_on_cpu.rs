// A device image in a user's kernel on the CPU.
// CHECK: check
// ERROR: E0277 invert(picture, negative)
// SAYS: host memory
use framewright::{cuda::*, *};
use framewright_kernel::prelude::{In, Out, Pixel, kernel};

#[kernel]
pub fn invert(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
    255 - src.get(at)
}

pub fn run(picture: &Image<Gray8, Cuda>, negative: &mut Image<Gray8>) -> Result<(), Error> {
    Cpu::new().launch(invert(picture, negative))
}
