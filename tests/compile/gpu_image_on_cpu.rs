// A device image given to the CPU executor.
// CHECK: check
// ERROR: E0277 &frame
// SAYS: download
use framewright::{cuda::*, *};

pub fn gray(frame: Image<Gray8, Cuda>, mut out: Image<Gray8>) -> Result<(), Error> {
    let _: Option<Image<Nv12, Cuda>> = None;
    Cpu::new().copy(&frame, &mut out)
}
