//! rust-cuda: what can be known of it without its compiler, and a build for those who have it.
//!
//! `cargo xtask rust-cuda` looks for what one of the two generators refuses, compiles the device code with feature `rust-cuda`
//! on the host against `cuda_std`'s stubs, compares entries and parameter hashes with the checked-in PTX, and type-checks the
//! builder. `--build CHECKOUT` runs it: it compiles everything with the rust-cuda that lies in that folder.

mod asm;
mod rules;
mod source;

use crate::failure::{Failure, Result, fail, read_text, write_text};
use crate::process;
use crate::ptx_build::{self, PACKAGES, Package};
use crate::ptx_text::{Module, without_comments};
use crate::workspace::Workspace;
use framewright_ptx::{INSTALL, Toolchain, VARIABLE, files::rust_files};
use serde_json::Value;
use source::Source;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The feature of the kernel crates.
const FEATURE: &str = "rust-cuda";
/// Lets the device code compile for the host: see `crates/kernel/src/device/host_check.rs`.
const HOST_CHECK: &str = "--cfg=framewright_host_check";
/// The builder's package, a workspace of its own.
const STAND_IN: &str = "tests/standin-rust-cuda";
/// The back end's program.
const BUILDER: &str = "xtask/rust-cuda";
/// The version that crates.io has, which the type-check takes.
const CODEGEN: (&str, &str) = ("rustc_codegen_nvvm", "0.3.0");

/// The packages of which everybody's kernels are made, from the workspace root; the benchmark's yardstick is none.
const SOURCES: &[&str] = &["crates/core", "crates/kernel", "gpu-kernels", "examples"];

/// The packages with entries that rust-cuda compiles.
fn packages() -> impl Iterator<Item = &'static Package> {
    PACKAGES.iter().filter(|package| package.name != "framewright-yardstick")
}

/// All that needs no rust-cuda.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    lint(workspace)?;
    casts(workspace)?;
    for package in packages() {
        same_entries(workspace, package)?;
    }
    type_check_builder(workspace)?;
    build_with_the_stand_in(workspace)
}

/// The whole road of `--build`, with crates of rust-cuda's names over rustc's target.
fn build_with_the_stand_in(workspace: &Workspace) -> Result<()> {
    let Some(toolchain) = Toolchain::find()? else {
        println!("{STAND_IN}: not run, there is no Rust with the sources of `core`; {INSTALL} brings one");
        return Ok(());
    };
    let out = workspace.target.join("rust-cuda/stand-in");
    build_in(workspace, &workspace.root.join(STAND_IN), &out, Some(&toolchain))
}

/// The rules over the text of the sources.
fn lint(workspace: &Workspace) -> Result<()> {
    let mut files = Vec::new();
    for folder in SOURCES {
        rust_files(&workspace.root.join(folder).join("src"), &mut files)?;
    }
    files.sort();
    let mut found = Vec::new();
    for file in &files {
        let shown = file.strip_prefix(&workspace.root).unwrap_or(file).to_string_lossy();
        found.extend(rules::findings(&Source::read(&shown, &read_text(file)?)));
    }
    if !found.is_empty() {
        return fail!("one source for both generators:\n  {}", found.join("\n  "));
    }
    println!("{} files hold nothing that one of the generators refuses", files.len());
    Ok(())
}

/// A cargo that compiles the device code for the host.
fn host_cargo(workspace: &Workspace) -> std::process::Command {
    let mut cargo = workspace.cargo();
    cargo.env("CARGO_ENCODED_RUSTFLAGS", HOST_CHECK).env("CARGO_TARGET_DIR", workspace.target.join("rust-cuda/host"));
    cargo
}

