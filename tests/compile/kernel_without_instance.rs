// A combination of a generic kernel that is not compiled for the GPU.
// CHECK: check
// ERROR: E0277 same::<Other, _, _>(from, to)
// SAYS: instances
use framewright::{cuda::*, *};
use framewright_kernel::prelude::{In, Out, Pixel, SampleOf, kernel};

#[kernel(instances(same_gray8 = <Gray8>))]
pub fn same<F: Format<Planes: OnePlane>>(at: Pixel, src: In<F>, dst: Out<F>) -> SampleOf<F> {
    src.get(at)
}

type Other = Bgr8;

pub fn run(stream: &Stream, from: &Image<Other, Cuda>, to: &mut Image<Other, Cuda>) -> Result<(), Error> {
    stream.scope(|scope| scope.launch(same::<Other, _, _>(from, to)).map(drop))
}
