//! Compiles kernels to PTX with rustc's own NVPTX target, so that the same compiler gives the same bytes anywhere.

use crate::{
    failure::{Failure, Result, fail, read_text},
    process,
    toolchain::Toolchain,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// rustc's name of the GPU.
pub const TARGET: &str = "nvptx64-nvidia-cuda";
/// The oldest GPU that framewright's kernels run on: Turing. Newer ones take the same PTX.
pub const OLDEST: &str = "sm_75";

/// The oldest PTX for a GPU, as rustc's feature. 7.4 is the oldest that has `ld.global.nc.L1::no_allocate`; it needs a driver
/// for CUDA 11.4 (470) or later. The others are from the table of `.target` in NVIDIA's PTX ISA.
///
/// # Errors
/// A name that is not `sm_75` or later.
fn ptx_feature(architecture: &str) -> Result<&'static str> {
    Ok(match architecture {
        "sm_75" | "sm_80" | "sm_86" | "sm_87" => "+ptx74",
        "sm_89" | "sm_90" => "+ptx78",
        "sm_100" => "+ptx86",
        "sm_120" => "+ptx87",
        _ => {
            return fail!(
                "architecture: expected one of sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_120, found `{architecture}`"
            );
        }
    })
}

/// rustc's flags for a GPU, beside `-Ctarget-cpu`.
///
/// # Errors
/// A name that is not `sm_75` or later.
pub fn flags(architecture: &str) -> Result<Vec<String>> {
    // Optimiser settings (`-Cllvm-args=-unroll-threshold=8000`) belong here: a checked-in file's head and hash follow.
    Ok(vec![format!("-Ctarget-feature={}", ptx_feature(architecture)?), "-Csymbol-mangling-version=v0".to_owned()])
}

/// One run of the compiler: a package for one GPU.
#[derive(Debug, Clone)]
pub struct Compilation {
    /// The folder of the package's Cargo.toml, or of its workspace's.
    pub folder: PathBuf,
    /// The package.
    pub package: String,
    /// Its features; the default ones are off.
    pub features: Vec<String>,
    /// Whether the default ones are on.
    pub default_features: bool,
    /// `sm_75` and so on.
    pub architecture: String,
    /// A profile of the workspace; `None` for what kernels want, whatever the workspace says.
    pub profile: Option<String>,
    /// Whether the PTX says which line of the sources each instruction is from.
    pub line_info: bool,
    /// Whether Cargo.lock must be there and as it is.
    pub locked: bool,
    /// Folders that must not show in the PTX, and what stands there instead; the widest first.
    pub remaps: Vec<(PathBuf, String)>,
    /// Cargo's target folder; not the one of a build that runs, which would wait for itself.
    pub target: PathBuf,
}

/// What kernels want of a profile, as cargo's `--config`.
const PROFILE: &[&str] = &[
    "profile.release.opt-level=3",
    "profile.release.lto='fat'",
    "profile.release.codegen-units=1",
    "profile.release.panic='abort'",
    "profile.release.debug=false",
    "profile.release.debug-assertions=false",
    "profile.release.overflow-checks=false",
    "profile.release.strip=false",
    "profile.release.incremental=false",
];

impl Compilation {
    /// Compiles and gives the PTX, freed from what the machine's folders leave in it.
    ///
    /// # Errors
    /// Where cargo fails; its own words are on stderr.
    pub fn run(&self, toolchain: &Toolchain) -> Result<String> {
        let mut rustflags = vec![format!("-Ctarget-cpu={}", self.architecture)];
        rustflags.extend(flags(&self.architecture)?);
        if self.line_info {
            // Lines without the rest of debug information: with it, ptxas would optimise nothing.
            rustflags.push("-Cdebuginfo=line-directives-only".to_owned());
        }
        for (from, to) in &self.remaps {
            rustflags.push(format!("--remap-path-prefix={}={to}", from.display()));
        }
        let profile = self.profile.as_deref().unwrap_or("release");
        let built = self.target.join(TARGET).join(profile);
        let file = built.join("deps").join(self.package.replace('-', "_") + ".s");
        forget(&built, &file, &self.package)?;
        let mut cargo = toolchain.cargo();
        cargo.current_dir(&self.folder).env("CARGO_ENCODED_RUSTFLAGS", rustflags.join("\u{1f}"));
        cargo.arg("rustc");
        if self.locked {
            cargo.arg("--locked");
        }
        cargo.args(["--package", &self.package, "--lib", "--crate-type=cdylib", "--profile", profile]);
        if self.profile.is_none() {
            cargo.args(PROFILE.iter().flat_map(|setting| ["--config", setting]));
        }
        if !self.default_features {
            cargo.arg("--no-default-features");
        }
        if !self.features.is_empty() {
            cargo.args(["--features", &self.features.join(",")]);
        }
        cargo.args(["--target", TARGET, "-Zbuild-std=core", "--target-dir"]).arg(&self.target);
        process::run(cargo.args(["--", "--emit=asm", "-Clinker=/bin/true"]))?;
        Ok(normalised(&read_text(&file)?))
    }
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

/// Where cargo keeps what it fetched.
pub fn cargo_home() -> Option<PathBuf> {
    let set = std::env::var_os("CARGO_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    set.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
}

/// The remaps for sources in `root`. The last that fits wins in rustc, so the widest come first.
pub fn remaps(root: &Path, name: &str, toolchain: &Toolchain) -> Vec<(PathBuf, String)> {
    let mut all = vec![(root.to_path_buf(), name.to_owned())];
    all.extend(cargo_home().map(|home| (home, "/cargo".to_owned())));
    all.extend(toolchain.source_folders().into_iter().map(|folder| (folder, "/rust".to_owned())));
    all
}

/// The folders of this machine, for a check that none of them shows.
pub fn machine_folders(root: &Path, target: &Path) -> Vec<String> {
    let folders = [Some(root.to_path_buf()), Some(target.to_path_buf()), cargo_home(), std::env::home_dir()];
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
