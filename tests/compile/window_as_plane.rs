// A column cut has no way to become a plane.
// CHECK: check
// ERROR: E0599 plane
use framewright::*;

fn whole(region: Rows<'_, u8>) -> Result<Rows<'_, u8>, LayoutError> {
    Ok(region)
}

fn left(region: Rows<'_, u8>) -> Result<Window<'_, u8>, LayoutError> {
    Ok(region.split_at_column(2)?.0)
}

pub fn luma(region: Rows<'_, u8>, size: Size) -> Result<u32, LayoutError> {
    let _ = (whole, left);
    Ok(left(region)?.plane::<Y>(size)?.width())
}
