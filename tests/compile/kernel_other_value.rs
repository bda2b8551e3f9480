// A kernel that returns another sample than its image has.
// CHECK: check
// ERROR: E0277 [u8; 3]
// SAYS: the sample of the image
use framewright_kernel::prelude::*;

#[kernel]
pub fn same(at: Pixel, src: In<Bgr8>, dst: Out<Gray8>) -> [u8; 3] {
    src.get(at)
}
