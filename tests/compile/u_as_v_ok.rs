// U where V is wanted.
// CHECK: check
use framewright::*;

pub fn planes(frame: ImageRef<'_, Yuv420p8>) -> Result<ImageRef<'_, Yuv420p8>, LayoutError> {
    let (y, cb, cr) = frame.planes();
    let _ = cr;
    ImageRef::<Yuv420p8>::from_planes(frame.size(), (y, cb, cr))
}
