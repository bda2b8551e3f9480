// A place that is kept beyond the call, where it would mean another launch's images.
// CHECK: check
// ERROR: E0521 keep(at, &1)
use framewright_kernel::prelude::*;

fn keep<'a>(place: &'static Pixel, _: &'a u8) -> u8 {
    place.x() as u8
}

#[kernel]
pub fn kept(at: Pixel, dst: Out<Gray8>) -> u8 {
    keep(at, &1)
}
