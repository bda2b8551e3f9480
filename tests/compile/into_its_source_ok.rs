// A view of the source as the destination.
// CHECK: check
use framewright::*;

pub fn copy(mut image: Image<Gray8>, mut other: Image<Gray8>) -> Result<(), Error> {
    let _ = (&mut image, &mut other);
    let source = image.view();
    Cpu::new().copy(&source, &mut other.view_mut())
}
