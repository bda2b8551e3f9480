// A number of no size: one of the compilers for GPUs refuses such parameters.
// CHECK: check
// ERROR: E0080 Uniform<[u8; 0]>
// SAYS: leave a `Uniform` out that holds nothing
use framewright_kernel::prelude::*;

#[kernel]
pub fn same(at: Pixel, src: In<Gray8>, _number: Uniform<[u8; 0]>, dst: Out<Gray8>) -> u8 {
    src.get(at)
}
