//! Running other programs: either with their output passed through, or captured.

use crate::failure::{Failure, Result, fail};
use std::process::{Command, Output, Stdio};

/// Runs with the output passed through; any status but 0 is a failure that names the command.
pub fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    println!("$ {shown}");
    let status = command.status().map_err(|error| Failure(format!("cannot start `{shown}`: {error}")))?;
    if status.success() { Ok(()) } else { fail!("`{shown}`: expected status 0, found {status}") }
}

/// Runs with stdout and stderr captured; the status is the caller's to judge.
pub fn output(command: &mut Command) -> Result<Output> {
    let shown = shown(command);
    command.stdin(Stdio::null()).output().map_err(|error| Failure(format!("cannot start `{shown}`: {error}")))
}

/// The captured stdout of a command that must succeed.
pub fn stdout(command: &mut Command) -> Result<String> {
    let shown = shown(command);
    let output = output(command)?;
    if !output.status.success() {
        return fail!(
            "`{shown}`: expected status 0, found {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether the command starts and ends with status 0; its output is dropped.
pub fn succeeds(command: &mut Command) -> bool {
    output(command).is_ok_and(|output| output.status.success())
}

/// The command as one types it, without the environment.
fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}
