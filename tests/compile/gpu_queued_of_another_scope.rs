// What one stream queued, read by another stream that does not wait for it.
// CHECK: check
// ERROR: E0521 inner.copy(&queued, inner.temporary::<Bgr8>(bgr.size())?)
use framewright::{cuda::*, *};

pub fn across(first: &Stream, second: &Stream, bgr: Image<Bgr8, Cuda>) -> Result<(), Error> {
    first.scope(|outer| {
        let queued = outer.copy(&bgr, outer.temporary::<Bgr8>(bgr.size())?)?;
        second.scope(|inner| inner.copy(&queued, inner.temporary::<Bgr8>(bgr.size())?).map(drop))?;
        outer.copy(&queued, outer.temporary::<Bgr8>(bgr.size())?).map(drop)
    })
}
