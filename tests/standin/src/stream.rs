//! Streams and events, as their callers see them. `queue.rs` runs them.

use std::ffi::c_void;

use crate::call::{api, put};
use crate::code::{Answer, Code};
use crate::queue::{NON_BLOCKING, Work, has_run, push, run_all, run_until, step};
use crate::state::{Event, State, lock};

/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: u32 = 2;

/// The stream that a handle means for the current context: 0 and 1 are the legacy stream, 2 the thread's own. Work may be
/// queued only on a stream of the current context.
pub(crate) fn resolve(state: &State, context: u64, stream: u64) -> Result<u64, Code> {
    let found = named(state, context, stream)?;
    if state.streams[&found].context == context { Ok(found) } else { Err(Code::INVALID_HANDLE) }
}

/// The stream that a handle means, of any context.
fn named(state: &State, context: u64, stream: u64) -> Result<u64, Code> {
    let current = state.contexts.get(&context).ok_or(Code::INVALID_CONTEXT)?;
    match stream {
        0 | 1 => Ok(current.legacy),
        2 => Ok(current.per_thread),
        _ if state.streams.contains_key(&stream) => Ok(stream),
        _ => Err(Code::INVALID_HANDLE),
    }
}

fn event(state: &State, event: u64) -> Result<Event, Code> {
    state.events.get(&event).copied().ok_or(Code::INVALID_HANDLE)
}

/// The error of the context that a stream belongs to, or of the current one.
fn lost(state: &State, context: u64) -> Answer {
    state.contexts.get(&context).and_then(|context| context.lost).map_or(Ok(()), Err)
}

fn create(context: u64, stream: *mut u64, flags: u32, priority: i32) -> Answer {
    if flags & !NON_BLOCKING != 0 || stream.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let handle = lock().create_stream(context, flags, priority.clamp(-5, 0));
    // SAFETY: not null, and the caller keeps the driver's contract: memory for one handle.
    unsafe { put(stream, handle) }
}

