// Twin of `kernel_of_an_instance_gives_another_tile`.
// CHECK: check
use framewright_kernel::prelude::*;

#[kernel(instances(white_tile = <16>))]
pub fn white<const W: usize>(at: Block<16, 2>, dst: Out<Gray8>) -> [[u8; W]; 2] {
    let _ = at;
    [[255; W]; 2]
}
