// A block of more pixels than a thread should hold.
// CHECK: check
// ERROR: E0080 Block<128, 2>
// SAYS: a block is 1 to 64 pixels wide and 1 to 16 rows high, and this one 128 x 2
use framewright_kernel::prelude::*;

#[kernel]
pub fn counts(at: Block<128, 2>, src: In<Gray8>, bins: Bins<256>) {
    bins.count(src.at(at.x(), at.y()));
}
