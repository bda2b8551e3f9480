//! A program that uses cust over framewright-driver.

fn main() {
    // cust first: the first call of a driver function binds.
    println!("cust {:?}", cust::init(cust::CudaFlags::empty()));
    println!("status {}", framewright_driver::status());
    println!("library {}", probe::probe_devices());
    #[cfg(feature = "other")]
    println!("other {:?}", other::calls());
}
