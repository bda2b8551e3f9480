// The same image for what a kernel reads and writes.
// CHECK: check
use framewright::*;
use framewright_kernel::prelude::{In, Out, Pixel, kernel};

#[kernel]
pub fn invert(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
    255 - src.get(at)
}

pub fn run(picture: &mut Image<Gray8>, negative: &mut Image<Gray8>) -> Result<(), Error> {
    Cpu::new().launch(invert(&*picture, &mut *negative))
}
