// A host image in a user's kernel on a GPU.
// CHECK: check
use framewright::{cuda::*, *};
use framewright_kernel::prelude::{In, Out, Pixel, kernel};

#[kernel]
pub fn invert(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
    255 - src.get(at)
}

pub fn run(stream: &Stream, picture: &Image<Gray8, Cuda>, negative: &mut Image<Gray8, Cuda>) -> Result<(), Error> {
    stream.scope(|scope| scope.launch(invert(picture, negative)).map(drop))
}
