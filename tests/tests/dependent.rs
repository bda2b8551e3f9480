//! A crate outside of this repository that uses feature `cuda` builds and runs with the one line that README.md gives,
//! where no CUDA toolkit is installed.

#[path = "common/needed.rs"]
mod needed;
#[path = "common/outside.rs"]
mod outside;

use outside::root;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const VARIABLE: &str = "CUDA_LIBRARY_PATH";

/// Exits with 0 if there is no driver and the library says so.
const PROGRAM: &str = r#"
use framewright::{Bgr8, Conversion, Cpu, Image, Nv12, Size, cuda::Device};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let size = Size::new(6, 4)?;
    Cpu::new().convert(&Image::<Nv12>::new(size)?, &mut Image::<Bgr8>::new(size)?, &Conversion::new())?;
    match Device::new(0) {
        Ok(_) => Err("a device, expected none without a driver".into()),
        Err(error) => Ok(println!("{error}")),
    }
}
"#;

/// The line of a Markdown text that sets the variable, in a fenced block.
fn line(markdown: &str) -> Result<&str, String> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced && line.contains(VARIABLE) {
            found.push(line.trim().trim_start_matches("$ "));
        }
    }
    match found[..] {
        [line] => Ok(line),
        _ => Err(format!("README.md: {} lines in fenced blocks set {VARIABLE}, expected 1: {found:?}", found.len())),
    }
}

/// Writes the crate into a folder outside of the repository.
fn package() -> PathBuf {
    let package = outside::folder("dependent");
    fs::create_dir_all(package.join("src")).expect("a folder");
    let manifest = format!(
        "[package]\nname = \"dependent\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nframewright = {{ path = {:?}, features = [\"cuda\"] }}\n",
        root().join("crates/framewright")
    );
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("the workspace's lock file");
    for (name, text) in [("Cargo.toml", &*manifest), ("Cargo.lock", &*lock), ("src/main.rs", PROGRAM)] {
        fs::write(package.join(name), text).expect("a file");
    }
    package
}

/// Runs lines of a shell in the package.
fn shell(package: &Path, target: &Path, line: &str) -> Output {
    let mut shell = Command::new("sh");
    outside::apart(&mut shell, package, target).args(["-euc", line]).env("CARGO", env!("CARGO"));
    shell.output().expect("a shell")
}

#[test]
fn a_crate_elsewhere_builds_and_runs_with_the_line_of_the_readme() {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let line = line(&readme).unwrap_or_else(|error| panic!("{error}"));
    let package = package();
    let target = outside::target("dependent");
    let output = shell(&package, &target, &format!("{line}\nexec \"$CARGO\" run --offline --quiet"));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{line}\n{stdout}\n{stderr}");
    assert!(stdout.starts_with("no NVIDIA GPU can be used: no CUDA driver"), "{stdout}");
    needed::needs_no_cuda(&target.join("debug/dependent"));
    // It is all there is of it outside; the compiled dependencies stay in the workspace's target folder.
    fs::remove_dir_all(&package).expect("the folder is removed");
}

#[test]
fn the_line_is_the_one_in_a_fenced_block() {
    let text = "Set CUDA_LIBRARY_PATH:\n```sh\n$ export CUDA_LIBRARY_PATH=x\ncargo run\n```\n";
    assert_eq!(line(text), Ok("export CUDA_LIBRARY_PATH=x"));
    assert!(line(&text.repeat(2)).unwrap_err().contains("2 lines"));
    assert!(line("CUDA_LIBRARY_PATH").unwrap_err().contains("0 lines"));
}
