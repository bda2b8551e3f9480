//! What a build script calls.

use crate::{
    compile::{Compilation, OLDEST, flags, remaps},
    failure::{Failure, Result, fail, read_text, write_text},
    head::{self, State},
    limits::{self, Limits},
    packages::Kernels,
    ptxas::{self, Row},
    text::{Module, without_comments},
    toolchain::{INSTALL, Toolchain, VARIABLE},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Set to `1`, it makes [`Builder::build`] write the checked-in file anew.
const UPDATE: &str = "FRAMEWRIGHT_PTX_UPDATE";

/// Compiles a package of kernels in a build script.
///
/// ```no_run
/// # fn main() -> Result<(), framewright_ptx::Error> {
/// use framewright_ptx::{Builder, Limits};
///
/// Builder::new("my-kernels")
///     .limits("my_blur", Limits::new().min_blocks(8))
///     .deny_spills()
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is compiled before `build`"]
pub struct Builder {
    package: String,
    features: Vec<String>,
    architectures: Vec<String>,
    limits: BTreeMap<String, Limits>,
    default_features: bool,
    cubins: Vec<String>,
    line_info: bool,
    deny_spills: bool,
    checked_in: Option<PathBuf>,
    #[cfg(feature = "rust-cuda")]
    rust_cuda: Option<crate::RustCuda>,
}

/// What was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// A file of PTX for each architecture, in the order in which they were asked for, then the cubins.
    pub files: Vec<File>,
}

/// What is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text that the driver compiles for its device.
    Ptx,
    /// Machine code.
    Cubin,
}

/// The code for one architecture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// PTX or machine code.
    pub kind: Kind,
    /// `sm_75` and so on.
    pub architecture: String,
    /// The environment variable that holds the path while the program is compiled.
    pub variable: String,
    /// The file.
    pub path: PathBuf,
    /// Registers and shared memory of each entry; none where there is no `ptxas`, or where the file was checked in.
    pub entries: Vec<Row>,
}

impl Builder {
    /// For the package of this name: a dependency of the crate whose build script runs, or another of its workspace.
    pub fn new(package: &str) -> Self {
        Self {
            package: package.to_owned(),
            features: Vec::new(),
            architectures: Vec::new(),
            limits: BTreeMap::new(),
            default_features: true,
            cubins: Vec::new(),
            line_info: false,
            deny_spills: false,
            checked_in: None,
            #[cfg(feature = "rust-cuda")]
            rust_cuda: None,
        }
    }

    /// Turns a feature of the package on, beside its default ones.
    pub fn feature(mut self, feature: &str) -> Self {
        self.features.push(feature.to_owned());
        self
    }

    /// Leaves the package's default features off.
    pub fn no_default_features(mut self) -> Self {
        self.default_features = false;
        self
    }

    /// Compiles for this GPU (`sm_90`); once for each call, in a file of its own. Without any, for `sm_75`, which every later
    /// GPU takes as well.
    pub fn architecture(mut self, architecture: &str) -> Self {
        self.architectures.push(architecture.to_owned());
        self
    }

    /// Makes machine code for this GPU as well, by `ptxas`, which must be there: the driver then need not compile the PTX, nor
    /// know its version. It runs on GPUs of the same major compute capability, and not less; others take the PTX. Of several
    /// architectures, the PTX of the newest that is not newer is assembled.
    pub fn cubin(mut self, architecture: &str) -> Self {
        self.cubins.push(architecture.to_owned());
        self
    }

    /// Compiles with rust-cuda instead of rustc: for `sm_75` (or `sm_80`), without contraction of `a * b + c`, in the Rust that
    /// runs the build, which then is the one that rust-cuda's rust-toolchain.toml names.
    ///
    /// `cuda_builder` and `cuda_std` come from rust-cuda's main branch, by `[patch.crates-io]` in the workspace's Cargo.toml. The
    /// kernels' package stays as it is: feature `rust-cuda` of `framewright-kernel` is turned on for this build. Entries, their
    /// parameters, limits and checks are the same; a panic of a kernel is not reported by name. Its PTX may be newer than a
    /// driver takes: see [`Builder::cubin`].
    #[cfg(feature = "rust-cuda")]
    pub fn rust_cuda(mut self, options: crate::RustCuda) -> Self {
        self.rust_cuda = Some(options);
        self
    }

