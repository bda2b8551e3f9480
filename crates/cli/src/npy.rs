//! NumPy's `.npy`: the header, and which array a frame is.
//!
//! A frame of 4:2:0 is an array of (h * 3/2, w), as PyAV gives it: luma rows, then the chroma bytes in rows of the same
//! length. Interleaved channels are (h, w, c), one channel (h, w); planes of full size are (c, h, w). Several frames have a
//! leading axis.

use crate::{formats::FormatId, values::checked_size};
use framewright::{ScalarKind, Size, Step};
use std::io::{self, Read};

/// What an `.npy` begins with.
pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// No header of an image is longer.
const LONGEST_HEADER: u32 = 64 * 1024;
/// Bytes of the headers that we write, which leave room for any count of frames.
const HEADER_BYTES: usize = 128;

/// How the frames of a format lie in an array, without the axis of frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Axes {
    /// (h, w), or (h, w, 1), or (1, h, w).
    Single,
    /// (h, w, c).
    Interleaved(u64),
    /// (c, h, w).
    Planar(u64),
    /// (h * 3/2, w).
    Halved,
}

impl Axes {
    /// `None` where no array holds frames of the format.
    fn of(format: FormatId) -> Option<Self> {
        let planes = format.planes();
        if planes.iter().any(|plane| plane.scalar != ScalarKind::U8) {
            return None;
        }
        let full = |step: Step| (step.x, step.y) == (1, 1);
        let channels = |planes: &[framewright::PlaneInfo]| planes.iter().map(|p| p.channels.len()).sum::<usize>();
        match planes {
            [one] if one.channels.len() == 1 && full(one.step) => Some(Self::Single),
            [one] if full(one.step) => Some(Self::Interleaved(one.channels.len() as u64)),
            [luma, chroma @ ..]
                if full(luma.step)
                    && luma.channels.len() == 1
                    && channels(chroma) == 2
                    && chroma.iter().all(|plane| (plane.step.x, plane.step.y) == (2, 2)) =>
            {
                Some(Self::Halved)
            }
            many if many.iter().all(|p| full(p.step) && p.channels.len() == 1) => Some(Self::Planar(many.len() as u64)),
            _ => None,
        }
    }

    fn words(self) -> String {
        match self {
            Self::Single => "(h, w)".into(),
            Self::Interleaved(c) => format!("(h, w, {c})"),
            Self::Planar(c) => format!("({c}, h, w)"),
            Self::Halved => "(h*3/2, w)".into(),
        }
    }
}

/// The frames of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Frames {
    /// The size of each.
    pub(crate) size: Size,
    /// How many.
    pub(crate) count: u64,
    /// Bytes of a row of the array.
    pub(crate) row_bytes: u64,
    /// Bytes of each.
    pub(crate) frame_bytes: u64,
}

fn tuple(shape: &[u64]) -> String {
    let numbers: Vec<_> = shape.iter().map(u64::to_string).collect();
    match &numbers[..] {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    }
}

