// A place that is kept beyond the call, where it would mean another launch's images.
// CHECK: check
use framewright_kernel::prelude::*;

fn keep<'a>(place: &'a Pixel, _: &'a u8) -> u8 {
    place.x() as u8
}

#[kernel]
pub fn kept(at: Pixel, dst: Out<Gray8>) -> u8 {
    keep(at, &1)
}