    /// Launch bounds and register limits of an entry.
    pub fn limits(mut self, entry: &str, limits: Limits) -> Self {
        self.limits.insert(entry.to_owned(), limits);
        self
    }

    /// Writes into the PTX which line of the sources each instruction is from, for profilers. The code is the same.
    pub fn line_info(mut self) -> Self {
        self.line_info = true;
        self
    }

    /// Fails where an entry has local memory, a stack or spills. The PTX's text is looked at always, and `ptxas` is asked where
    /// there is one.
    pub fn deny_spills(mut self) -> Self {
        self.deny_spills = true;
        self
    }

    /// A file, from the folder of Cargo.toml, to be committed and published: it is taken as it is where it belongs to the
    /// sources, so that nobody needs a compiler for the GPU. Where the sources are newer, they are compiled; `cargo build` with
    /// variable `FRAMEWRIGHT_PTX_UPDATE=1` writes the file anew.
    ///
    /// Whether it belongs to them is told by the sha256 of the package's sources and of this builder's settings in its head.
    pub fn checked_in(mut self, file: impl Into<PathBuf>) -> Self {
        self.checked_in = Some(file.into());
        self
    }

    /// Compiles, checks, writes the files into `OUT_DIR`, and sets a variable for the program that is built:
    /// `MY_KERNELS_PTX` for a package `my-kernels`; for several architectures `MY_KERNELS_PTX_SM_90` and so on; for cubins
    /// `MY_KERNELS_CUBIN_SM_90`. `framewright::include_kernels!` takes one or a list of them.
    ///
    /// # Errors
    /// Outside of a build script; where the package is not found, has no entries or does not compile; where no Rust can compile
    /// for the GPU and no file is checked in; where a cubin is asked for and there is no `ptxas`; where a limit is for no entry; where an entry spills and that is denied; where a
    /// checked-in file was edited.
    pub fn build(&self) -> Result<Built> {
        let variable = |name: &str| match std::env::var_os(name) {
            Some(value) => Ok(PathBuf::from(value)),
            None => fail!("framewright-ptx: expected variable {name}, which cargo sets for build scripts, found none"),
        };
        let (folder, out) = (variable("CARGO_MANIFEST_DIR")?, variable("OUT_DIR")?);
        for variable in [VARIABLE, UPDATE, "PTXAS", "CUDA_PATH"] {
            println!("cargo:rerun-if-env-changed={variable}");
        }
        let kernels = Kernels::find(&folder, &self.package)?;
        for file in kernels.files()? {
            println!("cargo:rerun-if-changed={}", file.display());
        }
        let built = self.build_at(&kernels, &folder, &out)?;
        for file in &built.files {
            println!("cargo:rustc-env={}={}", file.variable, file.path.display());
        }
        Ok(built)
    }

    fn architectures(&self) -> Vec<&str> {
        if self.architectures.is_empty() {
            vec![OLDEST]
        } else {
            self.architectures.iter().map(String::as_str).collect()
        }
    }

    /// What decides the PTX beside the sources.
    fn settings(&self) -> Result<String> {
        let mut text = format!("features {:?}\nline info {}\n", self.features, self.line_info);
        if !self.default_features {
            text += "no default features\n";
        }
        for architecture in self.architectures() {
            text += &format!("architecture {architecture} {}\n", flags(architecture)?.join(" "));
        }
        for (entry, limits) in &self.limits {
            text += &format!("limits {entry} {}\n", limits.directives().join(" "));
        }
        Ok(text)
    }

