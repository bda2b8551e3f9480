//! `cargo xtask ci`: every check of the repository, in one command, on any machine.
//!
//! A step that the machine cannot do is skipped and named together with the command that brings what is missing. With
//! `--strict` such a skip is a failure; that there is no GPU never is.

use crate::failure::{Failure, Result};
use crate::ptx::Ptx;
use crate::step::{Outcome, Skip, Steps};
use crate::workspace::Workspace;
use crate::{architecture, archives, gpu_report, guide, process, rust_cuda, tools};
use framewright_ptx::{INSTALL, Toolchain};
use std::path::Path;
use std::process::Command;

/// Packages and features that are linted and tested together.
struct FeatureSet {
    name: &'static str,
    /// cargo's arguments that choose them.
    arguments: &'static [&'static str],
    /// Package and feature without which there is nothing to choose.
    feature: Option<(&'static str, &'static str)>,
}

impl FeatureSet {
    /// Whether its tests run on the stand-in driver, whose library must lie beside them.
    fn needs_standin(&self) -> bool {
        self.feature.is_some_and(|(_, feature)| feature == "cuda")
    }
}

/// All of them. A new feature gets its row here.
const FEATURE_SETS: &[FeatureSet] = &[
    FeatureSet { name: "default", arguments: &["--workspace"], feature: None },
    FeatureSet {
        name: "framewright without features",
        arguments: &["--package", "framewright", "--no-default-features"],
        feature: None,
    },
    FeatureSet {
        name: "framewright with cuda",
        arguments: &["--package", "framewright", "--features", "cuda"],
        feature: Some(("framewright", "cuda")),
    },
    FeatureSet {
        name: "framewright-cli with cuda",
        arguments: &["--package", "framewright-cli", "--features", "cuda"],
        feature: Some(("framewright-cli", "cuda")),
    },
];

/// Arguments of `cargo test` for the tests that only a GPU can run; none yet.
const GPU_TESTS: Option<&[&str]> = None;

/// Runs all steps and prints the summary; whether the run is good.
pub(crate) fn run(workspace: &Workspace, strict: bool) -> bool {
    let mut steps = Steps::default();
    steps.run("format", || format(workspace));
    let sets = match feature_sets(workspace) {
        Ok(sets) => sets,
        Err(failure) => {
            steps.run("features", || Outcome::Failed(failure));
            Vec::new()
        }
    };
    for set in &sets {
        steps.run(&format!("clippy, {}", set.name), || clippy(workspace, set));
    }
    for set in &sets {
        steps.run(&format!("test, {}", set.name), || test(workspace, set).into());
    }
    steps.run("docs", || documentation(workspace).into());
    steps.run("architecture", || architecture::check(workspace).into());
    steps.run("GPU runs", || gpu_report::run(workspace, true).into());
    ptx(workspace, &mut steps);
    steps.run("rust-cuda", || rust_cuda::check(workspace).into());
    steps.run("template", || template(workspace));
    steps.run("archives", || archives::check(workspace).into());
    steps.run("guide", || guide::run(workspace));
    steps.run("GPU", || gpu(workspace));

    let good = steps.good(strict);
    if !good && strict {
        println!("\nsummary (--strict: a skip for something that can be installed counts as a failure)");
    } else {
        println!("\nsummary");
    }
    print!("{}", steps.summary());
    good
}

fn format(workspace: &Workspace) -> Outcome {
    if !process::succeeds(workspace.cargo().args(["fmt", "--version"])) {
        return Skip::lacks("no rustfmt", "`rustup component add rustfmt`");
    }
    process::run(workspace.cargo().args(["fmt", "--all", "--check"])).into()
}

/// The template as its own workspace: format and lints. That it builds and runs elsewhere is a test (`tests/tests/template.rs`).
fn template(workspace: &Workspace) -> Outcome {
    for (component, missing) in [("fmt", "no rustfmt"), ("clippy", "no clippy")] {
        if !process::succeeds(workspace.cargo().args([component, "--version"])) {
            return Skip::lacks(missing, "`rustup component add rustfmt clippy`");
        }
    }
    for folder in ["examples/custom-kernel", "xtask/rust-cuda", "tests/standin-rust-cuda/crates/cuda_builder"] {
        let mut cargo = workspace.cargo();
        cargo.current_dir(workspace.root.join(folder)).args(["fmt", "--all", "--check"]);
        if let Err(failure) = process::run(&mut cargo) {
            return Outcome::Failed(failure);
        }
    }
    // With feature `cuda` its build script compiles kernels, which needs a Rust that can.
    let compiles = matches!(Toolchain::find(), Ok(Some(_)));
    let features: &[&[&str]] = if compiles { &[&[], &["--features", "cuda"]] } else { &[&[]] };
    for features in features {
        let mut cargo = workspace.cargo();
        cargo.current_dir(workspace.root.join("examples/custom-kernel"));
        cargo.env("CARGO_TARGET_DIR", workspace.target.join("template"));
        cargo.args(["clippy", "--locked", "--workspace", "--all-targets"]).args(*features).args(["--", "-Dwarnings"]);
        if let Err(failure) = process::run(&mut cargo) {
            return Outcome::Failed(failure);
        }
    }
    if compiles { Outcome::Passed } else { Skip::lacks("no Rust with the sources of `core`", INSTALL) }
}

