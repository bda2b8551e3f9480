//! What happens when a body panics on the GPU.

/// Stops the kernel; the host sees a failed launch.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: `trap` has no precondition; it ends the kernel.
    unsafe { core::arch::nvptx::trap() }
}
