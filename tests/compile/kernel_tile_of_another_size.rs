// A tile that is not the block's.
// CHECK: build
// ERROR: E0080
// SAYS: plane `Y`: a block of 16 x 2 pixels has 2 rows of 16 samples (16 bytes) there, and this tile has 1 of 16
use framewright_kernel::prelude::*;

#[kernel]
pub fn same(at: Block<16, 2>, src: In<Gray8>, dst: Out<Gray8>) -> [[u8; 16]; 2] {
    let tile: [[u8; 16]; 1] = src.tile(at);
    [tile[0]; 2]
}

pub fn run(from: &framewright::Image<Gray8>, to: &mut framewright::Image<Gray8>) -> Result<(), framewright::Error> {
    framewright::Cpu::new().launch(same(from, to))
}
