//! Copies and fills, in one dimension and two.
//!
//! The asynchronous ones always wait in the queue, also with pageable host memory, where the driver may copy at once: so
//! a program that counts on that is found out.

use crate::call::api;
use crate::code::{Answer, Code};
use crate::queue::{Side, Work, push, run_until};
use crate::state::lock;
use crate::stream::resolve;

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Memcpy2d {
    from: Memcpy2dSide,
    to: Memcpy2dSide,
    width: usize,
    height: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Memcpy2dSide {
    x_bytes: usize,
    y: usize,
    memory_type: u32,
    host: u64,
    device: u64,
    array: u64,
    pitch: usize,
}

impl Memcpy2dSide {
    fn side(&self, width: usize) -> Result<Side, Code> {
        let (base, device) = match self.memory_type {
            1 => (self.host, false),
            2 => (self.device, true),
            // Unified: the address says it.
            4 => (self.device, lock().arena.holds(self.device)),
            3 => return Err(Code::NOT_SUPPORTED),
            _ => return Err(Code::INVALID_VALUE),
        };
        let row = self.x_bytes.checked_add(width).ok_or(Code::INVALID_VALUE)?;
        if self.pitch < row || self.pitch > i32::MAX as usize || base == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let offset = self.y.checked_mul(self.pitch).and_then(|y| y.checked_add(self.x_bytes));
        let address = base.checked_add(offset.ok_or(Code::INVALID_VALUE)? as u64).ok_or(Code::INVALID_VALUE)?;
        Ok(Side { address, pitch: self.pitch, device })
    }
}

/// Queues the work if its memory is there. `None`: on the legacy stream, and wait.
fn queue(context: u64, stream: Option<u64>, work: Work) -> Answer {
    let mut state = lock();
    let handle = resolve(&state, context, stream.unwrap_or(0))?;
    let valid = match &work {
        Work::Copy { from, to, width, height } => {
            [from, to].into_iter().all(|side| side.is_valid(&state, *width, *height) && !freeing(&state, side))
        }
        Work::Set { to, width, height, .. } => to.is_valid(&state, *width, *height) && !freeing(&state, to),
        _ => true,
    };
    if !valid {
        return Err(Code::INVALID_VALUE);
    }
    let number = push(&mut state, handle, Vec::new(), work)?;
    if stream.is_none() {
        let state = run_until(state, handle, number);
        if let Some(code) = state.contexts.get(&context).and_then(|context| context.lost) {
            return Err(code);
        }
    }
    Ok(())
}

fn freeing(state: &crate::state::State, side: &Side) -> bool {
    side.device && state.arena.find(side.address).is_some_and(|a| a.freeing)
}

fn copy(context: u64, stream: Option<u64>, to: (u64, bool), from: (u64, bool), bytes: usize) -> Answer {
    let side = |(address, device)| Side { address, pitch: bytes, device };
    if bytes > 0 && (to.0 == 0 || from.0 == 0) {
        return Err(Code::INVALID_VALUE);
    }
    queue(context, stream, Work::Copy { from: side(from), to: side(to), width: bytes, height: 1 })
}

/// # Safety
///
/// `descriptor` is null or points to a `CUDA_MEMCPY2D`.
unsafe fn copy_2d(context: u64, stream: Option<u64>, descriptor: *const Memcpy2d) -> Answer {
    if descriptor.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: not null, so a descriptor by this function's contract.
    let Memcpy2d { from, to, width, height } = unsafe { descriptor.read() };
    if width == 0 || height == 0 {
        return Ok(());
    }
    let work = Work::Copy { from: from.side(width)?, to: to.side(width)?, width, height };
    queue(context, stream, work)
}

/// Fills rows with a value of `element` bytes. Addresses and pitches must be multiples of it.
fn set(context: u64, stream: Option<u64>, to: Side, value: u32, element: usize, width: usize, height: usize) -> Answer {
    let width = width.checked_mul(element).ok_or(Code::INVALID_VALUE)?;
    let element_of_pitch = if height > 1 { to.pitch % element } else { 0 };
    if !to.address.is_multiple_of(element as u64) || element_of_pitch != 0 || (height > 1 && to.pitch < width) {
        return Err(Code::INVALID_VALUE);
    }
    queue(context, stream, Work::Set { to, value: value.to_le_bytes(), element, width, height })
}

fn row(address: u64) -> Side {
    Side { address, pitch: 0, device: true }
}

/// Whether the address is the device's, by unified addressing.
fn unified(address: u64) -> (u64, bool) {
    (address, lock().arena.holds(address))
}

api! {
    Context fn cuMemcpyHtoD_v2(to: u64, from: u64, bytes: usize) |context| {
        copy(context, None, (to, true), (from, false), bytes)
    }
    Context fn cuMemcpyDtoH_v2(to: u64, from: u64, bytes: usize) |context| {
        copy(context, None, (to, false), (from, true), bytes)
    }
    Context fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) |context| {
        copy(context, None, (to, true), (from, true), bytes)
    }
    Context fn cuMemcpy(to: u64, from: u64, bytes: usize) |context| {
        copy(context, None, unified(to), unified(from), bytes)
    }
    Context fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: u64) |context| {
        copy(context, Some(stream), (to, true), (from, false), bytes)
    }
    Context fn cuMemcpyDtoHAsync_v2(to: u64, from: u64, bytes: usize, stream: u64) |context| {
        copy(context, Some(stream), (to, false), (from, true), bytes)
    }
    Context fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: u64) |context| {
        copy(context, Some(stream), (to, true), (from, true), bytes)
    }
    Context fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: u64) |context| {
        copy(context, Some(stream), unified(to), unified(from), bytes)
    }
    Context fn cuMemcpy2D_v2(descriptor: *const Memcpy2d) |context| {
        // SAFETY: the caller keeps the driver's contract: null or a descriptor.
        unsafe { copy_2d(context, None, descriptor) }
    }
    Context fn cuMemcpy2DUnaligned_v2(descriptor: *const Memcpy2d) |context| {
        // SAFETY: the caller keeps the driver's contract: null or a descriptor.
        unsafe { copy_2d(context, None, descriptor) }
    }
    Context fn cuMemcpy2DAsync_v2(descriptor: *const Memcpy2d, stream: u64) |context| {
        // SAFETY: the caller keeps the driver's contract: null or a descriptor.
        unsafe { copy_2d(context, Some(stream), descriptor) }
    }
    Context fn cuMemsetD8_v2(to: u64, value: u8, count: usize) |context| {
        set(context, None, row(to), value.into(), 1, count, 1)
    }
    Context fn cuMemsetD16_v2(to: u64, value: u16, count: usize) |context| {
        set(context, None, row(to), value.into(), 2, count, 1)
    }
    Context fn cuMemsetD32_v2(to: u64, value: u32, count: usize) |context| {
        set(context, None, row(to), value, 4, count, 1)
    }
    Context fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: u64) |context| {
        set(context, Some(stream), row(to), value.into(), 1, count, 1)
    }
    Context fn cuMemsetD16Async(to: u64, value: u16, count: usize, stream: u64) |context| {
        set(context, Some(stream), row(to), value.into(), 2, count, 1)
    }
    Context fn cuMemsetD32Async(to: u64, value: u32, count: usize, stream: u64) |context| {
        set(context, Some(stream), row(to), value, 4, count, 1)
    }
    Context fn cuMemsetD2D8_v2(to: u64, pitch: usize, value: u8, width: usize, height: usize) |context| {
        set(context, None, Side { address: to, pitch, device: true }, value.into(), 1, width, height)
    }
    Context fn cuMemsetD2D8Async(to: u64, pitch: usize, value: u8, width: usize, height: usize, stream: u64) |context| {
        set(context, Some(stream), Side { address: to, pitch, device: true }, value.into(), 1, width, height)
    }
    Context fn cuMemsetD2D16Async(to: u64, pitch: usize, value: u16, width: usize, height: usize, stream: u64) |context| {
        set(context, Some(stream), Side { address: to, pitch, device: true }, value.into(), 2, width, height)
    }
    Context fn cuMemsetD2D32Async(to: u64, pitch: usize, value: u32, width: usize, height: usize, stream: u64) |context| {
        set(context, Some(stream), Side { address: to, pitch, device: true }, value, 4, width, height)
    }
}
