// Twin of `kernel_gives_another_tile`.
// CHECK: check
use framewright_kernel::prelude::*;

#[kernel]
pub fn white(at: Block<16, 1>, dst: Out<Gray8>) -> [[u8; 16]; 1] {
    let _ = at;
    [[255; 16]]
}
