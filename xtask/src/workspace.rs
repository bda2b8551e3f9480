//! The workspace as `cargo metadata` tells it: root, target folder, packages, and who depends on whom.

use crate::failure::{Failure, Result, fail};
use crate::process;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the workspace lies.
pub(crate) struct Workspace {
    /// The folder of the root Cargo.toml.
    pub(crate) root: PathBuf,
    /// Cargo's target folder (CARGO_TARGET_DIR is obeyed).
    pub(crate) target: PathBuf,
}

/// One package of the dependency graph.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The folder of its Cargo.toml.
    pub(crate) folder: PathBuf,
    /// Whether it is one of ours.
    pub(crate) member: bool,
    /// Whether it is meant for a registry.
    pub(crate) published: bool,
    /// The names of its features.
    pub(crate) features: BTreeSet<String>,
    /// Ids of the packages it links (`[dependencies]`), build scripts and tests left out.
    pub(crate) normal: BTreeSet<String>,
    /// Ids of the packages its build script links.
    pub(crate) build: BTreeSet<String>,
}

/// All packages by id.
pub(crate) struct Graph {
    pub(crate) packages: BTreeMap<String, Package>,
}

/// The cargo that runs us.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

impl Workspace {
    /// Asks cargo where the workspace of this xtask lies.
    pub(crate) fn find() -> Result<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        // A moved checkout has a stale path inside the binary: then the current folder decides.
        let folder = if here.is_dir() { here.to_path_buf() } else { PathBuf::from(".") };
        let metadata = metadata(&folder, &["--no-deps"])?;
        let path = |key: &str| -> Result<PathBuf> { Ok(PathBuf::from(text(&metadata, key)?)) };
        Ok(Self { root: path("workspace_root")?, target: path("target_directory")? })
    }

    /// The packages and their dependencies. `arguments` choose features and platform.
    pub(crate) fn graph(&self, arguments: &[&str]) -> Result<Graph> {
        let mut all = vec!["--locked"];
        all.extend_from_slice(arguments);
        Graph::parse(&metadata(&self.root, &all)?)
    }

    /// A cargo that works on the workspace.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = cargo();
        command.current_dir(&self.root);
        command
    }
}

impl Graph {
    /// Reads the JSON of `cargo metadata`.
    pub(crate) fn parse(metadata: &Value) -> Result<Self> {
        let members: BTreeSet<&str> = list(metadata, "workspace_members")?.iter().filter_map(Value::as_str).collect();
        let mut packages = BTreeMap::new();
        for package in list(metadata, "packages")? {
            let id = text(package, "id")?;
            let manifest = PathBuf::from(text(package, "manifest_path")?);
            packages.insert(
                id.to_owned(),
                Package {
                    name: text(package, "name")?.to_owned(),
                    version: text(package, "version")?.to_owned(),
                    folder: manifest.parent().unwrap_or(Path::new("")).to_path_buf(),
                    member: members.contains(id),
                    published: package["publish"].as_array().is_none_or(|registries| !registries.is_empty()),
                    features: package["features"].as_object().into_iter().flatten().map(|(f, _)| f.clone()).collect(),
                    normal: BTreeSet::new(),
                    build: BTreeSet::new(),
                },
            );
        }
        for node in list(&metadata["resolve"], "nodes")? {
            let id = text(node, "id")?;
            let (mut normal, mut build) = (BTreeSet::new(), BTreeSet::new());
            for dependency in list(node, "deps")? {
                for kind in list(dependency, "dep_kinds")? {
                    match kind["kind"].as_str() {
                        None => normal.insert(text(dependency, "pkg")?.to_owned()),
                        Some("build") => build.insert(text(dependency, "pkg")?.to_owned()),
                        Some(_) => false,
                    };
                }
            }
            if let Some(package) = packages.get_mut(id) {
                (package.normal, package.build) = (normal, build);
            }
        }
        Ok(Self { packages })
    }

