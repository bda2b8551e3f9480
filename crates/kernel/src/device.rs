//! What only the GPU does: loads from global memory, and the executor that stages a warp's blocks through shared memory.
//!
//! A warp is 32 blocks side by side. Each lane puts its block into shared memory, and the warp writes the rows back with
//! 16-byte stores that lie next to one another, whatever the destination's alignment:
//!
//! ```text
//! lanes      0      1      2   …                 a row of the warp, bytes in shared memory
//! blocks  [48 B ][48 B ][48 B ]…     ──►   [16][16][16][16][16]…  lane k stores chunk k, k + 32, …
//! ```

use crate::{
    body::{Block, Body},
    entry::{LANES, NamedEntry, WARPS},
    fault::FaultRecord,
    launch::{Domain, Launch},
    place::{Aligned, At, Edge, Inside, Reach},
};
use core::arch::{asm, nvptx};

/// A load of `WORDS` words that is aligned to its size and read by no other block.
///
/// # Safety
/// The bytes are readable global memory, aligned to the load's size, that nobody writes during the launch.
#[inline(always)]
pub(crate) unsafe fn load_aligned<const WORDS: usize>(address: *const u8) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    // SAFETY: as promised by the caller, for each part.
    unsafe {
        match WORDS {
            4 => {
                let (a, b, c, d): (u32, u32, u32, u32);
                asm!("ld.global.nc.L1::no_allocate.v4.u32 {{{0}, {1}, {2}, {3}}}, [{4}];",
                    out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d, in(reg64) address,
                    options(pure, readonly, nostack, preserves_flags));
                (words[0], words[1], words[2], words[3]) = (a, b, c, d);
            }
            2 => {
                let (a, b): (u32, u32);
                asm!("ld.global.nc.L1::no_allocate.v2.u32 {{{0}, {1}}}, [{2}];",
                    out(reg32) a, out(reg32) b, in(reg64) address,
                    options(pure, readonly, nostack, preserves_flags));
                (words[0], words[1]) = (a, b);
            }
            _ => {
                let mut i = 0;
                while i < WORDS {
                    words[i] = load_word(address.wrapping_add(4 * i));
                    i += 1;
                }
            }
        }
    }
    words
}

/// A load of `WORDS` words at any address: the aligned words around it, shifted.
///
/// # Safety
/// The bytes, and a word before and after them, are readable global memory that nobody writes during the launch.
#[inline(always)]
pub(crate) unsafe fn load_shifted<const WORDS: usize>(address: *const u8) -> [u32; WORDS] {
    let shift = (address as u64 as u32 & 3) * 8;
    let aligned = (address as u64 & !3) as *const u8;
    let mut words = [0; WORDS];
    // SAFETY: the aligned words reach at most three bytes before and four after, as promised by the caller.
    let mut low = unsafe { load_word(aligned) };
    let mut i = 0;
    while i < WORDS {
        // SAFETY: as above.
        let high = unsafe { load_word(aligned.wrapping_add(4 * i + 4)) };
        words[i] = funnel_right(low, high, shift);
        low = high;
        i += 1;
    }
    words
}

/// The low word of `high:low >> shift`, shift below 32.
#[inline(always)]
fn funnel_right(low: u32, high: u32, shift: u32) -> u32 {
    let word;
    // SAFETY: a register instruction without memory.
    unsafe {
        asm!("shf.r.wrap.b32 {0}, {1}, {2}, {3};", out(reg32) word, in(reg32) low, in(reg32) high, in(reg32) shift,
            options(pure, nomem, nostack, preserves_flags));
    }
    word
}

