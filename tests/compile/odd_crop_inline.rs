// An odd crop of a 4:2:0 image inline: known only once the code is built.
// CHECK: build
// ERROR: E0080 Region::fixed::<1, 0, 2, 2>()
// SAYS: even for 4:2:0
use framewright::*;

pub fn crop(frame: ImageRef<'_, Yuv420p8>) -> Result<ImageRef<'_, Yuv420p8>, RegionError> {
    frame.crop(Region::fixed::<1, 0, 2, 2>())
}
