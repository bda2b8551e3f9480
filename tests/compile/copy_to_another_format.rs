// A plane copy between formats whose planes differ.
// CHECK: check
// ERROR: E0277 &mut destination
// SAYS: differ in more than how their pitch is known
use framewright::*;

pub fn copy(source: ImageRef<'_, Bgr8>, mut destination: ImageMut<'_, Rgb8>) -> Result<(), Error> {
    Cpu::new().copy(&source, &mut destination)
}
