// One of the combinations of a generic kernel does not fit: said where the kernel is written, before anybody launches it.
// CHECK: check
// ERROR: E0080 [[u8; W]; 2]
// SAYS: and this tile has 2 of 8 samples
use framewright_kernel::prelude::*;

#[kernel(instances(white_tile = <8>))]
pub fn white<const W: usize>(at: Block<16, 2>, dst: Out<Gray8>) -> [[u8; W]; 2] {
    let _ = at;
    [[255; W]; 2]
}
