//! What became of the search for a driver.

use std::fmt;
use std::path::PathBuf;

use crate::bind::DRIVER_VARIABLE;

/// Whether this process has a CUDA driver. See [`crate::status`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverStatus {
    /// A driver library is open, and the functions are bound to it.
    Loaded(Loaded),
    /// There is none: every `cu…` function returns `CUDA_ERROR_NO_DEVICE` (100).
    Missing(Missing),
}

/// An open driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The name or path that was opened.
    pub library: PathBuf,
    /// The newest CUDA version that the driver supports; `None` if it would not say.
    pub version: Option<DriverVersion>,
    /// Functions that this driver does not have. They return `CUDA_ERROR_NOT_SUPPORTED` (801).
    pub lacks: Vec<&'static str>,
}

/// Why there is no driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The name or path that was tried.
    pub tried: PathBuf,
    /// It was named by `FRAMEWRIGHT_CUDA_DRIVER`, not by default.
    pub chosen: bool,
    /// The loader's reason, without the name.
    pub reason: String,
}

/// A version of CUDA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverVersion {
    /// 13 in 13.0.
    pub major: u32,
    /// 0 in 13.0.
    pub minor: u32,
}

impl DriverVersion {
    /// From `cuDriverGetVersion`'s number: 1000 times major plus 10 times minor.
    pub(crate) fn from_raw(version: i32) -> Self {
        let version = version.unsigned_abs();
        Self { major: version / 1000, minor: version % 1000 / 10 }
    }
}

impl DriverStatus {
    /// Whether a driver library is open. It may still find no device.
    pub fn is_loaded(&self) -> bool {
        matches!(self, Self::Loaded(_))
    }
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Display for DriverStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loaded(Loaded { library, version: Some(version), .. }) => {
                write!(f, "CUDA driver {} for CUDA {version}", library.display())
            }
            Self::Loaded(Loaded { library, version: None, .. }) => write!(f, "CUDA driver {}", library.display()),
            Self::Missing(missing) => missing.fmt(f),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no CUDA driver: cannot open {}", self.tried.display())?;
        if self.chosen {
            write!(f, " (named by {DRIVER_VARIABLE})")?;
        }
        write!(f, ": {}", self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        let version = Some(DriverVersion::from_raw(12_040));
        let loaded = DriverStatus::Loaded(Loaded { library: "libcuda.so.1".into(), version, lacks: vec![] });
        assert_eq!(loaded.to_string(), "CUDA driver libcuda.so.1 for CUDA 12.4");
        let missing =
            DriverStatus::Missing(Missing { tried: "/x/y.so".into(), chosen: true, reason: "no such file".into() });
        assert_eq!(
            missing.to_string(),
            "no CUDA driver: cannot open /x/y.so (named by FRAMEWRIGHT_CUDA_DRIVER): no such file"
        );
    }
}
