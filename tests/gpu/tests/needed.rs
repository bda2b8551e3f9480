//! The programs of this package start on machines without NVIDIA's driver.

#[path = "../../tests/common/needed.rs"]
mod needed;

use std::path::Path;

#[test]
fn the_suite_needs_no_libcuda() {
    needed::needs_no_cuda(Path::new(env!("CARGO_BIN_EXE_framewright-gpu-suite")));
}
