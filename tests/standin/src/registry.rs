//! The kernels' host implementations by entry name. To wire a crate's kernels in, this is the one place.

/// A kernel as the host runs it.
#[derive(Clone, Copy)]
pub(crate) struct Body {
    pub(crate) name: &'static str,
    /// Bytes of the one parameter struct; 0 for none.
    pub(crate) parameter_bytes: usize,
    /// Runs the whole grid.
    pub(crate) run: unsafe fn(parameters: *const u8, grid: [u32; 3], block: [u32; 3]),
}

/// The implementation of an entry.
pub(crate) fn find(name: &str) -> Option<Body> {
    let test = TEST_ENTRIES.iter().find(|body| body.name == name).copied();
    test.or_else(|| {
        let built_in = framewright_kernels::FAMILIES.iter().flat_map(|family| family.iter());
        let entry = built_in.chain(framewright_examples::ENTRIES).find(|entry| entry.name == name)?;
        Some(Body { name: entry.name, parameter_bytes: entry.params_size, run: entry.run })
    })
}

/// Entries for the stand-in's own tests.
const TEST_ENTRIES: &[Body] = &[
    Body { name: "framewright_standin_fill", parameter_bytes: size_of::<Fill>(), run: fill },
    Body { name: "framewright_standin_panic", parameter_bytes: 0, run: panics },
];

/// Parameters of `framewright_standin_fill`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Fill {
    to: u64,
    bytes: u64,
    value: u32,
}

/// Each block writes the value to its share of the bytes: block b of n takes the bytes b, b + n, b + 2 n …
unsafe fn fill(parameters: *const u8, grid: [u32; 3], _block: [u32; 3]) {
    // SAFETY: the stand-in passes as many bytes as the entry states, aligned to 16.
    let Fill { to, bytes, value } = unsafe { parameters.cast::<Fill>().read() };
    for block in 0..grid[0] as u64 {
        for at in (block..bytes).step_by(grid[0] as usize) {
            // SAFETY: the launch promises so many bytes of device memory.
            unsafe { ((to + at) as *mut u8).write(value as u8) };
        }
    }
}

unsafe fn panics(_parameters: *const u8, _grid: [u32; 3], _block: [u32; 3]) {
    panic!("framewright_standin_panic does what its name says");
}
