//! The kernels' package and what it is made of, as `cargo metadata` tells it.

use crate::{
    compile::TARGET,
    failure::{Failure, Result, fail, read_text},
    files::{rust_files, sha256},
    process,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

/// A package of kernels.
#[derive(Debug)]
pub(crate) struct Kernels {
    /// The folder of its Cargo.toml.
    pub(crate) folder: PathBuf,
    /// The root of the workspace that asks for it.
    pub(crate) root: PathBuf,
    /// Whether its sources are the user's own, and not from a registry.
    pub(crate) own: bool,
    /// The folders of all packages of the user's own that it is made of, itself first.
    folders: Vec<PathBuf>,
}

impl Kernels {
    /// Finds the package among the dependencies of the one in `folder`.
    pub(crate) fn find(folder: &Path, package: &str) -> Result<Self> {
        Self::parse(&metadata(folder)?, package)
    }

    fn parse(metadata: &Value, package: &str) -> Result<Self> {
        let packages: BTreeMap<&str, &Value> =
            list(&metadata["packages"]).iter().filter_map(|package| Some((package["id"].as_str()?, package))).collect();
        let mut found = packages.iter().filter(|(_, other)| other["name"] == package);
        let Some((id, kernels)) = found.next() else {
            let mut own: Vec<_> = packages.values().filter(|other| other["source"].is_null()).collect();
            own.sort_by_key(|other| other["name"].as_str());
            let names: Vec<_> = own.iter().filter_map(|other| other["name"].as_str()).collect();
            return fail!(
                "package `{package}`: expected it among the dependencies or the workspace, found none; packages with sources here: {}",
                names.join(", ")
            );
        };
        let kinds = |target: &'_ Value| -> Vec<String> {
            list(&target["crate_types"]).iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let types: Vec<String> = list(&kernels["targets"])
            .iter()
            .filter(|target| list(&target["kind"]).iter().all(|kind| kind != "bin" && kind != "custom-build"))
            .flat_map(kinds)
            .collect();
        if !types.iter().any(|kind| kind == "lib" || kind == "rlib") {
            let found = if types.is_empty() { "no library".to_owned() } else { types.join(", ") };
            return fail!(
                "package `{package}`: expected an ordinary library (crate type lib), which the program links for the CPU, found \
                 {found}; leave `crate-type` out, and put the kernels into src/lib.rs"
            );
        }
        let nodes: BTreeMap<&str, &Value> =
            list(&metadata["resolve"]["nodes"]).iter().filter_map(|node| Some((node["id"].as_str()?, node))).collect();
        let (mut open, mut seen, mut folders) = (vec![*id], BTreeSet::new(), Vec::new());
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            if let Some(part) = packages.get(id).filter(|part| part["source"].is_null()) {
                folders.push(folder_of(part)?);
            }
            // What only its tests use is no part of it.
            let dependencies = nodes.get(id).into_iter().flat_map(|node| list(&node["deps"]));
            let used = dependencies.filter(|part| list(&part["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev"));
            open.extend(used.filter_map(|part| part["pkg"].as_str()));
        }
        Ok(Self {
            folder: folder_of(kernels)?,
            root: PathBuf::from(metadata["workspace_root"].as_str().unwrap_or_default()),
            own: kernels["source"].is_null(),
            folders,
        })
    }

    /// What a change of makes the PTX stale: sources and manifests.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for folder in &self.folders {
            files.push(folder.join("Cargo.toml"));
            rust_files(&folder.join("src"), &mut files)?;
        }
        files.sort();
        Ok(files)
    }

    /// The sha256 of the kernels' own sources and of what else decides the PTX. Manifests do not count: a registry writes
    /// them anew, so that a published crate would never match.
    pub(crate) fn sha256(&self, settings: &str) -> Result<String> {
        let mut files = Vec::new();
        rust_files(&self.folder.join("src"), &mut files)?;
        files.sort();
        let mut text = format!("{settings}\n");
        for file in files {
            let name = file.strip_prefix(&self.folder).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            // A checkout with CRLF line ends compiles to the same bytes.
            text += &format!("file {name} {}\n", sha256(read_text(&file)?.replace("\r\n", "\n").as_bytes()));
        }
        Ok(sha256(text.as_bytes()))
    }
}

