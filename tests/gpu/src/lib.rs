//! The CUDA suite: the conformance list, all colours, large frames, many streams and the API, on whatever driver there is.
//!
//! The program `framewright-gpu-suite` runs it and writes a [`report`] as JSON. On a GPU machine that is a real card; in CI
//! `tests/standin.rs` runs the same on the stand-in driver.

pub mod api;
pub mod exact;
pub mod examples;
pub mod executor;
pub mod facts;
pub mod report;

/// The README's examples, compiled and run as this crate's.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
