// An odd crop is legal where nothing is subsampled, and only there.
// CHECK: check
// ERROR: E0080
// SAYS: Nv12>::fixed::<1, 1, 2, 2>
use framewright::*;

pub const CROP: Region<Nv12> = Region::fixed::<1, 1, 2, 2>();
