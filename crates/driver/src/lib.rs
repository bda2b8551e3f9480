//! The CUDA driver's functions, bound at first use: one binary for machines with and without a driver.
//!
//! `cust` and `cust_raw` link `libcuda`, so a program that uses them would not start without NVIDIA's driver. This crate
//! defines the `cu…` functions itself, as hidden symbols that forward to the library opened at the first call
//! (`table.rs` shows how). A program that depends on both and calls [`status`] at least once links without libcuda,
//! starts everywhere, and can say what is missing. Without a driver every function returns `CUDA_ERROR_NO_DEVICE`; a
//! function that the installed driver does not have returns `CUDA_ERROR_NOT_SUPPORTED`.
//!
//! | file | what |
//! |---|---|
//! | `names.rs` | the one list of functions |
//! | `table.rs` | a trampoline and a slot for each |
//! | `bind.rs` | opening the library, filling the slots |
//! | `status.rs` | what was found |
//! | `sys.rs` | declarations of the functions that framewright itself calls |
//!
//! Linux on x86-64; the aarch64 trampolines are untried.
//!
//! # In a crate outside framewright's workspace
//!
//! `cust`'s build script looks for a CUDA library folder. Where no toolkit is installed, set `CUDA_LIBRARY_PATH` to a
//! folder with a `lib64/libcuda.so` that is an empty linker script (`crates/driver/link-stub` is one).

mod bind;
mod names;
mod status;
pub mod sys;
mod table;

pub use bind::{DRIVER_VARIABLE, status};
pub use status::{DriverStatus, DriverVersion, Loaded, Missing};
