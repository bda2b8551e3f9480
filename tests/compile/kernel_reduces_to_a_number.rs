// A plain number as what is reduced: nothing says whether it is a sum.
// CHECK: check
// ERROR: E0277 rows
// ERROR: E0277 #[kernel]
// SAYS: `Reduce<Sum<u64>>`: the kernel does `sum.add(Sum(value))`
use framewright_kernel::prelude::*;

#[kernel]
pub fn rows(at: Pixel, src: In<Gray8>, _sum: Reduce<u64>) {
    let _ = src.get(at);
}

/// The number of rows.
pub type Rows = Sum<u64>;
