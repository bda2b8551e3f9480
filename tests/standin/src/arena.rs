//! Device memory: one reserved range of addresses a process that host code cannot touch.
//!
//! ```text
//! arena:  [pages][guard | allocation | guard][pages not accessible][guard | allocation | guard] …
//! ```
//!
//! The range is mapped without access. Only while an operation of a queue runs are the used pages readable and writable
//! ([`Arena::open`]), so that host code which follows a device pointer by mistake dies of SIGSEGV, unless another thread
//! runs an operation at that very moment. An allocation begins on a page, filled with [`POISON`], between two guards
//! that are compared after each kernel and when it is freed. Addresses are used again as late as possible.

use std::collections::BTreeMap;
use std::ptr;

use crate::code::Code;

/// What fresh device memory holds.
pub(crate) const POISON: u8 = 0xA5;
/// What the guards hold.
const GUARD: u8 = 0xC3;
/// Bytes of a guard. Allocations are aligned to it, as the driver aligns them to 512.
const GUARD_BYTES: usize = 512;
const PAGE: usize = 4096;
/// Addresses reserved: many times what a test holds at once.
const RESERVED: usize = 64 << 30;

/// An allocation of device memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) bytes: usize,
    /// The context that it belongs to.
    pub(crate) context: u64,
    /// A free is queued on a stream: no host call may name it any more.
    pub(crate) freeing: bool,
}

impl Allocation {
    /// The mapped pages, with both guards.
    fn block(&self) -> (usize, usize) {
        let start = self.base as usize - PAGE;
        (start, (PAGE + self.bytes + GUARD_BYTES).next_multiple_of(PAGE))
    }
}

/// The arena and its allocations by base address.
pub(crate) struct Arena {
    start: usize,
    /// Where the search for a gap begins.
    cursor: usize,
    /// The end of the used pages so far.
    high: usize,
    /// How many operations run now.
    open: usize,
    allocations: BTreeMap<u64, Allocation>,
    used: usize,
}

impl Arena {
    pub(crate) fn new() -> Self {
        // SAFETY: a new anonymous mapping at an address of the kernel's choice disturbs nothing.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                RESERVED,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        assert!(start != libc::MAP_FAILED, "the stand-in cannot reserve addresses");
        let start = start as usize;
        Self { start, cursor: start, high: start, open: 0, allocations: BTreeMap::new(), used: 0 }
    }

