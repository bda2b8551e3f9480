//! Saturation to 8 bits.

/// Four values clamped to 0..=255 and packed, the first in the lowest byte.
///
/// ```
/// assert_eq!(framewright_kernel::pack_sat_u8x4([1, -5, 300, 255]), 0xffff_0001);
/// ```
#[inline(always)]
pub fn pack_sat_u8x4(values: [i32; 4]) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    return crate::device::pack_sat_u8x4(values);
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let byte = |v: i32| v.clamp(0, 255) as u32;
        let [a, b, c, d] = values;
        byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24
    }
}
