//! What every report says of its run: card, driver, date, commit, program.

use framewright::cuda::{self, Device, DriverStatus};
use sha2::{Digest, Sha256};

/// Where and of what a run was.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The card, as the driver names it.
    pub card: String,
    /// Compute capability.
    pub compute_capability: String,
    /// The driver and the CUDA version that it supports.
    pub driver: String,
    /// When, in UTC: YYYY-MM-DD.
    pub date: String,
    /// The commit that the program was built from, with `+` where the tree had changes.
    pub commit: String,
    /// SHA-256 of the program.
    pub program_sha256: String,
}

impl Facts {
    /// Of this program on this device.
    ///
    /// # Errors
    /// What the driver or the file system says.
    pub fn of(device: &Device) -> Result<Self, Box<dyn std::error::Error>> {
        let info = device.info()?;
        let driver = match cuda::status() {
            DriverStatus::Loaded(loaded) => {
                let version = loaded.version.map_or_else(|| "unknown".to_owned(), |version| version.to_string());
                format!(
                    "{} for CUDA {version}",
                    kernel_driver().unwrap_or_else(|| loaded.library.display().to_string())
                )
            }
            DriverStatus::Missing(missing) => missing.to_string(),
        };
        Ok(Self {
            card: info.name,
            compute_capability: format!("{}.{}", info.compute_capability.0, info.compute_capability.1),
            driver,
            date: today(),
            commit: env!("FRAMEWRIGHT_COMMIT").to_owned(),
            program_sha256: own_sha256()?,
        })
    }
}

/// The version of NVIDIA's kernel module.
fn kernel_driver() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let version =
        text.split_whitespace().find(|word| word.split('.').count() >= 2 && word.starts_with(char::is_numeric))?;
    Some(format!("NVIDIA {version}"))
}

fn own_sha256() -> Result<String, Box<dyn std::error::Error>> {
    let digest = Sha256::digest(std::fs::read(std::env::current_exe()?)?);
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The date in UTC, by the civil-from-days algorithm.
fn today() -> String {
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let days = (seconds / 86_400) as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
