// A tile that is not the block's.
// CHECK: build
// ERROR: E0080
// SAYS: as many columns and rows
use framewright_kernel::prelude::*;

#[kernel]
pub fn same(at: Block<16, 2>, src: In<Gray8>, dst: Out<Gray8>) -> [[u8; 16]; 2] {
    let tile: [[u8; 16]; 1] = src.tile(at);
    [tile[0]; 2]
}

pub fn run(from: &framewright::Image<Gray8>, to: &mut framewright::Image<Gray8>) -> Result<(), framewright::Error> {
    framewright::Cpu::new().launch(same(from, to))
}
