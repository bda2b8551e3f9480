//! A kernel that panics on request: the tests of how a panic is reported need one.

use framewright_kernel::prelude::*;

/// Writes ones, and panics at the block of 16 by 1 pixels whose place is `place`.
#[kernel(name = framewright_panic_at, module = "selftest")]
pub fn panic_at(at: Block<16, 1>, dst: Out<Gray8>, place: Uniform<[u32; 2]>) -> Packed<4, 1> {
    // Without a message of its own: formatting one would take local memory.
    assert!([at.x(), at.y()] != place);
    Packed([[0x0101_0101; 4]])
}

framewright_kernel::kernels! {
    /// The entries of this family's PTX module.
    pub ENTRIES: panic_at
}
