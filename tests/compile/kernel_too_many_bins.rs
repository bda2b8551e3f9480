// More counters than shared memory holds.
// CHECK: check
// ERROR: E0080 Bins<65536>
// SAYS: a kernel counts in 1 to 8192 bins, and these are 65536
use framewright_kernel::prelude::*;

#[kernel]
pub fn counts(at: Pixel, src: In<Gray8>, bins: Bins<65536>) {
    bins.count(src.get(at));
}
