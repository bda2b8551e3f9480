//! A driver that returns 0 only when its functions get the arguments that the test gives.
#![crate_type = "cdylib"]

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(flags: u32) -> u32 {
    flags
}

#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub extern "C" fn cuLaunchKernel(
    a: usize, b: u32, c: u32, d: u32, e: u32, f: u32, g: u32, h: u32, i: usize, j: usize, k: usize,
) -> u32 {
    u32::from([a, i, j, k] != [11, 19, 20, 21] || [b, c, d, e, f, g, h] != [12, 13, 14, 15, 16, 17, 18])
}

#[unsafe(no_mangle)]
pub extern "C" fn cuTexRefSetMipmapLevelClamp(a: usize, b: f32, c: f32) -> u32 {
    u32::from(a != 11 || b != 1.5 || c != -2.5)
}
