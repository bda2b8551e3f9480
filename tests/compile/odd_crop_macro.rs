// An odd crop of a 4:2:0 image in region!.
// CHECK: check
// ERROR: E0080 region!(Nv12, x: 10, y: 21, width: 640, height: 360)
// SAYS: even for 4:2:0
use framewright::*;

pub fn crop(frame: ImageRef<'_, Nv12>) -> Result<ImageRef<'_, Nv12>, RegionError> {
    frame.crop(region!(Nv12, x: 10, y: 21, width: 640, height: 360))
}
