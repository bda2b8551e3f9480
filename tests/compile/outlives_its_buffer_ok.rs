// A view that outlives the bytes it was made of.
// CHECK: check
use framewright::*;

pub fn size(layout: &Layout<Gray8>, outer: Vec<u8>) -> Result<Size, LayoutError> {
    let view;
    {
        let bytes = outer.clone();
        let _ = &bytes;
        view = ImageRef::<Gray8>::from_slice(&outer, layout)?;
    }
    Ok(view.size())
}
