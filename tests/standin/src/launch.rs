//! Functions of a module and their launch.

use std::ffi::c_void;

use crate::call::{api, put};
use crate::code::{Answer, Code};
use crate::queue::{Work, push};
use crate::registry::{Body, find};
use crate::state::lock;
use crate::stream::resolve;

/// Bytes of shared memory that a block may ask for.
const SHARED_BYTES: u32 = 227 << 10;
/// Ends `extra`; before a pointer to the parameters' bytes; before a pointer to their size.
const EXTRA_END: u64 = 0;
const EXTRA_POINTER: u64 = 1;
const EXTRA_SIZE: u64 = 2;

/// Copies the parameters, as the driver does at the launch.
///
/// # Safety
///
/// `parameters` is null or has a pointer to the entry's parameter struct; `extra` is null or a list of the driver's form.
unsafe fn copy_parameters(body: &Body, parameters: *const *const u8, extra: *const u64) -> Result<Vec<u128>, Code> {
    let bytes = body.parameter_bytes;
    let mut copy = vec![0_u128; bytes.div_ceil(16)];
    if bytes == 0 {
        return Ok(copy);
    }
    let from = if !parameters.is_null() {
        // SAFETY: the entry has a parameter, so there is a pointer to it.
        unsafe { parameters.read() }
    } else {
        // SAFETY: this function's contract is that of `from_extra`.
        unsafe { from_extra(extra, bytes)? }
    };
    if from.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: the struct has so many bytes, and the copy has room for them.
    unsafe { std::ptr::copy_nonoverlapping(from, copy.as_mut_ptr().cast(), bytes) };
    Ok(copy)
}

/// # Safety
///
/// `extra` is null or a list of the driver's form.
unsafe fn from_extra(mut extra: *const u64, bytes: usize) -> Result<*const u8, Code> {
    let (mut from, mut size) = (std::ptr::null(), 0);
    while !extra.is_null() {
        // SAFETY: the list goes on until its end mark.
        let kind = unsafe { extra.read() };
        if kind == EXTRA_END {
            break;
        }
        // SAFETY: each mark but the last is followed by its value.
        let value = unsafe { extra.add(1).read() };
        match kind {
            EXTRA_POINTER => from = value as *const u8,
            // SAFETY: this mark's value points to a size.
            EXTRA_SIZE => size = unsafe { (value as *const usize).read() },
            _ => return Err(Code::INVALID_VALUE),
        }
        // SAFETY: as above.
        extra = unsafe { extra.add(2) };
    }
    if size == bytes { Ok(from) } else { Err(Code::INVALID_VALUE) }
}

fn check(grid: [u32; 3], block: [u32; 3], shared_bytes: u32) -> Answer {
    let fits = |value: [u32; 3], most: [u32; 3]| value.iter().zip(most).all(|(&v, most)| (1..=most).contains(&v));
    let threads: u64 = block.iter().map(|&n| u64::from(n)).product();
    let right = fits(grid, [i32::MAX as u32, 65535, 65535]) && fits(block, [1024, 1024, 64]) && threads <= 1024;
    if right && shared_bytes <= SHARED_BYTES { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

fn name(function: u64) -> Result<String, Code> {
    lock().functions.get(&function).map(|(_, name)| name.clone()).ok_or(Code::INVALID_HANDLE)
}

api! {
    Context fn cuLaunchKernel(
        function: u64, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared_bytes: u32,
        stream: u64, parameters: *const *const u8, extra: *const u64,
    ) |context| {
        let name = name(function)?;
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        check(grid, block, shared_bytes)?;
        let Some(body) = find(&name) else {
            eprintln!("framewright stand-in: the host has no implementation of the entry {name}");
            return Err(Code::NOT_SUPPORTED);
        };
        // SAFETY: the caller keeps the driver's contract, and the entry's parameters are those of its implementation.
        let parameters = unsafe { copy_parameters(&body, parameters, extra)? };
        let mut state = lock();
        let stream = resolve(&state, context, stream)?;
        push(&mut state, stream, Vec::new(), Work::Launch { body, parameters, grid, block }).map(drop)
    }

    Context fn cuFuncGetAttribute(value: *mut i32, attribute: u32, function: u64) |_| {
        name(function)?;
        let found = match attribute {
            0 => 1024,       // threads a block
            1..=3 | 7 => 0,  // shared, constant, local bytes; cache mode
            4 => 32,         // registers
            5 => 75,         // PTX version
            6 => 90,         // binary version
            8 => 48 << 10,   // dynamic shared memory
            9 => -1,         // carve-out
            _ => return Err(Code::INVALID_VALUE),
        };
        // SAFETY: the caller keeps the driver's contract: null or memory for one int.
        unsafe { put(value, found) }
    }

    Context fn cuFuncSetAttribute(function: u64, attribute: u32, value: i32) |_| {
        name(function)?;
        match attribute {
            8 if (0..=SHARED_BYTES as i32).contains(&value) => Ok(()),
            9 if (-1..=100).contains(&value) => Ok(()),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    Context fn cuFuncSetCacheConfig(function: u64, _config: u32) |_| {
        name(function).map(drop)
    }

    Context fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut i32, function: u64, threads: i32, _shared: usize) |_| {
        name(function)?;
        if !(1..=1024).contains(&threads) {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the caller keeps the driver's contract: null or memory for one int.
        unsafe { put(blocks, 2048 / threads) }
    }

    Context fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut i32, block: *mut i32, function: u64, _shared_of: *mut c_void, _shared: usize, most: i32,
    ) |_| {
        name(function)?;
        // SAFETY: the caller keeps the driver's contract: null or memory for one int each.
        unsafe { put(grid, 264)? };
        // SAFETY: as above.
        unsafe { put(block, if most > 0 { most.min(1024) } else { 1024 }) }
    }
}
