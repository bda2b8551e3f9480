//! What a run showed, as JSON: `docs/gpu-runs/` keeps it, and the tables in the docs are made from it.

use serde::{Deserialize, Serialize};

/// A run of the suite.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The card, as the driver names it.
    pub card: String,
    /// Compute capability.
    pub compute_capability: String,
    /// The library and the CUDA version that it supports.
    pub driver: String,
    /// When, in UTC: YYYY-MM-DD.
    pub date: String,
    /// The commit that the program was built from, with `+` where the tree had changes.
    pub commit: String,
    /// SHA-256 of the program.
    pub program_sha256: String,
    /// The parts that ran.
    pub parts: Vec<Part>,
}

/// A part of the suite.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// What it compared or called.
    pub cases: u64,
    /// How many were not as expected.
    pub differing: u64,
    /// The first of them.
    pub first_difference: Option<String>,
    /// Seconds it took, with the CPU's side.
    pub seconds: f64,
}

impl Report {
    /// Whether all parts ran without a difference.
    pub fn passed(&self) -> bool {
        self.parts.iter().all(|part| part.differing == 0 && part.cases > 0)
    }
}
