// An odd crop of a 4:2:0 image as a const.
// CHECK: check
// ERROR: E0080
// SAYS: Yuv420p8>::fixed::<1, 0, 2, 2>
// SAYS: even for 4:2:0
use framewright::*;

pub const CROP: Region<Yuv420p8> = Region::fixed::<1, 0, 2, 2>();
