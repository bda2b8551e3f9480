//! What frames are read from: a file or stdin, one frame at a time.

use crate::{
    args::ConvertArgs,
    error::Failure,
    formats::FormatId,
    npy,
    shape::{Measure, Shape},
    y4m,
};
use framewright::{ColorInfo, Size};
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Cursor, Read},
    path::Path,
};

/// Memory that is reserved before any byte of a frame has come.
const RESERVED_BYTES: u64 = 64 << 20;

/// What a file is, by its ending or its first bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Container {
    Npy,
    Y4m,
    Raw,
}

/// An open input whose layout is known.
pub(crate) struct Input {
    name: String,
    reader: Box<dyn BufRead>,
    container: Container,
    shape: Shape,
    measure: Measure,
    color: ColorInfo,
    /// How many frames there are, where that is known before they are read.
    count: Option<u64>,
    next: u64,
    header: Option<y4m::Header>,
}

/// The name of a path in messages.
pub(crate) fn display_name(path: &Path, standard: &str) -> String {
    if path == Path::new("-") { standard.into() } else { path.display().to_string() }
}

/// Whether a path ends so, in any case.
pub(crate) fn ends_with(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

/// Checks what can be known from the options alone.
///
/// # Errors
/// A usage failure.
pub(crate) fn check_options(args: &ConvertArgs) -> Result<(), Failure> {
    if let (Some(format), Some(size)) = (args.format, args.size.or(args.coded_size)) {
        shape(args, format, size).measure().map_err(Failure::usage)?;
    }
    if args.input == Path::new("-") {
        return Ok(());
    }
    if ends_with(&args.input, "y4m") {
        return no_padding(args).map_err(Failure::usage);
    }
    if args.format.is_none() {
        let name = args.input.display();
        return Err(Failure::usage(format!("{name} does not say its format, expected --format (as --format yuv420p)")));
    }
    if args.size.is_none() && !ends_with(&args.input, "npy") {
        let name = args.input.display();
        return Err(Failure::usage(format!("{name} holds raw planes, expected --size (as --size 854x480)")));
    }
    Ok(())
}

/// The layout that the options give a frame of `size`.
fn shape(args: &ConvertArgs, format: FormatId, size: Size) -> Shape {
    let visible = args.size.unwrap_or(size);
    let coded_size = args.coded_size.unwrap_or(visible);
    Shape { format, size: visible, coded_size, pitches: args.pitch.clone() }
}

fn no_padding(args: &ConvertArgs) -> Result<(), String> {
    let name = display_name(&args.input, "stdin");
    match (&args.pitch, args.coded_size) {
        (None, None) => Ok(()),
        (Some(_), _) => Err(format!("{name} is .y4m, whose planes have no padding, expected no --pitch")),
        (_, Some(_)) => Err(format!("{name} is .y4m, whose planes have no padding, expected no --coded-size")),
    }
}

impl Input {
    /// Opens what the options name and reads its header.
    ///
    /// # Errors
    /// It cannot be opened, or is not what the options say.
    pub(crate) fn open(args: &ConvertArgs) -> Result<Self, Failure> {
        let name = display_name(&args.input, "stdin");
        let wrong = |e: &dyn std::fmt::Display| Failure::wrong(format!("{name}: {e}"));
        let (reader, container, length): (Box<dyn BufRead>, _, _) = if args.input == Path::new("-") {
            let mut stdin = io::stdin().lock();
            let mut start = Vec::new();
            stdin.by_ref().take(y4m::MAGIC.len() as u64).read_to_end(&mut start).map_err(|e| wrong(&e))?;
            let container = match &start[..] {
                s if s.starts_with(npy::MAGIC) => Container::Npy,
                s if s.starts_with(y4m::MAGIC) => Container::Y4m,
                _ => Container::Raw,
            };
            (Box::new(Cursor::new(start).chain(stdin)), container, None)
        } else {
            let file = File::open(&args.input).map_err(|e| wrong(&e))?;
            let metadata = file.metadata().map_err(|e| wrong(&e))?;
            if metadata.is_dir() {
                return Err(wrong(&"it is a folder, expected a file"));
            }
            let container = match () {
                () if ends_with(&args.input, "npy") => Container::Npy,
                () if ends_with(&args.input, "y4m") => Container::Y4m,
                () => Container::Raw,
            };
            (Box::new(BufReader::with_capacity(1 << 17, file)), container, metadata.is_file().then_some(metadata.len()))
        };
        Self::start(args, name.clone(), reader, container, length).map_err(|e| wrong(&e))
    }

    /// Reads the header; `length` is that of a regular file.
    fn start(
        args: &ConvertArgs,
        name: String,
        mut reader: Box<dyn BufRead>,
        container: Container,
        length: Option<u64>,
    ) -> Result<Self, String> {
        let format = || args.format.ok_or("it does not say its format, expected --format (as --format yuv420p)");
        let (mut color, mut count, mut header) = (ColorInfo::UNSPECIFIED, None, None);
        let (shape, measure) = match container {
            Container::Y4m => {
                no_padding(args)?;
                let read = y4m::Header::read(&mut reader)?;
                if let Some(format) = args.format.filter(|&f| f != read.format) {
                    return Err(format!("its format is {}, expected {format} (--format)", read.format));
                }
                if let Some(size) = args.size.filter(|&s| s != read.size) {
                    return Err(format!("its size is {}, expected {size} (--size)", read.size));
                }
                let shape = Shape::packed(read.format, read.size);
                color = read.color;
                header = Some(read);
                let measure = shape.measure().map_err(|e| e.to_string())?;
                (shape, measure)
            }
            Container::Npy => {
                let head = npy::Header::read(&mut reader)?;
                let frames = npy::frames(&head.shape, format()?)?;
                let shape = shape(args, format()?, frames.size);
                let measure = shape.measure().map_err(|e| e.to_string())?;
                check_array(&shape, &measure, &frames, args)?;
                let data = u128::from(frames.count) * u128::from(frames.frame_bytes);
                let found = length.map(|length| length.saturating_sub(head.data_start));
                if let Some(found) = found.filter(|&found| u128::from(found) != data) {
                    return Err(format!(
                        "data after the header is {found} bytes, expected {data} ({} of {shape})",
                        counted(frames.count)
                    ));
                }
                count = Some(frames.count);
                (shape, measure)
            }
            Container::Raw => {
                let size = args.size.ok_or("it is raw planes (no .npy or .y4m), expected --size (as --size 854x480)");
                let shape = shape(args, format()?, size?);
                let measure = shape.measure().map_err(|e| e.to_string())?;
                if let Some(length) = length {
                    count = Some(raw_count(length, &shape, &measure)?);
                }
                (shape, measure)
            }
        };
        Ok(Self { name, reader, container, shape, measure, color, count, next: 0, header })
    }

    /// As messages name it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How its frames lie.
    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// What it says of its colours.
    pub(crate) fn color(&self) -> ColorInfo {
        self.color
    }

    /// How many frames it has, where that is known.
    pub(crate) fn count(&self) -> Option<u64> {
        self.count
    }

    /// The header of a `.y4m`.
    pub(crate) fn y4m_header(&self) -> Option<&y4m::Header> {
        self.header.as_ref()
    }

    /// Reads the next frame into `frame`; `false` where there is none.
    ///
    /// # Errors
    /// The frame is cut short, or cannot be read.
    pub(crate) fn read(&mut self, frame: &mut Vec<u8>) -> Result<bool, Failure> {
        frame.clear();
        if self.count == Some(self.next) {
            return Ok(false);
        }
        let at = |e: &dyn std::fmt::Display| Failure::wrong(format!("{}: frame {}: {e}", self.name, self.next));
        if self.container == Container::Y4m && !y4m::frame_line(&mut self.reader).map_err(|e| at(&e))? {
            return Ok(false);
        }
        let Measure { full_bytes, least_bytes, .. } = self.measure;
        let first = usize::try_from(full_bytes.min(RESERVED_BYTES)).unwrap_or(usize::MAX);
        let no_memory = || at(&format!("{full_bytes} bytes could not be allocated, expected a smaller frame"));
        frame.try_reserve(first).map_err(|_| no_memory())?;
        let read = self.reader.by_ref().take(full_bytes).read_to_end(frame);
        let found = read.map_err(|e| if e.kind() == io::ErrorKind::OutOfMemory { no_memory() } else { at(&e) })? as u64;
        if found == 0 && self.container == Container::Raw {
            return Ok(false);
        }
        // A last row may lack its padding, but only a raw file's.
        let enough = if self.container == Container::Raw { least_bytes } else { full_bytes };
        if found < enough {
            return Err(at(&format!("it has {found} bytes, expected {full_bytes} ({})", self.shape)));
        }
        self.next += 1;
        Ok(true)
    }
}

/// A count of frames in words.
pub(crate) fn counted(frames: u64) -> String {
    if frames == 1 { "1 frame".into() } else { format!("{frames} frames") }
}

/// Checks that an array's frames are as long as the options say, and its rows too.
fn check_array(shape: &Shape, measure: &Measure, frames: &npy::Frames, args: &ConvertArgs) -> Result<(), String> {
    if args.pitch.is_none() && shape.coded_size != frames.size {
        return Err(format!("its array is {} {}, expected {}", shape.format, frames.size, shape.coded_size));
    }
    if measure.first_pitch_bytes.unsigned_abs() != frames.row_bytes {
        return Err(format!(
            "rows of its array are {} bytes, expected {} (--pitch)",
            frames.row_bytes,
            measure.first_pitch_bytes.unsigned_abs()
        ));
    }
    if measure.full_bytes != frames.frame_bytes {
        return Err(format!(
            "its array has {} bytes a frame, expected {} ({shape})",
            frames.frame_bytes, measure.full_bytes
        ));
    }
    Ok(())
}

/// The frames in `length` bytes of raw planes.
fn raw_count(length: u64, shape: &Shape, measure: &Measure) -> Result<u64, String> {
    let Measure { full_bytes, least_bytes, .. } = *measure;
    let (whole, rest) = (length / full_bytes, length % full_bytes);
    match (whole, rest) {
        (whole @ 1.., 0) => Ok(whole),
        (whole, rest) if rest >= least_bytes => Ok(whole + 1),
        (0, _) => Err(format!("it has {length} bytes, expected {full_bytes} a frame ({shape})")),
        _ => Err(format!(
            "it has {length} bytes, expected a multiple of {full_bytes} ({shape}; found {} and {rest} bytes)",
            counted(whole)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_files_hold_whole_frames_and_the_last_padding_may_lack() {
        let size = Size::fixed::<4, 2>();
        let shape = Shape { pitches: Some(crate::values::Pitches(vec![6])), ..Shape::packed(FormatId::Gray8, size) };
        let measure = shape.measure().unwrap();
        let count = |length| raw_count(length, &shape, &measure);
        assert_eq!((count(12), count(10), count(24), count(22)), (Ok(1), Ok(1), Ok(2), Ok(2)));
        assert_eq!(count(9).unwrap_err(), "it has 9 bytes, expected 12 a frame (gray 4x2 with pitch 6)");
        assert!(count(0).is_err());
        assert!(count(13).unwrap_err().ends_with("found 1 frame and 1 bytes)"));
    }
}
