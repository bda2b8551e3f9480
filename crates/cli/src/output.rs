//! What frames are written to: one file, one file a frame, or stdout.

use crate::{
    args::ConvertArgs,
    error::Failure,
    formats::FormatId,
    input::{display_name, ends_with},
    npy,
    pattern::Pattern,
    picture,
    shape::Shape,
    target::Target,
    values::Frames,
    y4m,
};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

/// What a file is, by its ending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Container {
    /// A picture.
    Png,
    /// NumPy's array.
    Npy,
    /// YUV4MPEG2.
    Y4m,
    /// Packed planes.
    Raw,
}

impl Container {
    /// What `path` ends with.
    pub(crate) fn of(path: &Path) -> Self {
        match () {
            () if ends_with(path, "png") => Self::Png,
            () if ends_with(path, "npy") => Self::Npy,
            () if ends_with(path, "y4m") => Self::Y4m,
            () => Self::Raw,
        }
    }

    /// `--to` where it is left out.
    pub(crate) fn default_format(self, from: FormatId) -> FormatId {
        match self {
            Self::Png if from.is_yuv() => FormatId::Rgb8,
            Self::Png | Self::Y4m => from,
            Self::Npy | Self::Raw => FormatId::Bgr8,
        }
    }

    /// Checks that it can hold frames of this format and size.
    ///
    /// # Errors
    /// It cannot, in words.
    pub(crate) fn check(self, shape: &Shape) -> Result<(), String> {
        match self {
            Self::Png => picture::check(shape),
            Self::Npy => npy::shape(shape.format, shape.size).map(drop),
            Self::Y4m if !y4m::holds(shape.format) => {
                Err(format!("a .y4m holds no {}, expected --to yuv420p or gray, or another ending", shape.format))
            }
            Self::Y4m | Self::Raw => Ok(()),
        }
    }
}

/// Checks what can be known from the options alone.
///
/// # Errors
/// A usage failure.
pub(crate) fn check_options(args: &ConvertArgs) -> Result<(), Failure> {
    let pattern = Pattern::parse(&args.output)?;
    let single = args.frames.unwrap_or(Frames::FIRST).is_single();
    let container = Container::of(&args.output);
    if container == Container::Png && pattern.is_none() && !single {
        let name = args.output.display();
        return Err(Failure::usage(format!("{name} holds one frame, expected %04d in its name for several frames")));
    }
    if let Some(to) = args.to.filter(|_| container != Container::Npy) {
        let any = Shape::packed(to, framewright::Size::fixed::<2, 2>());
        container.check(&any).map_err(|e| Failure::usage(format!("{}: {e}", args.output.display())))?;
    }
    Ok(())
}

/// An open output.
pub(crate) struct Output {
    path: PathBuf,
    container: Container,
    pattern: Option<Pattern>,
    shape: Shape,
    header: Option<y4m::Header>,
    /// Whether an array has an axis of frames.
    stacked: bool,
    target: Option<Target>,
    written: u64,
    /// The first and the last file of a set.
    finished: Option<(PathBuf, PathBuf)>,
}

