//! Planes as kernels see them: a base, a pitch, and how much may be read.
//!
//! ```text
//! base ──► row 0: [ row_bytes readable ][ padding, never touched ]
//! base + pitch ──► row 1 …             (pitch may be negative)
//! ```

use crate::{place::Reach, unroll::unrolled};
use framewright_core::{Sample, ScalarKind};

crate::param_struct! {
    /// A plane that a kernel reads. Reads outside give the nearest byte inside and touch nothing else.
    pub struct PlaneIn {
        /// The first byte of the first row.
        base: *const u8,
        /// Bytes from row to row; negative where rows lie bottom-up.
        pitch_bytes: i64,
        /// Bytes of a row that may be read, at least one sample.
        row_bytes: u32,
        /// Rows that may be read, at least 1.
        rows: u32,
    }
}

crate::param_struct! {
    /// A plane that an executor stores to.
    pub struct PlaneOut {
        /// The byte of the images' pixel (0, 0). Not dereferenced where the domain starts later.
        pub base: *mut u8,
        /// Bytes from row to row; negative where rows lie bottom-up.
        pub pitch_bytes: i64,
    }
}

// SAFETY: a plane is an address and numbers; whoever makes one promises (PlaneIn::new) that reading is right from any thread.
unsafe impl Send for PlaneIn {}
// SAFETY: as above.
unsafe impl Sync for PlaneIn {}
// SAFETY: an address and numbers; only unsafe functions of executors store to it.
unsafe impl Send for PlaneOut {}
// SAFETY: as above.
unsafe impl Sync for PlaneOut {}

/// How a plane's memory is loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Via {
    /// Through the read-only cache: nobody writes it during the launch.
    ReadOnly,
    /// As memory that this launch also writes.
    Written,
}

impl PlaneIn {
    /// A plane of `rows` rows of `row_bytes` readable bytes.
    ///
    /// # Safety
    /// For as long as the plane is read: each row's bytes are readable where the kernel runs, aligned to the scalars of the
    /// samples that are read, and nobody writes them. Both counts are at least one sample.
    pub const unsafe fn new(base: *const u8, pitch_bytes: i64, row_bytes: u32, rows: u32) -> Self {
        Self { base, pitch_bytes, row_bytes, rows }
    }

    /// The same memory for writing.
    pub(crate) const fn out(&self) -> PlaneOut {
        PlaneOut { base: self.base.cast_mut(), pitch_bytes: self.pitch_bytes }
    }

    /// Rows that may be read.
    #[inline(always)]
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Samples of a row that may be read.
    #[inline(always)]
    pub(crate) fn columns<S: Sample>(&self) -> u32 {
        self.row_bytes / size_of::<S>() as u32
    }

    /// What may be assumed of a load of `bytes` by `rows` at byte `x`, row `y`.
    #[inline(always)]
    pub(crate) fn reach(&self, x: u32, y: u32, bytes: u32, rows: u32) -> Reach {
        if x + bytes > self.row_bytes || y + rows > self.rows {
            return Reach::Edge;
        }
        // The widest vector that divides a row of the load.
        let vector = (bytes & bytes.wrapping_neg()).min(16);
        if (self.base as u64 | self.pitch_bytes as u64 | u64::from(x)) & u64::from(vector - 1) == 0 {
            return Reach::Aligned;
        }
        // An unaligned load reads whole words: it needs a word to spare on both sides.
        if x >= 4 && x + bytes + 4 <= self.row_bytes { Reach::Inside } else { Reach::Edge }
    }

    /// `WORDS` little-endian words from byte `x` of row `y`. In reach [`Reach::Edge`] bytes past the last column or row are
    /// the nearest inside.
    ///
    /// # Safety
    /// `reach` is no better than what [`PlaneIn::reach`] says of a load that covers this one from its start.
    #[inline(always)]
    pub(crate) unsafe fn words<const WORDS: usize>(&self, x: u32, y: u32, reach: Reach, via: Via) -> [u32; WORDS] {
        match reach {
            Reach::Edge => self.words_at_edge(x, y, via),
            // SAFETY: as promised by the caller.
            reach => unsafe { self.words_inside(x, y, reach, via) },
        }
    }

