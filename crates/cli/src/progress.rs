//! Progress on stderr, if that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// A bar that goes away when dropped.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// A bar for so many frames, or for an unknown count; none for a single frame.
    pub(crate) fn start(frames: Option<u64>) -> Self {
        if frames == Some(1) || !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let (bar, template) = match frames {
            Some(frames) => (ProgressBar::new(frames), "{bar:40} {pos}/{len} frames, {per_sec}, {eta} left"),
            None => (ProgressBar::new_spinner(), "{spinner} {pos} frames, {per_sec}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self(Some(bar))
    }

    /// One frame is done.
    pub(crate) fn step(&self) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
