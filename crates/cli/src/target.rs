//! Where bytes are written so that a file appears whole or not at all.
//!
//! A regular or absent file is written aside, in the same folder, and renamed when it is finished; a link to one stays a
//! link. Devices, pipes and stdout are written straight.

use crate::signals;
use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, BufWriter, Seek, SeekFrom, Write},
    os::{fd::AsFd, unix::fs::PermissionsExt},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// As many links lead to links as Linux follows.
const MOST_LINKS: usize = 40;

/// An output that is being written. Dropped before [`Target::commit`], a file written aside goes away.
pub(crate) struct Target {
    sink: BufWriter<Sink>,
}

enum Sink {
    Straight(File),
    Aside(Aside),
}

struct Aside {
    file: NamedTempFile,
    path: PathBuf,
    /// The removal on a signal that ends with this.
    _guard: signals::Guard,
}

impl Target {
    /// Opens what `path` names; `-` is stdout.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        // Not through `io::Stdout`, which looks for lines.
        let sink = match path == Path::new("-") {
            true => Sink::Straight(io::stdout().as_fd().try_clone_to_owned()?.into()),
            false => Sink::open(path)?,
        };
        Ok(Self { sink: BufWriter::with_capacity(1 << 16, sink) })
    }

    /// Whether the start can be written again at the end.
    pub(crate) fn can_seek(&self) -> bool {
        matches!(self.sink.get_ref(), Sink::Aside(_))
    }

    /// Writes the first bytes again.
    ///
    /// # Errors
    /// It cannot be sought or written.
    pub(crate) fn rewrite_start(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.flush()?;
        match self.sink.get_mut() {
            Sink::Aside(aside) => {
                aside.file.seek(SeekFrom::Start(0))?;
                aside.file.write_all(bytes)
            }
            _ => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    /// Finishes the file and puts it in its place.
    ///
    /// # Errors
    /// The last bytes cannot be written, or the file not renamed; then there is none.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        self.sink.flush()?;
        // What is buffered has been written.
        match self.sink.into_parts().0 {
            Sink::Straight(_) => Ok(()),
            Sink::Aside(aside) => aside.file.persist(&aside.path).map(drop).map_err(|e| e.error),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Straight(file) => file.write(bytes),
            Self::Aside(aside) => aside.file.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Straight(file) => file.flush(),
            Self::Aside(aside) => aside.file.flush(),
        }
    }
}

impl Sink {
    fn open(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            // Links of the system, such as /dev/stdout, lead to what is already open.
            Ok(metadata) if !metadata.is_file() || path.starts_with("/dev/") || path.starts_with("/proc/") => {
                Ok(Self::Straight(OpenOptions::new().write(true).open(path)?))
            }
            Ok(metadata) => {
                let path = follow_links(path)?;
                // A file that may not be written is not to be replaced either.
                OpenOptions::new().write(true).open(&path)?;
                Self::aside(path, metadata.permissions(), true)
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Self::aside(follow_links(path)?, Permissions::from_mode(0o666), false)
            }
            Err(e) => Err(e),
        }
    }

    fn aside(path: PathBuf, permissions: Permissions, exactly: bool) -> io::Result<Self> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let guard = signals::Guard::start();
        // The mode is what the process's umask leaves of it.
        let mut builder = tempfile::Builder::new();
        builder.prefix(".framewright-").suffix(".part").permissions(permissions.clone());
        let file = guard.make(|| builder.tempfile_in(folder)).map_err(|e| e.into_plain(folder))?;
        if exactly {
            file.as_file().set_permissions(permissions)?;
        }
        Ok(Self::Aside(Aside { file, path, _guard: guard }))
    }
}

/// The file that a link leads to at last; it need not exist.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links lead to links"))
}

/// The error without the path that `tempfile` adds, which is of a file that nobody knows.
trait IntoPlain {
    fn into_plain(self, folder: &Path) -> io::Error;
}

impl IntoPlain for io::Error {
    fn into_plain(self, folder: &Path) -> io::Error {
        let kind = self.kind();
        let text = match std::error::Error::source(&self).map(ToString::to_string) {
            Some(text) => text,
            None => kind.to_string(),
        };
        io::Error::new(kind, format!("folder {} cannot be written to: {text}", folder.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.raw");
        let mut target = Target::open(&path).unwrap();
        target.write_all(&[1; 100_000]).unwrap();
        assert!(!path.exists());
        drop(target);
        assert!(names(folder.path()).is_empty());

        let mut target = Target::open(&path).unwrap();
        target.write_all(b"aaaaa").unwrap();
        target.rewrite_start(b"bb").unwrap();
        target.commit().unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"bbaaa".to_vec(), vec!["a.raw".to_owned()]));
    }

    #[test]
    fn modes_and_links_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link, chain) = (folder.path().join("a"), folder.path().join("link"), folder.path().join("chain"));
        symlink("a", &link).unwrap();
        symlink(&link, &chain).unwrap();
        // A link that leads nowhere yet; a new file has the mode that others get.
        let write = |path: &Path, text: &[u8]| {
            let mut target = Target::open(path).unwrap();
            target.write_all(text).unwrap();
            target.commit().unwrap();
        };
        write(&chain, b"1");
        let other = folder.path().join("other");
        fs::write(&other, b"").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&other));
        fs::set_permissions(&path, Permissions::from_mode(0o602)).unwrap();
        write(&link, b"2");
        assert_eq!((fs::read(&path).unwrap(), mode(&path) & 0o777), (b"2".to_vec(), 0o602));
        assert!(
            fs::symlink_metadata(&link).unwrap().is_symlink() && fs::symlink_metadata(&chain).unwrap().is_symlink()
        );
        assert_eq!(names(folder.path()), ["a", "chain", "link", "other"]);

        symlink("round", folder.path().join("round")).unwrap();
        assert!(Target::open(&folder.path().join("round")).is_err());
    }

    #[test]
    fn devices_are_written_straight() {
        let mut target = Target::open(Path::new("/dev/null")).unwrap();
        assert!(!target.can_seek());
        target.write_all(b"x").unwrap();
        assert!(target.rewrite_start(b"y").is_err());
        target.commit().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
