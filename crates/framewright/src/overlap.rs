//! Whether two planes share a byte: exact, and without allocating.

/// The rows of a plane in memory: start of the lowest, bytes from row to row, bytes of a row, rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    low: u64,
    pitch: u64,
    row_bytes: u64,
    rows: u64,
}

impl Extent {
    pub(crate) fn new(first_row: *const u8, pitch_bytes: i64, row_bytes: u32, rows: u32) -> Self {
        let (pitch, rows) = (pitch_bytes.unsigned_abs(), u64::from(rows));
        let first = first_row as u64;
        let low = if pitch_bytes < 0 { first.wrapping_sub(pitch * (rows - 1)) } else { first };
        Self { low, pitch, row_bytes: row_bytes.into(), rows }
    }

    fn end(&self) -> u64 {
        self.low + self.pitch * (self.rows - 1) + self.row_bytes
    }

    /// Whether any byte is in both.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        if self.low >= other.end() || other.low >= self.end() {
            return false;
        }
        // Rows are sorted by address in both, so one walk over both lists finds a common byte.
        let (mut i, mut j) = (0, 0);
        while i < self.rows && j < other.rows {
            let (a, b) = (self.low + i * self.pitch, other.low + j * other.pitch);
            if a + self.row_bytes <= b {
                // Skip all rows that end before b.
                i += ((b - a - self.row_bytes) / self.pitch.max(1) + 1).max(1);
            } else if b + other.row_bytes <= a {
                j += ((a - b - other.row_bytes) / other.pitch.max(1) + 1).max(1);
            } else {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(e: &Extent) -> Vec<u64> {
        (0..e.rows).flat_map(|r| (0..e.row_bytes).map(move |x| e.low + r * e.pitch + x)).collect()
    }

    #[test]
    fn agrees_with_the_list_of_bytes() {
        let mut cases = (0, 0);
        let a = Extent::new(1000 as *const u8, 7, 3, 4);
        for low in 960..1040u64 {
            for (pitch, row, rows) in [(7i64, 3u32, 4u32), (7, 4, 1), (5, 2, 6), (-7, 3, 4), (14, 4, 2), (3, 3, 5)] {
                let b = Extent::new(low as *const u8, pitch, row, rows);
                let mine = bytes(&a);
                let expected = bytes(&b).iter().any(|x| mine.contains(x));
                assert_eq!(a.overlaps(&b), expected, "{a:?} {b:?}");
                assert_eq!(b.overlaps(&a), expected, "{b:?} {a:?}");
                if expected { cases.0 += 1 } else { cases.1 += 1 }
            }
        }
        assert!(cases.0 > 100 && cases.1 > 100, "{cases:?}");
    }
}
