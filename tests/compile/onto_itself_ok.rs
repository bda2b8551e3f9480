// The same owned image as source and destination.
// CHECK: check
use framewright::*;

pub fn copy(mut image: Image<Bgr8>, mut other: Image<Bgr8>) -> Result<(), Error> {
    let _ = (&mut image, &mut other);
    Cpu::new().copy(&image, &mut other)
}
