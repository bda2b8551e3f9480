//! What only the GPU does: loads from global memory, and the executor that stages a warp's blocks through shared memory.
//!
//! A warp is 32 blocks side by side. Each lane puts its block into shared memory, and the warp writes the rows back with
//! 16-byte stores that lie next to one another, whatever the destination's alignment:
//!
//! ```text
//! lanes      0      1      2   …                 a row of the warp, bytes in shared memory
//! blocks  [48 B ][48 B ][48 B ]…     ──►   [16][16][16][16][16]…  lane k stores chunk k, k + 32, …
//! ```

#[cfg(not(feature = "rust-cuda"))]
use crate::fault::FaultRecord;
use crate::{
    combine::{Combine, ReduceRaw},
    entry::{LANES, WARPS},
    item::{Domain, Item, private::Make},
    kernel::{Instance, Launch},
    list::ParamList,
    place::Reach,
    plane::PlaneOut,
    value::{self, Cells},
};
#[cfg(not(framewright_host_check))]
use core::arch::asm;
use framewright_core::{PlaneSpec, Subsampling};
use hardware::{barrier, block, grid, sync_warp, thread};
#[cfg(framewright_host_check)]
use host_check::asm;

/// What stands in for the assembler where the host only checks this file.
#[cfg(framewright_host_check)]
mod host_check;

/// Indices and barriers: from `core` here, from `cuda_std` where rust-cuda compiles.
#[cfg(not(feature = "rust-cuda"))]
mod hardware {
    use core::arch::{asm, nvptx};

    /// The thread in its block: x, y.
    #[inline(always)]
    pub(super) fn thread() -> [u32; 2] {
        // SAFETY: reading a register has no precondition.
        unsafe { [nvptx::_thread_idx_x() as u32, nvptx::_thread_idx_y() as u32] }
    }
    /// The block in its grid: x, y.
    #[inline(always)]
    pub(super) fn block() -> [u32; 2] {
        // SAFETY: as above.
        unsafe { [nvptx::_block_idx_x() as u32, nvptx::_block_idx_y() as u32] }
    }
    /// Blocks of the grid: x, y.
    #[inline(always)]
    pub(super) fn grid() -> [u32; 2] {
        // SAFETY: as above.
        unsafe { [nvptx::_grid_dim_x() as u32, nvptx::_grid_dim_y() as u32] }
    }
    /// # Safety
    /// All threads of the block come here.
    #[inline(always)]
    pub(super) unsafe fn barrier() {
        // SAFETY: as promised by the caller.
        unsafe { asm!("bar.sync 0;", options(nostack, preserves_flags)) }
    }
    /// # Safety
    /// All lanes of the warp come here.
    #[inline(always)]
    pub(super) unsafe fn sync_warp() {
        // SAFETY: as promised by the caller.
        unsafe { asm!("bar.warp.sync 0xffffffff;", options(nostack, preserves_flags)) }
    }
    #[inline(always)]
    pub(super) fn trap() -> ! {
        // SAFETY: ends the launch; no precondition.
        unsafe { nvptx::trap() }
    }
}
#[cfg(feature = "rust-cuda")]
mod hardware {
    #[cfg(framewright_host_check)]
    use super::host_check::asm;
    #[cfg(not(framewright_host_check))]
    use core::arch::asm;
    use cuda_std::thread as cuda;

    #[inline(always)]
    pub(super) fn thread() -> [u32; 2] {
        [cuda::thread_idx_x(), cuda::thread_idx_y()]
    }
    #[inline(always)]
    pub(super) fn block() -> [u32; 2] {
        [cuda::block_idx_x(), cuda::block_idx_y()]
    }
    #[inline(always)]
    pub(super) fn grid() -> [u32; 2] {
        [cuda::grid_dim_x(), cuda::grid_dim_y()]
    }
    /// # Safety
    /// All threads of the block come here.
    #[inline(always)]
    pub(super) unsafe fn barrier() {
        cuda::sync_threads();
    }
    /// # Safety
    /// All lanes of the warp come here.
    #[inline(always)]
    pub(super) unsafe fn sync_warp() {
        // SAFETY: as promised by the caller.
        unsafe { asm!("bar.warp.sync 0xffffffff;", options(nostack, preserves_flags)) }
    }
}

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