/// Floats to integers by `as`: rust-cuda's do not saturate. clippy knows the types.
fn casts(workspace: &Workspace) -> Result<()> {
    if !process::succeeds(workspace.cargo().args(["clippy", "--version"])) {
        println!("float to integer `as`: not looked for, there is no clippy; `rustup component add clippy` brings it");
        return Ok(());
    }
    let mut cargo = host_cargo(workspace);
    cargo.args(["clippy", "--locked", "--message-format=json", "--features", FEATURE]);
    cargo.args(["--package", "framewright-core", "--package", "framewright-kernel"]);
    for package in packages() {
        cargo.args(["--package", package.name]);
    }
    cargo.args(["--", "-Wclippy::cast_possible_truncation"]);
    let output = process::output(&mut cargo)?;
    if !output.status.success() {
        return fail!("clippy of the device code:\n{}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    let mut found = Vec::new();
    for (file, line, what) in float_casts(&String::from_utf8_lossy(&output.stdout)) {
        let source = Source::read(&file, &read_text(&workspace.root.join(&file))?);
        if !source.allows(line) {
            found.push(format!(
                "{file}:{line}: {what}: rust-cuda does not saturate; clamp first and say so: `// rust-cuda: ok, clamped`"
            ));
        }
    }
    if !found.is_empty() {
        return fail!("one source for both generators:\n  {}", found.join("\n  "));
    }
    println!("no float becomes an integer by an unclamped `as`");
    Ok(())
}

/// File, line and words of the messages about floats that are cast.
fn float_casts(messages: &str) -> Vec<(String, usize, String)> {
    let mut found: Vec<_> = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|value| {
            let message = value.get("message")?;
            let words = message.get("message")?.as_str()?;
            let float = ["f16", "f32", "f64"].iter().any(|ty| words.starts_with(&format!("casting `{ty}` to `")));
            let integer = !["`f16` may", "`f32` may", "`f64` may"].iter().any(|ty| words.contains(ty));
            if !float || !integer {
                return None;
            }
            let span = message.get("spans")?.as_array()?.iter().find(|span| span["is_primary"] == true)?;
            let line = usize::try_from(span["line_start"].as_u64()?).ok()?;
            Some((span["file_name"].as_str()?.to_owned(), line, words.to_owned()))
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Compiles a package's device code on the host, bodies and all, and compares its entries with the checked-in PTX.
fn same_entries(workspace: &Workspace, package: &Package) -> Result<()> {
    let folder = workspace.target.join("rust-cuda/host/debug/deps");
    let prefix = format!("{}-", package.name.replace('-', "_"));
    let listings = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let ours = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&prefix) && name.ends_with(".s")
        };
        entries.filter(ours).collect()
    };
    // An old one would be read where cargo holds the package for fresh: compiled always, under its own name.
    for old in listings() {
        std::fs::remove_file(&old).map_err(|error| Failure(format!("cannot remove {}: {error}", old.display())))?;
    }
    let mut cargo = host_cargo(workspace);
    cargo.args(["rustc", "--locked", "--package", package.name, "--lib", "--features", FEATURE]);
    let stamp = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |now| now.as_nanos());
    // A flag that changes nothing but that the compiler runs.
    process::run(cargo.args(["--", "--emit=asm", "-Ccodegen-units=1", &format!("--cfg=framewright_run=\"{stamp}\"")]))?;
    let [listing] = &listings()[..] else {
        return fail!("{}: expected one listing {prefix}*.s in {}", package.name, folder.display());
    };
    let found = asm::hashes(&read_text(listing)?)?;
    compare(package.name, &found, &checked_in(workspace, package)?)?;
    println!("{}: {} entries compile on the host with {FEATURE}, hashes as in the PTX", package.name, found.len());
    Ok(())
}

/// Entry -> hash of its parameters, over all of a package's PTX files.
fn checked_in(workspace: &Workspace, package: &Package) -> Result<BTreeMap<String, u64>> {
    let mut all = BTreeMap::new();
    for family in ptx_build::families(workspace, package)? {
        all.extend(hashes_of(&workspace.root.join(package.folder).join(family + ".ptx"))?);
    }
    Ok(all)
}

/// Entry -> hash of its parameters, in a PTX file.
fn hashes_of(file: &Path) -> Result<BTreeMap<String, u64>> {
    let text = without_comments(&read_text(file)?);
    let module = Module::parse(&text)?;
    let hash = |name: &str| module.hashes.get(&name.to_lowercase()).copied();
    let entry = |name: &str| match hash(name) {
        Some(hash) => Ok((name.to_owned(), hash)),
        None => fail!("{}: {name}: expected the hash of its parameters, found none", file.display()),
    };
    module.entries().map(|function| entry(&function.name)).collect()
}

/// The same entries with the same hashes.
fn compare(what: &str, found: &BTreeMap<String, u64>, expected: &BTreeMap<String, u64>) -> Result<()> {
    let mut wrong = Vec::new();
    for (entry, hash) in expected {
        match found.get(entry) {
            Some(other) if other == hash => {}
            Some(other) => wrong.push(format!("{entry}: expected parameters {hash:016x}, found {other:016x}")),
            None => wrong.push(format!("{entry}: expected an entry, found none")),
        }
    }
    wrong.extend(
        found
            .keys()
            .filter(|entry| !expected.contains_key(*entry))
            .map(|entry| format!("{entry}: found an entry that the checked-in PTX does not have")),
    );
    if wrong.is_empty() { Ok(()) } else { fail!("{what}:\n  {}", wrong.join("\n  ")) }
}

/// The builder against crates.io's `cuda_builder`, whose code generator cannot be had here: an empty crate stands for it.
fn type_check_builder(workspace: &Workspace) -> Result<()> {
    let folder = workspace.target.join("rust-cuda");
    let (name, version) = CODEGEN;
    let stand_in = folder.join(name);
    write_text(
        &stand_in.join("Cargo.toml"),
        &format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2021\"\n[workspace]\n"),
    )?;
    write_text(&stand_in.join("src/lib.rs"), "")?;
    write_text(&folder.join("cuda/include/cuda.h"), "")?;
    let copy = folder.join("check");
    copy_builder(workspace, &copy, "")?;
    let mut cargo = crate::workspace::cargo();
    cargo.current_dir(&copy).env("CUDA_PATH", folder.join("cuda"));
    cargo.env("CARGO_TARGET_DIR", folder.join("builder")).env_remove("CARGO_ENCODED_RUSTFLAGS");
    let patch = format!("patch.crates-io.{name}.path={:?}", stand_in.display().to_string());
    process::run(cargo.args(["check", "--quiet", "--config", &patch]))?;
    println!("{BUILDER}: type-checked against crates.io's cuda_builder");
    Ok(())
}

