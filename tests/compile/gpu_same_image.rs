// The same device image as source and destination.
// CHECK: check
// ERROR: E0502 &mut *bgr
use framewright::{cuda::*, *};

pub fn twice(stream: &Stream, bgr: &mut Image<Bgr8, Cuda>, other: &mut Image<Bgr8, Cuda>) -> Result<(), Error> {
    println!("{} {}", bgr.size(), other.size());
    stream.scope(|scope| scope.copy(&*bgr, &mut *bgr).map(drop))
}
