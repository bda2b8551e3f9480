//! framewright on the command line: `framewright convert INPUT OUTPUT` and `framewright info`.
//!
//! A failure is one line on stderr; status 2 says that it cannot be right for any file, 1 that it is wrong for this file or
//! machine.
#![forbid(unsafe_code)]

mod args;
mod convert;
mod device;
mod error;
mod formats;
mod info;
mod input;
mod job;
mod npy;
mod output;
mod pattern;
mod picture;
mod progress;
mod shape;
mod signals;
mod target;
mod values;
mod y4m;

use args::{Command, Parsed};
use error::Failure;
use std::{
    io::{self, Write},
    process::ExitCode,
};

fn main() -> ExitCode {
    match run() {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(note)) => {
            say(&note);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            say(&failure.to_string());
            failure.exit_code()
        }
    }
}

fn run() -> Result<Option<String>, Failure> {
    let text = match args::parse(std::env::args_os())? {
        Parsed::Run(Command::Convert(args)) => return convert::run(&args),
        Parsed::Run(Command::Info { json: true }) => info::json(),
        Parsed::Run(Command::Info { json: false }) => info::text(),
        Parsed::Say(text) => text,
    };
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map(|()| None).map_err(|e| Failure::wrong(format!("stdout: {e}")))
}

/// One line on stderr; a stderr that is closed is no reason to fail.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "framewright: {line}");
}
