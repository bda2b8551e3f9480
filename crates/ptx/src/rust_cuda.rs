//! The other back end: rust-cuda's compiler, for those who have its toolchain.

use crate::{
    failure::{Result, fail, read_text, write_text},
    packages::{self, list},
};
#[cfg(feature = "rust-cuda")]
use cuda_builder::{CudaBuilder, NvvmArch};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The feature that the kernels' crates have for it.
const FEATURE: &str = "rust-cuda";

/// Compiles with rust-cuda: see [`Builder::rust_cuda`](crate::Builder::rust_cuda).
#[derive(Debug, Clone, Default)]
pub struct RustCuda {
    checkout: Option<PathBuf>,
}

/// What is compiled.
pub(crate) struct Compilation<'a> {
    pub(crate) package: &'a str,
    /// The folder of its Cargo.toml.
    pub(crate) source: &'a Path,
    /// The root of the workspace that asks for it.
    pub(crate) root: &'a Path,
    pub(crate) features: &'a [String],
    pub(crate) default_features: bool,
    pub(crate) architecture: &'a str,
    pub(crate) line_info: bool,
    /// A folder for what comes in between.
    pub(crate) folder: &'a Path,
}

impl RustCuda {
    /// With the rust-cuda that `cuda_builder` comes from by `[patch.crates-io]`.
    pub fn new() -> Self {
        Self::default()
    }

    /// With `cuda_std` from this checkout of rust-cuda, where nothing says where `cuda_builder` is from.
    pub fn checkout(mut self, folder: impl Into<PathBuf>) -> Self {
        self.checkout = Some(folder.into());
        self
    }

    /// Where `cuda_std` lies.
    fn cuda_std(&self, metadata: &Value) -> Result<PathBuf> {
        let folder = match &self.checkout {
            Some(checkout) => checkout.join("crates/cuda_std"),
            None => beside_the_builder(metadata)?,
        };
        if folder.join("Cargo.toml").is_file() {
            Ok(folder)
        } else {
            fail!("rust-cuda: expected its `cuda_std` in {}, found none", folder.display())
        }
    }

    /// Compiles and gives the PTX.
    #[cfg(feature = "rust-cuda")]
    pub(crate) fn run(&self, compilation: &Compilation<'_>) -> Result<String> {
        // What the two releases of cuda_builder both name; newer GPUs take the PTX of these.
        let arch = match compilation.architecture {
            "sm_75" => NvvmArch::Compute75,
            "sm_80" => NvvmArch::Compute80,
            other => {
                return fail!(
                    "rust-cuda: architecture: expected sm_75 or sm_80, whose PTX newer GPUs take, found `{other}`; \
                     `cubin` makes machine code for it"
                );
            }
        };
        let cuda_std = self.cuda_std(&packages::metadata(compilation.root)?)?;
        let manifest = wrapper(&packages::metadata(compilation.source)?, compilation, &cuda_std)?;
        let package = compilation.folder.join("package");
        write_text(&package.join("Cargo.toml"), &manifest)?;
        // The same versions as in the host's build; cargo takes what it needs of them.
        if let Ok(lock) = read_text(&compilation.root.join("Cargo.lock")) {
            write_text(&package.join("Cargo.lock"), &lock)?;
        }
        let file = compilation.folder.join("rust-cuda.ptx");
        write_text(&file, "")?;
        let built = CudaBuilder::new(&package)
            .arch(arch)
            .release(true)
            // a * b + c in two roundings, and the libm that the CPU runs: the same bytes.
            .fma_contraction(false)
            .override_libm(false)
            .generate_line_info(compilation.line_info)
            .copy_to(&file)
            .build();
        match built {
            Ok(_) => read_text(&file),
            Err(error) => fail!("rust-cuda: {}: {error:?}", package.display()),
        }
    }
}

/// Where `cuda_std` lies in the checkout that `cuda_builder` is from.
fn beside_the_builder(metadata: &Value) -> Result<PathBuf> {
    let found = list(&metadata["packages"]).iter().find(|package| package["name"] == "cuda_builder");
    let Some(builder) = found else {
        return fail!("rust-cuda: expected `cuda_builder` among the dependencies, found none: name a checkout");
    };
    let source = builder["source"].as_str().unwrap_or_default();
    if source.starts_with("registry+") {
        return fail!(
            "rust-cuda: expected `cuda_builder` of its main branch, found {} of crates.io, whose compiler needs a nightly of \
             2021; put into Cargo.toml, under [patch.crates-io], `cuda_builder` and `cuda_std` with the path or the git \
             repository of rust-cuda",
            builder["version"].as_str().unwrap_or_default()
        );
    }
    let manifest = Path::new(builder["manifest_path"].as_str().unwrap_or_default());
    Ok(manifest.parent().and_then(Path::parent).unwrap_or(Path::new("")).join("cuda_std"))
}

