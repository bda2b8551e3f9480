// Twin of `kernel_too_many_bins`.
// CHECK: check
use framewright_kernel::prelude::*;

#[kernel]
pub fn counts(at: Pixel, src: In<Gray8>, bins: Bins<8192>) {
    bins.count(src.get(at));
}
