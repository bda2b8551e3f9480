// A plane copy between formats whose planes differ.
// CHECK: check
use framewright::*;

pub fn copy(source: ImageRef<'_, Bgr8>, mut destination: ImageMut<'_, Bgr8>) -> Result<(), Error> {
    Cpu::new().copy(&source, &mut destination)
}
