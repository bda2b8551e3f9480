//! A stand-in CUDA driver for tests: the part of the driver API that framewright's host code calls, without a device.
//!
//! It is a shared library that `framewright-driver` opens when `FRAMEWRIGHT_CUDA_DRIVER` names it. What it does not
//! export, the trampolines answer with `CUDA_ERROR_NOT_SUPPORTED`. It is stricter than the driver wherever that finds
//! mistakes:
//!
//! - **Work runs when somebody waits**, not before (`queue.rs`): a host read before the wait sees old bytes, and a wait
//!   that is missing between two streams shows as wrong bytes.
//! - **Device memory cannot be touched by host code** (`arena.rs`): following a device pointer ends in SIGSEGV. Fresh
//!   memory holds 0xA5 (page-locked: 0x5A). Guards around each allocation are compared after each kernel and at the free.
//! - Copies and fills are checked against the allocations when they are queued and again when they run.
//! - A kernel runs its host implementation (`registry.rs`); one that panics, or writes outside an allocation, loses the
//!   context as on a device.
//! - A host function may not call the driver, and is not called once the context is lost.
//!
//! | variable | meaning |
//! |---|---|
//! | `FRAMEWRIGHT_STANDIN_DEVICES` | number of devices, default 1 |
//! | `FRAMEWRIGHT_STANDIN_MEMORY` | bytes of a device, default 8 GiB |
//! | `FRAMEWRIGHT_STANDIN_VERSION` | what `cuDriverGetVersion` answers, default 13000 |
//! | `FRAMEWRIGHT_STANDIN_FAIL` | `cuMemAllocPitch_v2:3:2,…`: function, which of its calls fails, code |
//! | `FRAMEWRIGHT_STANDIN_BACKGROUND` | milliseconds after which queues run though nobody waits, default never |
//!
//! A test finds the functions `framewright_standin_…` (`control.rs`) in the library: failures on demand, call counts,
//! what is alive. It must not link this crate, whose `cu…` symbols would meet the trampolines'; the rlib is only there so
//! that cargo builds the shared library for packages that name this one as a dev-dependency.
//!
//! Not there: arrays, textures, managed memory, peer copies, capture and graphs.

mod arena;
mod call;
mod code;
mod context;
mod control;
mod copy;
mod device;
mod launch;
mod memory;
mod module;
mod queue;
mod registry;
mod state;
mod stream;
