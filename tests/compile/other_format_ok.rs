// An image of another format than the function takes.
// CHECK: check
use framewright::*;

fn chroma(frame: ImageRef<'_, Nv12>) -> u32 {
    frame.planes().1.width()
}

pub fn call(frame: ImageRef<'_, Nv12>) -> u32 {
    chroma(frame)
}
