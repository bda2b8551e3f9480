//! Steps of a check run: what became of each, and the summary at the end.

use crate::failure::Failure;
use std::time::{Duration, Instant};

/// How a step ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    Failed(Failure),
    Skipped(Skip),
}

/// Why a step was left out.
#[derive(Debug)]
pub(crate) struct Skip {
    /// What the machine lacks.
    pub(crate) missing: String,
    /// The command that brings it, where there is one.
    pub(crate) install: Option<String>,
    /// Skipping is no failure even with `--strict`.
    pub(crate) harmless: bool,
}

impl Skip {
    /// Something that a command installs.
    pub(crate) fn lacks(missing: &str, install: &str) -> Outcome {
        let (missing, install) = (missing.to_owned(), Some(install.to_owned()));
        Outcome::Skipped(Self { missing, install, harmless: false })
    }

    /// Something that not every machine has.
    pub(crate) fn harmless(missing: &str) -> Outcome {
        Outcome::Skipped(Self { missing: missing.to_owned(), install: None, harmless: true })
    }

    fn reason(&self) -> String {
        match &self.install {
            Some(install) => format!("skipped: {}; install it: {install}", self.missing),
            None => format!("skipped: {}", self.missing),
        }
    }
}

impl From<crate::failure::Result<()>> for Outcome {
    fn from(result: crate::failure::Result<()>) -> Self {
        result.map_or_else(Outcome::Failed, |()| Outcome::Passed)
    }
}

/// The steps so far.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    done: Vec<(String, Outcome, Duration)>,
}

impl Steps {
    /// Runs a step and prints its header and how it ended.
    pub(crate) fn run(&mut self, name: &str, step: impl FnOnce() -> Outcome) {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = step();
        let took = start.elapsed();
        match &outcome {
            Outcome::Passed => println!("== {name}: passed, {:.1} s", took.as_secs_f64()),
            Outcome::Failed(failure) => println!("{failure}\n== {name}: FAILED, {:.1} s", took.as_secs_f64()),
            Outcome::Skipped(skip) => println!("== {name}: {}", skip.reason()),
        }
        self.done.push((name.to_owned(), outcome, took));
    }

    /// The list of all steps, and the counts alone on the last line.
    pub(crate) fn summary(&self) -> String {
        let width = self.done.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
        let mut text = String::new();
        for (name, outcome, took) in &self.done {
            let ended = match outcome {
                Outcome::Passed => format!("passed   {:6.1} s", took.as_secs_f64()),
                Outcome::Failed(failure) => format!("FAILED   {}", first_finding(&failure.0)),
                Outcome::Skipped(skip) => skip.reason(),
            };
            text += &format!("{name:width$}  {ended}\n");
        }
        let count = |kind: fn(&Outcome) -> bool| self.done.iter().filter(|(_, outcome, _)| kind(outcome)).count();
        let passed = count(|outcome| matches!(outcome, Outcome::Passed));
        let failed = count(|outcome| matches!(outcome, Outcome::Failed(_)));
        let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
        text + &format!("steps: {passed} passed, {failed} failed, {skipped} skipped\n")
    }

    /// Whether the run is good: nothing failed and, if `strict`, nothing skipped that a command can install.
    pub(crate) fn good(&self, strict: bool) -> bool {
        self.done.iter().all(|(_, outcome, _)| match outcome {
            Outcome::Passed => true,
            Outcome::Failed(_) => false,
            Outcome::Skipped(skip) => skip.harmless || !strict,
        })
    }
}

/// The first line of a failure, with the first finding where that line only opens a list of them.
fn first_finding(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let first = lines.next().unwrap_or_default();
    match lines.next() {
        Some(second) if first.ends_with(':') => format!("{first} {second}"),
        _ => first.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(outcomes: Vec<Outcome>) -> Steps {
        let done = outcomes.into_iter().map(|outcome| ("step".to_owned(), outcome, Duration::ZERO));
        Steps { done: done.collect() }
    }

    #[test]
    fn strict_allows_only_harmless_skips() {
        assert!(steps(vec![Outcome::Passed, Skip::harmless("no GPU")]).good(true));
        assert!(!steps(vec![Skip::lacks("no rustfmt", "x")]).good(true));
        assert!(steps(vec![Skip::lacks("no rustfmt", "x")]).good(false));
        assert!(!steps(vec![Outcome::Passed, Outcome::Failed(Failure("no".into()))]).good(false));
    }

    #[test]
    fn a_list_of_findings_shows_its_first() {
        assert_eq!(first_finding("table:\n  a\n  b"), "table: a");
        assert_eq!(first_finding("one\ntwo"), "one");
        assert_eq!(first_finding("table:"), "table:");
    }

    #[test]
    fn the_summary_counts_and_names_what_to_install() {
        let failed = Outcome::Failed(Failure("first\nsecond".into()));
        let summary = steps(vec![Outcome::Passed, failed, Skip::lacks("no ptxas", "`get it`")]).summary();
        assert!(summary.ends_with("\nsteps: 1 passed, 1 failed, 1 skipped\n"), "{summary}");
        assert!(
            summary.contains("no ptxas; install it: `get it`") && summary.contains("FAILED   first\n"),
            "{summary}"
        );
    }
}
