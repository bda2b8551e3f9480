//! The one error of xtask: a sentence for the person who ran it, in the form "what, where: expected, found".

use std::fmt;

/// Why a task could not be done, as a sentence.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure(pub(crate) String);

/// What every task returns.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

/// `Err` with a formatted [`Failure`].
macro_rules! fail {
    ($($words:tt)*) => { Err($crate::failure::Failure(format!($($words)*))) };
}
pub(crate) use fail;

/// Reads a text file; the failure names it.
pub(crate) fn read_text(path: &std::path::Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| Failure(format!("cannot read {}: {error}", path.display())))
}

/// Writes a file and the folders above it; the failure names it.
pub(crate) fn write_text(path: &std::path::Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure(format!("cannot make {}: {error}", folder.display())))?;
    }
    std::fs::write(path, text).map_err(|error| Failure(format!("cannot write {}: {error}", path.display())))
}
