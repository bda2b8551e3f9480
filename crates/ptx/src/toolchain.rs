//! Finds a Rust that can compile `core` for the GPU: a rustc with the sources of its own `core` beside it.

use crate::{
    failure::{Failure, Result, fail},
    process,
};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to type where no such Rust is found.
pub const INSTALL: &str = "`rustup toolchain install nightly --component rust-src` \
     or, on Debian, `apt-get install rustc-web cargo-web rust-web-src`";

/// The oldest Rust that compiles the kernels, as framewright's `rust-version`: 1.95.
const OLDEST: u32 = 95;

/// The variable that names a rustc to take before all others; its cargo lies beside it.
pub const VARIABLE: &str = "FRAMEWRIGHT_PTX_RUSTC";

/// A rustc with cargo and the sources of `core`.
#[derive(Debug)]
pub struct Toolchain {
    /// The compiler.
    pub rustc: PathBuf,
    /// The cargo beside it.
    pub cargo: PathBuf,
    /// Where its libraries and sources are.
    pub sysroot: PathBuf,
    /// Which it is.
    pub version: Version,
    /// Why this one was taken.
    pub origin: String,
}

/// What decides which bytes a rustc writes: the lines of `rustc -vV`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The first line.
    pub rustc: String,
    /// The commit it was built of.
    pub commit: String,
    /// The LLVM inside it.
    pub llvm: String,
}

impl Version {
    /// The 96 of 1.96.
    fn minor(&self) -> Option<u32> {
        self.rustc.strip_prefix("rustc 1.")?.split('.').next()?.parse().ok()
    }

    /// Reads the output of `rustc -vV`.
    pub fn parse(text: &str) -> Result<Self> {
        let field = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key));
            line.map(|value| value.trim().to_owned())
                .ok_or_else(|| Failure(format!("`rustc -vV`: expected a line `{key}`, found\n{text}")))
        };
        let rustc = text.lines().next().unwrap_or_default().trim().to_owned();
        if !rustc.starts_with("rustc ") {
            return fail!("`rustc -vV`: expected `rustc VERSION` in the first line, found `{rustc}`");
        }
        Ok(Self { rustc, commit: field("commit-hash:")?, llvm: field("LLVM version:")? })
    }
}

