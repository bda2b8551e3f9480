// An odd crop is legal where nothing is subsampled, and only there.
// CHECK: check
use framewright::*;

pub const CROP: Region<Bgr8> = Region::fixed::<1, 1, 2, 2>();
