//! Allocations: device memory, page-locked host memory, and what an address belongs to.

use std::alloc::Layout;
use std::ffi::c_void;

use crate::call::{api, put, put_if};
use crate::code::{Answer, Code};
use crate::device::total_memory;
use crate::queue::{Work, push, run_context};
use crate::state::{Pinned, State, lock};
use crate::stream::resolve;

/// What fresh page-locked host memory holds.
const HOST_POISON: u8 = 0x5A;
/// Pitches are multiples of this.
const PITCH_BYTES: usize = 512;

fn allocate(pointer: *mut u64, bytes: usize, context: u64) -> Answer {
    let mut state = lock();
    if bytes == 0 || pointer.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    if bytes > total_memory().saturating_sub(state.arena.used()) {
        return Err(Code::OUT_OF_MEMORY);
    }
    let base = state.arena.allocate(bytes, context)?;
    // SAFETY: not null, and the caller keeps the driver's contract: memory for one address.
    unsafe { put(pointer, base) }
}

fn layout(bytes: usize) -> Result<Layout, Code> {
    Layout::from_size_align(bytes, 4096).map_err(|_| Code::OUT_OF_MEMORY)
}

fn allocate_host(pointer: *mut u64, bytes: usize, flags: u32, context: u64) -> Answer {
    if bytes == 0 || pointer.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: the layout has a size that is not zero.
    let memory = unsafe { std::alloc::alloc(layout(bytes)?) };
    if memory.is_null() {
        return Err(Code::OUT_OF_MEMORY);
    }
    // SAFETY: the memory was just allocated with this size.
    unsafe { memory.write_bytes(HOST_POISON, bytes) };
    lock().pinned.insert(memory as u64, Pinned { bytes, context, flags, registered: false });
    // SAFETY: not null, and the caller keeps the driver's contract: memory for one pointer.
    unsafe { put(pointer, memory as u64) }
}

/// Frees page-locked memory, or forgets it if the host registered it.
pub(crate) fn free_pinned(state: &mut State, at: u64) {
    let Some(pinned) = state.pinned.remove(&at) else { return };
    if let (false, Ok(layout)) = (pinned.registered, layout(pinned.bytes)) {
        // SAFETY: it was allocated with this layout, and is no longer known, so it is freed once.
        unsafe { std::alloc::dealloc(at as *mut u8, layout) };
    }
}

/// The page-locked memory that holds the address.
fn pinned(state: &State, address: u64) -> Option<(u64, Pinned)> {
    let (&base, &pinned) = state.pinned.range(..=address).next_back()?;
    (address - base < pinned.bytes as u64).then_some((base, pinned))
}

/// Whether so many bytes from an address of page-locked memory end inside it; `None` for other memory.
pub(crate) fn in_pinned(state: &State, address: u64, bytes: usize) -> Option<bool> {
    pinned(state, address).map(|(base, pinned)| bytes as u64 <= pinned.bytes as u64 - (address - base))
}

/// An attribute of the memory at an address, as the bytes to write; `None` if it has none.
fn attribute(state: &State, number: u32, address: u64) -> Result<Option<Vec<u8>>, Code> {
    let (base, bytes, context, host) = if let Some(a) = state.arena.find(address) {
        (a.base, a.bytes, a.context, false)
    } else if let Some((base, pinned)) = pinned(state, address) {
        (base, pinned.bytes, pinned.context, true)
    } else {
        return Ok(None);
    };
    Ok(Some(match number {
        1 => context.to_ne_bytes().to_vec(),
        2 => if host { 1_u32 } else { 2 }.to_ne_bytes().to_vec(),
        3 => address.to_ne_bytes().to_vec(),
        4 if host => address.to_ne_bytes().to_vec(),
        4 => return Ok(None),
        7 | 11 => base.to_ne_bytes().to_vec(),
        8 => vec![0],
        9 => state.contexts.get(&context).map_or(-2, |context| context.device).to_ne_bytes().to_vec(),
        12 => bytes.to_ne_bytes().to_vec(),
        13 => vec![1],
        _ => return Err(Code::NOT_SUPPORTED),
    }))
}

/// What `cuPointerGetAttributes` writes for memory that the driver does not know.
fn no_attribute(number: u32) -> Vec<u8> {
    match number {
        2 => vec![0; 4],
        8 | 13 => vec![0],
        9 => (-2_i32).to_ne_bytes().to_vec(),
        _ => vec![0; 8],
    }
}

/// # Safety
///
/// `data` is null or has room for the bytes.
unsafe fn write(data: *mut c_void, bytes: &[u8]) -> Answer {
    if data.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: not null, so room for the bytes by this function's contract.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), bytes.len()) };
    Ok(())
}

