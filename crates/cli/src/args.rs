//! The command line.

use crate::{
    device::DeviceChoice,
    error::Failure,
    formats::FormatId,
    values::{self, Frames, Pitches},
};
use clap::{Args, Parser, Subcommand, error::ErrorKind};
use framewright::{Matrix, Range, Rect, Size};
use std::{ffi::OsString, path::PathBuf};

/// Convert, crop and inspect video frames.
#[derive(Parser, Debug)]
#[command(name = "framewright", version)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What the program does.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Convert or copy frames from one file to another
    Convert(Box<ConvertArgs>),
    /// List devices, driver, formats and conversions
    Info {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// The options of `convert`.
#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// .npy, .y4m, any other name: raw planes one after another; - for stdin (npy and y4m known by their first bytes)
    pub(crate) input: PathBuf,
    /// .png, .npy, .y4m, any other name: raw packed planes; - for stdout; %04d in it: one file a frame, by its number
    pub(crate) output: PathBuf,
    /// INPUT's layout by FFmpeg's name, as yuv420p; needed where the file does not say
    #[arg(long, value_name = "F", value_parser = values::format)]
    pub(crate) format: Option<FormatId>,
    /// Visible size; needed where the file does not say
    #[arg(long, value_name = "WxH", value_parser = values::size)]
    pub(crate) size: Option<Size>,
    /// The size that INPUT's planes are laid out for, where it differs from the visible one
    #[arg(long, value_name = "WxH", value_parser = values::size)]
    pub(crate) coded_size: Option<Size>,
    /// Bytes from row to row: one a plane, or the first plane's and the others follow; negative where rows lie bottom-up
    #[arg(long, value_name = "B[,B...]", value_parser = values::pitches, allow_hyphen_values = true)]
    pub(crate) pitch: Option<Pitches>,
    /// bt601, bt709, bt2020, smpte240m, fcc, ycgco, or luma weights as kr=0.299,kb=0.114; left out: the file's, or by size
    #[arg(long, value_name = "M", value_parser = values::matrix)]
    pub(crate) matrix: Option<Matrix>,
    /// limited or full; left out: the file's, or limited
    #[arg(long, value_name = "R", value_parser = values::range)]
    pub(crate) range: Option<Range>,
    /// OUTPUT's layout by FFmpeg's name; left out: RGB for .png, INPUT's for .y4m, else bgr24
    #[arg(long, value_name = "F", value_parser = values::format)]
    pub(crate) to: Option<FormatId>,
    /// Convert only this part; any rectangle, but on INPUT's grid where OUTPUT is subsampled
    #[arg(long, value_name = "WxH+X+Y", value_parser = values::crop)]
    pub(crate) crop: Option<Rect>,
    /// The first N, those from A on that come before B (counted from 0), or all; left out: the first
    #[arg(long, value_name = "N|A..B|all", value_parser = values::frames)]
    pub(crate) frames: Option<Frames>,
    /// auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "D", value_parser = values::device, default_value = "auto")]
    pub(crate) device: DeviceChoice,
}

/// What a command line asks for.
#[derive(Debug)]
pub(crate) enum Parsed {
    /// To do something.
    Run(Command),
    /// To be told something: help or version.
    Say(String),
}

/// Reads a command line.
///
/// # Errors
/// A usage failure of one line.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Parsed, Failure> {
    let error = match Cli::try_parse_from(arguments) {
        Ok(cli) => return Ok(Parsed::Run(cli.command)),
        Err(error) => error,
    };
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Parsed::Say(text)),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            Err(Failure::usage("no command given, expected convert or info (see framewright --help)"))
        }
        _ => Err(Failure::usage(one_line(&text))),
    }
}

/// The first paragraph and the tips of clap's message, without its usage.
fn one_line(text: &str) -> String {
    let paragraphs: Vec<_> = text
        .split("\n\n")
        .enumerate()
        .filter(|(i, paragraph)| *i == 0 || paragraph.trim_start().starts_with("tip:"))
        .map(|(_, paragraph)| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let line = paragraphs.join("; ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(arguments: &[&str]) -> String {
        let all = std::iter::once("framewright").chain(arguments.iter().copied()).map(OsString::from);
        parse(all).unwrap_err().to_string()
    }

    #[test]
    fn clap_is_well_formed() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn failures_are_one_line_that_names_option_found_and_expected() {
        assert_eq!(failure(&[]), "no command given, expected convert or info (see framewright --help)");
        assert_eq!(failure(&["convert"]), "the following required arguments were not provided: <INPUT> <OUTPUT>");
        assert_eq!(
            failure(&["convert", "a", "b", "--size", "854"]),
            "invalid value '854' for '--size <WxH>': expected WxH, as 854x480"
        );
        let unknown = failure(&["convert", "a", "b", "--fromat", "nv12"]);
        assert!(
            unknown.starts_with("unexpected argument '--fromat' found") && unknown.contains("'--format'"),
            "{unknown}"
        );
        assert!(!unknown.contains('\n'));
    }

    #[test]
    fn a_negative_pitch_is_a_value() {
        let parsed = parse(["framewright", "convert", "-", "-", "--pitch", "-896,-448"].map(OsString::from)).unwrap();
        let Parsed::Run(Command::Convert(args)) = parsed else { panic!("{parsed:?}") };
        assert_eq!(args.pitch, Some(Pitches(vec![-896, -448])));
        assert_eq!(args.device, DeviceChoice::Auto);
    }
}
