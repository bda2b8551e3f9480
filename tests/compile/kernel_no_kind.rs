// A parameter of no kind that kernels have.
// CHECK: check
// ERROR: none Inn<Gray8>
// SAYS: `Uniform`
use framewright_kernel::prelude::*;

#[kernel]
pub fn same(at: Pixel, src: Inn<Gray8>, dst: Out<Gray8>) -> u8 {
    src.get(at)
}
