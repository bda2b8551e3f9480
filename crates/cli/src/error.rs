//! Failures: one line, and the status that goes with it.

use std::{fmt, process::ExitCode};

/// A failure of the program, as it is said on stderr.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    status: u8,
    message: String,
}

impl Failure {
    /// What cannot be right for any file: status 2.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self { status: 2, message: message.to_string() }
    }

    /// What is wrong for this file or machine: status 1.
    pub(crate) fn wrong(message: impl fmt::Display) -> Self {
        Self { status: 1, message: message.to_string() }
    }

    /// The same with something more to say.
    pub(crate) fn and(self, more: impl fmt::Display) -> Self {
        Self { message: format!("{}; {more}", self.message), ..self }
    }

    /// The status that the program ends with.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.status)
    }
}

impl fmt::Display for Failure {
    /// One line whatever a file's name or a header holds: control characters are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.chars().try_for_each(|c| match c {
            c if c.is_control() => write!(f, "{}", c.escape_default()),
            c => write!(f, "{c}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_line_whatever_it_names() {
        let failure = Failure::wrong("a\nb\u{1b}[31m.npy").and("more");
        assert_eq!(failure.to_string(), "a\\nb\\u{1b}[31m.npy; more");
    }
}
