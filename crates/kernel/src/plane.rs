//! Planes as kernels see them: a base, a pitch, and how much may be read.
//!
//! ```text
//! base ──► row 0: [ row_bytes readable ][ padding, never touched ]
//! base + pitch ──► row 1 …             (pitch may be negative)
//! ```

use crate::place::{Mode, Reach};

crate::param_struct! {
    /// A plane that a kernel reads. Reads outside give the nearest byte inside and touch nothing else.
    ///
    /// Making one is `unsafe` ([`PlaneIn::new`]); reading from it is not.
    pub struct PlaneIn {
        /// The first byte of the first row.
        base: *const u8,
        /// Bytes from row to row; negative where rows lie bottom-up.
        pitch_bytes: i64,
        /// Bytes of a row that may be read, at least 1.
        row_bytes: u32,
        /// Rows that may be read, at least 1.
        rows: u32,
    }
}

crate::param_struct! {
    /// The plane that an executor stores blocks to.
    pub struct PlaneOut {
        /// The byte of pixel (0, 0) of the launch's domain. Not dereferenced where the domain starts later.
        pub base: *mut u8,
        /// Bytes from row to row; negative where rows lie bottom-up.
        pub pitch_bytes: i64,
    }
}

// SAFETY: a plane is an address and numbers; whoever makes one promises (PlaneIn::new) that reading is right from any thread.
unsafe impl Send for PlaneIn {}
// SAFETY: as above.
unsafe impl Sync for PlaneIn {}
// SAFETY: an address and numbers; only `Launch`'s unsafe functions store to it.
unsafe impl Send for PlaneOut {}
// SAFETY: as above.
unsafe impl Sync for PlaneOut {}

impl PlaneIn {
    /// A plane of `rows` rows of `row_bytes` readable bytes.
    ///
    /// # Safety
    /// For as long as the plane is read: each row's bytes are readable where the kernel runs, and nobody writes them. Both
    /// counts are at least 1.
    pub const unsafe fn new(base: *const u8, pitch_bytes: i64, row_bytes: u32, rows: u32) -> Self {
        Self { base, pitch_bytes, row_bytes, rows }
    }

    /// What may be assumed of a load of `bytes` by `rows` at byte `x`, row `y`; `bytes` is a power of two.
    #[inline(always)]
    pub fn reach(&self, x: u32, y: u32, bytes: u32, rows: u32) -> Reach {
        if x + bytes > self.row_bytes || y + rows > self.rows {
            return Reach::Edge;
        }
        if (self.base as u64 | self.pitch_bytes as u64 | u64::from(x)) & u64::from(bytes - 1) == 0 {
            return Reach::Aligned;
        }
        // An unaligned load reads whole words: it needs a word to spare on both sides.
        if x >= 4 && x + bytes + 4 <= self.row_bytes { Reach::Inside } else { Reach::Edge }
    }

    /// `WORDS` little-endian words from byte `x` of row `y`. In mode [`Edge`](crate::Edge) bytes past the last column or row
    /// are the nearest inside.
    ///
    /// The mode is the executor's promise from [`PlaneIn::reach`]; on the CPU it is checked again, so that a body that asks
    /// for more than it announced panics and reads nothing.
    #[inline(always)]
    pub fn load<const WORDS: usize, M: Mode>(&self, x: u32, y: u32) -> [u32; WORDS] {
        match M::REACH {
            Reach::Edge => self.load_edge(x, y),
            reach => self.load_inside(x, y, reach),
        }
    }

    /// The address of byte `x` of row `y`.
    #[inline(always)]
    fn address(&self, x: u32, y: u32) -> *const u8 {
        self.base.wrapping_offset(self.pitch_bytes.wrapping_mul(i64::from(y)) as isize).wrapping_add(x as usize)
    }

    #[inline(always)]
    fn load_edge<const WORDS: usize>(&self, x: u32, y: u32) -> [u32; WORDS] {
        let row = self.address(0, y.min(self.rows - 1));
        let last = self.row_bytes - 1;
        let mut words = [0; WORDS];
        let mut i = 0;
        while i < WORDS {
            let mut b = 0;
            while b < 4 {
                let column = (x + (4 * i + b) as u32).min(last);
                words[i] |= u32::from(read_byte(row.wrapping_add(column as usize))) << (8 * b);
                b += 1;
            }
            i += 1;
        }
        words
    }

    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn load_inside<const WORDS: usize>(&self, x: u32, y: u32, _: Reach) -> [u32; WORDS] {
        assert!(
            x as u64 + 4 * WORDS as u64 <= u64::from(self.row_bytes) && y < self.rows,
            "a kernel reads past the block it announced"
        );
        // SAFETY: the assertion above keeps the load in a row that `new`'s caller promised to be readable; u32 arrays have no
        // invalid values, and the read is unaligned.
        let words: [u32; WORDS] = unsafe { self.address(x, y).cast::<[u32; WORDS]>().read_unaligned() };
        words.map(u32::from_le)
    }

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    fn load_inside<const WORDS: usize>(&self, x: u32, y: u32, reach: Reach) -> [u32; WORDS] {
        // SAFETY: `Launch::run` took the mode from `reach`, which saw the whole load inside readable rows, aligned in mode
        // Aligned and with a word to spare on both sides in mode Inside.
        unsafe {
            match reach {
                Reach::Aligned => crate::device::load_aligned(self.address(x, y)),
                _ => crate::device::load_shifted(self.address(x, y)),
            }
        }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
fn read_byte(address: *const u8) -> u8 {
    // SAFETY: `load_edge` clamps column and row into what `PlaneIn::new`'s caller promised to be readable.
    unsafe { address.read() }
}

#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn read_byte(address: *const u8) -> u8 {
    // SAFETY: as on the host; the planes of a launch on a GPU are global memory.
    unsafe { crate::device::load_byte(address) }
}
