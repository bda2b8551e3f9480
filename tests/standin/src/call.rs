//! What every function does before its own work: count the call, fail on demand, check the thread's context.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::code::{Answer, Code};
use crate::state;

/// What must hold before a function runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// `cuInit` has been called.
    Init,
    /// The thread has a current context, which is alive and not lost.
    Context,
}

/// Defines exported functions of the driver: `Needs fn name(arguments) |current context| { Answer }`.
macro_rules! api {
    ($($(#[$meta:meta])* $needs:ident fn $name:ident($($arg:ident: $type:ty),* $(,)?) |$context:pat_param| $body:block)*) => {
        $(
            $(#[$meta])*
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, clippy::too_many_arguments, reason = "the driver's name and signature")]
            unsafe extern "C" fn $name($($arg: $type),*) -> u32 {
                $crate::call::enter(
                    stringify!($name),
                    $crate::call::Needs::$needs,
                    #[inline(always)]
                    |$context: u64| -> $crate::code::Answer { $body },
                )
            }
        )*
    };
}
pub(crate) use api;

/// A failure asked for.
struct Rule {
    name: String,
    /// Calls that still succeed before the one that fails.
    left: u32,
    code: u32,
}

#[derive(Default)]
struct Calls {
    counts: HashMap<String, u64>,
    rules: Vec<Rule>,
}

static CALLS: LazyLock<Mutex<Calls>> = LazyLock::new(|| {
    let text = std::env::var("FRAMEWRIGHT_STANDIN_FAIL").unwrap_or_default();
    Mutex::new(Calls { counts: HashMap::new(), rules: text.split(',').filter_map(parse_rule).collect() })
});

thread_local! {
    /// The thread's stack of current contexts, the current one last.
    static STACK: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    /// The thread runs a host function or a kernel for a queue.
    static IN_QUEUE: Cell<bool> = const { Cell::new(false) };
}

/// `cuMemAlloc_v2:3:2`: the third call of cuMemAlloc_v2 returns 2.
fn parse_rule(text: &str) -> Option<Rule> {
    let mut parts = text.trim().split(':');
    let name = parts.next().filter(|name| !name.is_empty())?.to_owned();
    let nth: u32 = parts.next()?.parse().ok()?;
    let code = parts.next()?.parse().ok()?;
    Some(Rule { name, left: nth.checked_sub(1)?, code })
}

fn calls() -> MutexGuard<'static, Calls> {
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of calls of the function so far.
pub(crate) fn count(name: &str) -> u64 {
    calls().counts.get(name).copied().unwrap_or(0)
}

/// After so many more calls, one call of the function returns the code and does nothing else.
pub(crate) fn fail(name: &str, after_calls: u32, code: u32) {
    calls().rules.push(Rule { name: name.to_owned(), left: after_calls, code });
}

/// Forgets all failures asked for.
pub(crate) fn succeed() {
    calls().rules.clear();
}

/// Counts the call; the code that it must fail with, if one is due.
fn register(name: &str) -> Option<u32> {
    let mut calls = calls();
    match calls.counts.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            calls.counts.insert(name.to_owned(), 1);
        }
    }
    let index = calls.rules.iter().position(|rule| rule.name == name)?;
    if calls.rules[index].left == 0 {
        return Some(calls.rules.remove(index).code);
    }
    calls.rules[index].left -= 1;
    None
}

/// Runs a function's body, if everything that it needs is there.
pub(crate) fn enter(name: &'static str, needs: Needs, body: impl FnOnce(u64) -> Answer) -> u32 {
    if let Some(code) = register(name) {
        // Errors of the device itself stay.
        if let (700..=719, Some(context)) = (code, current()) {
            state::lock().lose(context, Code(code));
        }
        return code;
    }
    if IN_QUEUE.get() && needs == Needs::Context {
        return Code::NOT_PERMITTED.0;
    }
    let answer = catch_unwind(AssertUnwindSafe(|| {
        let context = ready(needs)?;
        body(context)
    }));
    match answer {
        Ok(Ok(())) => 0,
        Ok(Err(code)) => code.0,
        Err(_) => Code::UNKNOWN.0,
    }
}

fn ready(needs: Needs) -> Result<u64, Code> {
    if needs == Needs::Nothing {
        return Ok(0);
    }
    let state = state::lock();
    if !state.initialised {
        return Err(Code::NOT_INITIALIZED);
    }
    if needs == Needs::Init {
        return Ok(0);
    }
    let handle = current().ok_or(Code::INVALID_CONTEXT)?;
    let context = state.contexts.get(&handle).ok_or(Code::CONTEXT_IS_DESTROYED)?;
    context.lost.map_or(Ok(handle), Err)
}

/// The thread's current context.
pub(crate) fn current() -> Option<u64> {
    STACK.with_borrow(|stack| stack.last().copied())
}

/// Gives access to the thread's stack of contexts.
pub(crate) fn with_stack<R>(use_it: impl FnOnce(&mut Vec<u64>) -> R) -> R {
    STACK.with_borrow_mut(use_it)
}

/// Runs what a queue holds: no call that needs a context is permitted inside.
pub(crate) fn in_queue<R>(run: impl FnOnce() -> R) -> std::thread::Result<R> {
    IN_QUEUE.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    IN_QUEUE.set(false);
    result
}

/// Writes a result.
///
/// # Safety
///
/// `out` is null, which is an error, or points to memory for a `T`.
pub(crate) unsafe fn put<T>(out: *mut T, value: T) -> Answer {
    if out.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: not null, so memory for a T by this function's contract; the caller may have aligned it badly.
    unsafe { out.write_unaligned(value) };
    Ok(())
}

/// Writes a result that the caller may not want.
///
/// # Safety
///
/// `out` is null or points to memory for a `T`.
pub(crate) unsafe fn put_if<T>(out: *mut T, value: T) {
    // SAFETY: this function's contract is that of `put`; null is no error here.
    let _ = unsafe { put(out, value) };
}
