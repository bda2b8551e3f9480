//! The entries that convert YUV 4:2:0 at 8 bits to interleaved RGB.

use crate::{Convert, I420Planes, Nv12Planes, Rgb24, Rgb32};

framewright_kernel::entries! {
    family "yuv420";
    /// NV12 to three interleaved channels.
    framewright_nv12_to_rgb24, FRAMEWRIGHT_NV12_TO_RGB24_PARAMS_HASH = Convert<Nv12Planes, Rgb24>;
    /// NV12 to three interleaved channels and opacity.
    framewright_nv12_to_rgb32, FRAMEWRIGHT_NV12_TO_RGB32_PARAMS_HASH = Convert<Nv12Planes, Rgb32>;
    /// Planar 4:2:0 to three interleaved channels.
    framewright_i420_to_rgb24, FRAMEWRIGHT_I420_TO_RGB24_PARAMS_HASH = Convert<I420Planes, Rgb24>;
    /// Planar 4:2:0 to three interleaved channels and opacity.
    framewright_i420_to_rgb32, FRAMEWRIGHT_I420_TO_RGB32_PARAMS_HASH = Convert<I420Planes, Rgb32>;
}
