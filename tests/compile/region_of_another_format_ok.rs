// A region made for another format than the image's.
// CHECK: check
use framewright::*;

pub fn crop(frame: ImageRef<'_, Nv12>, region: Region<Nv12>) -> Result<Size, RegionError> {
    Ok(frame.crop(region)?.size())
}
