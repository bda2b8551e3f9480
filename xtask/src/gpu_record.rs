//! What a program wrote on a GPU: the JSON files of docs/gpu-runs, and what must be true of them.

use crate::failure::{Failure, Result, fail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;

/// A file: `2026-11-30-suite-3a06dc4b1045.json`.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) file: String,
    pub(crate) facts: Facts,
    pub(crate) content: Content,
}

/// What every file says of its run.
#[derive(Debug, Deserialize)]
pub(crate) struct Facts {
    pub(crate) card: String,
    /// The suite knows it, the other two do not say.
    pub(crate) compute_capability: Option<String>,
    pub(crate) driver: String,
    pub(crate) date: String,
    /// With `+` where the tree had changes.
    pub(crate) commit: String,
    pub(crate) program_sha256: String,
}

/// What was run.
#[derive(Debug)]
pub(crate) enum Content {
    /// The suite's comparisons.
    Suite(Vec<Part>),
    /// compute-sanitizer's tools over a fixed list of cases.
    Sanitizer(Vec<Tool>),
    /// Timings.
    Bench(Bench),
}

/// A part of the suite.
#[derive(Debug, Deserialize)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) cases: u64,
    pub(crate) differing: u64,
    pub(crate) first_difference: Option<String>,
    pub(crate) seconds: f64,
}

/// A run of one tool of compute-sanitizer.
#[derive(Debug, Deserialize)]
pub(crate) struct Tool {
    pub(crate) tool: String,
    pub(crate) cases: u64,
    pub(crate) errors: u64,
    pub(crate) seconds: f64,
}

/// A timed case.
#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) us_per_frame: f64,
    pub(crate) gb_per_s: f64,
    pub(crate) source: String,
}

#[derive(Deserialize)]
struct Parts {
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Tools {
    tools: Vec<Tool>,
}

/// Timings, and ratios of those that were taken in turns.
#[derive(Debug, Deserialize)]
pub(crate) struct Bench {
    pub(crate) rows: Vec<Row>,
    /// None in files from before the yardstick.
    #[serde(default)]
    pub(crate) ratios: Vec<Ratio>,
}

/// One time over another.
#[derive(Debug, Deserialize)]
pub(crate) struct Ratio {
    pub(crate) case: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) ratio: f64,
}

impl Record {
    /// Reads a file by its name, which must say what is inside.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self> {
        let Some((date, kind, commit)) = name_parts(file) else {
            return fail!("{file}: expected a name YYYY-MM-DD-KIND-COMMIT.json with KIND suite, sanitizer or bench");
        };
        let facts: Facts = json(file, text)?;
        if facts.date != date {
            return fail!("{file}: date is {}, expected {date} as in the file's name", facts.date);
        }
        if !facts.commit.starts_with(commit) {
            return fail!("{file}: commit is {}, expected {commit} as in the file's name", facts.commit);
        }
        let content = match kind {
            "suite" => Content::Suite(json::<Parts>(file, text)?.parts),
            "sanitizer" => Content::Sanitizer(json::<Tools>(file, text)?.tools),
            _ => Content::Bench(json(file, text)?),
        };
        Ok(Self { file: file.to_owned(), facts, content })
    }

    /// What must not be in a file that is kept: differences, errors, and runs of nothing.
    pub(crate) fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        let mut find = |text: String| findings.push(format!("{}: {text}", self.file));
        match &self.content {
            Content::Suite(parts) => {
                if parts.is_empty() {
                    find("no part ran".to_owned());
                }
                for Part { name, cases, differing, first_difference, .. } in parts {
                    if *cases == 0 {
                        find(format!("part {name} has 0 cases"));
                    }
                    if *differing > 0 {
                        let first = first_difference.as_deref().unwrap_or("not told");
                        find(format!("part {name}: {differing} of {cases} differ, the first: {first}"));
                    }
                }
            }
            Content::Sanitizer(tools) => {
                if tools.is_empty() {
                    find("no tool ran".to_owned());
                }
                for Tool { tool, cases, errors, .. } in tools {
                    if *cases == 0 {
                        find(format!("{tool} has 0 cases"));
                    }
                    if *errors > 0 {
                        find(format!("{tool}: {errors} errors, expected 0"));
                    }
                }
            }
            Content::Bench(Bench { rows, ratios }) => {
                if rows.is_empty() {
                    find("nothing was timed".to_owned());
                }
                let mut seen = BTreeSet::new();
                for Row { case, width, height, us_per_frame, gb_per_s, source } in rows {
                    if !seen.insert((case, source, width, height)) {
                        find(format!("`{case}` of {source} at {width}x{height} is there twice"));
                    }
                    if *us_per_frame <= 0.0 || *gb_per_s <= 0.0 {
                        find(format!("`{case}` at {width}x{height}: {us_per_frame} us, {gb_per_s} GB/s"));
                    }
                }
                for Ratio { case, width, height, ratio } in ratios.iter().filter(|ratio| ratio.ratio <= 0.0) {
                    find(format!("`{case}` at {width}x{height}: a ratio of {ratio}"));
                }
            }
        }
        findings
    }
}

fn json<T: DeserializeOwned>(file: &str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Failure(format!("{file}: {error}")))
}