/// The frames of `format` in an array of `shape`.
///
/// # Errors
/// What the shape must be instead, in words.
pub(crate) fn frames(shape: &[u64], format: FormatId) -> Result<Frames, String> {
    let axes = Axes::of(format).ok_or_else(|| format!("{format} is no array of uint8, expected another format"))?;
    let wrong = || {
        format!(
            "shape is {}, expected {} for {format}, or the same after an axis of frames",
            tuple(shape),
            axes.words()
        )
    };
    let (count, rows, columns, channels) = match (axes, shape) {
        (Axes::Single, &[1, h, w]) if w != 1 => (1, h, w, 1),
        (Axes::Single, &[h, w] | &[h, w, 1]) => (1, h, w, 1),
        (Axes::Single, &[n, h, w] | &[n, h, w, 1] | &[n, 1, h, w]) => (n, h, w, 1),
        (Axes::Interleaved(c), &[h, w, last]) if last == c => (1, h, w, c),
        (Axes::Interleaved(c), &[n, h, w, last]) if last == c => (n, h, w, c),
        (Axes::Planar(c), &[first, h, w]) if first == c => (1, h, w, c),
        (Axes::Planar(c), &[n, first, h, w]) if first == c => (n, h, w, c),
        (Axes::Halved, &[rows, w]) => (1, rows, w, 1),
        (Axes::Halved, &[n, rows, w]) => (n, rows, w, 1),
        _ => return Err(wrong()),
    };
    let height = if axes == Axes::Halved {
        if columns % 2 != 0 {
            return Err(format!("shape is {}, expected an even width for {format} in an array", tuple(shape)));
        }
        // h + (h + 1) / 2 rows: 3/2 h where h is even, and one row of chroma more where it is odd.
        match rows % 3 {
            0 => rows / 3 * 2,
            2 => rows / 3 * 2 + 1,
            _ => {
                return Err(format!(
                    "shape is {}, expected h*3/2 rows for {format}, so 0 or 2 beyond a multiple of 3",
                    tuple(shape)
                ));
            }
        }
    } else {
        rows
    };
    let size = checked_size(columns, height).map_err(|e| format!("shape is {}: {e}", tuple(shape)))?;
    let row_bytes = if matches!(axes, Axes::Planar(_)) { columns } else { columns * channels };
    // Sides are below 2^28 and channels few.
    Ok(Frames { size, count, row_bytes, frame_bytes: rows * columns * channels })
}

/// The shape of an array that holds a frame.
///
/// # Errors
/// What cannot be said in an array, and what to do.
pub(crate) fn shape(format: FormatId, size: Size) -> Result<Vec<u64>, String> {
    let (w, h) = (u64::from(size.width()), u64::from(size.height()));
    match Axes::of(format) {
        Some(Axes::Single) => Ok(vec![h, w]),
        Some(Axes::Interleaved(c)) => Ok(vec![h, w, c]),
        Some(Axes::Planar(c)) => Ok(vec![c, h, w]),
        Some(Axes::Halved) if w % 2 == 0 && h % 2 == 0 => Ok(vec![h * 3 / 2, w]),
        Some(Axes::Halved) => Err(format!(
            "{format} of {size} is no array of (h*3/2, w), expected even sides: --crop to an even size, or write raw planes (another ending than .npy)"
        )),
        None => Err(format!("{format} is no array of uint8, expected another format or raw planes")),
    }
}

/// The header of an array of bytes in C order.
pub(crate) fn header(shape: &[u64]) -> Vec<u8> {
    let mut text = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {}, }}", tuple(shape));
    let room = HEADER_BYTES - MAGIC.len() - 4;
    while text.len() + 1 < room {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = Vec::from(MAGIC);
    bytes.extend([1, 0]);
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

/// What a header says of its array: the shape, and how many bytes come before the data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    /// Elements an axis.
    pub(crate) shape: Vec<u64>,
    /// Where the data starts.
    pub(crate) data_start: u64,
}

impl Header {
    /// Reads a header to its end.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(crate) fn read(reader: &mut impl Read) -> Result<Self, String> {
        let mut start = [0; 8];
        read(reader, &mut start, "it begins")?;
        if !start.starts_with(MAGIC) {
            return Err(format!(
                "it begins with \"{}\", expected \"\\x93NUMPY\" of an .npy file",
                start[..6].escape_ascii()
            ));
        }
        let (length, before) = match start[6] {
            1 => {
                let mut length = [0; 2];
                read(reader, &mut length, "header")?;
                (u32::from(u16::from_le_bytes(length)), 10)
            }
            2 | 3 => {
                let mut length = [0; 4];
                read(reader, &mut length, "header")?;
                (u32::from_le_bytes(length), 12)
            }
            version => return Err(format!(".npy version is {version}, expected 1, 2 or 3")),
        };
        if length > LONGEST_HEADER {
            return Err(format!("header is {length} bytes, expected at most {LONGEST_HEADER}"));
        }
        let mut text = vec![0; length as usize];
        read(reader, &mut text, "header")?;
        let fields = Fields::parse(&text).ok_or_else(|| {
            let head = &text[..text.len().min(60)];
            let head = String::from_utf8_lossy(head);
            format!("header is \"{head}\", expected a dictionary of descr, fortran_order and shape")
        })?;
        if !matches!(fields.descr.as_str(), "|u1" | "u1" | "<u1" | ">u1" | "=u1") {
            return Err(format!("elements are '{}', expected '|u1' (uint8)", fields.descr));
        }
        if fields.fortran_order {
            return Err("elements are in Fortran order, expected C order (numpy.ascontiguousarray)".into());
        }
        let shape = fields.shape.map_err(|found| format!("shape is ({found}), expected whole numbers below 2^64"))?;
        Ok(Self { shape, data_start: before + u64::from(length) })
    }
}

