// An image of any location given to the CPU executor.
// CHECK: check
// ERROR: E0277 &frame
use framewright::*;

pub fn gray<L: Location>(frame: ImageRef<'_, Gray8, L>, mut out: ImageMut<'_, Gray8>) -> Result<(), Error> {
    let host: Option<ImageRef<'_, Gray8, Host>> = None;
    let _ = host;
    Cpu::new().copy(&frame, &mut out)
}