    /// The id of our package `name`.
    pub(crate) fn member(&self, name: &str) -> Result<&str> {
        let found = self.packages.iter().find(|(_, package)| package.member && package.name == name);
        found.map(|(id, _)| id.as_str()).ok_or_else(|| Failure(format!("no package `{name}` in this workspace")))
    }

    /// The features of our package `name`.
    pub(crate) fn features(&self, name: &str) -> Result<&BTreeSet<String>> {
        Ok(&self.packages[self.member(name)?].features)
    }

    /// `from` and all that it links, with build scripts where `build` says so: id -> the id that asked for it first.
    pub(crate) fn closure<'a>(&'a self, from: &'a str, build: bool) -> BTreeMap<&'a str, &'a str> {
        let mut reached = BTreeMap::from([(from, from)]);
        let mut open = vec![from];
        while let Some(id) = open.pop() {
            let Some(package) = self.packages.get(id) else { continue };
            let scripts = package.build.iter().filter(|_| build);
            for next in package.normal.iter().chain(scripts) {
                if !reached.contains_key(next.as_str()) {
                    reached.insert(next, id);
                    open.push(next);
                }
            }
        }
        reached
    }
}

fn metadata(folder: &Path, arguments: &[&str]) -> Result<Value> {
    let mut command = cargo();
    command.current_dir(folder).args(["metadata", "--format-version", "1"]).args(arguments);
    let json = process::stdout(&mut command)?;
    serde_json::from_str(&json).map_err(|error| Failure(format!("`cargo metadata` gave no JSON: {error}")))
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value[key].as_str().map_or_else(|| fail!("`cargo metadata`: expected a text `{key}`, found {}", value[key]), Ok)
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key].as_array().map_or_else(|| fail!("`cargo metadata`: expected a list `{key}`, found {}", value[key]), Ok)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Packages `name -> normal dependencies`; names that start with `framewright` are members.
    pub(crate) fn graph(packages: &[(&str, &[&str])]) -> Graph {
        let packages = packages.iter().map(|(name, normal)| {
            let package = Package {
                name: (*name).to_owned(),
                version: "1.0.0".to_owned(),
                folder: PathBuf::new(),
                published: true,
                member: name.starts_with("framewright"),
                features: BTreeSet::new(),
                normal: normal.iter().map(|name| (*name).to_owned()).collect(),
                build: BTreeSet::new(),
            };
            ((*name).to_owned(), package)
        });
        Graph { packages: packages.collect() }
    }

    #[test]
    fn dependencies_of_tests_and_build_scripts_are_told_apart() {
        let package = |id: &str| {
            let rest = r#""version":"1.0.0","features":{"cuda":[]},"manifest_path":"/x/Cargo.toml""#;
            format!(r#"{{"id":"{id}","name":"{id}",{rest}}}"#)
        };
        let json = format!(
            r#"{{"workspace_members":["a"],"packages":[{},{},{},{}],"resolve":{{"nodes":[
               {{"id":"a","deps":[{{"pkg":"n","dep_kinds":[{{"kind":null}}]}},{{"pkg":"b","dep_kinds":[{{"kind":"build"}}]}},
                                  {{"pkg":"d","dep_kinds":[{{"kind":"dev"}}]}}]}}]}}}}"#,
            package("a"),
            package("n"),
            package("b"),
            package("d")
        );
        let graph = Graph::parse(&serde_json::from_str(&json).expect("JSON")).expect("a graph");
        let names = |build| graph.closure("a", build).into_keys().collect::<Vec<_>>();
        assert_eq!(names(false), ["a", "n"]);
        assert_eq!(names(true), ["a", "b", "n"]);
        assert!(graph.packages["a"].member && !graph.packages["n"].member);
        assert_eq!(graph.features("a").expect("features").iter().collect::<Vec<_>>(), ["cuda"]);
        assert!(graph.features("n").is_err());
    }

    #[test]
    fn a_missing_key_is_named() {
        let failure = Graph::parse(&serde_json::json!({})).err().expect("a failure");
        assert!(failure.0.contains("workspace_members"), "{failure}");
    }
}
