//! rust-cuda's builder as far as framewright calls it, over the rustc that variable `FRAMEWRIGHT_PTX_RUSTC` names.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

#[derive(Clone, Copy, Debug)]
pub enum NvvmArch {
    Compute75,
    Compute80,
}

#[derive(Debug)]
pub enum CudaBuilderError {
    BuildFailed,
    FailedToCopyPtxFile(std::io::Error),
}

#[derive(Debug)]
pub struct CudaBuilder {
    package: PathBuf,
    arch: NvvmArch,
    copy_to: Option<PathBuf>,
    /// What gives other bytes than the CPU's, and is on in the real one: `build` fails with it.
    contraction: bool,
    libm: bool,
    release: bool,
}

impl CudaBuilder {
    pub fn new(package: impl AsRef<Path>) -> Self {
        let package = package.as_ref().to_path_buf();
        Self { package, arch: NvvmArch::Compute75, copy_to: None, contraction: true, libm: true, release: false }
    }
    pub fn arch(self, arch: NvvmArch) -> Self {
        Self { arch, ..self }
    }
    pub fn release(self, release: bool) -> Self {
        Self { release, ..self }
    }
    pub fn fma_contraction(self, contraction: bool) -> Self {
        Self { contraction, ..self }
    }
    pub fn override_libm(self, libm: bool) -> Self {
        Self { libm, ..self }
    }
    pub fn generate_line_info(self, _: bool) -> Self {
        self
    }
    pub fn copy_to(self, file: impl AsRef<Path>) -> Self {
        Self { copy_to: Some(file.as_ref().to_path_buf()), ..self }
    }

    /// A `cdylib` for the GPU, as the real one compiles, with the tool `nvvm_internal` known to the compiler.
    pub fn build(self) -> Result<PathBuf, CudaBuilderError> {
        if self.contraction || self.libm || !self.release {
            eprintln!("expected release without contraction and without libdevice's libm, found {self:?}");
            return Err(CudaBuilderError::BuildFailed);
        }
        let (cpu, feature) = match self.arch {
            NvvmArch::Compute75 => ("sm_75", "+ptx74"),
            NvvmArch::Compute80 => ("sm_80", "+ptx74"),
        };
        let flags = [
            "-Zcrate-attr=feature(register_tool)",
            "-Zcrate-attr=register_tool(nvvm_internal)",
            &format!("-Ctarget-cpu={cpu}"),
            &format!("-Ctarget-feature={feature}"),
            "-Csymbol-mangling-version=v0",
        ];
        let rustc = PathBuf::from(std::env::var_os("FRAMEWRIGHT_PTX_RUSTC").expect("the stand-in is told its rustc"));
        // One for all packages, so that `core` is compiled once.
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.package.join("target"), PathBuf::from);
        let target = target.join("stand-in");
        let file = target.join("nvptx64-nvidia-cuda/release/deps").join(self.name() + ".s");
        let _ = std::fs::remove_file(&file);
        let mut cargo = Command::new(rustc.with_file_name("cargo"));
        cargo.current_dir(&self.package).env("RUSTC", &rustc).env("RUSTC_BOOTSTRAP", "1");
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}")).env_remove("CARGO").env_remove("LD_LIBRARY_PATH");
        cargo.args(["rustc", "--lib", "--crate-type=cdylib", "--release", "--target", "nvptx64-nvidia-cuda"]);
        cargo.args(["-Zbuild-std=core", "--target-dir"]).arg(&target).args(["--", "--emit=asm", "-Clinker=/bin/true"]);
        if !cargo.status().is_ok_and(|status| status.success()) {
            return Err(CudaBuilderError::BuildFailed);
        }
        match self.copy_to {
            Some(to) => std::fs::copy(file, &to).map(|_| to).map_err(CudaBuilderError::FailedToCopyPtxFile),
            None => Ok(file),
        }
    }

    fn name(&self) -> String {
        let manifest = std::fs::read_to_string(self.package.join("Cargo.toml")).expect("the package's manifest");
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = ")).expect("the package's name");
        name.trim_matches('"').replace('-', "_")
    }
}
