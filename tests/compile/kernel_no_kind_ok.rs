// A parameter of no kind that kernels have.
// CHECK: check
use framewright_kernel::prelude::*;

#[kernel]
pub fn same(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
    src.get(at)
}
