//! Plane copy: rows of bytes, from any pitch to any pitch, of any sample.

use framewright_kernel::prelude::*;

/// Copies a plane. Every sample is rows of bytes, so that all run on one kernel: pass rows as [`Gray8`].
#[kernel(name = framewright_copy, module = "copy", panics = false)]
pub fn copy(at: Block<16, 4>, src: In<Gray8>, dst: Out<Gray8>) -> Packed<4, 4> {
    src.packed(at)
}

framewright_kernel::kernels! {
    /// The entries of this family's PTX module.
    pub ENTRIES: copy
}
