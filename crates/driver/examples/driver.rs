//! Says what the driver is, what it lacks, and copies a few bytes to the first device and back.

use cust::memory::DeviceBuffer;
use framewright_driver::{DriverStatus, status};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", status());
    if let DriverStatus::Loaded(loaded) = status()
        && !loaded.lacks.is_empty()
    {
        println!("lacks {}", loaded.lacks.join(" "));
    }
    let _context = cust::quick_init()?;
    let device = cust::context::CurrentContext::get_device()?;
    println!("device 0: {}, {} MiB", device.name()?, device.total_memory()? >> 20);
    let bytes: Vec<u8> = (0..=255).collect();
    let there_and_back = DeviceBuffer::from_slice(&bytes)?.as_host_vec()?;
    println!("{} bytes came back {}", bytes.len(), if there_and_back == bytes { "right" } else { "wrong" });
    Ok(())
}