    /// The address of byte `x` of row `y`.
    #[inline(always)]
    fn address(&self, x: u32, y: u32) -> *const u8 {
        self.base.wrapping_offset(self.pitch_bytes.wrapping_mul(i64::from(y)) as isize).wrapping_add(x as usize)
    }

    #[inline(always)]
    fn words_at_edge<const WORDS: usize>(&self, x: u32, y: u32, via: Via) -> [u32; WORDS] {
        let row = self.address(0, y.min(self.rows - 1));
        let last = self.row_bytes - 1;
        let mut words = [0; WORDS];
        let mut i = 0;
        while i < WORDS {
            let mut b = 0;
            while b < 4 {
                let column = (x + (4 * i + b) as u32).min(last);
                // SAFETY: row and column are clamped into what `new`'s caller promised to be readable.
                let byte = unsafe { load_scalar::<1>(row.wrapping_add(column as usize), via) };
                words[i] |= byte << (8 * b);
                b += 1;
            }
            i += 1;
        }
        words
    }

    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    #[inline(always)]
    unsafe fn words_inside<const WORDS: usize>(&self, x: u32, y: u32, _: Reach, _: Via) -> [u32; WORDS] {
        // SAFETY: `reach` saw the load inside rows that `new`'s caller promised to be readable; u32 arrays have no invalid
        // values, and the read is unaligned.
        let words: [u32; WORDS] = unsafe { self.address(x, y).cast::<[u32; WORDS]>().read_unaligned() };
        words.map(u32::from_le)
    }

    #[cfg(any(target_arch = "nvptx64", framewright_host_check))]
    #[inline(always)]
    unsafe fn words_inside<const WORDS: usize>(&self, x: u32, y: u32, reach: Reach, via: Via) -> [u32; WORDS] {
        // SAFETY: `reach` saw the whole load inside readable rows, aligned for `Aligned` and with a word to spare on both
        // sides for `Inside`.
        unsafe {
            match (reach, via) {
                (Reach::Aligned, Via::ReadOnly) => crate::device::load_aligned(self.address(x, y)),
                (_, Via::ReadOnly) => crate::device::load_shifted(self.address(x, y)),
                (Reach::Aligned, Via::Written) => crate::device::load_written(self.address(x, y)),
                (_, Via::Written) => self.words_at_edge(x, y, via),
            }
        }
    }

    /// Sample `x` of row `y`, or the nearest inside.
    #[inline(always)]
    pub(crate) fn sample<S: Sample>(&self, x: u32, y: u32, via: Via) -> S {
        let (x, y) = (x.min(self.columns::<S>() - 1), y.min(self.rows - 1));
        let address = self.address(x * size_of::<S>() as u32, y);
        let mut sample = S::zeroed();
        let to = (&raw mut sample).cast::<u8>();
        let mut i = 0;
        while i < S::CHANNELS {
            // SAFETY: the sample lies inside the plane, at the alignment of its scalars, as `new`'s caller promised; `to` is
            // as large, and any bits are a value of a Pod.
            unsafe {
                match S::KIND {
                    ScalarKind::U8 => to.add(i).write(load_scalar::<1>(address.wrapping_add(i), via) as u8),
                    ScalarKind::U16 | ScalarKind::F16 => {
                        let half = load_scalar::<2>(address.wrapping_add(2 * i), via) as u16;
                        to.cast::<u16>().add(i).write(half);
                    }
                    ScalarKind::F32 => {
                        to.cast::<u32>().add(i).write(load_scalar::<4>(address.wrapping_add(4 * i), via))
                    }
                }
            }
            i += 1;
        }
        sample
    }

    /// `W` by `H` samples from sample `x`, row `y`; past the last column or row the nearest inside.
    ///
    /// # Safety
    /// `reach` is no better than what [`PlaneIn::reach`] says of exactly this load.
    #[inline(always)]
    pub(crate) unsafe fn tile<S: Sample, const W: usize, const H: usize>(
        &self,
        x: u32,
        y: u32,
        reach: Reach,
        via: Via,
    ) -> [[S; W]; H] {
        let mut tile = [[S::zeroed(); W]; H];
        unrolled!(rows j in H => {
            // SAFETY: as promised by the caller, for a row of the load.
            tile[j] = unsafe { self.tile_row(x, y + j as u32, reach, via) };
        });
        tile
    }

