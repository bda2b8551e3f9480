//! Everything the stand-in knows: contexts, memory, streams, events, modules.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::arena::Arena;
use crate::code::Code;
use crate::module::Module;
use crate::queue::Op;

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::new()));
/// Woken when an operation of a queue has run.
pub(crate) static CHANGED: Condvar = Condvar::new();

/// The state, locked. No operation of a queue runs under the lock.
pub(crate) fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) struct State {
    pub(crate) initialised: bool,
    pub(crate) arena: Arena,
    /// Page-locked host memory by address.
    pub(crate) pinned: BTreeMap<u64, Pinned>,
    pub(crate) primaries: Vec<Primary>,
    pub(crate) contexts: BTreeMap<u64, Context>,
    pub(crate) streams: BTreeMap<u64, Stream>,
    pub(crate) events: BTreeMap<u64, Event>,
    pub(crate) modules: BTreeMap<u64, Module>,
    /// Functions handed out: the module and the entry's name.
    pub(crate) functions: BTreeMap<u64, (u64, String)>,
    /// Allocations, streams, events and modules that their context took with it.
    pub(crate) abandoned: u64,
    next: u64,
}

#[derive(Clone, Copy)]
pub(crate) struct Pinned {
    pub(crate) bytes: usize,
    pub(crate) context: u64,
    pub(crate) flags: u32,
    /// Registered by the host, not allocated here.
    pub(crate) registered: bool,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Primary {
    pub(crate) retained: u32,
    pub(crate) flags: u32,
}

pub(crate) struct Context {
    pub(crate) device: i32,
    pub(crate) flags: u32,
    /// The error that every later call returns.
    pub(crate) lost: Option<Code>,
    /// The stream that the handles 0 and 1 mean.
    pub(crate) legacy: u64,
    /// The stream that the handle 2 means: here one for all threads.
    pub(crate) per_thread: u64,
}

pub(crate) struct Stream {
    pub(crate) context: u64,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    pub(crate) ops: VecDeque<Op>,
    /// Operations ever queued, and of these the ones that have run.
    pub(crate) queued: u64,
    pub(crate) done: u64,
    /// A thread runs an operation of this stream now.
    pub(crate) busy: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct Event {
    pub(crate) context: u64,
    pub(crate) flags: u32,
    /// The stream and the number of the operation that it was last recorded as.
    pub(crate) recorded: Option<(u64, u64)>,
    pub(crate) at: Option<Instant>,
}

/// A number from a variable, or the default.
pub(crate) fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(default)
}

impl State {
    fn new() -> Self {
        let devices = number("FRAMEWRIGHT_STANDIN_DEVICES", 1) as usize;
        Self {
            initialised: false,
            arena: Arena::new(),
            pinned: BTreeMap::new(),
            primaries: vec![Primary::default(); devices],
            contexts: BTreeMap::new(),
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
            modules: BTreeMap::new(),
            functions: BTreeMap::new(),
            abandoned: 0,
            next: 0x5A00_0000_0000,
        }
    }

    /// A handle that was never given out. It points nowhere.
    pub(crate) fn handle(&mut self) -> u64 {
        self.next += 0x40;
        self.next
    }

    pub(crate) fn device(&self, device: i32) -> Result<usize, Code> {
        let index = usize::try_from(device).map_err(|_| Code::INVALID_DEVICE)?;
        if index < self.primaries.len() { Ok(index) } else { Err(Code::INVALID_DEVICE) }
    }

    /// Makes a context under the handle.
    pub(crate) fn create_context(&mut self, handle: u64, device: i32, flags: u32) {
        let legacy = self.create_stream(handle, 0, 0);
        let per_thread = self.create_stream(handle, 0, 0);
        self.contexts.insert(handle, Context { device, flags, lost: None, legacy, per_thread });
    }

    pub(crate) fn create_stream(&mut self, context: u64, flags: u32, priority: i32) -> u64 {
        let handle = self.handle();
        let stream = Stream { context, flags, priority, ops: VecDeque::new(), queued: 0, done: 0, busy: false };
        self.streams.insert(handle, stream);
        handle
    }

    /// Frees everything that belongs to a context whose queues are empty, and the context.
    pub(crate) fn remove_context(&mut self, handle: u64) {
        let Some(context) = self.contexts.remove(&handle) else { return };
        self.streams.remove(&context.legacy);
        self.streams.remove(&context.per_thread);
        let before = self.live();
        for base in self.arena.of_context(handle) {
            let _ = self.arena.free(base);
        }
        self.streams.retain(|_, stream| stream.context != handle);
        self.events.retain(|_, event| event.context != handle);
        self.modules.retain(|_, module| module.context != handle);
        let modules = &self.modules;
        self.functions.retain(|_, (module, _)| modules.contains_key(module));
        let pinned: Vec<u64> = self.pinned.iter().filter(|(_, p)| p.context == handle).map(|(&at, _)| at).collect();
        for at in pinned {
            crate::memory::free_pinned(self, at);
        }
        self.abandoned += before - self.live();
    }

    /// Everything that somebody must still free or destroy.
    pub(crate) fn live(&self) -> u64 {
        let streams = self.live_streams();
        self.arena.len() as u64
            + self.pinned.len() as u64
            + streams
            + self.events.len() as u64
            + self.modules.len() as u64
    }

    /// Streams that somebody created.
    pub(crate) fn live_streams(&self) -> u64 {
        self.streams.len() as u64 - 2 * self.contexts.len() as u64
    }

    /// From now on every call that needs the context returns the code.
    pub(crate) fn lose(&mut self, context: u64, code: Code) {
        if let Some(context) = self.contexts.get_mut(&context) {
            context.lost.get_or_insert(code);
        }
    }
}