/// A package that compiles the same `lib.rs` as a `cdylib`, which is what `cuda_builder` takes PTX from, with the feature on in
/// all that has it. The real one is an `rlib`, since a host cannot link it otherwise.
fn wrapper(metadata: &Value, compilation: &Compilation<'_>, cuda_std: &Path) -> Result<String> {
    let name = compilation.package;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let Some(found) = list(&metadata["packages"]).iter().find(|other| other["name"] == name) else {
        return fail!("cargo metadata: expected the package {name}, found none");
    };
    let is_library = |target: &&Value| list(&target["kind"]).iter().any(|kind| kind == "lib" || kind == "rlib");
    let Some(library) = list(&found["targets"]).iter().find(is_library) else {
        return fail!("{name}: expected a library, found none");
    };
    let mut manifest = format!(
        "[package]\nname = {name:?}\nversion = {:?}\nedition = {:?}\n\n[workspace]\n\n[profile.release]\nlto = \"fat\"\n\
         panic = \"abort\"\n\n[lib]\npath = {:?}\ncrate-type = [\"cdylib\", \"rlib\"]\n\n[features]\n",
        text(&found["version"]),
        text(&found["edition"]),
        text(&library["src_path"]),
    );
    let features = found["features"].as_object();
    let mut chosen = compilation.features.to_vec();
    if compilation.default_features {
        chosen.extend(list(&found["features"]["default"]).iter().map(text));
    }
    if features.is_some_and(|features| features.contains_key(FEATURE)) {
        chosen.push(FEATURE.to_owned());
    }
    manifest += &format!("default = {chosen:?}\n");
    for (feature, enables) in features.into_iter().flatten().filter(|(feature, _)| *feature != "default") {
        manifest += &format!("{feature} = {enables}\n");
    }
    manifest += "\n[dependencies]\n";
    for dependency in list(&found["dependencies"]).iter().filter(|other| other["kind"].is_null()) {
        let place = match dependency["path"].as_str() {
            Some(path) => format!("path = {path:?}"),
            None => format!("version = {:?}", text(&dependency["req"])),
        };
        let mut features: Vec<String> = list(&dependency["features"]).iter().map(text).collect();
        if dependency["name"] == "framewright-kernel" {
            features.push(FEATURE.to_owned());
        }
        manifest += &format!(
            "{} = {{ {place}, default-features = {}, features = {features:?}, optional = {} }}\n",
            text(&dependency["name"]),
            dependency["uses_default_features"],
            dependency["optional"],
        );
    }
    Ok(manifest + &format!("\n[patch.crates-io]\ncuda_std = {{ path = {:?} }}\n", cuda_std.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_wrapper_compiles_the_same_source_as_a_cdylib() {
        let metadata = json!({ "packages": [{
            "name": "k", "version": "1.0.0", "edition": "2024",
            "targets": [{ "kind": ["lib"], "src_path": "/w/k/src/lib.rs" }],
            "features": { "default": ["copy"], "copy": [], "more": [], "rust-cuda": ["core/rust-cuda"] },
            "dependencies": [
                { "name": "framewright-kernel", "path": "/w/kernel", "req": "^1", "kind": null,
                  "uses_default_features": true, "features": [], "optional": false },
                { "name": "half", "path": null, "req": "^2.7", "kind": null, "uses_default_features": false,
                  "features": ["bytemuck"], "optional": false },
                { "name": "test", "path": null, "req": "^1", "kind": "dev", "uses_default_features": true,
                  "features": [], "optional": false }
            ],
        }]});
        let features = ["more".to_owned()];
        let with = |default_features| {
            let compilation = Compilation {
                package: "k",
                source: Path::new(""),
                root: Path::new(""),
                features: &features,
                default_features,
                architecture: "sm_75",
                line_info: false,
                folder: Path::new(""),
            };
            wrapper(&metadata, &compilation, Path::new("/r/crates/cuda_std")).expect("a manifest")
        };
        let manifest = with(true);
        for line in [
            "path = \"/w/k/src/lib.rs\"",
            "crate-type = [\"cdylib\", \"rlib\"]",
            "default = [\"more\", \"copy\", \"rust-cuda\"]",
            "rust-cuda = [\"core/rust-cuda\"]",
            "framewright-kernel = { path = \"/w/kernel\", default-features = true, features = [\"rust-cuda\"], optional = false }",
            "half = { version = \"^2.7\", default-features = false, features = [\"bytemuck\"], optional = false }",
            "cuda_std = { path = \"/r/crates/cuda_std\" }",
        ] {
            assert!(manifest.lines().any(|other| other == line), "{line}\n{manifest}");
        }
        assert!(!manifest.contains("test ="), "{manifest}");
        assert!(with(false).contains("default = [\"more\", \"rust-cuda\"]\n"));
    }

    #[test]
    fn cuda_std_lies_beside_cuda_builder() {
        let of = |source: Value| {
            beside_the_builder(&json!({ "packages": [{
                "name": "cuda_builder", "version": "0.3.0", "source": source,
                "manifest_path": "/r/crates/cuda_builder/Cargo.toml"
            }]}))
        };
        assert_eq!(of(Value::Null), Ok(PathBuf::from("/r/crates/cuda_std")));
        assert_eq!(of("git+https://example.invalid/r#1".into()), Ok(PathBuf::from("/r/crates/cuda_std")));
        let failure = of("registry+x".into()).expect_err("crates.io's").0;
        assert!(failure.contains("found 0.3.0 of crates.io") && failure.contains("[patch.crates-io]"), "{failure}");
        assert!(beside_the_builder(&json!({ "packages": [] })).is_err());
    }
}
