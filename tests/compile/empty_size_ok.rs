// A size without pixels.
// CHECK: check
use framewright::*;

pub const SIZE: Size = Size::fixed::<1, 1080>();