/// 1, 2 or 4 aligned bytes.
///
/// # Safety
/// Readable global memory that nobody writes during the launch.
#[inline(always)]
pub(crate) unsafe fn load_scalar<const BYTES: usize>(address: *const u8) -> u32 {
    let value: u32;
    // SAFETY: as promised by the caller.
    unsafe {
        match BYTES {
            1 => asm!("ld.global.nc.u8 {0}, [{1}];", out(reg32) value, in(reg64) address,
                options(pure, readonly, nostack, preserves_flags)),
            2 => asm!("{{", ".reg .u16 half;", "ld.global.nc.u16 half, [{1}];", "cvt.u32.u16 {0}, half;", "}}",
                out(reg32) value, in(reg64) address, options(pure, readonly, nostack, preserves_flags)),
            _ => return load_word(address),
        }
    }
    value
}

/// 1, 2 or 4 aligned bytes of memory that this launch also writes.
///
/// # Safety
/// Readable global memory that nobody but this thread's warp writes during the launch.
#[inline(always)]
pub(crate) unsafe fn load_written_scalar<const BYTES: usize>(address: *const u8) -> u32 {
    let value: u32;
    // SAFETY: as promised by the caller.
    unsafe {
        match BYTES {
            1 => asm!("ld.global.u8 {0}, [{1}];", out(reg32) value, in(reg64) address,
                options(readonly, nostack, preserves_flags)),
            2 => asm!("{{", ".reg .u16 half;", "ld.global.u16 half, [{1}];", "cvt.u32.u16 {0}, half;", "}}",
                out(reg32) value, in(reg64) address, options(readonly, nostack, preserves_flags)),
            _ => asm!("ld.global.u32 {0}, [{1}];", out(reg32) value, in(reg64) address,
                options(readonly, nostack, preserves_flags)),
        }
    }
    value
}

/// A load of `WORDS` words, aligned to its size, of memory that this launch also writes.
///
/// # Safety
/// Readable global memory that nobody but this thread's warp writes during the launch.
#[inline(always)]
pub(crate) unsafe fn load_written<const WORDS: usize>(address: *const u8) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    // SAFETY: as promised by the caller, for each part.
    unsafe {
        match WORDS {
            4 => {
                let (a, b, c, d): (u32, u32, u32, u32);
                asm!("ld.global.v4.u32 {{{0}, {1}, {2}, {3}}}, [{4}];",
                    out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d, in(reg64) address,
                    options(readonly, nostack, preserves_flags));
                (words[0], words[1], words[2], words[3]) = (a, b, c, d);
            }
            _ => {
                let mut i = 0;
                while i < WORDS {
                    words[i] = load_written_scalar::<4>(address.wrapping_add(4 * i));
                    i += 1;
                }
            }
        }
    }
    words
}

