// A format whose sample has another number of channels than its component.
// CHECK: build
use framewright::*;

pub enum Wrong {}
impl Format for Wrong {
    const NAME: &'static str = "wrong";
    type Planes = (Spec<CbCr, [u8; 2]>,);
}

pub fn layout(size: Size) -> Result<Layout<Wrong>, LayoutError> {
    Layout::<Wrong>::packed(size)
}
