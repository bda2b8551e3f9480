// A size without pixels.
// CHECK: check
// ERROR: E0080
// SAYS: fixed::<0, 1080>
use framewright::*;

pub const SIZE: Size = Size::fixed::<0, 1080>();
