//! How a panic on the GPU reaches the host: a record in host memory that the device writes before it stops.

/// The symbol of a module through which the host tells where the record is.
pub const RECORD_SYMBOL: &str = "FRAMEWRIGHT_FAULT_RECORD";

/// What a device tells of a panic. Zeroed by the host; written once, by the first thread that panics.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FaultRecord {
    /// 0: nothing; 1: being written; 2: complete.
    pub state: u32,
    /// Line of the source.
    pub line: u32,
    /// Column of the source.
    pub column: u32,
    /// The block of the grid, then the thread of the block: x, y, z each.
    pub place: [u32; 6],
    /// Bytes of `file`.
    pub file_len: u32,
    /// Bytes of `kernel`.
    pub kernel_len: u32,
    /// The source file, as rustc names it.
    pub file: [u8; 160],
    /// The entry.
    pub kernel: [u8; 96],
}

impl FaultRecord {
    /// Nothing happened.
    pub const EMPTY: Self = Self {
        state: 0,
        line: 0,
        column: 0,
        place: [0; 6],
        file_len: 0,
        kernel_len: 0,
        file: [0; 160],
        kernel: [0; 96],
    };

    /// The source file.
    pub fn file(&self) -> &str {
        text(&self.file, self.file_len)
    }

    /// The entry; empty where the kernel announced that it cannot panic.
    pub fn kernel(&self) -> &str {
        text(&self.kernel, self.kernel_len)
    }
}

fn text(bytes: &[u8], len: u32) -> &str {
    let bytes = &bytes[..(len as usize).min(bytes.len())];
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => core::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""),
    }
}
