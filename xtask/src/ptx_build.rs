//! Compiles kernels to PTX with rustc's own NVPTX target, so that the same compiler gives the same bytes anywhere.

use crate::failure::{Failure, Result, read_text};
use crate::process;
use crate::toolchain::Toolchain;
use crate::workspace::Workspace;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";
/// The oldest GPU: Turing. Newer ones take the same PTX.
pub(crate) const CPU: &str = "sm_75";
/// The profile of the root Cargo.toml.
pub(crate) const PROFILE: &str = "ptx";

/// Flags of every device crate. PTX 7.4 is the oldest that has `ld.global.nc.L1::no_allocate`; it needs a driver for
/// CUDA 11.4 (470) or later. Optimiser settings (`-Cllvm-args=-unroll-threshold=8000`) belong here: the head of the PTX
/// and its source hash follow.
const FLAGS: &[&str] = &["-Ctarget-feature=+ptx74", "-Csymbol-mangling-version=v0"];

/// The flags as the head records them.
pub(crate) fn flags() -> String {
    FLAGS.join(" ")
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
    let folder = workspace.target.join("ptx");
    let mut rustflags = vec![format!("-Ctarget-cpu={CPU}")];
    rustflags.extend(FLAGS.iter().map(|flag| (*flag).to_owned()));
    for (from, to) in remaps(workspace, toolchain) {
        rustflags.push(format!("--remap-path-prefix={}={to}", from.display()));
    }
    let built = folder.join(TARGET).join(PROFILE);
    let file = built.join("deps").join(package.name.replace('-', "_") + ".s");
    forget(&built, &file, package.name)?;
    let mut cargo = toolchain.cargo();
    cargo.current_dir(&workspace.root).env("CARGO_ENCODED_RUSTFLAGS", rustflags.join("\u{1f}"));
    cargo.args(["rustc", "--locked", "--package", package.name, "--lib", "--crate-type=cdylib", "--profile", PROFILE]);
    cargo.arg("--no-default-features");
    if package.family.is_none() {
        cargo.args(["--features", family]);
    }
    cargo.args(["--target", TARGET, "-Zbuild-std=core", "--target-dir"]).arg(&folder);
    process::run(cargo.args(["--", "--emit=asm", "-Clinker=/bin/true"]))?;
    Ok(normalised(&read_text(&file)?))
}

/// Makes cargo compile the package again. All families are written to the same file, so a family that cargo holds for
/// fresh would be read out of what the last one left.
fn forget(built: &Path, file: &Path, package: &str) -> Result<()> {
    let failed = |path: &Path, error| Failure(format!("cannot remove {}: {error}", path.display()));
    if file.exists() {
        std::fs::remove_file(file).map_err(|error| failed(file, error))?;
    }
    let Ok(entries) = std::fs::read_dir(built.join(".fingerprint")) else { return Ok(()) };
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        let ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&format!("{package}-")));
        if ours {
            std::fs::remove_dir_all(&path).map_err(|error| failed(&path, error))?;
        }
    }
    Ok(())
}

/// Folders that must not show in the PTX, and what stands there instead. The last that fits wins in rustc, so the
/// widest come first.
fn remaps(workspace: &Workspace, toolchain: &Toolchain) -> Vec<(PathBuf, &'static str)> {
    let mut all = vec![(workspace.root.clone(), "/framewright")];
    all.extend(cargo_home().map(|home| (home, "/cargo")));
    all.extend(toolchain.source_folders().into_iter().map(|folder| (folder, "/rust")));
    all
}

