//! `cargo xtask gpu-report`: docs/gpu-runs/README.md from the JSON files beside it.

use crate::failure::{Failure, Result, fail, read_text, write_text};
use crate::gpu_record::Record;
use crate::gpu_tables;
use crate::workspace::Workspace;
use std::path::Path;

/// What the guide's chapter on speed includes.
const SPEED: &str = "docs/guide/src/speed-times.md";

/// Writes the page, or with `check` compares it; either fails for a record that must not be kept.
pub(crate) fn run(workspace: &Workspace, check: bool) -> Result<()> {
    let folder = workspace.root.join("docs/gpu-runs");
    report(&folder, check)?;
    let (file, text) = (workspace.root.join(SPEED), gpu_tables::versions(&read(&folder)?));
    if check { compare(&file, &read_text(&file)?, &text) } else { write_text(&file, &text) }
}

fn report(folder: &Path, check: bool) -> Result<()> {
    let records = read(folder)?;
    let (page, text) = (folder.join("README.md"), gpu_tables::page(&records));
    if check {
        compare(&page, &read_text(&page)?, &text)?;
    } else {
        write_text(&page, &text)?;
    }
    let findings: Vec<String> = records.iter().flat_map(Record::findings).collect();
    if !findings.is_empty() {
        return fail!("docs/gpu-runs:\n  {}", findings.join("\n  "));
    }
    println!("{}: {} files", page.display(), records.len());
    Ok(())
}

/// All records of the folder, by name.
fn read(folder: &Path) -> Result<Vec<Record>> {
    let failed = |error: std::io::Error| Failure(format!("cannot read {}: {error}", folder.display()));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".json") {
            names.push(name);
        }
    }
    names.sort();
    names.iter().map(|name| Record::parse(name, &read_text(&folder.join(name))?)).collect()
}

fn compare(page: &Path, found: &str, expected: &str) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let (mut found, mut expected) = (found.lines(), expected.lines());
    let mut line = 1;
    loop {
        match (found.next(), expected.next()) {
            (Some(a), Some(b)) if a == b => line += 1,
            (a, b) => {
                let [a, b] = [a, b].map(|text| text.unwrap_or("the end of a file"));
                let page = page.display();
                return fail!("{page}, line {line}: expected `{b}`, found `{a}`; `cargo xtask gpu-report` writes it");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    const RECORD: &str = r#"{"card":"c","driver":"d","date":"2026-11-30","commit":"3a06dc4b1045","program_sha256":"5f",
        "parts":[{"name":"sizes","cases":7,"differing":0,"first_difference":null,"seconds":2.0}]}"#;

    /// A folder with these files; it goes away with the value.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let folder = std::env::temp_dir().join(format!("xtask-gpu-report-{name}-{}", std::process::id()));
            fs::create_dir_all(&folder).expect("a folder");
            for (name, text) in files {
                fs::write(folder.join(name), text).expect("a file");
            }
            Self(folder)
        }

        fn failure(&self, check: bool) -> String {
            report(&self.0, check).expect_err("a failure").0
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_was_written_passes_and_what_was_changed_does_not() {
        let folder = Folder::new("compare", &[("2026-11-30-suite-3a06dc4.json", RECORD), ("notes.txt", "no record")]);
        assert!(folder.failure(true).contains("README.md"), "there is no page yet");
        assert_eq!(report(&folder.0, false), Ok(()));
        assert_eq!(report(&folder.0, true), Ok(()));

        let page = folder.0.join("README.md");
        let text = fs::read_to_string(&page).expect("the page");
        fs::write(&page, text.replace("| sizes | 7 |", "| sizes | 8 |")).expect("written");
        let failure = folder.failure(true);
        assert!(failure.contains("expected `| sizes | 7 | 0 | 2.0 |`, found `| sizes | 8 | 0 | 2.0 |`"), "{failure}");
        // Also when only the end of the last line is lacking.
        fs::write(&page, text.trim_end()).expect("written");
        assert!(folder.failure(true).contains("cargo xtask gpu-report"));
        fs::write(&page, &text).expect("written");
        fs::write(folder.0.join("2026-12-01-suite-3a06dc4.json"), RECORD.replace("11-30", "12-01")).expect("written");
        assert!(folder.failure(true).contains("2026-12-01"));
    }

    #[test]
    fn differences_fail_with_the_page_written() {
        let record = RECORD.replace("\"differing\":0", "\"differing\":3");
        let folder = Folder::new("findings", &[("2026-11-30-suite-3a06dc4.json", &record)]);
        for check in [false, true] {
            assert!(folder.failure(check).contains("part sizes: 3 of 7 differ"), "{check}");
        }
        assert!(fs::read_to_string(folder.0.join("README.md")).expect("the page").contains("| sizes | 7 | 3 | 2.0 |"));
    }

    #[test]
    fn what_does_not_parse_fails() {
        let folder = Folder::new("parse", &[("2026-11-30-suite-3a06dc4.json", &RECORD[1..])]);
        assert!(folder.failure(true).starts_with("2026-11-30-suite-3a06dc4.json: "));
        fs::remove_file(folder.0.join("2026-11-30-suite-3a06dc4.json")).expect("removed");
        fs::write(folder.0.join("other.json"), RECORD).expect("written");
        assert!(folder.failure(true).starts_with("other.json: expected a name"));
    }
}
