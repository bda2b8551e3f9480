// An image whose static pitch differs from the one asked for.
// CHECK: check
use framewright::*;

type Wide = Yuv420p8<Linked<Bytes<896>>>;
type Tight = Yuv420p8<Linked<Bytes<854>>>;

fn wide(frame: ImageRef<'_, Wide>) -> Size {
    frame.size()
}

pub fn call(frame: ImageRef<'_, Wide>) -> Size {
    let _: Option<(Wide, Tight)> = None;
    wide(frame)
}
