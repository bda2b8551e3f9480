// U and V the wrong way round: the function takes V and is given U.
// CHECK: check
use framewright::*;

type V<'a> = PlaneRef<'a, Spec<Cr, u8, Half>>;

fn first(v: V<'_>) -> Option<u8> {
    v.get(0, 0)
}

pub fn red(frame: ImageRef<'_, Yuv420p8>) -> Option<u8> {
    let (_, cb, cr) = frame.planes();
    let _ = (cb, cr);
    first(cr)
}