/// # Safety
/// An aligned word of readable global memory that nobody writes during the launch.
#[inline(always)]
unsafe fn load_word(address: *const u8) -> u32 {
    let word;
    // SAFETY: as promised by the caller.
    unsafe {
        asm!("ld.global.nc.u32 {0}, [{1}];", out(reg32) word, in(reg64) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    word
}

/// # Safety
/// A byte of readable global memory that nobody writes during the launch.
#[inline(always)]
pub(crate) unsafe fn load_byte(address: *const u8) -> u8 {
    let byte: u32;
    // SAFETY: as promised by the caller.
    unsafe {
        asm!("ld.global.nc.u8 {0}, [{1}];", out(reg32) byte, in(reg64) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    byte as u8
}

/// `cvt.pack.sat`: two values saturated and packed an instruction.
#[inline(always)]
pub(crate) fn pack_sat_u8x4([a, b, c, d]: [i32; 4]) -> u32 {
    let word;
    // SAFETY: register instructions without memory.
    unsafe {
        asm!("{{",
            ".reg .b32 high;",
            "cvt.pack.sat.u8.s32.b32 high, {4}, {3}, 0;",
            "cvt.pack.sat.u8.s32.b32 {0}, {2}, {1}, high;",
            "}}",
            out(reg32) word, in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d,
            options(pure, nomem, nostack, preserves_flags));
    }
    word
}

/// # Safety
/// 16 aligned bytes of this block's shared memory.
#[inline(always)]
unsafe fn store_shared(address: u32, [a, b, c, d]: [u32; 4]) {
    // SAFETY: as promised by the caller.
    unsafe {
        asm!("st.shared.v4.u32 [{0}], {{{1}, {2}, {3}, {4}}};",
            in(reg32) address, in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d, options(nostack, preserves_flags));
    }
}

/// # Safety
/// 16 aligned bytes of this block's shared memory.
#[inline(always)]
unsafe fn load_shared(address: u32) -> [u32; 4] {
    let (a, b, c, d);
    // SAFETY: as promised by the caller.
    unsafe {
        asm!("ld.shared.v4.u32 {{{0}, {1}, {2}, {3}}}, [{4}];",
            out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d, in(reg32) address, options(nostack, preserves_flags));
    }
    [a, b, c, d]
}

/// # Safety
/// An aligned word of this block's shared memory.
#[inline(always)]
unsafe fn load_shared_word(address: u32) -> u32 {
    let word;
    // SAFETY: as promised by the caller.
    unsafe {
        asm!("ld.shared.u32 {0}, [{1}];", out(reg32) word, in(reg32) address, options(nostack, preserves_flags));
    }
    word
}

/// # Safety
/// A byte of this block's shared memory.
#[inline(always)]
unsafe fn load_shared_byte(address: u32) -> u32 {
    let byte;
    // SAFETY: as promised by the caller.
    unsafe {
        asm!("ld.shared.u8 {0}, [{1}];", out(reg32) byte, in(reg32) address, options(nostack, preserves_flags));
    }
    byte
}

/// # Safety
/// 16 aligned writable bytes of global memory.
#[inline(always)]
unsafe fn store_global(address: u64, [a, b, c, d]: [u32; 4]) {
    // SAFETY: as promised by the caller.
    unsafe {
        asm!("st.global.v4.u32 [{0}], {{{1}, {2}, {3}, {4}}};",
            in(reg64) address, in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d, options(nostack, preserves_flags));
    }
}

/// # Safety
/// A writable byte of global memory.
#[inline(always)]
unsafe fn store_global_byte(address: u64, byte: u32) {
    // SAFETY: as promised by the caller.
    unsafe {
        asm!("st.global.u8 [{0}], {1};", in(reg64) address, in(reg32) byte, options(nostack, preserves_flags));
    }
}

/// The shared memory through which a block of `WARPS` warps stages, `BYTES` in all. Called once a kernel.
#[inline(always)]
fn staging<const BYTES: usize>() -> u32 {
    let address;
    // SAFETY: declares shared memory and takes its address.
    unsafe {
        asm!("{{", ".shared .align 16 .b8 staging[{1}];", "mov.u32 {0}, staging;", "}}",
            out(reg32) address, const BYTES, options(pure, nomem, nostack, preserves_flags));
    }
    address
}

/// The bytes of a warp's staging for body `B`, by stage.
struct Stage<B>(core::marker::PhantomData<B>);

impl<B: Body> Stage<B> {
    /// 16-byte chunks of a block's row.
    const CHUNKS: u32 = B::Block::ROW_WORDS as u32 / 4;
    /// Bytes of a row of the warp.
    const ROW: u32 = LANES * Self::CHUNKS * 16;
    /// Bytes of a warp.
    const WARP: u32 = Self::ROW * B::HEIGHT;

    /// Where chunk `c` of a row lies: in order, or swizzled where that would put a quarter warp's chunks into the same banks.
    #[inline(always)]
    fn slot(c: u32) -> u32 {
        const { assert!(B::Block::ROW_WORDS.is_multiple_of(4), "a block's row is a multiple of 16 bytes") };
        if Self::CHUNKS == 4 { c ^ ((c >> 3) & 3) } else { c }
    }
}

/// Runs the calling thread's part of a launch of `32 x WARPS` threads a block.
///
/// # Safety
/// The planes of the body are readable and the pixels of the domain writable global memory, apart from one another.
#[inline(always)]
pub unsafe fn run<B: NamedEntry>(launch: &Launch<B>) {
    if B::MAY_PANIC {
        remember_kernel(B::ENTRY);
    }
    // SAFETY: reading the thread's place has no precondition.
    let (lane, warp, column, row) = unsafe {
        (
            nvptx::_thread_idx_x() as u32,
            nvptx::_thread_idx_y() as u32,
            nvptx::_block_idx_x() as u32 * LANES,
            nvptx::_block_idx_y() as u32 * WARPS,
        )
    };
    let Domain { x0, y0, x1, y1 } = launch.domain;
    let y = (y0 / B::HEIGHT + row + warp) * B::HEIGHT;
    if y >= y1 {
        return; // The whole warp.
    }
    let at = At { x: (column + lane) * B::WIDTH, y };
    let stage = const_staging::<B>() + warp * Stage::<B>::WARP;
    if at.x < x1 {
        match launch.body.reach(at) {
            Reach::Aligned => put(stage, lane, &launch.body.block::<Aligned>(at)),
            Reach::Inside => put(stage, lane, &launch.body.block::<Inside>(at)),
            Reach::Edge => put(stage, lane, &launch.body.block::<Edge>(at)),
        }
    }
    // SAFETY: every lane of the warp arrives: only whole warps have returned.
    unsafe { asm!("bar.warp.sync 0xffffffff;", options(nostack, preserves_flags)) };

    // The warp's pixels, and those of them that lie in the domain, in bytes of a row of the warp.
    let first = column * B::WIDTH;
    let low = x0.max(first) - first;
    let high = x1.min(first + LANES * B::WIDTH) - first;
    let (low, high) = (low * B::PIXEL_BYTES, high * B::PIXEL_BYTES);
    let mut r = 0;
    while r < B::HEIGHT {
        if y + r >= y0 && y + r < y1 {
            let to = (launch.out.base as u64)
                .wrapping_add(launch.out.pitch_bytes.wrapping_mul(i64::from(y + r)) as u64)
                .wrapping_add(u64::from(first) * u64::from(B::PIXEL_BYTES));
            let from = stage + r * Stage::<B>::ROW;
            if to & 15 == 0 && low == 0 && high == Stage::<B>::ROW {
                let mut k = 0;
                while k < Stage::<B>::CHUNKS {
                    let c = k * LANES + lane;
                    // SAFETY: chunk c of the warp's row, aligned, inside the domain.
                    unsafe { store_global(to + u64::from(c) * 16, load_shared(from + Stage::<B>::slot(c) * 16)) };
                    k += 1;
                }
            } else {
                // SAFETY: bytes low..high of the row are pixels of the domain, which the caller promised to be writable.
                unsafe { store_row::<B>(from, to, low, high, lane) };
            }
        }
        r += 1;
    }
}

/// The staging memory of body `B`.
#[inline(always)]
fn const_staging<B: Body>() -> u32 {
    // asm's const operand cannot depend on a type, so the sizes in use are listed.
    const KIB: usize = 1024;
    match Stage::<B>::WARP * WARPS {
        n if n <= 8 * KIB as u32 => staging::<{ 8 * KIB }>(),
        n if n <= 12 * KIB as u32 => staging::<{ 12 * KIB }>(),
        n if n <= 16 * KIB as u32 => staging::<{ 16 * KIB }>(),
        _ => staging::<{ 32 * KIB }>(),
    }
}

/// Puts a lane's block into the staging memory.
#[inline(always)]
fn put<B: Block>(stage: u32, lane: u32, block: &B) {
    let chunks = B::ROW_WORDS as u32 / 4;
    let mut r = 0;
    while r < B::ROWS {
        let words = block.row(r);
        let mut j = 0;
        while j < B::ROW_WORDS / 4 {
            let c = lane * chunks + j as u32;
            let slot = if chunks == 4 { c ^ ((c >> 3) & 3) } else { c };
            let address = stage + (r as u32 * LANES * chunks + slot) * 16;
            // SAFETY: slot is a chunk of this warp's row r.
            unsafe { store_shared(address, [words[4 * j], words[4 * j + 1], words[4 * j + 2], words[4 * j + 3]]) };
            j += 1;
        }
        r += 1;
    }
}

/// Writes bytes `low..high` of a warp's row from shared memory to global memory at any alignment: aligned 16-byte stores where
/// a whole chunk is inside, bytes at the two ends.
///
/// # Safety
/// Bytes `low..high` from `to` are writable global memory; the staging memory holds the row.
#[inline(always)]
unsafe fn store_row<B: Body>(from: u32, to: u64, low: u32, high: u32, lane: u32) {
    let byte_at = |o: u32| from + Stage::<B>::slot(o >> 4) * 16 + (o & 15);
    let phase = (to & 15) as u32;
    // Chunk k of the destination starts at byte k * 16 - phase of the row.
    let mut k = lane;
    while k * 16 < high + phase {
        let end = k * 16 + 16 - phase;
        if k * 16 >= low + phase && end <= high {
            let o = k * 16 - phase;
            let shift = (o & 3) * 8;
            let word = |i: u32| {
                let o = (o & !3) + 4 * i;
                // The word past the last one is shifted out where it lies outside the row.
                // SAFETY: a word of the warp's row in staging memory.
                unsafe { load_shared_word(byte_at(o.min(Stage::<B>::ROW - 4))) }
            };
            let w = [word(0), word(1), word(2), word(3), word(4)];
            let chunk = [
                funnel_right(w[0], w[1], shift),
                funnel_right(w[1], w[2], shift),
                funnel_right(w[2], w[3], shift),
                funnel_right(w[3], w[4], shift),
            ];
            // SAFETY: a whole chunk between low and high, aligned by construction.
            unsafe { store_global(to + u64::from(o), chunk) };
        } else {
            let mut o = (k * 16).max(low + phase) - phase;
            while o < end.min(high) {
                // SAFETY: a byte between low and high.
                unsafe { store_global_byte(to + u64::from(o), load_shared_byte(byte_at(o))) };
                o += 1;
            }
        }
        k += LANES;
    }
}

// Where the record of a panic is, set by the host when it loads the module; and which kernel a block runs.
core::arch::global_asm!(
    ".visible .global .align 8 .u64 FRAMEWRIGHT_FAULT_RECORD = 0;",
    ".shared .align 8 .u64 framewright_kernel_name[2];",
);

#[inline(always)]
fn remember_kernel(name: &'static str) {
    // SAFETY: stores to the module's own shared memory.
    unsafe {
        asm!("st.shared.u64 [framewright_kernel_name], {0};", "st.shared.u64 [framewright_kernel_name+8], {1};",
            in(reg64) name.as_ptr(), in(reg64) name.len() as u64, options(nostack, preserves_flags));
    }
}

/// Writes the record of a panic, if nobody has, and stops the launch. For panic handlers.
pub fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    let record: u64;
    // SAFETY: loads the module's own variable.
    unsafe {
        asm!("ld.global.u64 {0}, [FRAMEWRIGHT_FAULT_RECORD];", out(reg64) record, options(nostack, preserves_flags))
    };
    if record != 0 {
        let claimed: u32;
        // SAFETY: the host set a record, whose first word is its state.
        unsafe {
            asm!("atom.sys.global.cas.b32 {0}, [{1}], 0, 1;", out(reg32) claimed, in(reg64) record,
                options(nostack, preserves_flags));
        }
        if claimed == 0 {
            // SAFETY: the record is this thread's alone.
            unsafe { write_record(record as *mut FaultRecord, info) };
        }
    }
    // SAFETY: `trap` has no precondition; it ends the launch.
    unsafe { nvptx::trap() }
}

/// # Safety
/// `record` is a record in memory of the host that the device may write, claimed by this thread.
unsafe fn write_record(record: *mut FaultRecord, info: &core::panic::PanicInfo<'_>) {
    let (name, len): (*const u8, u64);
    // SAFETY: as promised by the caller; the name is a static string where `remember_kernel` ran, and else unused.
    unsafe {
        if let Some(location) = info.location() {
            (&raw mut (*record).line).write_volatile(location.line());
            (&raw mut (*record).column).write_volatile(location.column());
            let file = location.file().as_bytes();
            let count = file.len().min(160);
            let mut i = 0;
            while i < count {
                (&raw mut (*record).file).cast::<u8>().add(i).write_volatile(*file.get_unchecked(i));
                i += 1;
            }
            (&raw mut (*record).file_len).write_volatile(count as u32);
        }
        asm!("ld.shared.u64 {0}, [framewright_kernel_name];", "ld.shared.u64 {1}, [framewright_kernel_name+8];",
            out(reg64) name, out(reg64) len, options(nostack, preserves_flags));
        let count = if len <= 96 { len as usize } else { 0 };
        let mut i = 0;
        while i < count {
            (&raw mut (*record).kernel).cast::<u8>().add(i).write_volatile(name.add(i).read());
            i += 1;
        }
        (&raw mut (*record).kernel_len).write_volatile(count as u32);
        // Word by word: an array here would be local memory.
        let place = (&raw mut (*record).place).cast::<u32>();
        place.write_volatile(nvptx::_block_idx_x() as u32);
        place.add(1).write_volatile(nvptx::_block_idx_y() as u32);
        place.add(2).write_volatile(nvptx::_block_idx_z() as u32);
        place.add(3).write_volatile(nvptx::_thread_idx_x() as u32);
        place.add(4).write_volatile(nvptx::_thread_idx_y() as u32);
        place.add(5).write_volatile(nvptx::_thread_idx_z() as u32);
        asm!("fence.acq_rel.sys;", options(nostack, preserves_flags));
        (&raw mut (*record).state).write_volatile(2);
        asm!("fence.acq_rel.sys;", options(nostack, preserves_flags));
    }
}
