//! A library that uses cust over framewright-driver.

/// Exported, so that the shared library has reasons to keep cust and the trampolines.
#[unsafe(no_mangle)]
pub extern "C" fn probe_devices() -> i32 {
    framewright_driver::status();
    match cust::init(cust::CudaFlags::empty()).and_then(|()| cust::device::Device::num_devices()) {
        Ok(count) => count as i32,
        Err(error) => -(error as i32),
    }
}
