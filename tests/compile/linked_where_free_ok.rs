// A format that states its pitch where any pitch is asked for.
// CHECK: check
use framewright::*;

pub fn free(frame: ImageRef<'_, Yuv420p8>) -> Size {
    let _: Option<(Linked, Free)> = None;
    frame.with_free_pitches::<Yuv420p8<Free>>().size()
}