fn read(reader: &mut impl Read, into: &mut [u8], what: &str) -> Result<(), String> {
    let wanted = into.len();
    reader.read_exact(into).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            format!("{what} in an .npy header that is cut short, expected {wanted} bytes more")
        }
        _ => error.to_string(),
    })
}

/// The dictionary of a header.
struct Fields {
    descr: String,
    fortran_order: bool,
    /// Elements an axis, or what is there instead.
    shape: Result<Vec<u64>, String>,
}

impl Fields {
    /// Reads `{'descr': '|u1', 'fortran_order': False, 'shape': (720, 854), }` in any order.
    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let mut fields = Self { descr: String::new(), fortran_order: false, shape: Ok(Vec::new()) };
        let mut seen = [false; 3];
        while !rest.is_empty() {
            let (key, after) = string(rest)?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            let slot;
            (slot, rest) = match key {
                "descr" => {
                    let (descr, after) = string(value)?;
                    fields.descr = descr.to_owned();
                    (0, after)
                }
                "fortran_order" => match (value.strip_prefix("False"), value.strip_prefix("True")) {
                    (Some(after), _) => (1, after),
                    (_, Some(after)) => {
                        fields.fortran_order = true;
                        (1, after)
                    }
                    _ => return None,
                },
                "shape" => {
                    let (inside, after) = value.strip_prefix('(')?.split_once(')')?;
                    fields.shape = numbers(inside).ok_or_else(|| inside.to_owned());
                    (2, after)
                }
                _ => return None,
            };
            if std::mem::replace(&mut seen[slot], true) {
                return None;
            }
            rest = rest.trim_start();
            rest = match rest.strip_prefix(',') {
                Some(after) => after.trim_start(),
                None if rest.is_empty() => rest,
                None => return None,
            };
        }
        (seen == [true; 3]).then_some(fields)
    }
}

