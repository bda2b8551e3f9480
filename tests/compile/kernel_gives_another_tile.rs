// What is returned has fewer rows than the block.
// CHECK: check
// ERROR: E0080 [[u8; 16]; 1]
// SAYS: plane `Y`: a block of 16 x 2 pixels has 2 rows of 16 samples (16 bytes) there, and this tile has 1 of 16
use framewright_kernel::prelude::*;

#[kernel]
pub fn white(at: Block<16, 2>, dst: Out<Gray8>) -> [[u8; 16]; 1] {
    let _ = at;
    [[255; 16]]
}
