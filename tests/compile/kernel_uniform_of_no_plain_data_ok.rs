// A struct that is passed to a kernel without being plain data.
// CHECK: check

use framewright_kernel::prelude::*;

#[kernel]
pub fn cut(at: Pixel, src: In<Gray8>, most: Uniform<u8>, dst: Out<Gray8>) -> u8 {
    src.get(at).min(most as u8)
}
