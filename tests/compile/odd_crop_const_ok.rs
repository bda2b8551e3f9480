// An odd crop of a 4:2:0 image as a const.
// CHECK: check
use framewright::*;

pub const CROP: Region<Yuv420p8> = Region::fixed::<2, 0, 2, 2>();
