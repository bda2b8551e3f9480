//! Compiles one package of kernels with rust-cuda:
//! `framewright-rust-cuda CHECKOUT WORKSPACE OUT_FOLDER PACKAGE FILE.ptx [FEATURE]`.

use framewright_ptx::{Builder, Kind, RustCuda};
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match build(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn build(words: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [checkout, workspace, out, package, file, features @ ..] = words else {
        return Err(
            format!("expected CHECKOUT WORKSPACE OUT_FOLDER PACKAGE FILE.ptx [FEATURE], found {words:?}").into()
        );
    };
    // What cargo tells build scripts; `cargo run` told of this program instead.
    std::env::set_var("CARGO_MANIFEST_DIR", workspace);
    std::env::set_var("OUT_DIR", out);
    let mut builder = Builder::new(package).rust_cuda(RustCuda::new().checkout(checkout));
    if !features.is_empty() {
        builder = builder.no_default_features();
    }
    for feature in features {
        builder = builder.feature(feature);
    }
    let built = builder.build()?;
    std::fs::copy(&built.file(Kind::Ptx, "sm_75")?.path, file)?;
    Ok(())
}
