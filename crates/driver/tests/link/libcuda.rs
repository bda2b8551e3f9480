//! A libcuda.so with two functions, for a program that links one.
#![crate_type = "cdylib"]

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_flags: u32) -> u32 {
    999
}

#[unsafe(no_mangle)]
pub extern "C" fn cuOnlyInTheLibrary() -> u32 {
    42
}
