// A plain number as what is reduced: nothing says whether it is a sum.
// CHECK: check

use framewright_kernel::prelude::*;

#[kernel]
pub fn rows(at: Pixel, src: In<Gray8>, _sum: Reduce<Rows>) {
    let _ = src.get(at);
}

/// The number of rows.
pub type Rows = Sum<u64>;
