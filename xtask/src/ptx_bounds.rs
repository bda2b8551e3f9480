//! Launch bounds of the families: which a family's entries have is here, how they get into the PTX in `framewright-ptx`.
//!
//! A bound on the blocks of a multiprocessor gives a thread 65536 / (128 N) registers, and `ptxas` takes what it leaves: too
//! high a number spills, a low one gives more registers than it would take by itself. `cargo xtask ptx` shows both.

use crate::failure::{Result, fail};
use framewright_ptx::Limits;

/// Families and their entries' limits.
///
/// No family has more than what every entry has: with 5 blocks (96 registers), which the hand-written yuv420 needed to keep
/// from spilling on sm_120, the conversions are slower by 5 to 8 % at 4K and 8K on an H200 than with what ptxas takes by
/// itself (docs/performance.md).
const LIMITS: &[(&str, Limits)] = &[
    ("copy", Limits::new()),
    ("selftest", Limits::new()),
    ("yuv420", Limits::new()),
    ("examples", Limits::new()),
    ("yardstick", Limits::new()),
];

/// The limits of a family.
pub(crate) fn of(family: &str) -> Result<Limits> {
    match LIMITS.iter().find(|(name, _)| *name == family) {
        Some((_, limits)) => Ok(*limits),
        None => fail!("xtask/src/ptx_bounds.rs: expected a row for the family `{family}`, found none"),
    }
}

/// As a file's head records them.
pub(crate) fn text(limits: &Limits) -> String {
    limits.directives().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_without_a_row_are_refused() {
        assert_eq!(of("yuv420").map(|limits| text(&limits)), Ok(".maxntid 128".to_owned()));
        assert!(of("other").is_err());
    }

    #[test]
    fn the_kernels_of_this_workspace_have_as_many_threads_as_the_bound_says() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/kernel/src/entry.rs");
        let source = crate::failure::read_text(&file).expect("the file");
        let constant = |name: &str| -> u32 {
            let start = format!("pub const {name}: u32 = ");
            let line = source.lines().find_map(|line| line.trim().strip_prefix(start.as_str())?.strip_suffix(';'));
            line.and_then(|number| number.parse().ok()).expect("a constant")
        };
        assert_eq!(constant("WARPS") * constant("LANES"), framewright_ptx::limits::THREADS);
    }
}
