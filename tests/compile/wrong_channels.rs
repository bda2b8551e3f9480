// A format whose sample has another number of channels than its component.
// CHECK: build
// ERROR: E0080
// SAYS: Spec<framewright::CbCr, [u8; 3]>
// SAYS: as many channels as its component
use framewright::*;

pub enum Wrong {}
impl Format for Wrong {
    const NAME: &'static str = "wrong";
    type Planes = (Spec<CbCr, [u8; 3]>,);
}

pub fn layout(size: Size) -> Result<Layout<Wrong>, LayoutError> {
    Layout::<Wrong>::packed(size)
}