api! {
    Context fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) |_| {
        let all = total_memory();
        // SAFETY: the caller keeps the driver's contract: null or memory for one size each.
        unsafe { put(free, all.saturating_sub(lock().arena.used()))? };
        // SAFETY: as above.
        unsafe { put(total, all) }
    }

    Context fn cuMemAlloc_v2(pointer: *mut u64, bytes: usize) |context| {
        allocate(pointer, bytes, context)
    }

    Context fn cuMemAllocPitch_v2(pointer: *mut u64, pitch: *mut usize, width: usize, height: usize, element: u32) |context| {
        if pitch.is_null() || width == 0 || height == 0 || !matches!(element, 4 | 8 | 16) {
            return Err(Code::INVALID_VALUE);
        }
        let row = width.checked_next_multiple_of(PITCH_BYTES).ok_or(Code::OUT_OF_MEMORY)?;
        allocate(pointer, row.checked_mul(height).ok_or(Code::OUT_OF_MEMORY)?, context)?;
        // SAFETY: not null, and the caller keeps the driver's contract: memory for one size.
        unsafe { put(pitch, row) }
    }

    Context fn cuMemFree_v2(pointer: u64) |context| {
        if pointer == 0 {
            return Ok(());
        }
        // As the driver does: everything that may still use the memory has run.
        let mut state = run_context(lock(), Some(context));
        if let Some(code) = state.contexts.get(&context).and_then(|context| context.lost) {
            return Err(code);
        }
        if state.arena.find(pointer).is_none_or(|a| a.base != pointer || a.freeing) {
            return Err(Code::INVALID_VALUE);
        }
        state.arena.free(pointer).inspect_err(|&code| {
            eprintln!("framewright stand-in: something wrote outside the allocation at {pointer:#x}");
            state.lose(context, code);
        })
    }

    Context fn cuMemAllocAsync(pointer: *mut u64, bytes: usize, stream: u64) |context| {
        resolve(&lock(), context, stream)?;
        allocate(pointer, bytes, context)
    }

    Context fn cuMemFreeAsync(pointer: u64, stream: u64) |context| {
        let mut state = lock();
        let stream = resolve(&state, context, stream)?;
        state.arena.mark_freeing(pointer)?;
        push(&mut state, stream, Vec::new(), Work::Free { base: pointer }).map(drop)
    }

    Context fn cuMemGetAddressRange_v2(base: *mut u64, bytes: *mut usize, pointer: u64) |_| {
        let state = lock();
        let found = state.arena.find(pointer).ok_or(Code::NOT_FOUND)?;
        // SAFETY: the caller keeps the driver's contract: null or memory for one address and one size.
        unsafe { put_if(base, found.base) };
        // SAFETY: as above.
        unsafe { put_if(bytes, found.bytes) };
        Ok(())
    }

    Context fn cuMemAllocHost_v2(pointer: *mut u64, bytes: usize) |context| {
        allocate_host(pointer, bytes, 0, context)
    }

    Context fn cuMemHostAlloc(pointer: *mut u64, bytes: usize, flags: u32) |context| {
        if flags & !7 != 0 { Err(Code::INVALID_VALUE) } else { allocate_host(pointer, bytes, flags, context) }
    }

    Context fn cuMemFreeHost(pointer: u64) |context| {
        let mut state = run_context(lock(), Some(context));
        if state.pinned.get(&pointer).is_none_or(|pinned| pinned.registered) {
            return Err(Code::INVALID_VALUE);
        }
        free_pinned(&mut state, pointer);
        Ok(())
    }

    Context fn cuMemHostGetDevicePointer_v2(device: *mut u64, host: u64, flags: u32) |_| {
        if flags != 0 || pinned(&lock(), host).is_none() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the caller keeps the driver's contract: null or memory for one address.
        unsafe { put(device, host) }
    }

    Context fn cuMemHostGetFlags(flags: *mut u32, host: u64) |_| {
        let (_, found) = pinned(&lock(), host).ok_or(Code::INVALID_VALUE)?;
        // SAFETY: the caller keeps the driver's contract: null or memory for one int.
        unsafe { put(flags, found.flags) }
    }

    Context fn cuMemHostRegister_v2(host: u64, bytes: usize, flags: u32) |context| {
        let mut state = lock();
        if host == 0 || bytes == 0 || state.arena.holds(host) {
            return Err(Code::INVALID_VALUE);
        }
        let end = host.checked_add(bytes as u64).ok_or(Code::INVALID_VALUE)?;
        let before = state.pinned.range(..end).next_back();
        if before.is_some_and(|(&base, pinned)| base + pinned.bytes as u64 > host) {
            return Err(Code::HOST_MEMORY_ALREADY_REGISTERED);
        }
        state.pinned.insert(host, Pinned { bytes, context, flags, registered: true });
        Ok(())
    }

    Context fn cuMemHostUnregister(host: u64) |context| {
        let mut state = run_context(lock(), Some(context));
        if state.pinned.get(&host).is_none_or(|pinned| !pinned.registered) {
            return Err(Code::HOST_MEMORY_NOT_REGISTERED);
        }
        free_pinned(&mut state, host);
        Ok(())
    }

    Context fn cuPointerGetAttribute(data: *mut c_void, number: u32, pointer: u64) |_| {
        let bytes = attribute(&lock(), number, pointer)?.ok_or(Code::INVALID_VALUE)?;
        // SAFETY: the caller keeps the driver's contract: null or room for the attribute.
        unsafe { write(data, &bytes) }
    }

    Context fn cuPointerGetAttributes(count: u32, numbers: *const u32, data: *const *mut c_void, pointer: u64) |_| {
        if numbers.is_null() || data.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let state = lock();
        for index in 0..count as usize {
            // SAFETY: the caller gives `count` numbers.
            let number = unsafe { numbers.add(index).read() };
            // SAFETY: the caller gives `count` pointers.
            let data = unsafe { data.add(index).read() };
            let bytes = attribute(&state, number, pointer)?.unwrap_or_else(|| no_attribute(number));
            // SAFETY: each pointer is null or has room for its attribute.
            unsafe { write(data, &bytes)? };
        }
        Ok(())
    }
}
