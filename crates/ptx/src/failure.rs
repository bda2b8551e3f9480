//! The one error: a sentence for the person who ran it, in the form "what, where: expected, found".

use std::fmt;

/// Why a task could not be done, as a sentence.
#[derive(PartialEq, Eq)]
pub struct Failure(pub String);

/// What every task returns.
pub type Result<T> = std::result::Result<T, Failure>;

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The sentence, since `fn main() -> Result<(), _>` shows an error by this.
impl fmt::Debug for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

/// `Err` with a formatted [`Failure`].
#[doc(hidden)]
#[macro_export]
macro_rules! fail {
    ($($words:tt)*) => { Err($crate::failure::Failure(format!($($words)*))) };
}
pub use fail;

/// Reads a text file; the failure names it.
pub fn read_text(path: &std::path::Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| Failure(format!("cannot read {}: {error}", path.display())))
}

/// Writes a file and the folders above it; the failure names it.
pub fn write_text(path: &std::path::Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure(format!("cannot make {}: {error}", folder.display())))?;
    }
    std::fs::write(path, text).map_err(|error| Failure(format!("cannot write {}: {error}", path.display())))
}
