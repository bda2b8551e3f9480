//! framewright's checks and generators, in Rust: `cargo xtask TASK`.

mod architecture;
mod archives;
mod ci;
mod gpu_record;
mod gpu_report;
mod gpu_tables;
mod guide;
mod ptx;
mod ptx_bounds;
mod ptx_build;
mod ptx_checks;
mod ptx_head;
mod ptx_source;
mod rust_cuda;
mod step;
mod tools;
mod workspace;

use failure::{Result, fail};
use framewright_ptx::{failure, process, ptxas, text as ptx_text};
use std::path::Path;
use std::process::ExitCode;
use workspace::Workspace;

const USAGE: &str = "\
cargo xtask TASK

  ci [--strict]               every check; with --strict nothing may be skipped but the GPU
  ptx [--check] [--out DIR]   compile gpu-kernels/ to PTX, a file a family; --check compares instead of writing
  architecture                the crate table of ARCHITECTURE.md against cargo metadata and the sources
  rust-cuda                   what can be checked of the kernels for rust-cuda without its compiler
  rust-cuda --build CHECKOUT [--out DIR]
                              compile them with the rust-cuda in that folder (docs/rust-cuda.md)
  archives                    the crates out of their archives, built outside of the repository
  guide                       what docs/guide shows, run from an empty folder
  gpu-report [--check]        docs/gpu-runs/README.md from the JSON files there; --check compares
  exhaustive                  the tests over their full ranges, optimised (minutes)
  tools                       ptxas and nvdisasm from PyPI into target/tools

Variables: FRAMEWRIGHT_PTX_RUSTC names the rustc that compiles PTX, PTXAS the ptxas that checks it.
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match task(&words) {
        Ok(true) => ExitCode::SUCCESS,
        // What failed is in the summary, whose last line stays the last.
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Does what the words ask for; whether all was good.
fn task(words: &[&str]) -> Result<bool> {
    match words {
        ["ci"] => return Ok(ci::run(&Workspace::find()?, false)),
        ["ci", "--strict"] => return Ok(ci::run(&Workspace::find()?, true)),
        ["ptx", options @ ..] => ptx_task(options),
        ["architecture"] => architecture::check(&Workspace::find()?),
        ["rust-cuda"] => rust_cuda::check(&Workspace::find()?),
        ["rust-cuda", "--build", checkout] => rust_cuda::build(&Workspace::find()?, Path::new(checkout), None),
        ["rust-cuda", "--build", checkout, "--out", out] => {
            rust_cuda::build(&Workspace::find()?, Path::new(checkout), Some(Path::new(out)))
        }
        ["archives"] => archives::check(&Workspace::find()?),
        ["guide"] => match guide::run(&Workspace::find()?) {
            step::Outcome::Failed(failure) => Err(failure),
            step::Outcome::Skipped(skip) => {
                println!("parts were left out: {}", skip.missing);
                Ok(())
            }
            step::Outcome::Passed => Ok(()),
        },
        ["gpu-report"] => gpu_report::run(&Workspace::find()?, false),
        ["gpu-report", "--check"] => gpu_report::run(&Workspace::find()?, true),
        ["exhaustive"] => ci::exhaustive(&Workspace::find()?),
        ["tools"] => tools::install(&Workspace::find()?),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => fail!("expected a task, found `{}`\n\n{USAGE}", words.join(" ")),
    }
    .map(|()| true)
}

fn ptx_task(options: &[&str]) -> Result<()> {
    let (mut check, mut folder) = (false, None);
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        match (*option, folder) {
            ("--check", _) => check = true,
            ("--out", None) => match rest.next() {
                Some(path) => folder = Some(Path::new(path)),
                None => return fail!("--out: expected a folder, found none"),
            },
            _ => return fail!("ptx: expected --check or one --out DIR, found `{option}`"),
        }
    }
    let workspace = Workspace::find()?;
    if check { ci::check_ptx(&workspace, folder) } else { ptx::Ptx::of(&workspace, folder)?.write() }
}
