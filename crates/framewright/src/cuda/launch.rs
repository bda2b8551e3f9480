//! Launching a kernel: its parameter block and a grid that covers the domain.

use super::{error::Asked, stream::StreamInner};
use crate::error::Error;
use framewright_driver::sys;
use framewright_kernel::{
    Launch,
    entry::{LANES, NamedEntry, WARPS},
};
use std::ffi::c_void;

/// Blocks of a grid from top to bottom, at most.
const GRID_ROWS: u32 = 65_535;

impl StreamInner {
    /// Queues a launch. Nothing is allocated, waited for or read on the host, except that the first launch of a family loads
    /// its module.
    ///
    /// # Safety
    /// Until the work is done: the planes of the body are readable and the pixels of the domain writable memory of this
    /// stream's context, with nobody else using the latter.
    pub(crate) unsafe fn launch<B: NamedEntry>(&self, launch: &Launch<B>) -> Result<(), Error> {
        let device = &self.device.inner;
        let _current = device.enter()?;
        let function = device.function::<B>()?;
        let mut launch = *launch;
        let end = launch.domain.y1;
        let rows = launch.block_rows();
        let mut row = rows.start;
        while row < rows.end {
            // Taller images than one grid covers take several.
            let count = (rows.end - row).min(GRID_ROWS * WARPS);
            launch.domain.y0 = launch.domain.y0.max(row * B::HEIGHT);
            launch.domain.y1 = end.min((row + count) * B::HEIGHT);
            let mut parameter = (&raw mut launch).cast::<c_void>();
            // SAFETY: the module's parameter hash is this type's; the driver copies the parameters during the call; the memory
            // is the caller's promise.
            let code = unsafe {
                sys::cuLaunchKernel(
                    function,
                    launch.block_columns().div_ceil(LANES),
                    count.div_ceil(WARPS),
                    1,
                    LANES,
                    WARPS,
                    1,
                    0,
                    self.raw(),
                    &raw mut parameter,
                    std::ptr::null_mut(),
                )
            };
            device.check(code, "cuLaunchKernel", Asked::Name(B::ENTRY))?;
            row += count;
        }
        Ok(())
    }
}
