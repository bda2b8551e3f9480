// The host reads what a launch of the scope still writes.
// CHECK: check
use framewright::{cuda::*, *};

pub fn early(stream: &Stream, nv12: &Image<Nv12, Cuda>, seen: &mut Image<Bgr8>, other: &Image<Bgr8>) -> Result<(), Error> {
    stream.scope(|scope| {
        let bgr = scope.convert(nv12, scope.temporary::<Bgr8>(nv12.size())?, &Conversion::new())?;
        scope.download(&bgr, &mut *seen)?;
        println!("{:?} {:?}", other.size(), other.planes().0.row(0));
        Ok(())
    })
}
