// A struct that is passed to a kernel without being plain data.
// CHECK: check
// ERROR: E0277 u8
// ERROR: E0277 #[kernel]
// SAYS: #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
// SAYS: cannot be passed to a kernel as a `Uniform`
use framewright_kernel::prelude::*;

#[kernel]
pub fn cut(at: Pixel, src: In<Gray8>, most: Uniform<bool>, dst: Out<Gray8>) -> u8 {
    src.get(at).min(most as u8)
}
