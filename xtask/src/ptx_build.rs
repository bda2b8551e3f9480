//! The packages that become PTX, and how they are compiled: by `framewright-ptx`, as everybody's kernels.

use crate::failure::{Failure, Result};
use crate::workspace::Workspace;
use framewright_ptx::compile::{self, Compilation};
use framewright_ptx::{INSTALL, Toolchain};

/// A package that holds entries.
#[derive(Debug)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: &'static str,
    /// The folder of the crate that embeds its PTX.
    pub(crate) folder: &'static str,
    /// The one family of a package without features for families.
    pub(crate) family: Option<&'static str>,
}

/// The built-in kernels, the examples of the DSL, and what the benchmark measures them against.
pub(crate) const PACKAGES: &[Package] = &[
    Package { name: "framewright-kernels", folder: "crates/framewright/ptx", family: None },
    Package { name: "framewright-examples", folder: "examples/ptx", family: Some("examples") },
    Package { name: "framewright-yardstick", folder: "tests/gpu/ptx", family: Some("yardstick") },
];
/// rustc's name of the GPU.
pub(crate) const TARGET: &str = compile::TARGET;
/// The oldest GPU: Turing. Newer ones take the same PTX.
pub(crate) const CPU: &str = compile::OLDEST;
/// The profile of the root Cargo.toml.
pub(crate) const PROFILE: &str = "ptx";

/// The flags as the head records them.
pub(crate) fn flags() -> Result<String> {
    Ok(compile::flags(CPU)?.join(" "))
}

/// Features that are no families: the list of those that the host compiles, and the other generator's.
const NO_FAMILIES: &[&str] = &["default", "rust-cuda"];

/// The families of a package: its features, or the whole. Each becomes a module of its own, so that a program loads what it
/// uses.
pub(crate) fn families(workspace: &Workspace, package: &Package) -> Result<Vec<String>> {
    if let Some(family) = package.family {
        return Ok(vec![family.to_owned()]);
    }
    let graph = workspace.graph(&[])?;
    let features = graph.features(package.name)?.iter();
    Ok(features.filter(|feature| !NO_FAMILIES.contains(&feature.as_str())).cloned().collect())
}

/// Compiles a family and gives its PTX, freed from what the machine's folders leave in it.
pub(crate) fn compile(workspace: &Workspace, toolchain: &Toolchain, package: &Package, family: &str) -> Result<String> {
    let compilation = Compilation {
        folder: workspace.root.clone(),
        package: package.name.to_owned(),
        features: if package.family.is_none() { vec![family.to_owned()] } else { Vec::new() },
        default_features: false,
        architecture: CPU.to_owned(),
        profile: Some(PROFILE.to_owned()),
        line_info: false,
        locked: true,
        remaps: compile::remaps(&workspace.root, "/framewright", toolchain),
        target: workspace.target.join("ptx"),
    };
    compilation.run(toolchain)
}

/// The folders of this machine, for the check that none of them shows.
pub(crate) fn machine_folders(workspace: &Workspace) -> Vec<String> {
    compile::machine_folders(&workspace.root, &workspace.target)
}

/// The ending of the checked-in files.
pub(crate) const EXTENSION: &str = "ptx";

/// The failure where no toolchain can compile for the GPU.
pub(crate) fn no_toolchain() -> Failure {
    Failure(format!("expected a Rust with the sources of `core`, found none; install one: {INSTALL}"))
}