impl Toolchain {
    /// The first that can, in this order: `FRAMEWRIGHT_PTX_RUSTC`, the Rust that runs us, each rustup nightly, Debian's
    /// `/usr/bin/rustc`. `None` where none has the sources of `core` and is new enough; a variable that names another is an error.
    pub fn find() -> Result<Option<Self>> {
        if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
            let origin = format!("{VARIABLE}={}", path.display());
            return match Self::at(Path::new(&path), &origin)? {
                Some(found) => Ok(Some(found)),
                None => {
                    fail!(
                        "{origin}: expected the sources of `core` in its sysroot and a cargo beside it, found none; with rustup \
                         `rustup component add rust-src` brings the sources; or install another: {INSTALL}"
                    )
                }
            };
        }
        let mut places = Vec::new();
        // A build script is told which one runs; else it is the one in PATH.
        let running = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        if let Ok(sysroot) = process::stdout(Command::new(running).args(["--print", "sysroot"])) {
            places.push((Path::new(sysroot.trim()).join("bin/rustc"), "the Rust that runs".to_owned()));
        }
        for name in rustup_nightlies() {
            let path = process::stdout(Command::new("rustup").args(["which", "--toolchain", &name, "rustc"]));
            if let Ok(path) = path {
                places.push((PathBuf::from(path.trim()), format!("rustup's {name}")));
            }
        }
        places.push((PathBuf::from("/usr/bin/rustc"), "the system's Rust".to_owned()));
        for (rustc, origin) in places {
            // One that does not start or is too old is passed over: the next may do.
            if let Ok(Some(found)) = Self::at(&rustc, &origin) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The toolchain of `rustc`, if it has a cargo beside it and the sources of `core` in its sysroot.
    fn at(rustc: &Path, origin: &str) -> Result<Option<Self>> {
        let cargo = rustc.with_file_name("cargo");
        if !rustc.is_file() || !cargo.is_file() {
            return Ok(None);
        }
        let ask = |arguments: &[&str]| process::stdout(clean(&mut Command::new(rustc)).args(arguments));
        let sysroot = PathBuf::from(ask(&["--print", "sysroot"])?.trim());
        if !sysroot.join("lib/rustlib/src/rust/library/core/src/lib.rs").is_file() {
            return Ok(None);
        }
        let version = Version::parse(&ask(&["-vV"])?)?;
        if version.minor().is_none_or(|minor| minor < OLDEST) {
            return fail!(
                "{origin}: expected Rust 1.{OLDEST} or later, found `{}`; install one: {INSTALL}",
                version.rustc
            );
        }
        Ok(Some(Self { rustc: rustc.to_path_buf(), cargo, sysroot, version, origin: origin.to_owned() }))
    }

    /// The folder of the Rust sources, as it is named and as it is after links (Debian's is a link).
    pub fn source_folders(&self) -> Vec<PathBuf> {
        let folder = self.sysroot.join("lib/rustlib/src/rust");
        let real = folder.canonicalize().ok().filter(|real| *real != folder);
        std::iter::once(folder).chain(real).collect()
    }

    /// This toolchain's cargo, deaf to what the outer cargo, rustup and the user's shell set for other builds.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new(&self.cargo);
        clean(&mut command).env("RUSTC", &self.rustc).env("RUSTC_BOOTSTRAP", "1");
        command
    }
}

/// Takes out the variables that would choose another compiler, other flags or another compiler's libraries.
fn clean(command: &mut Command) -> &mut Command {
    const CHOOSERS: &[&str] = &[
        "CARGO",
        "CARGO_BUILD_RUSTC",
        "CARGO_BUILD_RUSTC_WRAPPER",
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "CARGO_ENCODED_RUSTFLAGS",
        "LD_LIBRARY_PATH",
        "RUSTC",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTFLAGS",
        "RUSTUP_TOOLCHAIN",
    ];
    for name in CHOOSERS {
        command.env_remove(name);
    }
    command
}

fn rustup_nightlies() -> Vec<String> {
    let list = process::stdout(Command::new("rustup").args(["toolchain", "list"])).unwrap_or_default();
    nightlies(&list)
}

/// The nightlies of `rustup toolchain list`.
fn nightlies(list: &str) -> Vec<String> {
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| name.starts_with("nightly")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read() {
        let text =
            "rustc 1.96.0 (ac68faa20 2026-05-25)\nbinary: rustc\ncommit-hash: ac68\nhost: x\nLLVM version: 22.1.8\n";
        let version = Version::parse(text).expect("a version");
        assert_eq!(version.rustc, "rustc 1.96.0 (ac68faa20 2026-05-25)");
        assert_eq!(version.minor(), Some(96));
        assert_eq!((version.commit.as_str(), version.llvm.as_str()), ("ac68", "22.1.8"));
        assert!(Version::parse("rustc 1.96.0\ncommit-hash: x\n").is_err());
        assert!(Version::parse("cargo 1.96.0\ncommit-hash: x\nLLVM version: 1\n").is_err());
    }

    #[test]
    fn only_nightlies_are_listed() {
        let list = "stable-x86_64-unknown-linux-gnu (active, default)\nnightly-x86_64-unknown-linux-gnu\n\
                    nightly-2026-04-02-x86_64-unknown-linux-gnu\n1.95.0-x86_64-unknown-linux-gnu\n";
        assert_eq!(
            nightlies(list),
            ["nightly-x86_64-unknown-linux-gnu", "nightly-2026-04-02-x86_64-unknown-linux-gnu"]
        );
    }
}
