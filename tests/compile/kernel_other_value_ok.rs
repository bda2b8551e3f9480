// A kernel that returns another sample than its image has.
// CHECK: check
use framewright_kernel::prelude::*;

#[kernel]
pub fn same(at: Pixel, src: In<Bgr8>, dst: Out<Bgr8>) -> [u8; 3] {
    src.get(at)
}
