//! framewright-ptx as a build script of somebody else's package calls it: what it writes, and what it says on each way that
//! fails.

#[path = "common/outside.rs"]
mod outside;

use outside::root;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A program with kernels, outside of the repository. Its build script does what variable `CASE` says.
struct Program {
    folder: PathBuf,
}

/// How a build ended.
#[derive(Debug)]
struct Ended {
    good: bool,
    said: String,
}

impl Ended {
    #[track_caller]
    fn good(&self) -> &str {
        assert!(self.good, "{}", self.said);
        &self.said
    }

    #[track_caller]
    fn fails_with(&self, words: &[&str]) {
        assert!(!self.good, "built, expected {words:?}:\n{}", self.said);
        for words in words {
            assert!(self.said.contains(words), "expected `{words}`, found\n{}", self.said);
        }
    }
}

const KERNELS: &str = "#![no_std]
#![cfg_attr(target_arch = \"nvptx64\", feature(abi_ptx))]
use framewright_kernel::prelude::*;
framewright_kernel::panic_handler!();
framewright_kernel::kernels! { pub ENTRIES: invert }

#[kernel]
pub fn invert(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
    255 - src.get(at)
}
";

/// A row that is indexed by a sample.
const LOCAL: &str = "
#[kernel]
pub fn scattered(at: Block<16, 1>, src: In<Gray8>, dst: Out<Gray8>) -> [[u8; 16]; 1] {
    let [row] = src.tile::<16, 1>(at);
    let mut out = row;
    for sample in row {
        out[usize::from(sample % 16)] ^= sample;
    }
    [out]
}
";

const BUILD: &str = r#"
use framewright_ptx::{Builder, Limits};
fn main() -> Result<(), framewright_ptx::Error> {
    println!("cargo::rerun-if-env-changed=CASE");
    let builder = Builder::new("outside-kernels");
    let builder = match std::env::var("CASE").unwrap_or_default().as_str() {
        "all" => builder
            .architecture("sm_75")
            .architecture("sm_90")
            .line_info()
            .deny_spills()
            .limits("invert", Limits::new().min_blocks(4).max_registers(28)),
        "cubin" => builder.cubin("sm_90"),
        "deny" => builder.deny_spills(),
        "limits" => builder.limits("inverted", Limits::new()),
        "checked in" => builder.checked_in("kernels.ptx"),
        other => panic!("no case {other}"),
    };
    for file in builder.build()?.files {
        println!("cargo::warning={:?} {} {} {}", file.kind, file.architecture, file.variable, file.path.display());
        for row in file.entries {
            println!("cargo::warning=entry {} has {} registers", row.name, row.registers);
        }
    }
    Ok(())
}
"#;

