//! Launching a kernel: its parameter block and a grid that covers the domain.

use super::{error::Asked, stream::StreamInner};
use crate::error::Error;
use framewright_driver::sys;
use framewright_kernel::{
    Instance, Item, Launch, ReduceRaw,
    entry::{LANES, WARPS},
    launch::combines,
};
use std::ffi::c_void;

/// Blocks of a grid from top to bottom, at most.
const GRID_ROWS: u32 = 65_535;

impl StreamInner {
    /// Queues a launch. Nothing is allocated, waited for or read on the host, except that the first launch of a module loads
    /// it.
    ///
    /// # Safety
    /// Until the work is done: what the parameters read is readable and the pixels of the domain in what they write writable
    /// memory of this stream's context, with nobody else using the latter.
    pub(crate) unsafe fn launch<K: Instance>(&self, launch: &Launch<K>) -> Result<(), Error> {
        let device = &self.device.inner;
        let _current = device.enter()?;
        let function = device.function(K::ENTRY)?;
        let mut launch = *launch;
        let end = launch.domain.y1;
        let (rows, columns) = (launch.item_rows(), launch.item_columns());
        let across = (columns.end - columns.start).div_ceil(LANES * K::Item::REPEAT);
        let down = (rows.end - rows.start).div_ceil(WARPS);
        // A grid that combines strides over all; others are as large as what they cover, and taller images take several.
        let (across, down) = if combines::<K>() {
            let across = across.min(ReduceRaw::PARTIALS);
            (across, down.min(ReduceRaw::PARTIALS / across))
        } else {
            (across, down.min(GRID_ROWS))
        };
        let mut row = rows.start;
        while row < rows.end {
            let count = if combines::<K>() { rows.end - row } else { (rows.end - row).min(GRID_ROWS * WARPS) };
            launch.domain.y0 = launch.domain.y0.max(row * K::Item::HEIGHT);
            launch.domain.y1 = end.min((row + count) * K::Item::HEIGHT);
            let mut parameter = (&raw mut launch).cast::<c_void>();
            // SAFETY: the module's parameter hash is this type's; the driver copies the parameters during the call; the memory
            // is the caller's promise.
            let code = unsafe {
                sys::cuLaunchKernel(
                    function,
                    across,
                    count.div_ceil(WARPS).min(down),
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
            device.check(code, "cuLaunchKernel", Asked::Name(K::ENTRY.name))?;
            row += count;
        }
        Ok(())
    }
}
