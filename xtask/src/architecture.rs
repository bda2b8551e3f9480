//! `cargo xtask architecture`: the crate table of ARCHITECTURE.md, held against `cargo metadata` and the sources.
//!
//! Rows are `| crate | knows | must never depend on |`. The third column names packages and groups in backticks. Nothing
//! that a crate links, itself or through others, with all features, may be among them; dependencies of tests and build
//! scripts do not count. A row whose second column says `no_std` or `forbids unsafe` promises that attribute in lib.rs.

use crate::failure::{Result, fail, read_text};
use crate::workspace::{Graph, Workspace};

const FILE: &str = "ARCHITECTURE.md";
const START: &str = "<!-- crates -->";
const END: &str = "<!-- /crates -->";

/// Names for several packages at once.
const GROUPS: &[(&str, &[&str])] = &[
    ("cuda", &["cust", "cust_core", "cust_raw", "cudarc", "framewright-driver"]),
    ("host", &["framewright", "framewright-driver", "framewright-cli", "libc", "libloading", "rayon", "rayon-core"]),
    ("threads", &["rayon", "rayon-core", "crossbeam-deque", "crossbeam-epoch", "tokio"]),
    (
        "faces",
        &[
            "framewright-cli",
            "framewright-gpu-suite",
            "framewright-python",
            "framewright-standin",
            "framewright-tests",
            "xtask",
        ],
    ),
];

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    name: String,
    no_std: bool,
    forbids_unsafe: bool,
    /// Packages and groups, as they are written.
    never: Vec<String>,
}

/// Reads the table and holds the workspace against it.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let rows = rows(&read_text(&workspace.root.join(FILE))?)?;
    let graph = workspace.graph(&["--all-features"])?;
    let mut found = findings(&rows, &graph);
    for row in rows.iter().filter(|row| row.no_std || row.forbids_unsafe) {
        if let Some(package) = graph.packages.values().find(|package| package.member && package.name == row.name) {
            let text = read_text(&package.folder.join("src/lib.rs"))?;
            found.extend(missing_attributes(row, &text));
        }
    }
    if found.is_empty() {
        println!("{} crates keep to the table of {FILE}", rows.len());
        Ok(())
    } else {
        fail!("{FILE}:\n  {}", found.join("\n  "))
    }
}

/// The rows between the markers.
fn rows(text: &str) -> Result<Vec<Row>> {
    let table = text.split_once(START).and_then(|(_, rest)| rest.split_once(END));
    let Some((table, _)) = table else {
        return fail!("{FILE}: expected a table between `{START}` and `{END}`, found none");
    };
    let lines = table.lines().map(str::trim).filter(|line| line.starts_with('|'));
    let mut rows = Vec::new();
    // The first two lines are the heads and the rule below them.
    for line in lines.skip(2) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, knows, never] = cells[..] else {
            return fail!("{FILE}: expected 3 columns, found {} in `{line}`", cells.len());
        };
        let Some(name) = backticked(name).into_iter().next() else {
            return fail!("{FILE}: expected a crate in backticks, found `{name}`");
        };
        let (no_std, forbids_unsafe) = (knows.contains("no_std"), knows.contains("forbids unsafe"));
        rows.push(Row { name, no_std, forbids_unsafe, never: backticked(never) });
    }
    if rows.is_empty() { fail!("{FILE}: expected rows between the markers, found none") } else { Ok(rows) }
}