impl Program {
    fn new(name: &str) -> Self {
        let folder = outside::folder(name);
        let _ = fs::remove_dir_all(&folder);
        let program = Self { folder };
        let crates = root().join("crates");
        program.write(
            "Cargo.toml",
            &format!(
                "[workspace]\nmembers = [\"kernels\"]\n[package]\nname = \"outside\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                 [dependencies]\noutside-kernels = {{ path = \"kernels\" }}\n\
                 [build-dependencies]\nframewright-ptx = {{ path = {:?} }}\n",
                crates.join("ptx")
            ),
        );
        program.write("build.rs", BUILD);
        program.write("src/lib.rs", "pub use outside_kernels::ENTRIES;\n");
        program.write("kernels/Cargo.toml", &kernels_manifest(""));
        program.write("kernels/src/lib.rs", KERNELS);
        let lock = root().join("Cargo.lock");
        fs::copy(lock, program.folder.join("Cargo.lock")).expect("the workspace's lock file");
        program
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).expect("a file")
    }

    /// `cargo build` with these variables.
    fn build(&self, case: &str, variables: &[(&str, &str)]) -> Ended {
        let mut cargo = Command::new(env!("CARGO"));
        outside::apart(&mut cargo, &self.folder, &outside::target("builder"));
        cargo.args(["build", "--offline"]).env("CASE", case);
        for name in ["FRAMEWRIGHT_PTX_RUSTC", "FRAMEWRIGHT_PTX_UPDATE", "PTXAS"] {
            cargo.env_remove(name);
        }
        if let Some(ptxas) = ptxas() {
            cargo.env("PTXAS", ptxas);
        }
        let output = cargo.envs(variables.iter().copied()).output().expect("cargo");
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        Ended { good: output.status.success(), said: said.into_owned() }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn kernels_manifest(library: &str) -> String {
    format!(
        "[package]\nname = \"outside-kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{library}\n[dependencies]\n\
         framewright-kernel = {{ path = {:?} }}\n",
        root().join("crates/kernel")
    )
}

/// The assembler of `cargo xtask tools`, or one in PATH.
fn ptxas() -> Option<PathBuf> {
    let ours = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?.join("tools/ptxas");
    let named = std::env::var_os("PTXAS").filter(|path| !path.is_empty()).map(PathBuf::from);
    let mut all = named.into_iter().chain([ours, PathBuf::from("ptxas")]);
    all.find(|path| Command::new(path).arg("--version").output().is_ok_and(|output| output.status.success()))
}

/// The file after this variable's name in what the build script reported.
#[track_caller]
fn file(said: &str, variable: &str) -> Vec<u8> {
    let line = said.lines().find(|line| line.contains(&format!(" {variable} "))).expect(variable);
    fs::read(line.rsplit(' ').next().expect("a path")).expect("the file is there")
}

/// Whether a Rust that compiles for the GPU is here; else the program says what to install, which is looked at instead.
fn compiles(program: &Program) -> bool {
    let ended = program.build("all", &[]);
    if !ended.good && ended.said.contains("expected a Rust with the sources of `core`") {
        ended
            .fails_with(&["rustup toolchain install nightly --component rust-src", "rustc-web cargo-web rust-web-src"]);
        println!("skipped: no Rust with the sources of `core`");
        return false;
    }
    ended.good();
    true
}

/// One test, so that the builds of one package follow one another.
#[test]
fn a_build_script_compiles_and_says_what_is_wrong() {
    let program = Program::new("builder");
    // Neither needs a compiler for the GPU.
    wrong_compilers(&program);
    wrong_packages(&program);
    if !compiles(&program) {
        return;
    }
    architectures_limits_and_lines(&program);
    machine_code(&program);
    wrong_kernels(&program);
    checked_in(&program);
}

fn wrong_compilers(program: &Program) {
    let missing = program.build("all", &[("FRAMEWRIGHT_PTX_RUSTC", "/nowhere/rustc")]);
    missing.fails_with(&[
        "FRAMEWRIGHT_PTX_RUSTC=/nowhere/rustc: expected the sources of `core`",
        "`rustup component add rust-src`",
    ]);

    // A rustc of last year, with all that is asked of it.
    let folder = program.folder.join("old");
    program.write("old/cargo", "");
    program.write("old/lib/rustlib/src/rust/library/core/src/lib.rs", "");
    program.write(
        "old/rustc",
        &format!(
            "#!/bin/sh\ncase \"$1\" in --print) echo {} ;; *) echo 'rustc 1.90.0 (x)'; echo 'commit-hash: x'; \
             echo 'LLVM version: 20.1' ;; esac\n",
            folder.display()
        ),
    );
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder.join("rustc"), fs::Permissions::from_mode(0o755)).expect("it can be run");
    let old = program.build("all", &[("FRAMEWRIGHT_PTX_RUSTC", folder.join("rustc").to_str().expect("text"))]);
    old.fails_with(&[
        "expected Rust 1.95 or later, found `rustc 1.90.0 (x)`",
        "install one: `rustup toolchain install",
    ]);
}

fn wrong_packages(program: &Program) {
    program.write("kernels/Cargo.toml", &kernels_manifest("[lib]\ncrate-type = [\"cdylib\"]"));
    program.build("all", &[]).fails_with(&["found cdylib; leave `crate-type` out"]);
    program.write("kernels/Cargo.toml", &kernels_manifest(""));
    let renamed = BUILD.replace("outside-kernels", "outside-kernel");
    program.write("build.rs", &renamed);
    program.build("all", &[]).fails_with(&["package `outside-kernel`: expected it among", "outside-kernels"]);
    program.write("build.rs", BUILD);
}

