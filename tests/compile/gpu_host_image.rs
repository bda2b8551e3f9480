// A host image in a launch on a GPU.
// CHECK: check
// ERROR: E0277 nv12
// SAYS: upload
use framewright::{cuda::*, *};

pub fn host(stream: &Stream, nv12: &Image<Nv12, Host>, bgr: &mut Image<Bgr8, Cuda>) -> Result<(), Error> {
    stream.scope(|scope| scope.convert(nv12, bgr, &Conversion::new()).map(drop))
}
