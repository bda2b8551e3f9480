//! Streams as queues: an operation runs when somebody waits for it, and not before.
//!
//! Each stream counts the operations that were queued and those that have run. An operation names others that must run
//! first, as (stream, count): that is how events, and the legacy stream's order with blocking streams, work. Whoever
//! waits runs the operations on his own thread, one by one, without the lock; a second waiter on the same stream sleeps
//! meanwhile.

use std::ffi::c_void;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::call::in_queue;
use crate::code::{Answer, Code};
use crate::registry::Body;
use crate::state::{CHANGED, State, lock, number};

/// `CU_STREAM_NON_BLOCKING`.
pub(crate) const NON_BLOCKING: u32 = 1;

/// An operation of a queue.
pub(crate) struct Op {
    /// Streams, and how many of their operations must have run before.
    pub(crate) after: Vec<(u64, u64)>,
    pub(crate) work: Work,
}

/// One side of a copy.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub(crate) address: u64,
    pub(crate) pitch: usize,
    /// The address is the device's.
    pub(crate) device: bool,
}

pub(crate) enum Work {
    Nothing,
    Copy {
        from: Side,
        to: Side,
        width: usize,
        height: usize,
    },
    /// Elements of 1, 2 or 4 bytes: the first bytes of the value.
    Set {
        to: Side,
        value: [u8; 4],
        element: usize,
        width: usize,
        height: usize,
    },
    Launch {
        body: Body,
        parameters: Vec<u128>,
        grid: [u32; 3],
        block: [u32; 3],
    },
    Host {
        function: unsafe extern "C" fn(*mut c_void),
        data: usize,
    },
    Record {
        event: u64,
    },
    Free {
        base: u64,
    },
}

/// The last byte's offset plus one.
pub(crate) fn extent(pitch: usize, width: usize, height: usize) -> Option<usize> {
    if width == 0 || height == 0 { Some(0) } else { pitch.checked_mul(height - 1)?.checked_add(width) }
}

impl Side {
    /// Whether a place of this width and height lies inside one allocation. Host memory that is not page-locked is not known.
    pub(crate) fn is_valid(&self, state: &State, width: usize, height: usize) -> bool {
        let Some(bytes) = extent(self.pitch, width, height) else { return false };
        if bytes == 0 {
            return true;
        }
        if self.device {
            // A device address may also be that of page-locked host memory.
            return state.arena.contains(self.address, bytes)
                || crate::memory::in_pinned(state, self.address, bytes) == Some(true);
        }
        !state.arena.holds(self.address) && crate::memory::in_pinned(state, self.address, bytes) != Some(false)
    }
}

impl Work {
    fn is_valid(&self, state: &State) -> bool {
        match self {
            Self::Copy { from, to, width, height } => {
                from.is_valid(state, *width, *height) && to.is_valid(state, *width, *height)
            }
            Self::Set { to, width, height, .. } => to.is_valid(state, *width, *height),
            _ => true,
        }
    }

    /// Runs the operation, without the lock and with the arena open.
    fn run(&self) -> Answer {
        match self {
            Self::Nothing | Self::Record { .. } | Self::Free { .. } => Ok(()),
            Self::Copy { from, to, width, height } => {
                for y in 0..*height {
                    let from = (from.address as usize + y * from.pitch) as *const u8;
                    let to = (to.address as usize + y * to.pitch) as *mut u8;
                    // SAFETY: both rows were found inside live allocations just now, or are the caller's host memory,
                    // which he keeps until he has waited.
                    unsafe { std::ptr::copy(from, to, *width) };
                }
                Ok(())
            }
            Self::Set { to, value, element, width, height } => {
                for y in 0..*height {
                    let to = (to.address as usize + y * to.pitch) as *mut u8;
                    for x in 0..*width {
                        // SAFETY: the row was found inside a live allocation just now.
                        unsafe { to.add(x).write(value[x % element]) };
                    }
                }
                Ok(())
            }
            Self::Launch { body, parameters, grid, block } => {
                let parameters = parameters.as_ptr().cast();
                // SAFETY: the parameters are a copy of what the launch gave, of the size that the entry states; that
                // its pointers are right is the launch's contract.
                let result = in_queue(|| unsafe { (body.run)(parameters, *grid, *block) });
                result.map_err(|_| {
                    eprintln!("framewright stand-in: kernel {} panicked", body.name);
                    Code::LAUNCH_FAILED
                })
            }
            Self::Host { function, data } => {
                // SAFETY: cuLaunchHostFunc's contract: the function may be called once with this pointer.
                let result = in_queue(|| unsafe { function(*data as *mut c_void) });
                result.map_err(|_| Code::UNKNOWN)
            }
        }
    }
}

