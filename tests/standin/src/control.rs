//! What a test asks of the stand-in beside the driver's functions.

use std::ffi::{CStr, c_char};

use crate::call;
use crate::queue::run_context;
use crate::state::lock;

/// # Safety
///
/// `name` is a terminated string.
unsafe fn text(name: *const c_char) -> String {
    // SAFETY: a terminated string by this function's contract.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// After so many more calls, one call of the function `name` returns `code` and does nothing else. Codes from 700 to 719
/// are errors of the device: the context is lost.
///
/// # Safety
///
/// `name` is a terminated string.
#[unsafe(no_mangle)]
unsafe extern "C" fn framewright_standin_fail(name: *const c_char, after_calls: u32, code: u32) {
    // SAFETY: the caller gives a terminated string.
    call::fail(&unsafe { text(name) }, after_calls, code);
}

/// Forgets all failures asked for.
#[unsafe(no_mangle)]
extern "C" fn framewright_standin_succeed() {
    call::succeed();
}

/// How often the function `name` was called.
///
/// # Safety
///
/// `name` is a terminated string.
#[unsafe(no_mangle)]
unsafe extern "C" fn framewright_standin_calls(name: *const c_char) -> u64 {
    // SAFETY: the caller gives a terminated string.
    call::count(&unsafe { text(name) })
}

/// How many of a kind are alive: `allocations`, `bytes` (of device memory), `pinned`, `streams`, `events`, `modules`,
/// `contexts`, `retained` (counts of primary contexts), `queued` (operations that have not run), `abandoned` (all that
/// died with its context and not by a call). `u64::MAX` for another word.
///
/// # Safety
///
/// `kind` is a terminated string.
#[unsafe(no_mangle)]
unsafe extern "C" fn framewright_standin_live(kind: *const c_char) -> u64 {
    // SAFETY: the caller gives a terminated string.
    let kind = unsafe { text(kind) };
    let state = lock();
    match kind.as_str() {
        "allocations" => state.arena.len() as u64 - state.modules.values().map(|module| module.globals()).sum::<u64>(),
        "bytes" => state.arena.used() as u64,
        "pinned" => state.pinned.len() as u64,
        "streams" => state.live_streams(),
        "events" => state.events.len() as u64,
        "modules" => state.modules.len() as u64,
        "contexts" => state.contexts.len() as u64,
        "retained" => state.primaries.iter().map(|primary| u64::from(primary.retained)).sum(),
        "queued" => state.streams.values().map(|stream| stream.queued - stream.done).sum(),
        "abandoned" => state.abandoned,
        _ => u64::MAX,
    }
}

/// Runs everything that is queued, as if the device had got to it while nobody waited.
#[unsafe(no_mangle)]
extern "C" fn framewright_standin_run() {
    drop(run_context(lock(), None));
}