/// Compiles everything with the rust-cuda in `checkout`, whose `rust-toolchain.toml` says with which Rust.
pub(crate) fn build(workspace: &Workspace, checkout: &Path, out: Option<&Path>) -> Result<()> {
    let absolute =
        |path: &Path| std::path::absolute(path).map_err(|error| Failure(format!("{}: {error}", path.display())));
    let checkout = absolute(checkout)?;
    for name in ["cuda_builder", "cuda_std"] {
        let manifest = checkout.join("crates").join(name).join("Cargo.toml");
        if !manifest.is_file() {
            return fail!("--build: expected a checkout of rust-cuda, found no {}", manifest.display());
        }
    }
    let out = match out {
        Some(out) => absolute(out)?,
        None => workspace.target.join("rust-cuda/ptx"),
    };
    build_in(workspace, &checkout, &out, None)
}

/// `stand_in`: the Rust that the stand-in calls.
fn build_in(workspace: &Workspace, checkout: &Path, out: &Path, stand_in: Option<&Toolchain>) -> Result<()> {
    let folder = workspace.target.join(if stand_in.is_some() { "rust-cuda/stand-in" } else { "rust-cuda" });
    let builder = folder.join("run");
    let patch = format!(
        "\n[patch.crates-io]\ncuda_builder = {{ path = {:?} }}\n",
        shown(&checkout.join("crates/cuda_builder"))
    );
    copy_builder(workspace, &builder, &patch)?;
    for package in packages() {
        for family in ptx_build::families(workspace, package)? {
            let file = out.join(format!("{family}.ptx"));
            write_text(&file, "")?;
            // In the checkout's folder rustup takes the checkout's Rust.
            let mut cargo = std::process::Command::new("cargo");
            for variable in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
                cargo.env_remove(variable);
            }
            cargo.current_dir(checkout).args(["run", "--release", "--manifest-path"]).arg(builder.join("Cargo.toml"));
            cargo.env("CARGO_TARGET_DIR", folder.join("run-target"));
            if let Some(toolchain) = stand_in {
                cargo.env(VARIABLE, &toolchain.rustc);
            }
            cargo.arg("--").arg(checkout).arg(&workspace.root).arg(folder.join("out").join(&family));
            cargo.arg(package.name).arg(&file);
            if package.family.is_none() {
                cargo.arg(&family);
            }
            process::run(&mut cargo)?;
            let expected = hashes_of(&workspace.root.join(package.folder).join(format!("{family}.ptx")))?;
            compare(&file.display().to_string(), &hashes_of(&file)?, &expected)?;
            println!("{}: {} entries, parameters as in the checked-in PTX", file.display(), expected.len());
        }
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// A copy of the builder's package with `more` in its manifest, so that no lock file of a patch lies beside the sources.
fn copy_builder(workspace: &Workspace, to: &Path, more: &str) -> Result<()> {
    let from = workspace.root.join(BUILDER);
    let manifest = read_text(&from.join("Cargo.toml"))?;
    let manifest = manifest.replace("../../crates/", &format!("{}/", shown(&workspace.root.join("crates"))));
    write_text(&to.join("Cargo.toml"), &(manifest + more))?;
    write_text(&to.join("src/main.rs"), &read_text(&from.join("src/main.rs"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_casts_are_found_among_the_messages() {
        let message = |words: &str| {
            format!(
                r#"{{"reason":"compiler-message","message":{{"message":"{words}","spans":[{{"file_name":"a.rs","line_start":7,"is_primary":true}}]}}}}"#
            )
        };
        let text = ["casting `f32` to `u8` may truncate the value", "casting `u32` to `u8` may truncate the value"];
        let text =
            text.map(message).join("\n") + "\nnot JSON\n" + &message("casting `f64` to `f32` may truncate the value");
        assert_eq!(
            float_casts(&text),
            [("a.rs".to_owned(), 7, "casting `f32` to `u8` may truncate the value".to_owned())]
        );
    }

    #[test]
    fn entries_and_hashes_are_compared() {
        let map = |entries: &[(&str, u64)]| entries.iter().map(|(name, hash)| ((*name).to_owned(), *hash)).collect();
        let expected: BTreeMap<String, u64> = map(&[("a", 1), ("b", 2)]);
        assert_eq!(compare("x", &expected, &expected), Ok(()));
        let failure = compare("x", &map(&[("a", 3), ("c", 1)]), &expected).expect_err("three differences").0;
        for part in ["a: expected parameters", "b: expected an entry", "c: found an entry"] {
            assert!(failure.contains(part), "{failure}");
        }
    }
}
