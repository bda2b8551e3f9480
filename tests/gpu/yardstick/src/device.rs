//! The device's side: loads, staging, stores, and the entry that uses them.

use crate::{Plane, Yardstick};
use core::arch::{asm, nvptx};
use framewright_kernel::pack_sat_u8x4;

const LANES: u32 = 32;
const WARPS: u32 = 4;
/// Bytes of a warp's row of 32 blocks of 16 pixels.
const ROW: u32 = LANES * 48;

/// The hash of the parameter block, compared when the module loads.
#[unsafe(no_mangle)]
#[used]
pub(crate) static FRAMEWRIGHT_YARDSTICK_NV12_TO_BGR24_PARAMS_HASH: u64 =
    <Yardstick as framewright_kernel::ParamLayout>::HASH;

/// NV12 to BGR, 16x2 pixels a thread.
///
/// # Safety
/// Launched with blocks of 32 x 4 threads on memory that the parameters describe.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "ptx-kernel" fn framewright_yardstick_nv12_to_bgr24(p: Yardstick) {
    // SAFETY: reading the thread's place has no precondition.
    let (lane, warp, column, row) = unsafe {
        (
            nvptx::_thread_idx_x() as u32,
            nvptx::_thread_idx_y() as u32,
            nvptx::_block_idx_x() as u32 * LANES,
            nvptx::_block_idx_y() as u32 * WARPS,
        )
    };
    let y = (row + warp) * 2;
    if y >= p.height {
        return; // The whole warp.
    }
    let x = (column + lane) * 16;
    let stage = staging() + warp * 2 * ROW;
    if x < p.width {
        // SAFETY: the loads are those that `reach` allows; the staging memory is the warp's.
        unsafe {
            match reach(&p.y, x, y, 2).max(reach(&p.cbcr, x, y / 2, 1)) {
                0 => convert::<0>(&p, x, y, stage, lane),
                1 => convert::<1>(&p, x, y, stage, lane),
                _ => convert::<2>(&p, x, y, stage, lane),
            }
        }
    }
    // SAFETY: every lane of the warp arrives: only whole warps have returned.
    unsafe { asm!("bar.warp.sync 0xffffffff;", options(nostack, preserves_flags)) };
    let first = column * 16;
    let high = (p.width.min(first + LANES * 16) - first) * 3;
    let mut r = 0;
    while r < 2 {
        if y + r < p.height {
            let to = (p.out as u64)
                .wrapping_add(p.out_pitch_bytes.wrapping_mul(i64::from(y + r)) as u64)
                .wrapping_add(u64::from(first) * 3);
            let from = stage + r * ROW;
            if to & 15 == 0 && high == ROW {
                let mut k = 0;
                while k < 3 {
                    let c = k * LANES + lane;
                    // SAFETY: chunk c of the warp's row, aligned, inside the image.
                    unsafe { store_global(to + u64::from(c) * 16, load_shared(from + c * 16)) };
                    k += 1;
                }
            } else {
                // SAFETY: bytes 0..high of the row are pixels of the image.
                unsafe { store_row(from, to, high, lane) };
            }
        }
        r += 1;
    }
}

/// 0: aligned; 1: inside; 2: at an edge.
#[inline(always)]
fn reach(plane: &Plane, x: u32, y: u32, rows: u32) -> u32 {
    if x + 16 > plane.row_bytes || y + rows > plane.rows {
        return 2;
    }
    if (plane.base as u64 | plane.pitch_bytes as u64 | u64::from(x)) & 15 == 0 {
        return 0;
    }
    if x >= 4 && x + 20 <= plane.row_bytes { 1 } else { 2 }
}

/// # Safety
/// `REACH` is what `reach` said of a block that holds this row.
#[inline(always)]
unsafe fn load<const REACH: u32>(plane: &Plane, x: u32, y: u32) -> [u32; 4] {
    let row = |y: u32| plane.base.wrapping_offset(plane.pitch_bytes.wrapping_mul(i64::from(y)) as isize);
    // SAFETY: as promised by the caller; at an edge, rows and columns are clamped.
    unsafe {
        match REACH {
            0 => load_aligned::<4>(row(y).wrapping_add(x as usize)),
            1 => load_shifted::<4>(row(y).wrapping_add(x as usize)),
            _ => {
                let row = row(y.min(plane.rows - 1));
                let mut words = [0; 4];
                let mut i = 0;
                while i < 16 {
                    let at = (x + i).min(plane.row_bytes - 1) as usize;
                    words[i as usize / 4] |= u32::from(load_byte(row.wrapping_add(at))) << (8 * (i % 4));
                    i += 1;
                }
                words
            }
        }
    }
}

#[inline(always)]
fn byte(words: &[u32; 4], i: usize) -> u32 {
    (words[i / 4] >> (8 * (i % 4))) & 0xff
}

