// Two mutable views of one image at a time.
// CHECK: check
use framewright::*;

pub fn both(mut image: Image<Gray8>, mut other: Image<Gray8>) -> (Size, Size) {
    let _ = (&mut image, &mut other);
    let first = image.view_mut();
    let second = other.view_mut();
    (first.size(), second.size())
}
