//! Leaving no half file behind when the program is told to stop.

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, Once, PoisonError},
};

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
                        if let Some(path) = part().take() {
                            let _ = fs::remove_file(path);
                        }
                        let _ = emulate_default_handler(signal);
                    }
                });
            }
        });
        Self(())
    }

    /// Names the file.
    pub(crate) fn remove_on_signal(&self, path: &Path) {
        *part() = Some(path.to_path_buf());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        part().take();
    }
}
