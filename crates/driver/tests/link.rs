//! What the linker makes of a crate outside the workspace that uses `cust` over this crate: with `rust-lld` and GNU ld,
//! with and without link-time optimisation, beside another crate that links libcuda.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use framewright_driver::DRIVER_VARIABLE;
use object::{Object, ObjectSymbol};

/// A linker and what chooses it.
const LINKERS: [(&str, &str); 2] = [("default", ""), ("bfd", "-Clink-arg=-fuse-ld=bfd")];

/// A copy of tests/link, and where it is built.
struct Probe {
    root: PathBuf,
}

impl Probe {
    fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("link").join(name);
        let driver = Path::new(env!("CARGO_MANIFEST_DIR"));
        let from = driver.join("tests/link");
        for file in ["src/lib.rs", "src/main.rs", "other/Cargo.toml", "other/src/lib.rs", "libcuda.rs"] {
            put(&root.join(file), &fs::read_to_string(from.join(file)).expect("the fixture is there"));
        }
        let manifest = fs::read_to_string(from.join("Cargo.toml.in")).expect("the fixture is there");
        put(&root.join("Cargo.toml"), &manifest.replace("@DRIVER@", driver.to_str().expect("a path in UTF-8")));
        // The same versions as the workspace's, so that nothing is downloaded.
        let lock = fs::read_to_string(driver.join("../../Cargo.lock")).expect("the workspace has a lock file");
        put(&root.join("Cargo.lock"), &lock);
        Self { root }
    }

    /// Builds the target (`--bin=probe` or `--lib`) with the linker, and returns the file.
    fn build(&self, target: &str, linker: (&str, &str), arguments: &[&str], cuda: &Path) -> PathBuf {
        // One cargo at a time: each build puts its file in the same place, from where it is copied.
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let output = Command::new(env!("CARGO"))
            .args(["rustc", "--offline", "--quiet", "--target-dir=target", target])
            .args(arguments)
            .arg("--")
            .args((!linker.1.is_empty()).then_some(linker.1))
            .env("CUDA_LIBRARY_PATH", cuda)
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .current_dir(&self.root)
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let profile = if arguments.contains(&"--release") { "release" } else { "debug" };
        let file = if target == "--lib" { "libprobe.so" } else { "probe" };
        let kept = self.root.join("built").join(linker.0).join(profile).join(file);
        fs::create_dir_all(kept.parent().expect("a file lies in a folder")).expect("a folder can be made");
        fs::copy(self.root.join("target").join(profile).join(file), &kept).expect("cargo has built the file");
        kept
    }
}

/// Writes a file unless it holds that already, so that cargo does not build again.
fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder can be made");
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::write(path, text).expect("a file can be written");
}

/// The folder with an empty linker script in place of libcuda, for `CUDA_LIBRARY_PATH`.
fn link_stub() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("link-stub")
}

/// The libraries that the loader loads for the program, as `ldd` prints them.
fn ldd(program: &Path) -> String {
    let output = Command::new("ldd").arg(program).output().expect("ldd runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("libc.so"), "ldd has understood the program: {text}");
    text
}

/// The dynamic symbols that begin like the driver's.
fn driver_symbols(library: &Path) -> Vec<String> {
    let bytes = fs::read(library).expect("the library is there");
    let file = object::File::parse(&*bytes).expect("it is an object file");
    let names: Vec<String> = file.dynamic_symbols().filter_map(|s| s.name().ok().map(str::to_owned)).collect();
    assert!(names.iter().any(|name| name == "malloc" || name == "memcpy"), "the symbols were read: {names:?}");
    names.into_iter().filter(|name| is_driver_name(name)).collect()
}

fn is_driver_name(name: &str) -> bool {
    name.strip_prefix("cu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

fn output(program: &Path, driver: &str) -> String {
    let Output { status, stdout, stderr } =
        Command::new(program).env(DRIVER_VARIABLE, driver).output().expect("the program starts");
    assert!(status.success(), "{status}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8_lossy(&stdout).into_owned()
}

#[track_caller]
fn works_without_driver(program: &Path) {
    let libraries = ldd(program);
    assert!(!libraries.contains("libcuda"), "{libraries}");
    let text = output(program, "/nowhere/libcuda.so");
    assert!(text.starts_with("cust Err(NoDevice)\nstatus no CUDA driver"), "{text}");
    assert!(text.ends_with("\nlibrary -100\n"), "{text}");
}

#[test]
fn program_needs_no_libcuda() {
    let probe = Probe::new("probe");
    for linker in LINKERS {
        works_without_driver(&probe.build("--bin=probe", linker, &[], &link_stub()));
    }
}

#[test]
fn program_that_exports_its_symbols_exports_none_of_the_drivers() {
    let probe = Probe::new("probe");
    let exporting = ("exporting", "-Clink-arg=-Wl,--export-dynamic");
    let program = probe.build("--bin=probe", exporting, &[], &link_stub());
    assert_eq!(driver_symbols(&program), Vec::<String>::new());
    let bytes = fs::read(&program).expect("the program is there");
    let file = object::File::parse(&*bytes).expect("it is an object file");
    assert!(file.dynamic_symbols().any(|s| s.name() == Ok("probe_devices")), "it exports what it should");
}

#[test]
fn program_with_link_time_optimisation_needs_no_libcuda() {
    let probe = Probe::new("probe");
    works_without_driver(&probe.build("--bin=probe", LINKERS[0], &["--release"], &link_stub()));
}

#[test]
fn shared_library_exports_and_imports_no_driver_symbol() {
    let probe = Probe::new("probe");
    for linker in LINKERS {
        for profile in [&[][..], &["--release"]] {
            let library = probe.build("--lib", linker, profile, &link_stub());
            assert_eq!(driver_symbols(&library), Vec::<String>::new(), "{linker:?} {profile:?}");
            let bytes = fs::read(&library).expect("the library is there");
            let file = object::File::parse(&*bytes).expect("it is an object file");
            assert!(file.dynamic_symbols().any(|s| s.name() == Ok("probe_devices")), "it exports what it should");
        }
    }
}

#[test]
fn program_that_also_links_libcuda() {
    let probe = Probe::new("other");
    let cuda = probe.root.join("cuda");
    let library = cuda.join("lib64/libcuda.so");
    fs::create_dir_all(cuda.join("lib64")).expect("a folder can be made");
    let built = Command::new("rustc")
        .args(["--edition=2024", "-Clink-arg=-Wl,-soname,libcuda.so", "-o"])
        .arg(&library)
        .arg(probe.root.join("libcuda.rs"))
        .status()
        .expect("rustc runs");
    assert!(built.success());
    assert_eq!(driver_symbols(&library), ["cuInit", "cuOnlyInTheLibrary"]);
    for linker in LINKERS {
        let program = probe.build("--bin=probe", linker, &["--features=other"], &cuda);
        // The function that only that library has keeps it needed ...
        assert!(ldd(&program).contains("libcuda.so"), "{linker:?}");
        let run = Command::new(&program)
            .env("LD_LIBRARY_PATH", cuda.join("lib64"))
            .env(DRIVER_VARIABLE, "/nowhere/libcuda.so")
            .output()
            .expect("the program starts");
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        // ... and cuInit is the lazy one for both crates.
        assert!(text.starts_with("cust Err(NoDevice)\n"), "{linker:?}: {text}");
        assert!(text.ends_with("\nother (100, 42)\n"), "{linker:?}: {text}");
    }
}