    fn build_at(&self, kernels: &Kernels, folder: &Path, out: &Path) -> Result<Built> {
        let architectures = self.architectures();
        let checked_in = match &self.checked_in {
            Some(_) if architectures.len() > 1 => {
                return fail!("checked_in: expected one architecture, found {}", architectures.join(", "));
            }
            Some(file) => Some((folder.join(file), kernels.sha256(&self.settings()?)?)),
            None => None,
        };
        let update = std::env::var_os(UPDATE).is_some_and(|value| value == "1");
        if let Some((file, sha256)) = &checked_in {
            println!("cargo:rerun-if-changed={}", file.display());
            if is_taken(file, sha256, kernels.own, update)? {
                let files = vec![self.file(Kind::Ptx, architectures[0], file.clone(), Vec::new())];
                return self.with_cubins(files, out);
            }
        }
        let compiler = self.compiler()?;
        let mut files = Vec::new();
        for architecture in &architectures {
            let (ptx, entries) = self.compile(kernels, &compiler, architecture, out)?;
            let name = if architectures.len() == 1 {
                format!("{}.ptx", self.package)
            } else {
                format!("{}-{architecture}.ptx", self.package)
            };
            let ptx = match (&checked_in, &compiler) {
                (Some((_, sha256)), Compiler::Rustc(toolchain)) => {
                    head::with_head(&self.package, &toolchain.version, sha256, &ptx)
                }
                _ => ptx,
            };
            let path = out.join(name);
            write_text(&path, &ptx)?;
            if let Some((file, _)) = &checked_in {
                if update {
                    write_text(file, &ptx)?;
                } else {
                    println!(
                        "cargo:warning={}: made of other sources; compiled anew for this build; \
                         `{UPDATE}=1 cargo build` writes it",
                        file.display()
                    );
                }
            }
            files.push(self.file(Kind::Ptx, architecture, path, entries));
        }
        self.with_cubins(files, out)
    }

    /// Which compiler is asked for, or found.
    fn compiler(&self) -> Result<Compiler> {
        #[cfg(feature = "rust-cuda")]
        if let Some(options) = &self.rust_cuda {
            if self.checked_in.is_some() {
                return fail!(
                    "checked_in: expected PTX of rustc's, which any driver from CUDA 11.4 on takes, found rust_cuda"
                );
            }
            return Ok(Compiler::RustCuda(options.clone()));
        }
        match Toolchain::find()? {
            Some(toolchain) => Ok(Compiler::Rustc(toolchain)),
            None => fail!(
                "package `{}`: expected a Rust with the sources of `core` to compile it for the GPU, found none; install one: \
                 {INSTALL}; or name its rustc in variable {VARIABLE}",
                self.package
            ),
        }
    }

    /// The files, and the machine code that is made of them.
    fn with_cubins(&self, mut files: Vec<File>, out: &Path) -> Result<Built> {
        for architecture in &self.cubins {
            let number = ptxas::number(architecture)?;
            let older = files.iter().filter(|file| file.kind == Kind::Ptx);
            let older = older.filter_map(|file| Some((ptxas::number(&file.architecture).ok()?, file)));
            let Some((_, from)) = older.filter(|(other, _)| *other <= number).max_by_key(|(other, _)| *other) else {
                return fail!("cubin: expected PTX for {architecture} or an older GPU to assemble, found none");
            };
            let Some(assembler) = ptxas::find(None) else {
                return fail!(
                    "cubin: expected `ptxas` to make machine code for {architecture}, found none; install the CUDA toolkit, or name \
                     it in variable PTXAS"
                );
            };
            let path = out.join(format!("{}-{architecture}.cubin", self.package));
            ptxas::cubin(&assembler, &from.path, architecture, &path)?;
            files.push(self.file(Kind::Cubin, architecture, path, Vec::new()));
        }
        Ok(Built { files })
    }

