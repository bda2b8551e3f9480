// A borrowed source as a destination.
// CHECK: check
// ERROR: E0277 &mut out
use framewright::*;

pub fn convert(source: ImageRef<'_, Nv12>, mut out: ImageRef<'_, Bgr8>) -> Result<ResolvedColor, Error> {
    Cpu::new().convert(&source, &mut out, &Conversion::new())
}
