// An image of a location that the CPU may not be able to read. (With a location for devices: that location by name.)
// CHECK: check
// ERROR: E0599 row
use framewright::*;

pub fn first<L: Location>(frame: ImageRef<'_, Nv12, L>) -> u8 {
    fn _used<L: HostAccess>() {}
    frame.planes().0.row(0)[0]
}
