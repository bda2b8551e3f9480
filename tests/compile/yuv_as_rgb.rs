// YUV where RGB is written.
// CHECK: check
// ERROR: E0277 &mut out
// SAYS: no built-in conversion writes these planes as RGB
use framewright::*;

pub fn convert(source: ImageRef<'_, Nv12>, mut out: ImageMut<'_, Gray8>) -> Result<ResolvedColor, Error> {
    Cpu::new().convert(&source, &mut out, &Conversion::new())
}