    /// Bytes allocated now.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    pub(crate) fn len(&self) -> usize {
        self.allocations.len()
    }

    pub(crate) fn allocate(&mut self, bytes: usize, context: u64) -> Result<u64, Code> {
        let block = (PAGE + bytes + GUARD_BYTES).next_multiple_of(PAGE);
        let start = self.gap(block).ok_or(Code::OUT_OF_MEMORY)?;
        let allocation = Allocation { base: (start + PAGE) as u64, bytes, context, freeing: false };
        self.cursor = start + block;
        self.high = self.high.max(self.cursor);
        self.open();
        // SAFETY: the block lies in the arena, was found free, and is open.
        unsafe {
            ptr::write_bytes((start + PAGE - GUARD_BYTES) as *mut u8, GUARD, GUARD_BYTES);
            ptr::write_bytes((start + PAGE) as *mut u8, POISON, bytes);
            ptr::write_bytes((start + PAGE + bytes) as *mut u8, GUARD, GUARD_BYTES);
        }
        self.close();
        self.allocations.insert(allocation.base, allocation);
        self.used += bytes;
        Ok(allocation.base)
    }

    /// The first gap at or after the cursor, or before it, of so many bytes.
    fn gap(&self, bytes: usize) -> Option<usize> {
        let fits_from = |from: usize, end: usize| {
            let mut at = from;
            for allocation in self.allocations.values() {
                let (start, length) = allocation.block();
                if start + length <= at {
                    continue;
                }
                if start >= at + bytes {
                    break;
                }
                at = start + length;
            }
            (at + bytes <= end).then_some(at)
        };
        let end = self.start + RESERVED;
        fits_from(self.cursor, end).or_else(|| fits_from(self.start, end))
    }

    /// Frees the allocation that begins at `base`. `Err` if there is none.
    pub(crate) fn free(&mut self, base: u64) -> Result<(), Code> {
        let allocation = self.allocations.remove(&base).ok_or(Code::INVALID_VALUE)?;
        self.used -= allocation.bytes;
        let whole = self.guards_whole(&allocation);
        let (start, length) = allocation.block();
        // SAFETY: the block belongs to this allocation alone, which nobody can name any more.
        unsafe { libc::madvise(start as *mut libc::c_void, length, libc::MADV_DONTNEED) };
        if whole { Ok(()) } else { Err(Code::ILLEGAL_ADDRESS) }
    }

    /// The bases of a context's allocations.
    pub(crate) fn of_context(&self, context: u64) -> Vec<u64> {
        self.allocations.values().filter(|a| a.context == context).map(|a| a.base).collect()
    }

    /// The allocation that holds the address.
    pub(crate) fn find(&self, address: u64) -> Option<&Allocation> {
        let (_, allocation) = self.allocations.range(..=address).next_back()?;
        (address - allocation.base < allocation.bytes as u64).then_some(allocation)
    }

    /// Marks the allocation that begins at `base` as one whose free is queued.
    pub(crate) fn mark_freeing(&mut self, base: u64) -> Result<(), Code> {
        let allocation = self.allocations.get_mut(&base).ok_or(Code::INVALID_VALUE)?;
        if std::mem::replace(&mut allocation.freeing, true) { Err(Code::INVALID_VALUE) } else { Ok(()) }
    }

    /// Whether the address lies in the arena, allocated or not.
    pub(crate) fn holds(&self, address: u64) -> bool {
        (self.start..self.start + RESERVED).contains(&(address as usize))
    }

    /// Whether `bytes` bytes from the address lie in one allocation.
    pub(crate) fn contains(&self, address: u64, bytes: usize) -> bool {
        self.find(address).is_some_and(|a| bytes as u64 <= a.bytes as u64 - (address - a.base))
    }

    /// The first allocation with a broken guard.
    pub(crate) fn broken_guard(&mut self) -> Option<Allocation> {
        self.open();
        let broken = self.allocations.values().copied().find(|a| !guards_whole(a));
        self.close();
        broken
    }

    fn guards_whole(&mut self, allocation: &Allocation) -> bool {
        self.open();
        let whole = guards_whole(allocation);
        self.close();
        whole
    }

    /// Makes the used pages accessible until as many calls of [`Arena::close`].
    pub(crate) fn open(&mut self) {
        self.open += 1;
        self.protect(libc::PROT_READ | libc::PROT_WRITE);
    }

    pub(crate) fn close(&mut self) {
        self.open -= 1;
        if self.open == 0 {
            self.protect(libc::PROT_NONE);
        }
    }

    fn protect(&self, access: libc::c_int) {
        if self.high == self.start {
            return;
        }
        // SAFETY: the pages are the arena's own.
        let result = unsafe { libc::mprotect(self.start as *mut libc::c_void, self.high - self.start, access) };
        assert_eq!(result, 0, "the stand-in cannot change the access to its arena");
    }
}

/// Needs an open arena.
fn guards_whole(allocation: &Allocation) -> bool {
    let base = allocation.base as usize;
    let (before, after) = (base - GUARD_BYTES, base + allocation.bytes);
    [before, after].into_iter().all(|guard| {
        // SAFETY: a live allocation's guards are mapped, and the caller has opened the arena.
        let bytes = unsafe { std::slice::from_raw_parts(guard as *const u8, GUARD_BYTES) };
        bytes.iter().all(|&byte| byte == GUARD)
    })
}
