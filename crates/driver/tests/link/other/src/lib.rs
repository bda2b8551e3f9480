//! A crate that links libcuda in its own way.

#[link(name = "cuda")]
unsafe extern "C" {
    safe fn cuInit(flags: u32) -> u32;
    safe fn cuOnlyInTheLibrary() -> u32;
}

/// What a function says that framewright-driver defines, too, and what one says that it does not define.
pub fn calls() -> (u32, u32) {
    (cuInit(0), cuOnlyInTheLibrary())
}
