//! What happens when a body panics on the GPU.

/// Tells the host which kernel panicked and where, and stops the launch.
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    framewright_kernel::device::panicked(info)
}