    /// # Safety
    /// As [`PlaneIn::tile`], for a row of it.
    #[inline(always)]
    unsafe fn tile_row<S: Sample, const W: usize>(&self, x: u32, y: u32, reach: Reach, via: Via) -> [S; W] {
        let mut samples = [S::zeroed(); W];
        if !(size_of::<S>() * W).is_multiple_of(4) || reach == Reach::Edge {
            unrolled!(i in W => {
                samples[i] = self.sample(x + i as u32, y, via);
            });
            return samples;
        }
        let at = x * size_of::<S>() as u32;
        let to = (&raw mut samples).cast::<u8>();
        // The widest vectors that divide the row.
        // SAFETY: inside the load, on its vectors; `to` has as many bytes.
        unsafe {
            if (size_of::<S>() * W).is_multiple_of(16) {
                unrolled!(i in size_of::<S>() * W / 16 => {
                    put::<S, 4>(to.add(16 * i), self.words(at + 16 * i as u32, y, reach, via));
                });
            } else if (size_of::<S>() * W).is_multiple_of(8) {
                unrolled!(i in size_of::<S>() * W / 8 => {
                    put::<S, 2>(to.add(8 * i), self.words(at + 8 * i as u32, y, reach, via));
                });
            } else {
                unrolled!(i in size_of::<S>() * W / 4 => {
                    put::<S, 1>(to.add(4 * i), self.words(at + 4 * i as u32, y, reach, via));
                });
            }
        }
        samples
    }
}

/// Writes words into an array of samples.
///
/// # Safety
/// `to` is as large, and its bytes may be any.
#[inline(always)]
unsafe fn put<S: Sample, const WORDS: usize>(to: *mut u8, words: [u32; WORDS]) {
    // SAFETY: as promised by the caller.
    unsafe {
        if size_of::<S>().is_power_of_two() {
            to.cast::<[u32; WORDS]>().write_unaligned(words);
        } else {
            // Three channels: a word that lies across two samples would put the tile into local memory.
            let mut i = 0;
            while i < WORDS {
                let [a, b, c, d] = words[i].to_ne_bytes();
                let to = to.add(4 * i);
                match S::KIND {
                    ScalarKind::U8 => {
                        to.write(a);
                        to.add(1).write(b);
                        to.add(2).write(c);
                        to.add(3).write(d);
                    }
                    ScalarKind::U16 | ScalarKind::F16 => {
                        to.cast::<u16>().write_unaligned(u16::from_ne_bytes([a, b]));
                        to.add(2).cast::<u16>().write_unaligned(u16::from_ne_bytes([c, d]));
                    }
                    ScalarKind::F32 => to.cast::<u32>().write_unaligned(words[i]),
                }
                i += 1;
            }
        }
    }
}

/// 1, 2 or 4 aligned bytes as a number.
///
/// # Safety
/// They are readable where this runs, and nobody writes them unless `via` says so.
#[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
#[inline(always)]
unsafe fn load_scalar<const BYTES: usize>(address: *const u8, _: Via) -> u32 {
    // SAFETY: as promised by the caller.
    unsafe {
        match BYTES {
            1 => u32::from(address.read()),
            2 => u32::from(address.cast::<u16>().read_unaligned()),
            _ => address.cast::<u32>().read_unaligned(),
        }
    }
}

#[cfg(any(target_arch = "nvptx64", framewright_host_check))]
#[inline(always)]
unsafe fn load_scalar<const BYTES: usize>(address: *const u8, via: Via) -> u32 {
    // SAFETY: as on the host; the planes of a launch on a GPU are global memory.
    unsafe {
        match via {
            Via::ReadOnly => crate::device::load_scalar::<BYTES>(address),
            Via::Written => crate::device::load_written_scalar::<BYTES>(address),
        }
    }
}
