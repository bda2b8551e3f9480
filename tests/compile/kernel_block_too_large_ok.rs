// Twin of `kernel_block_too_large`.
// CHECK: check
use framewright_kernel::prelude::*;

#[kernel]
pub fn counts(at: Block<64, 2>, src: In<Gray8>, bins: Bins<256>) {
    bins.count(src.at(at.x(), at.y()));
}
