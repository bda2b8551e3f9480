//! Plane copy: rows of bytes, from any pitch to any pitch, of any sample.

use framewright_kernel::{At, Body, Mode, Packed, PlaneIn, Reach, entry::NamedEntry};

framewright_kernel::param_struct! {
    /// Copies bytes: a "pixel" is one byte, so that every sample size runs on one kernel.
    pub struct CopyRows {
        /// The plane to copy.
        pub source: PlaneIn,
    }
}

impl Body for CopyRows {
    type Block = Packed<4, 4>;
    const PIXEL_BYTES: u32 = 1;

    #[inline(always)]
    fn reach(&self, at: At) -> Reach {
        self.source.reach(at.x, at.y, 16, 4)
    }

    #[inline(always)]
    fn block<M: Mode>(&self, at: At) -> Self::Block {
        Packed([
            self.source.load::<4, M>(at.x, at.y),
            self.source.load::<4, M>(at.x, at.y + 1),
            self.source.load::<4, M>(at.x, at.y + 2),
            self.source.load::<4, M>(at.x, at.y + 3),
        ])
    }
}

impl NamedEntry for CopyRows {
    const ENTRY: &'static str = "framewright_copy";
    const FAMILY: &'static str = "copy";
}

framewright_kernel::entries! {
    family "copy";
    /// Copies the rows of a plane.
    framewright_copy, FRAMEWRIGHT_COPY_PARAMS_HASH = CopyRows;
}
