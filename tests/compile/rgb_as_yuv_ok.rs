// RGB where YUV is wanted.
// CHECK: check
use framewright::*;

pub fn convert(source: ImageRef<'_, Nv12>, mut out: ImageMut<'_, Bgr8>) -> Result<ResolvedColor, Error> {
    Cpu::new().convert(&source, &mut out, &Conversion::new())
}
