// RGB where YUV is wanted.
// CHECK: check
// ERROR: E0277 &source
// SAYS: no built-in conversion reads these planes as YUV
use framewright::*;

pub fn convert(source: ImageRef<'_, Rgb8>, mut out: ImageMut<'_, Bgr8>) -> Result<ResolvedColor, Error> {
    Cpu::new().convert(&source, &mut out, &Conversion::new())
}