impl Output {
    /// Opens what `path` names for frames of `shape`; where there is one file a frame, they are opened later.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn open(path: &Path, shape: Shape, header: y4m::Header, single: bool) -> Result<Self, Failure> {
        let pattern = Pattern::parse(path)?;
        let container = Container::of(path);
        let mut output = Self {
            path: path.to_path_buf(),
            container,
            stacked: container == Container::Npy && pattern.is_none() && !single,
            pattern,
            shape,
            header: (container == Container::Y4m).then_some(header),
            target: None,
            written: 0,
            finished: None,
        };
        if output.pattern.is_none() {
            output.target = Some(output.start(path)?);
        }
        Ok(output)
    }

    /// Opens a file and writes its header.
    fn start(&self, path: &Path) -> Result<Target, Failure> {
        let mut target = Target::open(path).map_err(|e| at(path, &e))?;
        if self.stacked && !target.can_seek() {
            let name = path.display();
            return Err(Failure::wrong(format!(
                "{name} is no regular file, expected one: the count of frames in an .npy is written at the end"
            )));
        }
        let header = match (self.container, &self.header) {
            (Container::Npy, _) => self.npy_header(0)?,
            (_, Some(header)) => header.line().into_bytes(),
            _ => Vec::new(),
        };
        target.write_all(&header).map_err(|e| at(path, &e))?;
        Ok(target)
    }

    fn npy_header(&self, count: u64) -> Result<Vec<u8>, Failure> {
        let mut axes = npy::shape(self.shape.format, self.shape.size).map_err(Failure::wrong)?;
        if self.stacked {
            axes.insert(0, count);
        }
        Ok(npy::header(&axes))
    }

    /// Writes a packed frame, which may be changed on the way; `number` names its file in a set.
    ///
    /// # Errors
    /// It cannot be written; a file of its own is then not there.
    pub(crate) fn write(&mut self, number: u64, frame: &mut [u8]) -> Result<(), Failure> {
        if let Some(pattern) = &self.pattern {
            let path = pattern.path(number);
            let mut target = self.start(&path)?;
            self.put(&path, &mut target, frame)?;
            target.commit().map_err(|e| at(&path, &e))?;
            let first = self.finished.take().map_or(path.clone(), |(first, _)| first);
            self.finished = Some((first, path));
        } else if let Some(mut target) = self.target.take() {
            self.put(&self.path, &mut target, frame)?;
            self.target = Some(target);
        }
        self.written += 1;
        Ok(())
    }

    fn put(&self, path: &Path, target: &mut Target, frame: &mut [u8]) -> Result<(), Failure> {
        let write = |target: &mut Target, bytes: &[u8]| target.write_all(bytes).map_err(|e| at(path, &e));
        match self.container {
            Container::Png => picture::write(&self.shape, frame, target)
                .map_err(|e| Failure::wrong(format!("{}: {e}", path.display()))),
            Container::Y4m => write(target, b"FRAME\n").and_then(|()| write(target, frame)),
            Container::Npy | Container::Raw => write(target, frame),
        }
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// It cannot be finished.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let Some(mut target) = self.target.take() else { return Ok(()) };
        if self.stacked {
            let header = self.npy_header(self.written)?;
            target.rewrite_start(&header).map_err(|e| at(&self.path, &e))?;
        }
        target.commit().map_err(|e| at(&self.path, &e))
    }

    /// The files of a set that are finished, in words.
    pub(crate) fn finished(&self) -> Option<String> {
        let (first, last) = self.finished.as_ref()?;
        Some(match first == last {
            true => format!("finished before and kept: {}", first.display()),
            false => format!("finished before and kept: {} to {}", first.display(), last.display()),
        })
    }
}

/// A failure to write `path`.
fn at(path: &Path, error: &io::Error) -> Failure {
    let name = display_name(path, "stdout");
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::wrong(format!("{name}: the reader has closed the pipe")),
        _ => Failure::wrong(format!("{name}: cannot be written: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_left_out_are_rgb_for_pictures_the_inputs_for_y4m_else_bgr24() {
        let default = |path, from| Container::of(Path::new(path)).default_format(from);
        assert_eq!(default("a.PNG", FormatId::Nv12), FormatId::Rgb8);
        assert_eq!(default("a.png", FormatId::Gray8), FormatId::Gray8);
        assert_eq!(default("a.png", FormatId::Bgra8), FormatId::Bgra8);
        assert_eq!(default("a.y4m", FormatId::Yuv420p8), FormatId::Yuv420p8);
        assert_eq!(default("a.npy", FormatId::Yuv420p8), FormatId::Bgr8);
        assert_eq!(default("-", FormatId::Nv12), FormatId::Bgr8);
    }
}
