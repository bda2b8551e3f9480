//! Running the program, and an exact reference for what it writes.
#![allow(dead_code)] // each test file uses a part

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// The visible size of the real frame.
pub(crate) const CAT: (usize, usize) = (854, 480);

/// A file of `tests/data`.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)
}

/// The planes of the real frame, packed.
pub(crate) fn cat() -> Vec<u8> {
    let npy = fs::read(data("cat_480p_yuv420p.npy")).unwrap();
    npy[npy.len() - 614_880..].to_vec()
}

/// A folder that runs happen in, and the variables that they see; `None` is one that is not set.
pub(crate) struct Place(tempfile::TempDir, BTreeMap<&'static str, Option<OsString>>);

impl Place {
    /// Without a CUDA driver, whatever the machine has: runs take the memory and the time that they take on a CPU.
    pub(crate) fn new() -> Self {
        let mut place = Self(tempfile::tempdir().unwrap(), BTreeMap::new());
        place.set("FRAMEWRIGHT_CUDA_DRIVER", "");
        place
    }

    pub(crate) fn set(&mut self, variable: &'static str, value: impl Into<OsString>) {
        self.1.insert(variable, Some(value.into()));
    }

    pub(crate) fn remove(&mut self, variable: &'static str) {
        self.1.insert(variable, None);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// All names with their lengths, also hidden ones and those in folders.
    pub(crate) fn listing(&self) -> Vec<(PathBuf, u64)> {
        fn walk(folder: &Path, found: &mut Vec<(PathBuf, u64)>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, found);
                }
                found.push((path.clone(), fs::symlink_metadata(&path).unwrap().len()));
            }
        }
        let mut found = Vec::new();
        walk(self.0.path(), &mut found);
        found.sort();
        found
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(self.0.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_framewright"));
        command.current_dir(self.0.path()).args(line.split_whitespace());
        for (variable, value) in &self.1 {
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
        }
        command
    }

    /// Runs the program with the words of `line`, `stdin` as its stdin.
    pub(crate) fn run(&self, line: &str, stdin: &[u8]) -> Output {
        let mut command = self.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let bytes = stdin.to_vec();
        // It need not read all of it.
        let writer = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }

    /// Runs it with success and gives stdout and stderr.
    pub(crate) fn succeeds_with(&self, line: &str, stdin: &[u8]) -> (Vec<u8>, String) {
        let output = self.run(line, stdin);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}: {stderr}");
        (output.stdout, stderr)
    }

    /// Runs it with success and gives stderr.
    pub(crate) fn succeeds(&self, line: &str) -> String {
        self.succeeds_with(line, &[]).1
    }

    /// Runs it with a failure of one line that has all of `says`, and leaves no file, whole or half.
    pub(crate) fn fails_with(&self, line: &str, stdin: &[u8], status: i32, says: &[&str]) -> String {
        let before = self.listing();
        let output = self.run(line, stdin);
        let stderr = String::from_utf8(output.stderr).unwrap();
        check_failure(line, &stderr, output.status.code(), status, says);
        assert_eq!(self.listing(), before, "{line}");
        stderr
    }

    /// The same with nothing on stdin.
    pub(crate) fn fails(&self, line: &str, status: i32, says: &[&str]) -> String {
        self.fails_with(line, &[], status, says)
    }
}

/// Checks that a failure is one line with a status.
pub(crate) fn check_failure(line: &str, stderr: &str, found: Option<i32>, status: i32, says: &[&str]) {
    assert_eq!(found, Some(status), "{line}: {stderr}");
    assert!(stderr.starts_with("framewright: ") && stderr.ends_with('\n'), "{line}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{line}: {stderr}");
    assert!(!stderr.contains("panicked"), "{line}: {stderr}");
    for word in says {
        assert!(stderr.contains(word), "{line}: {stderr} lacks {word}");
    }
}

/// Luma weights Kr and Kb in ten-thousandths.
pub(crate) const BT601: (i128, i128) = (2990, 1140);
/// The same.
pub(crate) const BT709: (i128, i128) = (2126, 722);
/// The same.
pub(crate) const BT2020: (i128, i128) = (2627, 593);

/// Red, green and blue of a colour, as the standards' formula gives them in exact rationals, half up, then clamped.
pub(crate) fn rgb((kr, kb): (i128, i128), full: bool, [y, cb, cr]: [u8; 3]) -> [u8; 3] {
    const ONE: i128 = 10_000;
    let kg = ONE - kr - kb;
    let (black, luma, chroma) = if full { (0, 255, 255) } else { (16, 219, 224) };
    let (y, cb, cr) = (i128::from(y) - black, i128::from(cb) - 128, i128::from(cr) - 128);
    // Over the denominator luma * chroma * ONE * kg.
    let gray = y * chroma * ONE * kg;
    let red = gray + 2 * (ONE - kr) * cr * luma * kg;
    let blue = gray + 2 * (ONE - kb) * cb * luma * kg;
    let green = gray - 2 * (kb * (ONE - kb) * cb + kr * (ONE - kr) * cr) * luma;
    let denominator = luma * chroma * ONE * kg;
    [red, green, blue].map(|n| (2 * 255 * n + denominator).div_euclid(2 * denominator).clamp(0, 255) as u8)
}

/// The samples of pixel (x, y) of a packed yuv420p frame.
pub(crate) fn sample(frame: &[u8], (w, h): (usize, usize), x: usize, y: usize) -> [u8; 3] {
    let (cw, ch) = (w.div_ceil(2), h.div_ceil(2));
    let chroma = w * h + y / 2 * cw + x / 2;
    [frame[y * w + x], frame[chroma], frame[chroma + cw * ch]]
}

/// A packed yuv420p frame as rgb24, nearest chroma.
pub(crate) fn picture(frame: &[u8], size: (usize, usize), matrix: (i128, i128), full: bool) -> Vec<u8> {
    let (w, h) = size;
    (0..h).flat_map(|y| (0..w).flat_map(move |x| rgb(matrix, full, sample(frame, size, x, y)))).collect()
}

/// A PNG's width, height, channels and bytes, by a decoder that is not ours.
pub(crate) fn png(bytes: &[u8]) -> (usize, usize, usize, Vec<u8>) {
    use zune_png::{PngDecoder, zune_core::bytestream::ZCursor};
    let mut decoder = PngDecoder::new(ZCursor::new(bytes));
    let pixels = decoder.decode_raw().unwrap();
    let (w, h) = decoder.dimensions().unwrap();
    (w, h, decoder.colorspace().unwrap().num_components(), pixels)
}

/// The same colours with blue first.
pub(crate) fn swapped(rgb: &[u8], channels: usize) -> Vec<u8> {
    let mut bgr = rgb.to_vec();
    bgr.chunks_exact_mut(channels).for_each(|pixel| pixel.swap(0, 2));
    bgr
}

/// A packed yuv420p frame whose bytes tell where they are; `seed` makes frames differ.
pub(crate) fn frame((w, h): (usize, usize), seed: usize) -> Vec<u8> {
    let bytes = w * h + 2 * w.div_ceil(2) * h.div_ceil(2);
    (0..bytes).map(|i| (i * 37 + seed * 101 + i / 7) as u8).collect()
}
