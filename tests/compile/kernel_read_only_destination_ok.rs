// A borrowed image for what a kernel writes.
// CHECK: check
use framewright::*;
use framewright_kernel::prelude::{In, Out, Pixel, kernel};

#[kernel]
pub fn invert(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
    255 - src.get(at)
}

pub fn run(picture: &Image<Gray8>, negative: &mut Image<Gray8>, other: &Image<Gray8>) -> Result<(), Error> {
    let _ = (&negative, &other);
    Cpu::new().launch(invert(picture, negative))
}
