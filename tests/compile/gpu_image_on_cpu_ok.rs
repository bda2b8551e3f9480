// A device image given to the CPU executor.
// CHECK: check
use framewright::{cuda::*, *};

pub fn gray(frame: Image<Gray8, Pinned>, mut out: Image<Gray8>) -> Result<(), Error> {
    let _: Option<Image<Nv12, Cuda>> = None;
    Cpu::new().copy(&frame, &mut out)
}