/// # Safety
/// As `load`; `stage` is the warp's staging memory.
#[inline(always)]
unsafe fn convert<const REACH: u32>(p: &Yardstick, x: u32, y: u32, stage: u32, lane: u32) {
    // SAFETY: as promised by the caller.
    let (rows, cbcr) =
        unsafe { ([load::<REACH>(&p.y, x, y), load::<REACH>(&p.y, x, y + 1)], load::<REACH>(&p.cbcr, x, y / 2)) };
    let mut out = [[0; 12]; 2];
    quad(p, &rows, &cbcr, &mut out, 2);
    quad(p, &rows, &cbcr, &mut out, 3);
    quad(p, &rows, &cbcr, &mut out, 0);
    quad(p, &rows, &cbcr, &mut out, 1);
    let mut r = 0;
    while r < 2 {
        let mut j = 0;
        while j < 3 {
            let address = stage + r as u32 * ROW + (lane * 3 + j as u32) * 16;
            // SAFETY: the lane's chunk of the warp's row r.
            unsafe { store_shared(address, [out[r][4 * j], out[r][4 * j + 1], out[r][4 * j + 2], out[r][4 * j + 3]]) };
            j += 1;
        }
        r += 1;
    }
}

#[inline(always)]
fn quad(p: &Yardstick, rows: &[[u32; 4]; 2], cbcr: &[u32; 4], out: &mut [[u32; 12]; 2], q: usize) {
    let left = p.color.0.chroma(byte(cbcr, 4 * q), byte(cbcr, 4 * q + 1));
    let right = p.color.0.chroma(byte(cbcr, 4 * q + 2), byte(cbcr, 4 * q + 3));
    let mut r = 0;
    while r < 2 {
        let y = |i: usize| byte(&rows[r], 4 * q + i);
        let [a, b] = [p.color.0.pixel(y(0), left), p.color.0.pixel(y(1), left)];
        let [c, d] = [p.color.0.pixel(y(2), right), p.color.0.pixel(y(3), right)];
        out[r][3 * q] = pack_sat_u8x4([a[0], a[1], a[2], b[0]]);
        out[r][3 * q + 1] = pack_sat_u8x4([b[1], b[2], c[0], c[1]]);
        out[r][3 * q + 2] = pack_sat_u8x4([c[2], d[0], d[1], d[2]]);
        r += 1;
    }
}

/// The shared memory of a block.
#[inline(always)]
fn staging() -> u32 {
    let address;
    // SAFETY: declares shared memory and takes its address.
    unsafe {
        asm!("{{", ".shared .align 16 .b8 staging[{1}];", "mov.u32 {0}, staging;", "}}",
            out(reg32) address, const 12 * 1024, options(pure, nomem, nostack, preserves_flags));
    }
    address
}

/// Writes bytes `0..high` of a warp's row from shared memory to global memory at any alignment.
///
/// # Safety
/// Bytes `0..high` from `to` are writable global memory; the staging memory holds the row.
#[inline(always)]
unsafe fn store_row(from: u32, to: u64, high: u32, lane: u32) {
    let phase = (to & 15) as u32;
    let mut k = lane;
    while k * 16 < high + phase {
        let end = k * 16 + 16 - phase;
        if k * 16 >= phase && end <= high {
            let o = k * 16 - phase;
            let shift = (o & 3) * 8;
            // SAFETY: words of the warp's row; the one past the last is shifted out where it lies outside.
            let word = |i: u32| unsafe { load_shared_word(from + ((o & !3) + 4 * i).min(ROW - 4)) };
            let w = [word(0), word(1), word(2), word(3), word(4)];
            let chunk = [
                funnel_right(w[0], w[1], shift),
                funnel_right(w[1], w[2], shift),
                funnel_right(w[2], w[3], shift),
                funnel_right(w[3], w[4], shift),
            ];
            // SAFETY: a whole chunk below `high`, aligned by construction.
            unsafe { store_global(to + u64::from(o), chunk) };
        } else {
            let mut o = (k * 16).max(phase) - phase;
            while o < end.min(high) {
                // SAFETY: a byte below `high`.
                unsafe { store_global_byte(to + u64::from(o), load_shared_byte(from + o)) };
                o += 1;
            }
        }
        k += LANES;
    }
}

/// A load of `WORDS` words that is aligned to its size and read by no other block.
///
/// # Safety
/// The bytes are readable global memory, aligned to the load's size, that nobody writes during the launch.
#[inline(always)]
unsafe fn load_aligned<const WORDS: usize>(address: *const u8) -> [u32; WORDS] {
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
unsafe fn load_shifted<const WORDS: usize>(address: *const u8) -> [u32; WORDS] {
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
unsafe fn load_byte(address: *const u8) -> u8 {
    let byte: u32;
    // SAFETY: as promised by the caller.
    unsafe {
        asm!("ld.global.nc.u8 {0}, [{1}];", out(reg32) byte, in(reg64) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    byte as u8
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