/// Date, kind and commit of a file's name.
fn name_parts(file: &str) -> Option<(&str, &str, &str)> {
    let stem = file.strip_suffix(".json")?;
    let (date, rest) = stem.split_at_checked(10)?;
    let (kind, commit) = rest.strip_prefix('-')?.split_once('-')?;
    let is_date =
        date.bytes().enumerate().all(|(i, b)| if matches!(i, 4 | 7) { b == b'-' } else { b.is_ascii_digit() });
    let hex = commit.strip_suffix('+').unwrap_or(commit);
    let is_commit = hex.len() >= 7 && hex.bytes().all(|b| b.is_ascii_hexdigit());
    (is_date && is_commit && matches!(kind, "suite" | "sanitizer" | "bench")).then_some((date, kind, commit))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A file of 2026-11-30 at 3a06dc4b1045 with this content.
    pub(crate) fn record(kind: &str, content: &str) -> Record {
        on("2026-11-30", kind, content)
    }

    pub(crate) fn on(date: &str, kind: &str, content: &str) -> Record {
        Record::parse(&format!("{date}-{kind}-3a06dc4.json"), &text(date, content)).expect("a record")
    }

    fn text(date: &str, content: &str) -> String {
        format!(
            r#"{{"card":"NVIDIA H200","driver":"NVIDIA 580 for CUDA 13.0","date":"{date}","commit":"3a06dc4b1045",
               "program_sha256":"5f8b",{content}}}"#
        )
    }

    fn failure(file: &str, text: &str) -> String {
        Record::parse(file, text).expect_err("a failure").0
    }

    #[test]
    fn a_name_says_what_is_inside() {
        let parts = text("2026-11-30", r#""parts":[]"#);
        assert!(Record::parse("2026-11-30-suite-3a06dc4b1045.json", &parts).is_ok());
        for name in [
            "2026-11-30-other-3a06dc4.json",
            "2026-11-3-suite-3a06dc4b.json",
            "2026-11-30-suite-3a06.json",
            "2026-11-30-suite-3a06dc4x.json",
            "2026.11.30-suite-3a06dc4.json",
            "suite.json",
            "é.json",
        ] {
            assert!(failure(name, &parts).contains("expected a name YYYY-MM-DD-KIND-COMMIT.json"), "{name}");
        }
        let other_day = failure("2026-11-29-suite-3a06dc4.json", &parts);
        assert!(other_day.ends_with("date is 2026-11-30, expected 2026-11-29 as in the file's name"), "{other_day}");
        let other_commit = failure("2026-11-30-suite-3a06dc5.json", &parts);
        assert!(other_commit.contains("commit is 3a06dc4b1045, expected 3a06dc5"), "{other_commit}");
    }

    #[test]
    fn what_is_no_record_is_named_with_its_place() {
        assert!(
            failure("2026-11-30-suite-3a06dc4.json", "{\n\"card\":").starts_with("2026-11-30-suite-3a06dc4.json: ")
        );
        let parts = text("2026-11-30", r#""parts":[]"#);
        assert!(failure("2026-11-30-bench-3a06dc4.json", &parts).contains("missing field `rows`"));
        assert!(failure("2026-11-30-sanitizer-3a06dc4.json", &parts).contains("missing field `tools`"));
        let negative = text("2026-11-30", r#""parts":[{"name":"a","cases":1,"differing":-1,"seconds":1}]"#);
        assert!(failure("2026-11-30-suite-3a06dc4.json", &negative).contains("-1"));
    }

    #[test]
    fn a_suite_must_have_run_and_agree() {
        let findings = |parts: &str| record("suite", &format!(r#""parts":[{parts}]"#)).findings();
        assert!(findings(r#"{"name":"a","cases":7,"differing":0,"seconds":1.5}"#).is_empty());
        let found = findings(
            r#"{"name":"a","cases":7,"differing":2,"first_difference":"x|y","seconds":1},
               {"name":"b","cases":0,"differing":0,"first_difference":null,"seconds":1}"#,
        );
        assert_eq!(
            found,
            [
                "2026-11-30-suite-3a06dc4.json: part a: 2 of 7 differ, the first: x|y",
                "2026-11-30-suite-3a06dc4.json: part b has 0 cases",
            ]
        );
        assert_eq!(findings(""), ["2026-11-30-suite-3a06dc4.json: no part ran"]);
    }

    #[test]
    fn a_sanitizer_must_have_run_and_found_nothing() {
        let findings = |tools: &str| record("sanitizer", &format!(r#""tools":[{tools}]"#)).findings();
        assert!(findings(r#"{"tool":"memcheck","cases":7,"errors":0,"seconds":1}"#).is_empty());
        assert!(
            findings(r#"{"tool":"memcheck","cases":7,"errors":1,"seconds":1}"#)[0].ends_with("1 errors, expected 0")
        );
        assert!(
            findings(r#"{"tool":"memcheck","cases":0,"errors":0,"seconds":1}"#)[0].ends_with("memcheck has 0 cases")
        );
        assert!(findings("")[0].ends_with("no tool ran"));
    }

    #[test]
    fn timings_are_there_once() {
        let findings = |rows: &[&str]| record("bench", &format!(r#""rows":[{}]"#, rows.join(","))).findings();
        let row = r#"{"case":"c","width":8,"height":4,"us_per_frame":1.5,"gb_per_s":10,"source":"framewright"}"#;
        assert!(findings(&[row, &row.replace("\"c\"", "\"d\""), &row.replace("8", "9")]).is_empty());
        assert!(findings(&[row, row])[0].ends_with("`c` of framewright at 8x4 is there twice"));
        assert!(findings(&[&row.replace("1.5", "0")])[0].ends_with("`c` at 8x4: 0 us, 10 GB/s"));
        assert!(findings(&[])[0].ends_with("nothing was timed"));
        let ratio = |ratio: &str| {
            let ratios = format!(r#""ratios":[{{"case":"r","width":8,"height":4,"ratio":{ratio}}}]"#);
            record("bench", &format!(r#""rows":[{row}],{ratios}"#)).findings()
        };
        assert!(ratio("1.02").is_empty());
        assert!(ratio("0")[0].ends_with("`r` at 8x4: a ratio of 0"));
    }
}
