//! Sources, and what tells one text from another.

use crate::failure::{Failure, Result};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Adds every `.rs` file below a folder; the failure names the folder that cannot be listed.
pub fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let unreadable = |error| Failure(format!("cannot list {}: {error}", folder.display()));
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            rust_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// The sha256 of some bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_sha256() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