api! {
    Context fn cuStreamCreate(stream: *mut u64, flags: u32) |context| {
        create(context, stream, flags, 0)
    }

    Context fn cuStreamCreateWithPriority(stream: *mut u64, flags: u32, priority: i32) |context| {
        create(context, stream, flags, priority)
    }

    /// Runs what is queued first; the driver lets it run on behind the caller's back.
    Context fn cuStreamDestroy_v2(stream: u64) |_| {
        let state = lock();
        if !state.streams.contains_key(&stream) || state.contexts.values().any(|c| stream == c.legacy || stream == c.per_thread) {
            return Err(Code::INVALID_HANDLE);
        }
        run_all(state, stream).streams.remove(&stream);
        Ok(())
    }

    Context fn cuStreamSynchronize(stream: u64) |context| {
        let state = lock();
        let stream = named(&state, context, stream)?;
        let owner = state.streams[&stream].context;
        lost(&run_all(state, stream), owner)
    }

    Context fn cuStreamQuery(stream: u64) |context| {
        let state = lock();
        let stream = named(&state, context, stream)?;
        let (owner, count) = (state.streams[&stream].context, state.streams[&stream].queued);
        let (state, reached) = step(state, stream, count);
        lost(&state, owner)?;
        if reached { Ok(()) } else { Err(Code::NOT_READY) }
    }

    Context fn cuStreamWaitEvent(stream: u64, handle: u64, flags: u32) |context| {
        let mut state = lock();
        let stream = resolve(&state, context, stream)?;
        let event = event(&state, handle)?;
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        // The event's last recording until now counts; a later one does not.
        match event.recorded {
            Some(recorded) => push(&mut state, stream, vec![recorded], Work::Nothing).map(drop),
            None => Ok(()),
        }
    }

    Context fn cuStreamGetFlags(stream: u64, flags: *mut u32) |context| {
        let state = lock();
        let found = state.streams[&named(&state, context, stream)?].flags;
        // SAFETY: the caller keeps the driver's contract: null or memory for one int.
        unsafe { put(flags, found) }
    }

    Context fn cuStreamGetPriority(stream: u64, priority: *mut i32) |context| {
        let state = lock();
        let found = state.streams[&named(&state, context, stream)?].priority;
        // SAFETY: the caller keeps the driver's contract: null or memory for one int.
        unsafe { put(priority, found) }
    }

    Context fn cuStreamGetCtx(stream: u64, owner: *mut u64) |context| {
        let state = lock();
        let found = state.streams[&named(&state, context, stream)?].context;
        // SAFETY: the caller keeps the driver's contract: null or memory for one handle.
        unsafe { put(owner, found) }
    }

    Context fn cuStreamGetId(stream: u64, id: *mut u64) |context| {
        let found = named(&lock(), context, stream)?;
        // SAFETY: the caller keeps the driver's contract: null or memory for one number.
        unsafe { put(id, found) }
    }

    /// Nothing is ever captured here.
    Context fn cuStreamIsCapturing(stream: u64, status: *mut u32) |context| {
        named(&lock(), context, stream)?;
        // SAFETY: the caller keeps the driver's contract: null or memory for one int.
        unsafe { put(status, 0) }
    }

    Context fn cuLaunchHostFunc(stream: u64, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) |context| {
        let mut state = lock();
        let stream = resolve(&state, context, stream)?;
        let function = function.ok_or(Code::INVALID_VALUE)?;
        push(&mut state, stream, Vec::new(), Work::Host { function, data: data as usize }).map(drop)
    }

    Context fn cuEventCreate(event: *mut u64, flags: u32) |context| {
        if flags & !7 != 0 || event.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let mut state = lock();
        let handle = state.handle();
        state.events.insert(handle, Event { context, flags, recorded: None, at: None });
        // SAFETY: not null, and the caller keeps the driver's contract: memory for one handle.
        unsafe { put(event, handle) }
    }

    /// Waits that were queued on the event stay.
    Context fn cuEventDestroy_v2(event: u64) |_| {
        lock().events.remove(&event).map(drop).ok_or(Code::INVALID_HANDLE)
    }

    Context fn cuEventRecord(handle: u64, stream: u64) |context| {
        let mut state = lock();
        let stream = resolve(&state, context, stream)?;
        if event(&state, handle)?.context != context {
            return Err(Code::INVALID_HANDLE);
        }
        let number = push(&mut state, stream, Vec::new(), Work::Record { event: handle })?;
        if let Some(event) = state.events.get_mut(&handle) {
            event.recorded = Some((stream, number));
            event.at = None;
        }
        Ok(())
    }

    Context fn cuEventQuery(handle: u64) |_| {
        let state = lock();
        let event = event(&state, handle)?;
        let Some((stream, number)) = event.recorded else { return Ok(()) };
        let (state, reached) = step(state, stream, number);
        lost(&state, event.context)?;
        if reached { Ok(()) } else { Err(Code::NOT_READY) }
    }

    Context fn cuEventSynchronize(handle: u64) |_| {
        let state = lock();
        let event = event(&state, handle)?;
        let Some((stream, number)) = event.recorded else { return Ok(()) };
        lost(&run_until(state, stream, number), event.context)
    }

    Context fn cuEventElapsedTime(milliseconds: *mut f32, start: u64, end: u64) |_| {
        let state = lock();
        let (start, end) = (event(&state, start)?, event(&state, end)?);
        if (start.flags | end.flags) & DISABLE_TIMING != 0 {
            return Err(Code::INVALID_HANDLE);
        }
        for event in [start, end] {
            let (stream, number) = event.recorded.ok_or(Code::INVALID_HANDLE)?;
            if !has_run(&state, stream, number) {
                return Err(Code::NOT_READY);
            }
        }
        let (Some(start), Some(end)) = (start.at, end.at) else { return Err(Code::NOT_READY) };
        let seconds = match end.checked_duration_since(start) {
            Some(time) => time.as_secs_f32(),
            None => -start.duration_since(end).as_secs_f32(),
        };
        // SAFETY: the caller keeps the driver's contract: null or memory for one float.
        unsafe { put(milliseconds, seconds * 1e3) }
    }
}
