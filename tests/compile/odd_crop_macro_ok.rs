// An odd crop of a 4:2:0 image in region!.
// CHECK: check
use framewright::*;

pub fn crop(frame: ImageRef<'_, Nv12>) -> Result<ImageRef<'_, Nv12>, RegionError> {
    frame.crop(region!(Nv12, x: 10, y: 20, width: 640, height: 360))
}
