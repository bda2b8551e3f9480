// Two mutable views of one image at a time.
// CHECK: check
// ERROR: E0499 image
use framewright::*;

pub fn both(mut image: Image<Gray8>, mut other: Image<Gray8>) -> (Size, Size) {
    let _ = (&mut image, &mut other);
    let first = image.view_mut();
    let second = image.view_mut();
    (first.size(), second.size())
}
