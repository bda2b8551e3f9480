//! `examples/custom-kernel`, copied to another folder as a new user would: it builds and runs there, on the CPU, and its
//! kernel becomes PTX where there is a Rust that compiles for the GPU.

#[path = "common/outside.rs"]
mod outside;

use outside::root;
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

/// Copies what a checkout has of the folder; the paths of framewright's crates become absolute, as its README says.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the template") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        let target = to.join(name);
        if path.is_dir() {
            if name != "target" {
                copy(&path, &target);
            }
        } else if name == "Cargo.toml" {
            let mut text = fs::read_to_string(&path).expect("a manifest");
            for up in ["\"../../../", "\"../../"] {
                text = text.replace(up, &format!("\"{}/", root().display()));
            }
            fs::write(target, text).expect("a manifest");
        } else if name != "vignette.png" {
            fs::copy(&path, target).expect("a file");
        }
    }
}

/// Runs cargo in the copy.
fn cargo(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let mut cargo = Command::new(env!("CARGO"));
    outside::apart(&mut cargo, folder, &outside::target("template")).args(arguments).arg("--offline");
    let Output { status, stdout, stderr } = cargo.output().expect("cargo");
    (status.success(), format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr)))
}

#[test]
fn the_template_builds_and_runs_in_another_folder() {
    let folder = outside::folder("template");
    let _ = fs::remove_dir_all(&folder);
    copy(&root().join("examples/custom-kernel"), &folder);

    let (good, said) = cargo(&folder, &["run", "--quiet"]);
    assert!(good && said.contains("wrote vignette.png"), "{said}");
    let picture = fs::read(folder.join("vignette.png")).expect("the picture");
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 50_000, "{} bytes", picture.len());
    let (good, said) = cargo(&folder, &["test", "--quiet", "--workspace"]);
    assert!(good, "{said}");

    // With the GPU's half: the PTX, or what to install.
    let (good, said) = cargo(&folder, &["run", "--quiet", "--features", "cuda", "--", "--cuda"]);
    if said.contains("the same bytes as on the CPU") {
        assert!(good, "{said}");
    } else if said.contains("rustup component add rust-src") {
        println!("skipped, the kernel as PTX: no Rust with the sources of `core`");
        assert!(!good, "{said}");
    } else {
        assert!(!good && said.contains("no NVIDIA GPU can be used"), "{said}");
    }
    fs::remove_dir_all(&folder).expect("the folder is removed");
}
