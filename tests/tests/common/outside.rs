//! Packages outside of this repository, as somebody has them who has neither our variables nor our configuration.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process::Command,
};

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// A folder outside of the repository, always the same for this checkout: cargo compiles the dependencies again when a
/// variable changes that holds the folder's path.
pub(crate) fn folder(name: &str) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    root().hash(&mut hasher);
    let folder = std::env::temp_dir().join(format!("framewright-{name}-{:016x}", hasher.finish()));
    assert!(!folder.starts_with(root()), "{} is outside of the repository", folder.display());
    folder
}

/// Where the dependencies of such a package are compiled: in the workspace's target folder.
pub(crate) fn target(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Takes out what the tests' own cargo and shell set, and the driver: there is none.
pub(crate) fn apart<'a>(command: &'a mut Command, folder: &Path, target: &Path) -> &'a mut Command {
    // CUDA_PATH and the like would bring in a toolkit.
    let variables = ["CUDA_LIBRARY_PATH", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR", "CARGO_BUILD_TARGET"];
    for name in variables.into_iter().chain(["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER"]) {
        command.env_remove(name);
    }
    command.current_dir(folder).env("CARGO_TARGET_DIR", target).env("FRAMEWRIGHT_CUDA_DRIVER", "")
}