/// A quoted string at the start of `text`, and what follows.
fn string(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// The numbers of a tuple; Python 2 wrote an L after long ones.
fn numbers(inside: &str) -> Option<Vec<u64>> {
    let inside = inside.trim();
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    if inside.is_empty() {
        return Some(Vec::new());
    }
    inside.split(',').map(|n| n.trim().trim_end_matches('L').parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_text(version: u8, text: &str) -> Vec<u8> {
        let mut bytes = Vec::from(MAGIC);
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend((text.len() as u16).to_le_bytes()),
            _ => bytes.extend((text.len() as u32).to_le_bytes()),
        }
        bytes.extend(text.as_bytes());
        bytes
    }

    #[test]
    fn headers_of_all_versions_are_read_and_ours_is_64_aligned() {
        let text = "{'descr': '|u1', 'fortran_order': False, 'shape': (720, 854), }  \n";
        for version in 1..=3 {
            let header = Header::read(&mut &with_text(version, text)[..]).unwrap();
            assert_eq!(header.shape, [720, 854]);
            assert_eq!(header.data_start, text.len() as u64 + if version == 1 { 10 } else { 12 });
        }
        let ours = header(&[u64::MAX, 1 << 28, 1 << 27, 4]);
        assert_eq!(ours.len(), HEADER_BYTES);
        let read = Header::read(&mut &ours[..]).unwrap();
        assert_eq!((read.shape, read.data_start), (vec![u64::MAX, 1 << 28, 1 << 27, 4], 128));
    }

    #[test]
    fn wrong_headers_say_what_was_expected() {
        let error = |bytes: &[u8]| Header::read(&mut &bytes[..]).unwrap_err();
        assert!(error(b"YUV4MPEG2 W2").contains("begins with \"YUV4MP\", expected \"\\x93NUMPY\""));
        assert!(error(b"\x93NUM").contains("cut short"));
        assert!(error(&with_text(4, "{}")).contains("version is 4"));
        assert!(error(&with_text(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}")).contains("'<f4'"));
        assert!(error(&with_text(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2,)}")).contains("Fortran"));
        for text in ["", "{", "{}", "{'descr': '|u1'}", "{'descr': '|u1', 'fortran_order': False, 'shape': 3}"] {
            assert!(error(&with_text(2, text)).contains("expected a dictionary"), "{text}");
        }
        for shape in ["-1, 2", "2, 18446744073709551616", "x", "1,,2"] {
            let text = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({shape})}}");
            assert!(error(&with_text(1, &text)).starts_with(&format!("shape is ({shape}), expected whole")), "{shape}");
        }
        let twice = "{'shape': (1,), 'descr': '|u1', 'fortran_order': False, 'shape': (2,)}";
        assert!(error(&with_text(2, twice)).contains("expected a dictionary"));
        let mut long = Vec::from(MAGIC);
        long.extend([2, 0, 255, 255, 255, 255]);
        assert_eq!(error(&long), "header is 4294967295 bytes, expected at most 65536");
    }

    #[test]
    fn shapes_give_sizes() {
        let size = |shape: &[u64], format| frames(shape, format).map(|f| (f.size.width(), f.size.height(), f.count));
        use FormatId::{Bgr8, Gray8, Nv12, Yuv420p8};
        assert_eq!(size(&[720, 854], Yuv420p8), Ok((854, 480, 1)));
        assert_eq!(size(&[7, 720, 854], Nv12), Ok((854, 480, 7)));
        assert_eq!(size(&[8, 6], Yuv420p8), Ok((6, 5, 1))); // 5 + 3 rows
        assert_eq!(size(&[4, 6, 3], Bgr8), Ok((6, 4, 1)));
        assert_eq!(size(&[9, 4, 6, 3], Bgr8), Ok((6, 4, 9)));
        assert_eq!(size(&[4, 6], Gray8), Ok((6, 4, 1)));
        assert_eq!(size(&[4, 6, 1], Gray8), Ok((6, 4, 1)));
        assert_eq!(size(&[9, 4, 6], Gray8), Ok((6, 4, 9)));
        for (shape, format) in [
            (&[721, 854][..], Yuv420p8),
            (&[720, 853], Yuv420p8),
            (&[3, 4, 6], Bgr8),
            (&[4, 6], Bgr8),
            (&[4], Gray8),
            (&[], Gray8),
            (&[0, 854], Yuv420p8),
            (&[1 << 32, 1 << 31], Gray8),
            (&[u64::MAX, u64::MAX], Gray8),
            (&[u64::MAX - 1, 1 << 63], Yuv420p8),
        ] {
            let error = frames(shape, format).unwrap_err();
            assert!(error.starts_with("shape is (") && error.contains("expected"), "{error}");
        }
    }

    #[test]
    fn odd_frames_of_subsampled_chroma_are_no_array() {
        assert_eq!(shape(FormatId::Yuv420p8, Size::fixed::<854, 480>()), Ok(vec![720, 854]));
        assert_eq!(shape(FormatId::Bgr8, Size::fixed::<5, 3>()), Ok(vec![3, 5, 3]));
        assert!(shape(FormatId::Nv12, Size::fixed::<5, 4>()).unwrap_err().contains("--crop"));
        assert!(shape(FormatId::Nv12, Size::fixed::<4, 5>()).is_err());
    }
}
