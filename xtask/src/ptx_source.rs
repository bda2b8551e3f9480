//! The hash over all that decides the PTX: the device crates' sources, what they depend on, profile and flags.
//!
//! Of the lock file only the entries of the device closure count. The complete file would make the PTX stale with
//! every update of a dependency of the program or of the tests, none of which the device ever sees.

use crate::failure::{Failure, Result, fail, read_text};
use crate::workspace::Workspace;
use framewright_ptx::files::sha256;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The device crates of a workspace, read.
pub(crate) struct Sources {
    /// Path from the workspace root -> text.
    files: BTreeMap<String, String>,
    /// What counts beside them: lock entries, profiles, flags.
    settings: Vec<String>,
}

impl Sources {
    /// Reads the sources of `package` and of all of ours that it links.
    pub(crate) fn read(workspace: &Workspace, package: &str, target: &str, flags: &str) -> Result<Self> {
        let graph = workspace.graph(&["--filter-platform", target])?;
        let lock = read_text(&workspace.root.join("Cargo.lock"))?;
        let manifest = read_text(&workspace.root.join("Cargo.toml"))?;
        let (mut files, mut settings) = (BTreeMap::new(), vec![format!("target {target}\nflags {flags}\n")]);
        for profile in ["profile.ptx", "profile.release"] {
            settings.push(section(&manifest, profile));
        }
        let mut entries = Vec::new();
        for id in graph.closure(graph.member(package)?, true).into_keys() {
            let Some(part) = graph.packages.get(id) else { continue };
            if part.member {
                collect(&workspace.root, &part.folder, &mut files)?;
            } else {
                entries.push(lock_entry(&lock, &part.name, &part.version)?.to_owned());
            }
        }
        // Package ids hold the path of the checkout; names do not.
        entries.sort();
        settings.extend(entries);
        Ok(Self { files, settings })
    }

    /// The sha256 over it all and over what is one family's own: its name and its launch bounds.
    pub(crate) fn sha256(&self, family: &str, bounds: &str) -> String {
        let mut text = format!("family {family}\nbounds {bounds}\n");
        for (path, content) in &self.files {
            // A checkout with CRLF line ends compiles to the same bytes.
            text += &format!("file {path} {}\n", sha256(content.replace("\r\n", "\n").as_bytes()));
        }
        for setting in &self.settings {
            text += &format!("setting {}\n", sha256(setting.replace("\r\n", "\n").as_bytes()));
        }
        sha256(text.as_bytes())
    }
}

/// All `.rs` files and Cargo.toml below a crate's folder, but not its tests, benches and examples.
fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) -> Result<()> {
    let unreadable = |error| Failure(format!("cannot list {}: {error}", folder.display()));
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path: PathBuf = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            // A folder with a manifest is another package's.
            let other = path.join("Cargo.toml").exists();
            if !other && !matches!(name.as_str(), "tests" | "benches" | "examples" | "target") {
                collect(root, &path, files)?;
            }
        } else if name == "Cargo.toml" || name.ends_with(".rs") {
            let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            files.insert(relative, read_text(&path)?);
        }
    }
    Ok(())
}

/// The lines of `[name]` in a Cargo.toml up to the next section, without comments and empty lines.
fn section(manifest: &str, name: &str) -> String {
    let header = format!("[{name}]");
    let lines = manifest.lines().map(str::trim).skip_while(|line| *line != header);
    let inside = lines.enumerate().take_while(|(at, line)| *at == 0 || !line.starts_with('['));
    let kept = inside.map(|(_, line)| line).filter(|line| !line.is_empty() && !line.starts_with('#'));
    kept.map(|line| format!("{line}\n")).collect()
}

/// The `[[package]]` entry of one package in Cargo.lock.
fn lock_entry<'a>(lock: &'a str, name: &str, version: &str) -> Result<&'a str> {
    let (name_line, version_line) = (format!("name = \"{name}\""), format!("version = \"{version}\""));
    let entry = lock.split("[[package]]").find(|entry| {
        let has = |line: &str| entry.lines().any(|other| other == line);
        has(&name_line) && has(&version_line)
    });
    entry.map(str::trim).map_or_else(|| fail!("Cargo.lock: expected an entry {name} {version}, found none"), Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[workspace]\n# why\n[profile.ptx]\ninherits = \"release\"\n\n# why\nlto = \"fat\"\n[profile.dev]\nopt-level = 1\n";
    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"half\"\nversion = \"2.7.1\"\nchecksum = \"6e\"\n\n\
                        [[package]]\nname = \"half\"\nversion = \"1.0.0\"\nchecksum = \"77\"\n";

    fn sources() -> Sources {
        let files = [("a.rs", "extern \"ptx-kernel\" fn a() {}\n"), ("b.rs", "const B: u8 = 1;\n")];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        Sources { files: files.into(), settings: vec!["flags".to_owned()] }
    }

    #[test]
    fn a_section_is_cut_without_its_comments() {
        assert_eq!(section(MANIFEST, "profile.ptx"), "[profile.ptx]\ninherits = \"release\"\nlto = \"fat\"\n");
        assert_eq!(section(MANIFEST, "profile.release"), "");
    }

    #[test]
    fn a_lock_entry_is_found_by_name_and_version() {
        assert!(lock_entry(LOCK, "half", "1.0.0").expect("an entry").ends_with("checksum = \"77\""));
        assert!(lock_entry(LOCK, "half", "2.7.1").expect("an entry").ends_with("checksum = \"6e\""));
        assert!(lock_entry(LOCK, "half", "3.0.0").is_err());
    }

    #[test]
    fn every_part_changes_the_hash() {
        let first = sources().sha256("copy", "128");
        assert_eq!(first, sources().sha256("copy", "128"));
        assert_ne!(first, sources().sha256("crop", "128"));
        assert_ne!(first, sources().sha256("copy", "64"));
        let changed = |change: fn(&mut Sources)| {
            let mut sources = sources();
            change(&mut sources);
            sources.sha256("copy", "128")
        };
        assert_ne!(first, changed(|s| *s.files.get_mut("b.rs").expect("b.rs") = "const B: u8 = 2;\n".to_owned()));
        assert_ne!(first, changed(|s| drop(s.files.insert("c.rs".to_owned(), String::new()))));
        assert_ne!(first, changed(|s| s.settings[0].push('x')));
        assert_eq!(first, changed(|s| *s.files.get_mut("b.rs").expect("b.rs") = "const B: u8 = 1;\r\n".to_owned()));
    }
}