/// Those of the feature sets that this workspace has.
fn feature_sets(workspace: &Workspace) -> Result<Vec<&'static FeatureSet>> {
    let graph = workspace.graph(&[])?;
    let mut sets = Vec::new();
    for set in FEATURE_SETS {
        match set.feature {
            Some((package, feature)) if !graph.features(package)?.contains(feature) => {
                println!("{}: the package has no feature `{feature}` yet", set.name);
            }
            _ => sets.push(set),
        }
    }
    Ok(sets)
}

/// Where the stand-in driver is not among the packages, its library is built first, in the tests' profile: cargo puts it
/// into `deps`, beside the tests, where they look for it.
fn test(workspace: &Workspace, set: &FeatureSet) -> Result<()> {
    if set.needs_standin() {
        process::run(workspace.cargo().args([
            "build",
            "--locked",
            "--profile",
            "test",
            "--package",
            "framewright-standin",
        ]))?;
    }
    process::run(workspace.cargo().args(["test", "--locked"]).args(set.arguments))
}

fn clippy(workspace: &Workspace, set: &FeatureSet) -> Outcome {
    if !process::succeeds(workspace.cargo().args(["clippy", "--version"])) {
        return Skip::lacks("no clippy", "`rustup component add clippy`");
    }
    let mut cargo = workspace.cargo();
    cargo.args(["clippy", "--locked", "--all-targets"]).args(set.arguments);
    process::run(cargo.args(["--", "-Dwarnings"])).into()
}

/// All but the program: its binary and the library are both called `framewright`, and rustdoc would write one over the
/// other.
fn documentation(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["doc", "--locked", "--no-deps", "--workspace", "--exclude", "framewright-cli"]);
    process::run(cargo.env("RUSTDOCFLAGS", "-Dwarnings"))
}

/// The three looks at the PTX: the files as they are, against a rebuild, and through `ptxas`.
fn ptx(workspace: &Workspace, steps: &mut Steps) {
    let ptx = match Ptx::of(workspace, None) {
        Ok(ptx) => ptx,
        Err(failure) => return steps.run("PTX", || Outcome::Failed(failure)),
    };
    steps.run("PTX files", || ptx.check_files().into());
    steps.run("PTX rebuilt", || rebuilt(&ptx));
    steps.run("PTX assembled", || match tools::ptxas(workspace) {
        Some(ptxas) => ptx.check_assembled(&ptxas).into(),
        None => Skip::lacks("no ptxas", tools::INSTALL),
    });
}

fn rebuilt(ptx: &Ptx<'_>) -> Outcome {
    match Toolchain::find() {
        Ok(Some(toolchain)) => ptx.check_rebuilt(&toolchain).into(),
        Ok(None) => Skip::lacks("no Rust with the sources of `core`", INSTALL),
        Err(failure) => Outcome::Failed(failure),
    }
}

/// Whether there is an NVIDIA GPU with its driver.
pub(crate) fn has_gpu() -> bool {
    let listed = || process::stdout(Command::new("ldconfig").arg("-p")).is_ok_and(|text| text.contains("libcuda.so.1"));
    Path::new("/dev/nvidia0").exists() && listed()
}

fn gpu(workspace: &Workspace) -> Outcome {
    if !has_gpu() {
        return Skip::harmless("no GPU");
    }
    match GPU_TESTS {
        Some(arguments) => process::run(workspace.cargo().args(["test", "--locked"]).args(arguments)).into(),
        None => Skip::harmless("no tests for the GPU in this workspace yet"),
    }
}

/// `cargo xtask exhaustive`: the tests with their long ranges, optimised.
pub(crate) fn exhaustive(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["test", "--locked", "--release", "--workspace"]).env("FRAMEWRIGHT_EXHAUSTIVE", "1");
    process::run(&mut cargo)
}

/// `cargo xtask ptx --check`: the same looks as in `ci`, each of which must be possible but for `ptxas`.
pub(crate) fn check_ptx(workspace: &Workspace, folder: Option<&Path>) -> Result<()> {
    let ptx = Ptx::of(workspace, folder)?;
    ptx.check_files()?;
    match tools::ptxas(workspace) {
        Some(ptxas) => ptx.check_assembled(&ptxas)?,
        None => println!("ptxas: skipped, found none; install it: {}", tools::INSTALL),
    }
    match Toolchain::find()? {
        Some(toolchain) => ptx.check_rebuilt(&toolchain),
        None => Err(Failure(format!("not rebuilt: {}", crate::ptx_build::no_toolchain()))),
    }
}
