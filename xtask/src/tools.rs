//! `cargo xtask tools`: NVIDIA's `ptxas` and `nvdisasm` out of their PyPI wheels, and mdBook, into `target/tools`.
//!
//! Versions and hashes are pinned, so that every machine assembles with the same tool.

use crate::failure::{Failure, Result, fail, write_text};
use crate::process;
use crate::workspace::Workspace;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to type where a tool is missing.
pub(crate) const INSTALL: &str = "`cargo xtask tools` (needs python3 with pip)";

/// The release of CUDA's tools.
const VERSION: &str = "13.5.37";

/// The release of mdBook that is compiled where there is none.
const MDBOOK: &str = "0.5.4";

struct Tool {
    name: &'static str,
    wheel: &'static str,
    /// Of the wheel for Linux on x86-64.
    sha256: &'static str,
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "ptxas",
        wheel: "nvidia-cuda-nvcc",
        sha256: "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7",
    },
    Tool {
        name: "nvdisasm",
        wheel: "nvidia-cuda-nvdisasm",
        sha256: "d3fdbdd49fa53e2e4aacd3db8259d052bd2b049ececdcb69e92e083c6728e7ca",
    },
];

/// Takes the program `name` out of the wheel: arguments are the wheel, the name, the target file.
const UNPACK: &str = "import shutil, sys, zipfile
wheel, name, target = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    member = next(m for m in archive.namelist() if m.endswith('/bin/' + name))
    with archive.open(member) as source, open(target, 'wb') as sink:
        shutil.copyfileobj(source, sink)
";

/// Where the tools lie.
fn folder(target: &Path) -> PathBuf {
    target.join("tools")
}

/// The `ptxas` of this machine: variable `PTXAS`, PATH, `CUDA_PATH`, then what was unpacked here.
pub(crate) fn ptxas(workspace: &Workspace) -> Option<PathBuf> {
    framewright_ptx::ptxas::find(Some(&folder(&workspace.target)))
}

/// mdBook's program: in PATH, or what was installed here.
pub(crate) fn mdbook(workspace: &Workspace) -> Option<PathBuf> {
    let mut places = [PathBuf::from("mdbook"), folder(&workspace.target).join("bin/mdbook")].into_iter();
    places.find(|path| process::succeeds(Command::new(path).arg("--version")))
}

/// Fetches what is not there yet.
pub(crate) fn install(workspace: &Workspace) -> Result<()> {
    let folder = folder(&workspace.target);
    for tool in TOOLS {
        let path = folder.join(tool.name);
        if current(&path) {
            println!("{} {VERSION} is there: {}", tool.name, path.display());
            continue;
        }
        fetch(tool, &folder, &path)?;
        if !current(&path) {
            return fail!("{}: expected version {VERSION} to run here, found that it does not", path.display());
        }
        println!("{} {VERSION} unpacked: {}", tool.name, path.display());
    }
    if let Some(path) = mdbook(workspace) {
        println!("mdbook is there: {}", path.display());
        return Ok(());
    }
    // Without what serves and searches the book: this one is only made.
    let mut cargo = crate::workspace::cargo();
    cargo.args(["install", "--quiet", "--locked", "--no-default-features", "--version", MDBOOK, "mdbook", "--root"]);
    process::run(cargo.arg(&folder))
}

/// Whether the tool runs and is the pinned release.
fn current(path: &Path) -> bool {
    process::stdout(Command::new(path).arg("--version")).is_ok_and(|text| text.contains(&format!("V{VERSION}")))
}

fn fetch(tool: &Tool, folder: &Path, path: &Path) -> Result<()> {
    if !process::succeeds(Command::new("python3").args(["-m", "pip", "--version"])) {
        return fail!(
            "{}: expected python3 with pip to fetch it, found none; on Debian: `apt-get install python3-pip`",
            tool.name
        );
    }
    let wheels = folder.join(format!("wheel-{}", tool.name));
    // What an earlier version left must not be unpacked.
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels)
            .map_err(|error| Failure(format!("cannot empty {}: {error}", wheels.display())))?;
    }
    let wanted = wheels.join("requirements.txt");
    write_text(&wanted, &format!("{}=={VERSION} --hash=sha256:{}\n", tool.wheel, tool.sha256))?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]);
    process::run(pip.args(["--only-binary", ":all:", "--dest"]).arg(&wheels).arg("--requirement").arg(&wanted))?;
    let wheel = std::fs::read_dir(&wheels).ok().and_then(|mut entries| {
        entries.find_map(|entry| {
            entry.ok().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "whl"))
        })
    });
    let Some(wheel) = wheel else {
        return fail!("{}: expected a wheel in {}, found none", tool.wheel, wheels.display());
    };
    let unpack = process::stdout(Command::new("python3").args(["-c", UNPACK]).arg(&wheel).arg(tool.name).arg(path));
    unpack.map_err(|error| Failure(format!("{}: cannot take {} out of it: {error}", wheel.display(), tool.name)))?;
    executable(path)?;
    std::fs::remove_dir_all(&wheels).map_err(|error| Failure(format!("cannot remove {}: {error}", wheels.display())))
}

#[cfg(unix)]
fn executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .map_err(|error| Failure(format!("cannot make {} executable: {error}", path.display())))
}

#[cfg(not(unix))]
fn executable(_: &Path) -> Result<()> {
    Ok(())
}
