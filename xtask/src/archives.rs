//! `cargo xtask archives`: the crates as they would be published, out of their archives and far from the repository.
//!
//! All are packaged, unpacked in a folder outside, and built there: with default features, with `cuda`, and documented as docs.rs
//! does, without CUDA. What the archives forget (a file of PTX, a path that only the repository has) shows.

use crate::failure::{Failure, Result, fail, write_text};
use crate::process;
use crate::workspace::Workspace;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// What is meant for publishing, in the order in which it could be; all other packages say `publish = false`.
const PACKAGES: &[&str] = &[
    "framewright-core",
    "framewright-macros",
    "framewright-kernel",
    "framewright-kernels",
    "framewright-driver",
    "framewright",
    "framewright-ptx",
    "framewright-cli",
];

/// Packages with a feature `cuda`.
const WITH_CUDA: &[&str] = &["framewright", "framewright-cli"];

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let graph = workspace.graph(&[])?;
    let members = graph.packages.values().filter(|package| package.member);
    if let Some(odd) =
        members.into_iter().find(|package| package.published != PACKAGES.contains(&package.name.as_str()))
    {
        return fail!(
            "{}: expected `publish = false` or a place in PACKAGES (xtask/src/archives.rs), found both or none",
            odd.name
        );
    }
    let target = workspace.target.join("archives");
    let mut cargo = workspace.cargo();
    // Changes that are not committed are packaged as well.
    cargo.args(["package", "--quiet", "--locked", "--no-verify", "--allow-dirty", "--target-dir"]).arg(&target);
    process::run(cargo.args(PACKAGES.iter().flat_map(|package| ["--package", package])))?;

    let name = framewright_ptx::files::sha256(workspace.root.as_os_str().as_encoded_bytes());
    let folder = std::env::temp_dir().join(format!("framewright-archives-{}", &name[..16]));
    let failed = |what: &str, error: std::io::Error| Failure(format!("{what} {}: {error}", folder.display()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|error| failed("cannot remove", error))?;
    }
    std::fs::create_dir_all(&folder).map_err(|error| failed("cannot make", error))?;
    let version = env!("CARGO_PKG_VERSION");
    let (mut members, mut patches) = (Vec::new(), String::new());
    for package in PACKAGES {
        let archive = target.join("package").join(format!("{package}-{version}.crate"));
        process::run(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&folder))?;
        members.push(format!("{package}-{version}"));
        let _ = writeln!(patches, "{package} = {{ path = \"{package}-{version}\" }}");
    }
    write_text(
        &folder.join("Cargo.toml"),
        &format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[patch.crates-io]\n{patches}"),
    )?;
    std::fs::copy(workspace.root.join("Cargo.lock"), folder.join("Cargo.lock"))
        .map_err(|error| failed("cannot copy Cargo.lock to", error))?;
    holds_ptx(&folder.join(format!("framewright-{version}")))?;

    let cargo = |words: &[&str]| {
        let mut cargo = crate::workspace::cargo();
        cargo.current_dir(&folder).env("CARGO_TARGET_DIR", target.join("built"));
        for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CUDA_PATH", "CUDA_ROOT", "CUDA_LIBRARY_PATH"] {
            cargo.env_remove(name);
        }
        cargo.args(words).args(["--quiet", "--offline"]);
        cargo
    };
    // docs.rs has no CUDA and says so by DOCS_RS, which `cust`'s build script heeds. The program's documentation would be
    // written over the library's of the same name.
    let mut documentation = cargo(&["doc", "--no-deps", "--workspace", "--exclude", "framewright-cli"]);
    documentation.args(["--features", "framewright/cuda"]).env("DOCS_RS", "1").env("RUSTDOCFLAGS", "-Dwarnings");
    process::run(&mut documentation)?;
    // A library folder for `cust`, as README says.
    let stub = folder.join("stub");
    write_text(&stub.join("lib64/libcuda.so"), "")?;
    let with_stub = |words: &[&str]| {
        let mut cargo = cargo(words);
        cargo.env("CUDA_LIBRARY_PATH", &stub);
        cargo
    };
    process::run(&mut with_stub(&["build", "--workspace"]))?;
    for package in WITH_CUDA {
        process::run(&mut with_stub(&["build", "--package", package, "--features", "cuda"]))?;
    }
    println!("{} archives build outside of the repository", PACKAGES.len());
    std::fs::remove_dir_all(&folder).map_err(|error| failed("cannot remove", error))
}

/// Every file of PTX that the repository has is in the archive.
fn holds_ptx(package: &Path) -> Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/framewright/ptx");
    let entries =
        std::fs::read_dir(&here).map_err(|error| Failure(format!("cannot read {}: {error}", here.display())))?;
    for name in entries.filter_map(|entry| entry.ok().map(|entry| entry.file_name())) {
        let file = package.join("ptx").join(name);
        if !file.is_file() {
            return fail!("expected {} in the archive, found none", file.display());
        }
    }
    Ok(())
}