/// The bits of the nearest `f16`.
#[inline(always)]
pub(crate) fn f16_bits(value: f32) -> u16 {
    let bits;
    // SAFETY: a register instruction without memory.
    unsafe {
        asm!("{{", ".reg .f16 h;", "cvt.rn.f16.f32 h, {1};", "mov.b16 {0}, h;", "}}", out(reg16) bits, in(reg32) value,
            options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// The `f32` of an `f16`'s bits.
#[inline(always)]
pub(crate) fn f32_of_f16(bits: u16) -> f32 {
    let value;
    // SAFETY: a register instruction without memory.
    unsafe {
        asm!("{{", ".reg .f16 h;", "mov.b16 h, {1};", "cvt.f32.f16 {0}, h;", "}}", out(reg32) value, in(reg16) bits,
            options(pure, nomem, nostack, preserves_flags));
    }
    value
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
/// An aligned word of this block's shared memory.
#[inline(always)]
unsafe fn store_shared_word(address: u32, word: u32) {
    // SAFETY: as promised by the caller.
    unsafe { asm!("st.shared.u32 [{0}], {1};", in(reg32) address, in(reg32) word, options(nostack, preserves_flags)) }
}

/// # Safety
/// Two aligned bytes of this block's shared memory.
#[inline(always)]
unsafe fn store_shared_half(address: u32, half: u16) {
    // SAFETY: as promised by the caller.
    unsafe { asm!("st.shared.u16 [{0}], {1};", in(reg32) address, in(reg16) half, options(nostack, preserves_flags)) }
}

/// # Safety
/// A byte of this block's shared memory.
#[inline(always)]
unsafe fn store_shared_byte(address: u32, byte: u32) {
    // SAFETY: as promised by the caller.
    unsafe { asm!("st.shared.u8 [{0}], {1};", in(reg32) address, in(reg32) byte, options(nostack, preserves_flags)) }
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

/// All the shared memory of a block, `BYTES`. Called once a kernel.
#[inline(always)]
fn allocate<const BYTES: usize>() -> u32 {
    let address;
    // SAFETY: declares shared memory and takes its address.
    unsafe {
        asm!("{{", ".shared .align 16 .b8 staging[{1}];", "mov.u32 {0}, staging;", "}}",
            out(reg32) address, const BYTES, options(pure, nomem, nostack, preserves_flags));
    }
    address
}

/// The parameters of a kernel.
type Params<K> = <K as crate::Kernel>::Params;
/// Their list.
trait Known: Instance {
    const STAGE: u32 = <Params<Self> as ParamList<Self::Item, Self::Given>>::STAGE;
    const SHARED: u32 = <Params<Self> as ParamList<Self::Item, Self::Given>>::SHARED;
    const COMBINES: bool = <Params<Self> as ParamList<Self::Item, Self::Given>>::COMBINES;
    const BYTES: u32 = {
        let bytes = Self::STAGE * WARPS + Self::SHARED;
        assert!(
            bytes <= 48 * 1024,
            "a kernel stages at most 48 KiB a thread block: take smaller blocks, or fewer outputs or bins"
        );
        bytes
    };
}
impl<K: Instance> Known for K {}

/// The shared memory of kernel `K`: its staging first.
#[inline(always)]
fn shared<K: Known>() -> u32 {
    // asm's const operand cannot depend on a type, so the sizes in use are listed.
    match K::BYTES {
        0 => 0,
        ..=0x0800 => allocate::<0x0800>(),
        ..=0x1000 => allocate::<0x1000>(),
        ..=0x1800 => allocate::<0x1800>(),
        ..=0x2000 => allocate::<0x2000>(),
        ..=0x3000 => allocate::<0x3000>(),
        ..=0x4000 => allocate::<0x4000>(),
        ..=0x6000 => allocate::<0x6000>(),
        ..=0x8000 => allocate::<0x8000>(),
        _ => allocate::<0xc000>(),
    }
}

/// Runs the calling thread's part of a launch of `32 x WARPS` threads a block.
///
/// # Safety
/// What the parameters read is readable and the pixels of the domain in what they write writable global memory, apart from
/// one another.
#[inline(always)]
pub unsafe fn run<K: Instance>(launch: &Launch<K>) {
    crate::launch::check::<K>();
    if K::PANICS {
        remember_kernel(K::ENTRY.name);
    }
    let [_, warp] = thread();
    let domain = &launch.domain;
    let staging = shared::<K>();
    let stage = staging + warp * <K as Known>::STAGE;
    // SAFETY: as promised by the caller; the shared memory after the staging is for what the parameters need beside.
    let mut params = unsafe { K::Params::open(&launch.args, staging + WARPS * <K as Known>::STAGE) };
    let row = domain.y0 / K::Item::HEIGHT + block()[1] * WARPS + warp;
    let column = domain.x0 / K::Item::WIDTH + block()[0] * (LANES * K::Item::REPEAT);
    if !<K as Known>::COMBINES {
        if row * K::Item::HEIGHT < domain.y1 {
            // SAFETY: the whole warp is in this row.
            unsafe { run_warp::<K>(&mut params, domain, stage, column, row) };
        }
        return;
    }
    // SAFETY: all threads come to the barriers: loops take whole warps, and what follows them is for all.
    unsafe {
        params.begin();
        barrier();
        let [columns, rows] = grid();
        let mut y = row;
        while y * K::Item::HEIGHT < domain.y1 {
            let mut x = column;
            while x * K::Item::WIDTH < domain.x1 {
                run_warp::<K>(&mut params, domain, stage, x, y);
                x += columns * (LANES * K::Item::REPEAT);
            }
            y += rows * WARPS;
        }
        barrier();
        params.finish(&launch.args);
    }
}

/// Runs a warp's row of items from item `column` in item row `row`.
///
/// # Safety
/// All lanes of the warp come here with the same place.
#[inline(always)]
unsafe fn run_warp<K: Instance>(params: &mut K::Params, domain: &Domain, stage: u32, column: u32, row: u32) {
    let lane = thread()[0];
    let y = row * K::Item::HEIGHT;
    let mut repeat = 0;
    while repeat < K::Item::REPEAT {
        let index = repeat * LANES + lane;
        let x = (column + index) * K::Item::WIDTH;
        if x < domain.x1 {
            // A call for each reach, so that the loads of each are compiled for it.
            // SAFETY: the warp's staging memory.
            unsafe {
                match params.reach(x, y) {
                    Reach::Aligned => call::<K>(params, domain, stage, index, x, y, Reach::Aligned),
                    Reach::Inside => call::<K>(params, domain, stage, index, x, y, Reach::Inside),
                    Reach::Edge => call::<K>(params, domain, stage, index, x, y, Reach::Edge),
                }
            }
        }
        repeat += 1;
    }
    if <K as Known>::STAGE > 0 {
        // SAFETY: every lane of the warp arrives.
        unsafe {
            sync_warp();
            params.flush(domain, stage, column * K::Item::WIDTH, y);
            if <K as Known>::COMBINES {
                // The next row of items goes through the same memory.
                sync_warp();
            }
        }
    }
}

/// # Safety
/// `stage` is the warp's staging memory.
#[inline(always)]
unsafe fn call<K: Instance>(
    params: &mut K::Params,
    domain: &Domain,
    stage: u32,
    index: u32,
    x: u32,
    y: u32,
    reach: Reach,
) {
    let at = K::Item::make(x, y, reach, *domain);
    let given = K::run(params, &at);
    // SAFETY: as promised by the caller.
    unsafe { K::Params::put(stage, index, &given) };
}

/// Where chunk `c` of a staged row lies: in order, or swizzled where that would put a quarter warp's chunks into the same
/// banks. `chunks` is how many an item's row has, 0 where it is no whole number.
#[inline(always)]
fn slot(c: u32, chunks: u32) -> u32 {
    if chunks == 4 { c ^ ((c >> 3) & 3) } else { c }
}

/// 16-byte chunks of an item's row of `bytes`; 0 where it is no whole number.
const fn chunks(bytes: u32) -> u32 {
    if bytes.is_multiple_of(16) { bytes / 16 } else { 0 }
}

/// Puts item `index` of a warp's `items` into a plane's staging memory.
///
/// # Safety
/// `stage` are `items * C::ROW_BYTES * C::ROWS` bytes of shared memory, aligned to 16.
#[inline(always)]
pub(crate) unsafe fn put<C: Cells>(stage: u32, items: u32, index: u32, cells: &C) {
    let bytes = C::ROW_BYTES;
    let mut r = 0;
    while r < C::ROWS {
        let from = cells.row(r as usize).as_ptr();
        let row = stage + r * items * bytes;
        // SAFETY: bytes of the item's row, from cells that have as many; aligned as each branch asks.
        unsafe {
            let word = |o: u32| cells.word(r, o);
            let mut o = 0;
            if bytes.is_multiple_of(16) {
                while o < bytes {
                    let c = slot(index * (bytes / 16) + o / 16, chunks(bytes));
                    store_shared(row + c * 16, [word(o), word(o + 4), word(o + 8), word(o + 12)]);
                    o += 16;
                }
            } else if bytes.is_multiple_of(4) {
                while o < bytes {
                    store_shared_word(row + index * bytes + o, word(o));
                    o += 4;
                }
            } else if bytes.is_multiple_of(2) {
                while o < bytes {
                    store_shared_half(row + index * bytes + o, from.add(o as usize).cast::<u16>().read_unaligned());
                    o += 2;
                }
            } else {
                while o < bytes {
                    store_shared_byte(row + index * bytes + o, u32::from(from.add(o as usize).read()));
                    o += 1;
                }
            }
        }
        r += 1;
    }
}

/// Stores a plane's staged rows of a warp whose first item is at pixel `x`, `y`.
///
/// # Safety
/// All lanes of the warp come here after a barrier; the samples of the domain are writable through `out`.
#[inline(always)]
pub(crate) unsafe fn flush<I: Item, S: PlaneSpec>(out: &PlaneOut, domain: &Domain, stage: u32, x: u32, y: u32) {
    let lane = thread()[0];
    let (sx, sy) = (<S::Subsampling as Subsampling>::X, <S::Subsampling as Subsampling>::Y);
    let sample = size_of::<S::Sample>() as u32;
    let item = value::row_bytes::<I, S>();
    let row = LANES * I::REPEAT * item;
    // The warp's samples, and those of them that lie in the domain, in bytes of a row of the warp.
    let (first, top) = (x / sx, y / sy);
    let span = row / sample;
    let low = ((domain.x0 / sx).max(first) - first) * sample;
    let high = (domain.x1.div_ceil(sx).min(first + span) - first) * sample;
    // Rows of the item in the domain. As numbers of the run, so that the loop's body is compiled once.
    let mut r = (domain.y0 / sy).max(top) - top;
    let end = (domain.y1.div_ceil(sy) - top).min(value::rows::<I, S>());
    while r < end {
        let to = (out.base as u64)
            .wrapping_add(out.pitch_bytes.wrapping_mul(i64::from(top + r)) as u64)
            .wrapping_add(u64::from(first) * u64::from(sample));
        let from = stage + r * row;
        if to & 15 == 0 && low == 0 && high == row {
            // A constant count of rounds, so that they overlap.
            let mut k = 0;
            while k < (row / 16).div_ceil(LANES) {
                let c = k * LANES + lane;
                if row.is_multiple_of(16 * LANES) || c < row / 16 {
                    // SAFETY: chunk c of the warp's row, aligned, inside the domain.
                    unsafe { store_global(to + u64::from(c) * 16, load_shared(from + slot(c, chunks(item)) * 16)) };
                }
                k += 1;
            }
        } else {
            // SAFETY: bytes low..high of the row are samples of the domain, which the caller promised to be writable.
            unsafe { store_row(from, to, low, high, lane, row, chunks(item)) };
        }
        r += 1;
    }
}

/// Writes bytes `low..high` of a warp's row of `row` bytes from shared memory to global memory at any alignment: aligned
/// 16-byte stores where a whole chunk is inside, bytes at the two ends.
///
/// # Safety
/// Bytes `low..high` from `to` are writable global memory; the staging memory holds the row.
#[inline(always)]
unsafe fn store_row(from: u32, to: u64, low: u32, high: u32, lane: u32, row: u32, chunks: u32) {
    let byte_at = |o: u32| from + slot(o >> 4, chunks) * 16 + (o & 15);
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
                unsafe { load_shared_word(byte_at(o.min(row - 4))) }
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

/// The thread in its block, in one number.
#[inline(always)]
fn linear() -> u32 {
    let [x, y] = thread();
    y * LANES + x
}

/// Zeroes `count` words of shared memory, all threads together.
///
/// # Safety
/// They are this block's, aligned.
#[inline(always)]
pub(crate) unsafe fn zero_shared(address: u32, count: u32) {
    let mut i = linear();
    while i < count {
        // SAFETY: as promised by the caller.
        unsafe { store_shared_word(address + 4 * i, 0) };
        i += LANES * WARPS;
    }
}

/// Adds one to a counter in shared memory.
///
/// # Safety
/// An aligned word of this block's shared memory.
#[inline(always)]
pub(crate) unsafe fn count_shared(address: u32) {
    // SAFETY: as promised by the caller.
    unsafe { asm!("red.shared.add.u32 [{0}], 1;", in(reg32) address, options(nostack, preserves_flags)) }
}

/// Adds the block's counters to the launch's, all threads together.
///
/// # Safety
/// `count` words of shared memory, and as many 64-bit counters in global memory.
#[inline(always)]
pub(crate) unsafe fn add_counts(address: u32, count: u32, counts: *mut u8) {
    let mut i = linear();
    while i < count {
        // SAFETY: as promised by the caller.
        unsafe {
            let n = load_shared_word(address + 4 * i);
            if n != 0 {
                asm!("red.global.add.u64 [{0}], {1};", in(reg64) counts.wrapping_add(8 * i as usize),
                    in(reg64) u64::from(n), options(nostack, preserves_flags));
            }
        }
        i += LANES * WARPS;
    }
}

/// Words of a value.
#[inline(always)]
fn word_of<T: Combine>(value: &T, i: usize) -> u32 {
    // SAFETY: a value is whole words (checked by `Reduce`), and a Pod has no padding.
    unsafe { (&raw const *value).cast::<u32>().add(i).read_unaligned() }
}

/// A value from words.
#[inline(always)]
fn value_of<T: Combine>(mut word: impl FnMut(usize) -> u32) -> T {
    let mut value = T::zeroed();
    let mut i = 0;
    while i < size_of::<T>() / 4 {
        // SAFETY: as above; any bits are a value of a Pod.
        unsafe { (&raw mut value).cast::<u32>().add(i).write_unaligned(word(i)) };
        i += 1;
    }
    value
}

/// Combines a value of each thread, in the threads' order of a tree; the result is right in the first thread.
///
/// # Safety
/// All threads of the block come here; `shared` has room for a value each.
#[inline(always)]
unsafe fn combine_block<T: Combine>(value: T, shared: u32) -> T {
    let words = size_of::<T>() / 4;
    let thread = linear();
    // Word i of all threads side by side, so that a warp's lanes are in different banks.
    let address = |thread: u32, i: usize| shared + 4 * (i as u32 * (LANES * WARPS) + thread);
    let mut value = value;
    let mut half = LANES * WARPS / 2;
    // SAFETY: as promised by the caller; the barriers are outside of what depends on the thread.
    unsafe {
        while half > 0 {
            let mut i = 0;
            while i < words {
                store_shared_word(address(thread, i), word_of(&value, i));
                i += 1;
            }
            barrier();
            if thread < half {
                value = value.combine(value_of(|i| load_shared_word(address(thread + half, i))));
            }
            barrier();
            half /= 2;
        }
    }
    value
}

/// Combines a value of each thread of the grid and writes the result: each block its part, and the last one all parts, in an
/// order that depends on nothing but the grid.
///
/// # Safety
/// All threads of the grid come here; `shared` has room for a value a thread; the parameters are as the host made them.
#[inline(always)]
pub(crate) unsafe fn reduce<T: Combine>(value: T, raw: &ReduceRaw, shared: u32) {
    let words = size_of::<T>() / 4;
    let thread = linear();
    let ([x, y], [columns, rows]) = (block(), grid());
    let (block, blocks) = (y * columns + x, columns * rows);
    let partial =
        |block: u32, i: usize| (raw.partials as u64) + u64::from(block) * size_of::<T>() as u64 + 4 * i as u64;
    // SAFETY: as promised by the caller; the partials are written before the counter says so.
    unsafe {
        let value = combine_block(value, shared);
        if thread == 0 {
            let mut i = 0;
            while i < words {
                asm!("st.global.u32 [{0}], {1};", in(reg64) partial(block, i), in(reg32) word_of(&value, i),
                    options(nostack, preserves_flags));
                i += 1;
            }
            let done: u32;
            asm!("fence.acq_rel.gpu;", "atom.global.add.u32 {0}, [{1}], 1;", "fence.acq_rel.gpu;",
                out(reg32) done, in(reg64) raw.done, options(nostack, preserves_flags));
            store_shared_word(shared, done);
        }
        barrier();
        let last = load_shared_word(shared) == blocks - 1;
        barrier();
        if !last {
            return; // The whole block.
        }
        let mut value = T::IDENTITY;
        let mut other = thread;
        while other < blocks {
            value = value.combine(value_of(|i| {
                let word: u32;
                asm!("ld.volatile.global.u32 {0}, [{1}];", out(reg32) word, in(reg64) partial(other, i),
                    options(nostack, preserves_flags));
                word
            }));
            other += LANES * WARPS;
        }
        let value = combine_block(value, shared);
        if thread == 0 {
            let mut i = 0;
            while i < words {
                asm!("st.global.u32 [{0}], {1};", in(reg64) (raw.result as u64) + 4 * i as u64,
                    in(reg32) word_of(&value, i), options(nostack, preserves_flags));
                i += 1;
            }
        }
    }
}

// Where the record of a panic is, set by the host when it loads the module; and which kernel a block runs.
#[cfg(not(framewright_host_check))]
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
#[cfg(not(feature = "rust-cuda"))]
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
    hardware::trap()
}

#[cfg(not(feature = "rust-cuda"))]
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
        place.write_volatile(block()[0]);
        place.add(1).write_volatile(block()[1]);
        place.add(2).write_volatile(0);
        place.add(3).write_volatile(thread()[0]);
        place.add(4).write_volatile(thread()[1]);
        place.add(5).write_volatile(0);
        asm!("fence.acq_rel.sys;", options(nostack, preserves_flags));
        (&raw mut (*record).state).write_volatile(2);
        asm!("fence.acq_rel.sys;", options(nostack, preserves_flags));
    }
}
