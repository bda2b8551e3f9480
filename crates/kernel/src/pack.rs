//! Conversions that a GPU has an instruction for: saturation to 8 bits, and `f16`.

use half::f16;

/// Four values clamped to 0..=255 and packed, the first in the lowest byte.
///
/// ```
/// assert_eq!(framewright_kernel::pack_sat_u8x4([1, -5, 300, 255]), 0xffff_0001);
/// ```
#[inline(always)]
pub fn pack_sat_u8x4(values: [i32; 4]) -> u32 {
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    return crate::device::pack_sat_u8x4(values);
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    {
        let byte = |v: i32| v.clamp(0, 255) as u32;
        let [a, b, c, d] = values;
        byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24
    }
}

/// The nearest `f16`, ties to even, as [`half::f16::from_f32`] gives: one instruction on the GPU, where that would be twenty.
///
/// A NaN stays a NaN; which one differs between executors.
///
/// ```
/// # use framewright_kernel::{f16_from_f32, half::f16};
/// assert_eq!(f16_from_f32(0.1), f16::from_f32(0.1));
/// assert_eq!(f16_from_f32(1e9), f16::INFINITY);
/// ```
#[inline(always)]
pub fn f16_from_f32(value: f32) -> f16 {
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    return f16::from_bits(crate::device::f16_bits(value));
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    f16::from_f32(value)
}

/// The same number as `f32`, exactly: one instruction on the GPU.
#[inline(always)]
pub fn f32_from_f16(value: f16) -> f32 {
    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    return crate::device::f32_of_f16(value.to_bits());
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    value.to_f32()
}