/// The words in backticks.
fn backticked(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// All that the graph has against the rows.
fn findings(rows: &[Row], graph: &Graph) -> Vec<String> {
    let mut found = Vec::new();
    let members = || graph.packages.values().filter(|package| package.member);
    for package in members().filter(|package| !rows.iter().any(|row| row.name == package.name)) {
        found.push(format!("expected a row for the package `{}`, found none", package.name));
    }
    for (at, row) in rows.iter().enumerate() {
        if rows[..at].iter().any(|earlier| earlier.name == row.name) {
            found.push(format!("expected one row for `{}`, found two", row.name));
        }
        let Ok(id) = graph.member(&row.name) else {
            found.push(format!("expected a package `{}` in the workspace, found none", row.name));
            continue;
        };
        let closure = graph.closure(id, false);
        for word in &row.never {
            if word == "std" && !row.no_std {
                found.push(format!("`{}`: it must never depend on `std`: expected its row to say no_std", row.name));
            }
            if word.starts_with("framewright") && graph.member(word).is_err() {
                found.push(format!("`{}`: expected a package `{word}` in the workspace, found none", row.name));
            }
            for name in group(word).into_iter().filter(|name| *name != row.name) {
                let hit = closure.iter().find(|(id, _)| graph.packages.get(**id).is_some_and(|p| p.name == name));
                if let Some((hit, parent)) = hit {
                    let way = way(graph, &closure, hit, parent);
                    found.push(format!("`{}`: expected no dependency on `{word}`, found {way}", row.name));
                }
            }
        }
    }
    found
}

/// The packages that a word of the third column stands for.
fn group(word: &str) -> Vec<&str> {
    GROUPS.iter().find(|(name, _)| *name == word).map_or_else(|| vec![word], |(_, packages)| packages.to_vec())
}

/// How a crate comes to link another: `a -> b -> c`.
fn way(graph: &Graph, closure: &std::collections::BTreeMap<&str, &str>, hit: &str, parent: &str) -> String {
    let name = |id: &str| graph.packages.get(id).map_or(id, |package| package.name.as_str()).to_owned();
    let (mut names, mut at) = (vec![name(hit)], parent);
    loop {
        names.push(name(at));
        match closure.get(at) {
            Some(next) if *next != at => at = next,
            _ => break,
        }
    }
    names.reverse();
    names.join(" -> ")
}

/// The attributes that a row promises and lib.rs lacks.
fn missing_attributes(row: &Row, text: &str) -> Vec<String> {
    let has = |attribute: &str| {
        text.lines().map(str::trim_start).any(|line| line.starts_with("#![") && line.contains(attribute))
    };
    let mut found = Vec::new();
    if row.no_std && !has("no_std") {
        found.push(format!("`{}`: its row says no_std: expected `#![no_std]` in lib.rs, found none", row.name));
    }
    if row.forbids_unsafe && !has("forbid(unsafe_code)") {
        let expected = "`#![forbid(unsafe_code)]`";
        found.push(format!("`{}`: its row says forbids unsafe: expected {expected} in lib.rs, found none", row.name));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::graph;

    const TEXT: &str = "# map\n<!-- crates -->\n\n| crate | knows | must never depend on |\n|---|---|---|\n\
        | `framewright-core` | no_std, forbids unsafe: sizes | `framewright`, `threads` |\n\
        | `framewright` | images | |\n<!-- /crates -->\n| `other` | x | y |\n";

    #[test]
    fn the_table_is_read_between_its_markers() {
        let rows = rows(TEXT).expect("rows");
        assert_eq!(rows.len(), 2);
        let core = &rows[0];
        assert_eq!((core.name.as_str(), core.no_std, core.forbids_unsafe), ("framewright-core", true, true));
        assert_eq!(core.never, ["framewright", "threads"]);
        assert_eq!(rows[1].never, [""; 0]);
    }

    #[test]
    fn a_broken_table_is_refused() {
        assert!(rows("# map").is_err());
        assert!(rows(&TEXT.replace("| images | |", "| images |")).is_err());
        assert!(rows(&TEXT.replace("`framewright` | images", "framewright | images")).is_err());
    }

    #[test]
    fn what_the_table_allows_passes() {
        let graph = graph(&[
            ("framewright-core", &["half"]),
            ("framewright", &["framewright-core", "rayon"]),
            ("half", &[]),
            ("rayon", &[]),
        ]);
        assert_eq!(findings(&rows(TEXT).expect("rows"), &graph), [""; 0]);
    }

    #[test]
    fn forbidden_dependencies_are_found_with_their_way() {
        let graph =
            graph(&[("framewright-core", &["half"]), ("framewright", &[]), ("half", &["rayon"]), ("rayon", &[])]);
        let found = findings(&rows(TEXT).expect("rows"), &graph);
        assert_eq!(
            found,
            ["`framewright-core`: expected no dependency on `threads`, found framewright-core -> half -> rayon"]
        );
    }

    #[test]
    fn rows_and_packages_must_match() {
        let rows = rows(TEXT).expect("rows");
        let found =
            findings(&rows, &graph(&[("framewright-core", &[]), ("framewright", &[]), ("framewright-cli", &[])]));
        assert_eq!(found, ["expected a row for the package `framewright-cli`, found none"]);
        let found = findings(&rows, &graph(&[("framewright-core", &[])]));
        assert!(
            found.contains(&"expected a package `framewright` in the workspace, found none".to_owned()),
            "{found:?}"
        );
    }

    #[test]
    fn a_misspelt_package_of_ours_is_found() {
        let rows = rows(&TEXT.replace("`threads`", "`framewright-cuda`")).expect("rows");
        let found = findings(&rows, &graph(&[("framewright-core", &[]), ("framewright", &[])]));
        assert_eq!(found, ["`framewright-core`: expected a package `framewright-cuda` in the workspace, found none"]);
    }

    #[test]
    fn promised_attributes_must_be_there() {
        let core = &rows(TEXT).expect("rows")[0];
        assert_eq!(missing_attributes(core, "#![no_std]\n#![forbid(unsafe_code)]\n"), [""; 0]);
        assert_eq!(missing_attributes(core, "#![cfg_attr(not(test), no_std)]\n// #![forbid(unsafe_code)]\n").len(), 1);
        assert_eq!(missing_attributes(core, "").len(), 2);
    }
}
