//! A reader of the `.npy` files in `tests/data`: version 1, unsigned bytes, C order, two dimensions.

use std::path::{Path, PathBuf};

/// An array of bytes.
pub struct Array {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Row by row.
    pub bytes: Vec<u8>,
}

/// The path of a file in `tests/data`.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

/// Reads an array.
///
/// # Panics
/// When the file is not what this module reads.
pub fn read(path: &Path) -> Array {
    let file = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(&file[..8], b"\x93NUMPY\x01\x00", "{}: not a version 1 npy", path.display());
    let header_end = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    let header = std::str::from_utf8(&file[10..header_end]).expect("the header is text");
    assert!(header.contains("'descr': '|u1'") && header.contains("'fortran_order': False"), "{header}");
    let shape = header.split_once("'shape': (").expect("a shape").1.split_once(')').expect("a tuple").0;
    let sides: Vec<usize> = shape.split(',').map(|n| n.trim().parse().expect("a number")).collect();
    let [rows, columns] = sides[..] else { panic!("shape is {shape}, expected two dimensions") };
    let bytes = file[header_end..].to_vec();
    assert_eq!(bytes.len(), rows * columns, "{}", path.display());
    Array { rows, columns, bytes }
}
