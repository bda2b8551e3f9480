//! A kernel that panics on request: the tests of how a panic on a device is reported need one.

use framewright_kernel::{At, Body, Mode, Packed, Reach, entry::NamedEntry};

framewright_kernel::param_struct! {
    /// Writes ones, and panics at one place.
    pub struct PanicAt {
        /// The column of the block that panics.
        pub x: u32,
        /// The row of the block that panics.
        pub y: u32,
    }
}

impl Body for PanicAt {
    type Block = Packed<4, 1>;
    const PIXEL_BYTES: u32 = 1;
    const MAY_PANIC: bool = true;

    #[inline(always)]
    fn reach(&self, _: At) -> Reach {
        Reach::Edge
    }

    #[inline(always)]
    fn block<M: Mode>(&self, at: At) -> Self::Block {
        // Without a message of its own: formatting one would take local memory.
        assert!(at.x != self.x || at.y != self.y);
        Packed([[0x0101_0101; 4]])
    }
}

impl NamedEntry for PanicAt {
    const ENTRY: &'static str = "framewright_panic_at";
    const FAMILY: &'static str = "selftest";
}

framewright_kernel::entries! {
    family "selftest";
    /// Panics at one place.
    framewright_panic_at, FRAMEWRIGHT_PANIC_AT_PARAMS_HASH = PanicAt;
}