    fn compile(
        &self,
        kernels: &Kernels,
        compiler: &Compiler,
        architecture: &str,
        out: &Path,
    ) -> Result<(String, Vec<Row>)> {
        let ptx = match compiler {
            Compiler::Rustc(toolchain) => self.compilation(kernels, toolchain, architecture, out).run(toolchain)?,
            #[cfg(feature = "rust-cuda")]
            Compiler::RustCuda(options) => options.run(&crate::rust_cuda::Compilation {
                package: &self.package,
                source: &kernels.folder,
                root: &kernels.root,
                features: &self.features,
                default_features: self.default_features,
                architecture,
                line_info: self.line_info,
                folder: &out.join("framewright-ptx"),
            })?,
        };
        let limits = |entry: &str| self.limits.get(entry).copied().unwrap_or_default();
        let ptx = limits::apply(&ptx, limits)?;
        let text = without_comments(&ptx);
        let module = Module::parse(&text)?;
        // Where one has to look at it, it is there.
        let looked_at = out.join(format!("{}-{architecture}.checked.ptx", self.package));
        write_text(&looked_at, &ptx)?;
        self.check_text(&module)
            .map_err(|Failure(text)| Failure(format!("{text}; the PTX is in {}", looked_at.display())))?;
        let rows = match ptxas::find(None) {
            Some(ptxas) if self.deny_spills => ptxas::check(&ptxas, &looked_at, &module, &[architecture])?,
            Some(ptxas) => ptxas::usage(&ptxas, &looked_at, &module, architecture)?,
            None => Vec::new(),
        };
        Ok((ptx, rows))
    }

    fn compilation(&self, kernels: &Kernels, toolchain: &Toolchain, architecture: &str, out: &Path) -> Compilation {
        Compilation {
            folder: kernels.folder.clone(),
            package: self.package.clone(),
            features: self.features.clone(),
            default_features: self.default_features,
            architecture: architecture.to_owned(),
            profile: None,
            line_info: self.line_info,
            locked: false,
            remaps: remaps(&kernels.root, &format!("/{}", self.package), toolchain),
            target: out.join("framewright-ptx"),
        }
    }

    /// Entries, their hashes, their limits, and, if asked, no local memory.
    fn check_text(&self, module: &Module<'_>) -> Result<()> {
        let entries: Vec<&str> = module.entries().map(|entry| entry.name.as_str()).collect();
        let package = &self.package;
        if entries.is_empty() {
            return fail!(
                "package `{package}`: expected entries, found none: is a generic kernel without `instances`?"
            );
        }
        if let Some(entry) = entries.iter().find(|entry| !module.hashes.contains_key(**entry)) {
            return fail!("package `{package}`: {entry}: expected the hash of its parameters, found none");
        }
        if let Some(entry) = self.limits.keys().find(|entry| !entries.contains(&entry.as_str())) {
            return fail!("limits: expected one of the entries {}, found `{entry}`", entries.join(", "));
        }
        let local = |entry: &&crate::text::Function<'_>| {
            entry.body.contains("__local_depot") || entry.body.contains(".local.") || entry.body.contains(".local ")
        };
        match module.functions.iter().find(local).filter(|_| self.deny_spills) {
            Some(function) => fail!(
                "{}: expected no local memory, found some: an array lies there that is indexed by a number of the run, or that \
                 a function which was not inlined gets; index by constants, mark helpers `#[inline(always)]`, or put \
                 constants into a `Table`",
                function.name
            ),
            None => Ok(()),
        }
    }

    fn file(&self, kind: Kind, architecture: &str, path: PathBuf, entries: Vec<Row>) -> File {
        let name = |text: &str| text.to_uppercase().replace('-', "_");
        let variable = match kind {
            Kind::Ptx if self.architectures.len() <= 1 => format!("{}_PTX", name(&self.package)),
            Kind::Ptx => format!("{}_PTX_{}", name(&self.package), name(architecture)),
            Kind::Cubin => format!("{}_CUBIN_{}", name(&self.package), name(architecture)),
        };
        File { kind, architecture: architecture.to_owned(), variable, path, entries }
    }
}

