// An odd crop of a 4:2:0 image inline: known only once the code is built.
// CHECK: build
use framewright::*;

pub fn crop(frame: ImageRef<'_, Yuv420p8>) -> Result<ImageRef<'_, Yuv420p8>, RegionError> {
    frame.crop(Region::fixed::<0, 0, 2, 2>())
}
