//! Compiles one package of kernels with rust-cuda: `framewright-rust-cuda PACKAGE_FOLDER FILE.ptx`.

use cuda_builder::{CudaBuilder, NvvmArch};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [package, file] = words.as_slice() else {
        eprintln!("expected PACKAGE_FOLDER FILE.ptx, found {words:?}");
        return ExitCode::FAILURE;
    };
    let built = CudaBuilder::new(Path::new(package))
        // What the checked-in PTX is for: Turing and later.
        .arch(NvvmArch::Compute75)
        .release(true)
        // a * b + c in two roundings, as on the CPU.
        .fma_contraction(false)
        .copy_to(Path::new(file))
        .build();
    match built {
        Ok(path) => {
            println!("{}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = std::fs::remove_file(file);
            eprintln!("{package}: {error:?}");
            ExitCode::FAILURE
        }
    }
}
