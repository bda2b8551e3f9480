// A region made for another format than the image's.
// CHECK: check
// ERROR: E0308 region
use framewright::*;

pub fn crop(frame: ImageRef<'_, Nv12>, region: Region<Gray8>) -> Result<Size, RegionError> {
    Ok(frame.crop(region)?.size())
}
