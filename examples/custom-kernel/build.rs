//! Compiles the kernels for the GPU, where the program is built for one.

fn main() -> Result<(), framewright_ptx::Error> {
    if std::env::var_os("CARGO_FEATURE_CUDA").is_some() {
        framewright_ptx::Builder::new("custom-kernels").deny_spills().build()?;
    }
    Ok(())
}
