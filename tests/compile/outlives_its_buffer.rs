// A view that outlives the bytes it was made of.
// CHECK: check
// ERROR: E0597 &bytes
use framewright::*;

pub fn size(layout: &Layout<Gray8>, outer: Vec<u8>) -> Result<Size, LayoutError> {
    let view;
    {
        let bytes = outer.clone();
        let _ = &bytes;
        view = ImageRef::<Gray8>::from_slice(&bytes, layout)?;
    }
    Ok(view.size())
}
