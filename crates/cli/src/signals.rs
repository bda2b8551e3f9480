//! Leaving no half file behind when the program is told to stop.

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};
use std::{
    fs, io,
    path::PathBuf,
    sync::{Mutex, MutexGuard, Once, PoisonError},
};
use tempfile::NamedTempFile;

/// The file that is being written aside.
static PART: Mutex<Option<PathBuf>> = Mutex::new(None);

fn part() -> MutexGuard<'static, Option<PathBuf>> {
    PART.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While it lives, SIGINT, SIGTERM and SIGHUP remove the file before they end the program as they always do.
pub(crate) struct Guard(());

impl Guard {
    /// Starts to listen; where that fails, signals end the program at once, as without it.
    pub(crate) fn start() -> Self {
        static STARTED: Once = Once::new();
        STARTED.call_once(|| {
            if let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) {
                std::thread::spawn(move || {
                    for signal in signals.forever() {
                        // Held to the end, so that no other file is started.
                        let mut part = part();
                        if let Some(path) = part.take() {
                            let _ = fs::remove_file(path);
                        }
                        let _ = emulate_default_handler(signal);
                    }
                });
            }
        });
        Self(())
    }

    /// Makes the file; a signal on the way waits until its name is known.
    ///
    /// # Errors
    /// As `make`.
    pub(crate) fn make(&self, make: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<NamedTempFile> {
        let mut part = part();
        let file = make()?;
        *part = Some(file.path().to_path_buf());
        Ok(file)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        part().take();
    }
}