/// What cargo says of the packages around `folder`.
pub(crate) fn metadata(folder: &Path) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let ask = |offline: bool| {
        let mut command = Command::new(&cargo);
        command.current_dir(folder).args(["metadata", "--format-version", "1", "--filter-platform", TARGET]);
        process::stdout(if offline { command.arg("--offline") } else { &mut command })
    };
    // The build that runs has fetched what there is to fetch; without it, cargo may ask the registry.
    let json = ask(true).or_else(|_| ask(false))?;
    serde_json::from_str(&json).map_err(|error| Failure(format!("`cargo metadata` gave no JSON: {error}")))
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn folder_of(package: &Value) -> Result<PathBuf> {
    let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    match manifest.parent() {
        Some(folder) => Ok(folder.to_path_buf()),
        None => fail!("`cargo metadata`: expected the path of a Cargo.toml, found {}", package["manifest_path"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(package: &str, kinds: &[Value]) -> Value {
        let kinds: Vec<Value> = kinds.iter().map(|kind| serde_json::json!({ "kind": kind })).collect();
        serde_json::json!({ "pkg": package, "dep_kinds": kinds })
    }

    /// The kernels' tests use the program.
    fn metadata() -> Value {
        serde_json::json!({
            "workspace_root": "/w",
            "packages": [
                { "id": "k", "name": "kernels", "source": null, "manifest_path": "/w/kernels/Cargo.toml",
                  "targets": [{ "kind": ["lib"], "crate_types": ["lib"] }] },
                { "id": "f", "name": "formats", "source": null, "manifest_path": "/w/formats/Cargo.toml" },
                { "id": "a", "name": "app", "source": null, "manifest_path": "/w/Cargo.toml",
                  "targets": [{ "kind": ["bin"], "crate_types": ["bin"] }] },
                { "id": "h", "name": "half", "source": "registry", "manifest_path": "/r/half/Cargo.toml",
                  "targets": [{ "kind": ["lib"], "crate_types": ["lib"] }] },
                { "id": "c", "name": "linked", "source": null, "manifest_path": "/w/c/Cargo.toml",
                  "targets": [{ "kind": ["cdylib"], "crate_types": ["cdylib"] }] },
            ],
            "resolve": { "nodes": [
                { "id": "a", "deps": [used("k", &[Value::Null])] },
                { "id": "k", "deps": [used("f", &[Value::Null, "dev".into()]), used("h", &[Value::Null]), used("a", &["dev".into()])] },
                { "id": "f", "deps": [used("h", &[Value::Null])] },
            ]},
        })
    }

    #[test]
    fn a_package_is_found_with_what_it_is_made_of() {
        let kernels = Kernels::parse(&metadata(), "kernels").expect("the package");
        assert_eq!(kernels.folder, Path::new("/w/kernels"));
        assert_eq!(
            kernels.folders.iter().map(|folder| folder.to_str()).collect::<BTreeSet<_>>(),
            BTreeSet::from([Some("/w/kernels"), Some("/w/formats")])
        );
        assert!(kernels.own);
        assert!(!Kernels::parse(&metadata(), "half").expect("the package").own);
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_right_ones() {
        let failure = Kernels::parse(&metadata(), "kernel").expect_err("no such package").0;
        assert!(failure.contains("`kernel`") && failure.contains("app, formats, kernels, linked"), "{failure}");
    }

    #[test]
    fn a_package_that_the_host_cannot_link_is_refused() {
        let failure = |package: &str| Kernels::parse(&metadata(), package).expect_err("no library").0;
        assert!(failure("linked").contains("found cdylib; leave `crate-type` out"), "{}", failure("linked"));
        assert!(failure("app").contains("found no library"), "{}", failure("app"));
    }
}