/// What compiles.
enum Compiler {
    Rustc(Toolchain),
    #[cfg(feature = "rust-cuda")]
    RustCuda(crate::RustCuda),
}

/// Whether the checked-in file is to be taken as it is. `own`: the kernels' sources are the user's, and not from a registry.
fn is_taken(file: &Path, source_sha256: &str, own: bool, update: bool) -> Result<bool> {
    if !file.exists() {
        return Ok(false);
    }
    match head::state(&read_text(file)?, source_sha256) {
        State::Current => Ok(true),
        // A registry's kernels are nobody's to change: whoever published them compiled them.
        State::Stale => Ok(!own),
        State::Foreign(_) if update => Ok(false),
        State::Foreign(why) => fail!("{}: {why}; `{UPDATE}=1 cargo build` writes it anew", file.display()),
    }
}

impl Built {
    /// The PTX or the machine code for this architecture.
    ///
    /// # Errors
    /// Where it was not asked for.
    pub fn file(&self, kind: Kind, architecture: &str) -> Result<&File> {
        let found = self.files.iter().find(|file| file.kind == kind && file.architecture == architecture);
        found.ok_or_else(|| Failure(format!("expected a file of {kind:?} for {architecture}, found none")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(text: &str) -> Module<'_> {
        Module::parse(text).expect("a module")
    }

    const GOOD: &str = ".visible .global .align 8 .u64 A_PARAMS_HASH = 7;\n.visible .entry a() { ret; }\n";

    #[test]
    fn entries_have_hashes_and_limits_have_entries() {
        let builder = Builder::new("k");
        assert_eq!(builder.check_text(&module(GOOD)), Ok(()));
        assert!(builder.check_text(&module("")).expect_err("no entry").0.contains("expected entries"));
        let no_hash = ".visible .entry a() { ret; }\n";
        assert!(builder.check_text(&module(no_hash)).expect_err("no hash").0.contains("a: expected the hash"));
        let failure = builder.limits("b", Limits::new()).check_text(&module(GOOD)).expect_err("no entry b").0;
        assert_eq!(failure, "limits: expected one of the entries a, found `b`");
    }

    #[test]
    fn local_memory_is_a_failure_if_asked() {
        let local = GOOD.replace("ret;", "st.local.b32 [%r1], %r2; ret;");
        assert_eq!(Builder::new("k").check_text(&module(&local)), Ok(()));
        let failure = Builder::new("k").deny_spills().check_text(&module(&local)).expect_err("local memory").0;
        assert!(failure.starts_with("a: expected no local memory, found some"), "{failure}");
    }

    #[test]
    fn variables_are_named_by_package_and_architecture() {
        let one = Builder::new("my-kernels").file(Kind::Ptx, "sm_75", PathBuf::new(), Vec::new());
        assert_eq!(one.variable, "MY_KERNELS_PTX");
        let two = Builder::new("my-kernels").architecture("sm_75").architecture("sm_90");
        assert_eq!(two.file(Kind::Ptx, "sm_90", PathBuf::new(), Vec::new()).variable, "MY_KERNELS_PTX_SM_90");
    }

    #[test]
    fn every_setting_changes_the_hash() {
        let settings = |builder: Builder| builder.settings().expect("settings");
        let plain = settings(Builder::new("k"));
        for other in [
            Builder::new("k").feature("f"),
            Builder::new("k").architecture("sm_80"),
            Builder::new("k").limits("a", Limits::new().min_blocks(5)),
            Builder::new("k").line_info(),
            Builder::new("k").no_default_features(),
        ] {
            assert_ne!(settings(other.clone()), plain, "{other:?}");
        }
        let failure = Builder::new("k").architecture("sm_61").settings().expect_err("too old").0;
        assert!(failure.contains("expected one of sm_75") && failure.contains("`sm_61`"), "{failure}");
    }
}