fn cargo_home() -> Option<PathBuf> {
    let set = std::env::var_os("CARGO_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    set.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
}

/// The folders of this machine, for the check that none of them shows.
pub(crate) fn machine_folders(workspace: &Workspace) -> Vec<String> {
    let folders = [Some(workspace.root.clone()), Some(workspace.target.clone()), cargo_home(), std::env::home_dir()];
    let text = |path: &Path| path.to_str().map(str::to_owned);
    folders.iter().flatten().filter(|path| **path != *Path::new("/")).filter_map(|path| text(path)).collect()
}

/// PTX without what cargo and LLVM derive from the machine's folders.
fn normalised(ptx: &str) -> String {
    numbered_constants(&numbered_crates(ptx))
}

/// Replaces the hashes in the names of nameless constants (`anon_$_96b1…_$_0`), which LLVM makes from other names, by
/// numbers of the same length, in order of their appearance.
fn numbered_constants(ptx: &str) -> String {
    const START: &str = "anon_$_";
    let mut numbers = Vec::<&str>::new();
    let mut text = String::with_capacity(ptx.len());
    let mut parts = ptx.split(START);
    text.extend(parts.next());
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        let (hash, rest) = part.split_at(digits);
        let number = numbers.iter().position(|known| *known == hash).unwrap_or_else(|| {
            numbers.push(hash);
            numbers.len() - 1
        });
        text += &format!("{START}{number:0digits$}{rest}");
    }
    text
}

/// Replaces the crate hashes in mangled names (`Cs1363p4hBo2c_4core`) by numbers of the same length, in order of their
/// appearance. Cargo makes them from where the sources of `core` lie, so one compiler in two places would give
/// different bytes. Names stay distinct: different hashes get different numbers.
fn numbered_crates(ptx: &str) -> String {
    const SHORTEST: usize = 8;
    let mut numbers = BTreeMap::<String, String>::new();
    let mut text = String::with_capacity(ptx.len());
    let mut rest = ptx;
    while let Some(at) = rest.find("Cs") {
        let (before, after) = rest.split_at(at + 2);
        text.push_str(before);
        let digits = after.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let follows = after.as_bytes().get(digits..digits + 2);
        let is_hash = digits >= SHORTEST && follows.is_some_and(|next| next[0] == b'_' && next[1].is_ascii_digit());
        if is_hash && in_mangled_name(&text) {
            let next = numbers.len();
            let number = numbers.entry(after[..digits].to_owned()).or_insert_with(|| format!("{next:0digits$}"));
            text.push_str(number);
            rest = &after[digits..];
        } else {
            rest = after;
        }
    }
    text + rest
}

/// Whether the word that `text` ends in is a mangled name of Rust (v0).
fn in_mangled_name(text: &str) -> bool {
    let start = text.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$').map_or(0, |at| at + 1);
    text[start..].starts_with("_R")
}

/// The ending of the checked-in files.
pub(crate) const EXTENSION: &str = "ptx";

/// The failure where no toolchain can compile for the GPU.
pub(crate) fn no_toolchain() -> Failure {
    Failure(format!(
        "expected a Rust with the sources of `core`, found none; install one: {}",
        crate::toolchain::INSTALL
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crate_hashes_become_numbers() {
        let ptx = "call _RNvNtCsanIojcP8aaR_4core9panic, (a); _RNvCs1363p4hBo2c_3abc _RNvNtCsanIojcP8aaR_4core9panic";
        let expected =
            "call _RNvNtCs00000000000_4core9panic, (a); _RNvCs00000000001_3abc _RNvNtCs00000000000_4core9panic";
        assert_eq!(normalised(ptx), expected);
    }

    #[test]
    fn hashes_of_nameless_constants_become_numbers() {
        let ptx = ".global .b8 anon_$_96b1_$_0[2]; .global .b8 anon_$_00ff_$_0[2]; mov.b64 %rd1, anon_$_96b1_$_0;";
        let expected = ".global .b8 anon_$_0000_$_0[2]; .global .b8 anon_$_0001_$_0[2]; mov.b64 %rd1, anon_$_0000_$_0;";
        assert_eq!(normalised(ptx), expected);
    }

    #[test]
    fn other_words_stay() {
        for ptx in ["xCs1363p4hBo2c_3abc", "_RCs1_3abc", "_RCs1363p4hBo2c_abc", "Cs", "_RNvCs1363p4hBo2c"] {
            assert_eq!(normalised(ptx), ptx);
        }
    }
}
