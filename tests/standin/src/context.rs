//! Contexts: a primary one a device, counted; others; and the stack of current contexts of each thread.

use crate::call::{api, current, put, put_if, with_stack};
use crate::code::{Answer, Code};
use crate::queue::run_context;
use crate::state::lock;

/// The handle of device 0's primary context; it is the same at every retain, as the driver's is.
const PRIMARY: u64 = 0x5C00_0000_0000;

fn primary(device: usize) -> u64 {
    PRIMARY + 0x40 * device as u64
}

/// Finishes what is queued, then frees all that the context holds.
fn tear_down(context: u64) {
    run_context(lock(), Some(context)).remove_context(context);
}

/// A context that may become current.
fn known(context: u64) -> Answer {
    if lock().contexts.contains_key(&context) { Ok(()) } else { Err(Code::INVALID_CONTEXT) }
}

api! {
    Init fn cuDevicePrimaryCtxRetain(context: *mut u64, device: i32) |_| {
        let mut state = lock();
        let index = state.device(device)?;
        // SAFETY: the caller keeps the driver's contract: null or memory for one handle.
        unsafe { put(context, primary(index))? };
        state.primaries[index].retained += 1;
        if state.primaries[index].retained == 1 {
            let flags = state.primaries[index].flags;
            state.create_context(primary(index), device, flags);
        }
        Ok(())
    }

    Init fn cuDevicePrimaryCtxRelease_v2(device: i32) |_| {
        let mut state = lock();
        let index = state.device(device)?;
        match state.primaries[index].retained {
            0 => return Err(Code::INVALID_CONTEXT),
            1 => {
                drop(state);
                tear_down(primary(index));
                state = lock();
            }
            _ => {}
        }
        state.primaries[index].retained = state.primaries[index].retained.saturating_sub(1);
        Ok(())
    }

    Init fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) |_| {
        let mut state = lock();
        let index = state.device(device)?;
        state.primaries[index].flags = flags;
        if let Some(context) = state.contexts.get_mut(&primary(index)) {
            context.flags = flags;
        }
        Ok(())
    }

    Init fn cuDevicePrimaryCtxGetState(device: i32, flags: *mut u32, active: *mut i32) |_| {
        let state = lock();
        let found = state.primaries[state.device(device)?];
        // SAFETY: the caller keeps the driver's contract: null or memory for one int each.
        unsafe { put(flags, found.flags)? };
        // SAFETY: as above.
        unsafe { put(active, i32::from(found.retained > 0)) }
    }

    Init fn cuCtxCreate_v2(context: *mut u64, flags: u32, device: i32) |_| {
        let mut state = lock();
        state.device(device)?;
        let handle = state.handle();
        // SAFETY: the caller keeps the driver's contract: null or memory for one handle.
        unsafe { put(context, handle)? };
        state.create_context(handle, device, flags);
        with_stack(|stack| stack.push(handle));
        Ok(())
    }

    Init fn cuCtxDestroy_v2(context: u64) |_| {
        known(context)?;
        if (PRIMARY..PRIMARY + 0x40 * lock().primaries.len() as u64).contains(&context) {
            return Err(Code::INVALID_CONTEXT);
        }
        tear_down(context);
        with_stack(|stack| if stack.last() == Some(&context) { stack.pop(); });
        Ok(())
    }

    Init fn cuCtxPushCurrent_v2(context: u64) |_| {
        known(context)?;
        with_stack(|stack| stack.push(context));
        Ok(())
    }

    Init fn cuCtxPopCurrent_v2(context: *mut u64) |_| {
        let top = with_stack(Vec::pop).ok_or(Code::INVALID_CONTEXT)?;
        // SAFETY: the caller keeps the driver's contract: null or memory for one handle.
        unsafe { put_if(context, top) };
        Ok(())
    }

    Init fn cuCtxSetCurrent(context: u64) |_| {
        if context != 0 {
            known(context)?;
        }
        with_stack(|stack| {
            stack.pop();
            if context != 0 {
                stack.push(context);
            }
        });
        Ok(())
    }

    Init fn cuCtxGetCurrent(context: *mut u64) |_| {
        // SAFETY: the caller keeps the driver's contract: null or memory for one handle.
        unsafe { put(context, current().unwrap_or(0)) }
    }

    Context fn cuCtxGetDevice(device: *mut i32) |context| {
        let found = lock().contexts.get(&context).ok_or(Code::INVALID_CONTEXT)?.device;
        // SAFETY: the caller keeps the driver's contract: null or memory for one int.
        unsafe { put(device, found) }
    }

    Context fn cuCtxGetFlags(flags: *mut u32) |context| {
        let found = lock().contexts.get(&context).ok_or(Code::INVALID_CONTEXT)?.flags;
        // SAFETY: the caller keeps the driver's contract: null or memory for one int.
        unsafe { put(flags, found) }
    }

    Init fn cuCtxGetApiVersion(context: u64, version: *mut u32) |_| {
        if context != 0 {
            known(context)?;
        }
        // SAFETY: the caller keeps the driver's contract: null or memory for one int.
        unsafe { put(version, 3020) }
    }

    Init fn cuCtxGetId(context: u64, id: *mut u64) |_| {
        let context = if context == 0 { current().ok_or(Code::INVALID_CONTEXT)? } else { context };
        // The legacy stream's handle is new for each life of a context.
        let found = lock().contexts.get(&context).ok_or(Code::INVALID_CONTEXT)?.legacy;
        // SAFETY: the caller keeps the driver's contract: null or memory for one number.
        unsafe { put(id, found) }
    }

    Context fn cuCtxGetStreamPriorityRange(least: *mut i32, greatest: *mut i32) |_| {
        // SAFETY: the caller keeps the driver's contract: null or memory for one int each.
        unsafe { put_if(least, 0) };
        // SAFETY: as above.
        unsafe { put_if(greatest, -5) };
        Ok(())
    }

    Context fn cuCtxSynchronize() |context| {
        let state = run_context(lock(), Some(context));
        let lost = state.contexts.get(&context).ok_or(Code::CONTEXT_IS_DESTROYED)?.lost;
        lost.map_or(Ok(()), Err)
    }
}