/// Queues an operation, and returns its number: it has run when the stream's count is at least that.
pub(crate) fn push(state: &mut State, stream: u64, mut after: Vec<(u64, u64)>, work: Work) -> Result<u64, Code> {
    start_background();
    let context = state.streams.get(&stream).ok_or(Code::INVALID_HANDLE)?.context;
    let legacy = state.contexts.get(&context).ok_or(Code::INVALID_CONTEXT)?.legacy;
    let blocking = |s: &crate::state::Stream| s.context == context && s.flags & NON_BLOCKING == 0;
    if stream == legacy {
        let others = state.streams.iter().filter(|&(&handle, s)| handle != legacy && blocking(s));
        after.extend(others.map(|(&handle, s)| (handle, s.queued)));
    } else if blocking(&state.streams[&stream]) {
        after.push((legacy, state.streams[&legacy].queued));
    }
    after.retain(|&(stream, count)| !has_run(state, stream, count));
    let stream = state.streams.get_mut(&stream).ok_or(Code::INVALID_HANDLE)?;
    stream.ops.push_back(Op { after, work });
    stream.queued += 1;
    Ok(stream.queued)
}

/// Whether so many operations of the stream have run. A stream that is gone has run all.
pub(crate) fn has_run(state: &State, stream: u64, count: u64) -> bool {
    state.streams.get(&stream).is_none_or(|stream| stream.done >= count)
}

type Guard = MutexGuard<'static, State>;

/// Runs a stream's operations, and those that they wait for, until so many have run.
pub(crate) fn run_until(mut state: Guard, handle: u64, count: u64) -> Guard {
    while !has_run(&state, handle, count) {
        let Some(stream) = state.streams.get_mut(&handle) else { break };
        if stream.busy {
            state = CHANGED.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let Some(op) = stream.ops.front() else { break };
        let after = op.after.clone();
        if let Some(&(other, count)) = after.iter().find(|&&(other, count)| !has_run(&state, other, count)) {
            state = run_until(state, other, count);
            continue;
        }
        state = run_first(state, handle);
    }
    state
}

/// Runs the first operation of a stream that is not busy.
fn run_first(mut state: Guard, handle: u64) -> Guard {
    let Some(stream) = state.streams.get_mut(&handle) else { return state };
    let Some(Op { work, .. }) = stream.ops.pop_front() else { return state };
    let (context, number) = (stream.context, stream.done + 1);
    stream.busy = true;
    // A lost context runs nothing more: no kernel, no copy, and no host function.
    let lost = state.contexts.get(&context).is_none_or(|context| context.lost.is_some());
    let answer = if lost {
        Ok(())
    } else if !work.is_valid(&state) {
        eprintln!("framewright stand-in: a queued copy or memset names memory that was freed meanwhile");
        Err(Code::ILLEGAL_ADDRESS)
    } else {
        state.arena.open();
        drop(state);
        let answer = work.run();
        state = lock();
        state.arena.close();
        answer.and_then(|()| finish(&mut state, handle, number, &work))
    };
    if let Err(code) = answer {
        state.lose(context, code);
    }
    if let Some(stream) = state.streams.get_mut(&handle) {
        stream.busy = false;
        stream.done += 1;
    }
    CHANGED.notify_all();
    state
}

/// What follows an operation, under the lock.
fn finish(state: &mut State, stream: u64, number: u64, work: &Work) -> Answer {
    match work {
        Work::Record { event } => {
            if let Some(event) = state.events.get_mut(event).filter(|event| event.recorded == Some((stream, number))) {
                event.at = Some(Instant::now());
            }
            Ok(())
        }
        Work::Free { base } => state.arena.free(*base),
        Work::Launch { body, .. } => match state.arena.broken_guard() {
            None => Ok(()),
            Some(allocation) => {
                let (name, base, bytes) = (body.name, allocation.base, allocation.bytes);
                eprintln!("framewright stand-in: kernel {name} wrote outside the {bytes} bytes at {base:#x}");
                Err(Code::ILLEGAL_ADDRESS)
            }
        },
        _ => Ok(()),
    }
}

/// Runs everything that was queued on the stream until now.
pub(crate) fn run_all(state: Guard, handle: u64) -> Guard {
    let count = state.streams.get(&handle).map_or(0, |stream| stream.queued);
    run_until(state, handle, count)
}

/// Runs everything that was queued in a context until now, or in all contexts.
pub(crate) fn run_context(mut state: Guard, context: Option<u64>) -> Guard {
    let streams = state.streams.iter().filter(|(_, s)| context.is_none_or(|context| s.context == context));
    let streams: Vec<(u64, u64)> = streams.map(|(&handle, s)| (handle, s.queued)).collect();
    for (handle, count) in streams {
        state = run_until(state, handle, count);
    }
    state
}

/// Runs at most one operation towards the count, and says whether the count is reached. Does not wait for other threads.
pub(crate) fn step(state: Guard, handle: u64, count: u64) -> (Guard, bool) {
    if state.streams.get(&handle).is_some_and(|stream| stream.done < count && !stream.busy) {
        let next = state.streams[&handle].done + 1;
        let state = run_until(state, handle, next);
        let reached = has_run(&state, handle, count);
        return (state, reached);
    }
    let reached = has_run(&state, handle, count);
    (state, reached)
}

/// With `FRAMEWRIGHT_STANDIN_BACKGROUND=MS`, a thread runs what is queued every so many milliseconds, as a device would.
fn start_background() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let pause = number("FRAMEWRIGHT_STANDIN_BACKGROUND", 0);
        if pause > 0 {
            std::thread::spawn(move || {
                loop {
                    std::thread::sleep(Duration::from_millis(pause));
                    drop(run_context(lock(), None));
                }
            });
        }
    });
}