fn architectures_limits_and_lines(program: &Program) {
    let ended = program.build("all", &[]);
    let said = ended.good();
    for (number, version) in [(75, "7.4"), (90, "7.8")] {
        let ptx = String::from_utf8(file(said, &format!("OUTSIDE_KERNELS_PTX_SM_{number}"))).expect("text");
        assert!(ptx.contains(&format!("\n.target sm_{number}")) && ptx.contains(&format!(".version {version}\n")));
        assert!(ptx.contains("\n.maxntid 128\n.minnctapersm 4\n.maxnreg 28"), "{ptx}");
        // Lines of the user's own source, under the package's name and not under this machine's folders.
        assert!(ptx.contains("/outside-kernels/kernels/src/lib.rs") && ptx.contains("\n\t.loc\t"), "{ptx}");
        assert!(!ptx.contains(&*program.folder.to_string_lossy()));
    }
    match ptxas() {
        Some(_) => {
            let registers =
                said.lines().find_map(|line| line.split("entry invert has ").nth(1)).expect("ptxas was asked");
            let registers: u32 = registers.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
            assert!((1..=28).contains(&registers), "{registers} registers, at most 28 were allowed");
        }
        None => println!("skipped, registers: no ptxas"),
    }
}

fn machine_code(program: &Program) {
    if ptxas().is_none() {
        program.build("cubin", &[]).fails_with(&["cubin: expected `ptxas` to make machine code for sm_90, found none"]);
        println!("skipped, machine code: no ptxas");
        return;
    }
    let ended = program.build("cubin", &[]);
    let cubin = file(ended.good(), "OUTSIDE_KERNELS_CUBIN_SM_90");
    assert!(cubin.starts_with(b"\x7fELF") && cubin[49] == 90, "a cubin for sm_90");
    assert!(file(&ended.said, "OUTSIDE_KERNELS_PTX").starts_with(b"//"), "the PTX is there too");
}

fn wrong_kernels(program: &Program) {
    program.build("limits", &[]).fails_with(&["limits: expected one of the entries invert, found `inverted`"]);
    program.write("kernels/src/lib.rs", &(KERNELS.to_owned() + LOCAL));
    program.build("deny", &[]).fails_with(&[
        "scattered: expected no local memory, found some",
        "`Table`",
        "checked.ptx",
    ]);
    let generic =
        KERNELS.replace("pub fn invert(", "pub fn invert<const N: usize>(").replace("ENTRIES: invert", "ENTRIES:");
    program.write(
        "kernels/src/lib.rs",
        &generic.replace("framewright_kernel::kernels! { pub ENTRIES: }", "pub const ENTRIES: () = ();"),
    );
    program.build("deny", &[]).fails_with(&["expected entries, found none: is a generic kernel without `instances`?"]);
    program.write("kernels/src/lib.rs", KERNELS);
}

fn checked_in(program: &Program) {
    let nowhere = ("FRAMEWRIGHT_PTX_RUSTC", "/nowhere/rustc");
    // Not there yet: compiled, and said how it is written.
    let ended = program.build("checked in", &[]);
    assert!(ended.good().contains("`FRAMEWRIGHT_PTX_UPDATE=1 cargo build` writes it"), "{}", ended.said);
    assert!(!program.folder.join("kernels.ptx").exists());
    program.build("checked in", &[("FRAMEWRIGHT_PTX_UPDATE", "1")]).good();
    let written = program.read("kernels.ptx");

    // There: nobody needs a compiler, and the program gets this very file.
    let ended = program.build("checked in", &[nowhere]);
    assert_eq!(file(ended.good(), "OUTSIDE_KERNELS_PTX"), written.as_bytes());
    assert!(ended.said.contains(&program.folder.join("kernels.ptx").display().to_string()));

    // Edited, or cut: refused.
    program.write("kernels.ptx", &written.replace(".target sm_75", ".target sm_80"));
    program.build("checked in", &[nowhere]).fails_with(&["it was edited or cut", "FRAMEWRIGHT_PTX_UPDATE=1"]);

    // Of older sources: compiled anew, and the file stays as it is.
    program.write("kernels.ptx", &written);
    program.write("kernels/src/lib.rs", &KERNELS.replace("255 - src", "254 - src"));
    let ended = program.build("checked in", &[]);
    assert!(ended.good().contains("made of other sources"), "{}", ended.said);
    assert_ne!(file(&ended.said, "OUTSIDE_KERNELS_PTX"), written.as_bytes());
    assert_eq!(program.read("kernels.ptx"), written);
    program.build("checked in", &[nowhere]).fails_with(&["expected the sources of `core`"]);

    // The same sources give the same bytes again.
    program.write("kernels/src/lib.rs", KERNELS);
    program.write("kernels.ptx", "");
    fs::remove_file(program.folder.join("kernels.ptx")).expect("removed");
    program.build("checked in", &[("FRAMEWRIGHT_PTX_UPDATE", "1")]).good();
    assert_eq!(program.read("kernels.ptx"), written);
}
