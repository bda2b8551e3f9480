//! Names of many files: `%04d` in OUTPUT stands for a frame's number.

use crate::error::Failure;
use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

/// More digits are a slip of the keyboard.
const MOST_DIGITS: usize = 20;

/// A path with one number in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pattern {
    before: Vec<u8>,
    digits: usize,
    after: Vec<u8>,
}

impl Pattern {
    /// The pattern in a path; `None` where there is none.
    ///
    /// # Errors
    /// There are several, or it has too many digits.
    pub(crate) fn parse(path: &Path) -> Result<Option<Self>, Failure> {
        let bytes = path.as_os_str().as_bytes();
        let Some((start, end, digits)) = find(bytes, 0) else { return Ok(None) };
        if find(bytes, end).is_some() {
            return Err(Failure::usage(format!("{} has several %d, expected one", path.display())));
        }
        if digits > MOST_DIGITS {
            return Err(Failure::usage(format!(
                "{} has a number of {digits} digits, expected at most {MOST_DIGITS}",
                path.display()
            )));
        }
        Ok(Some(Self { before: bytes[..start].into(), digits, after: bytes[end..].into() }))
    }

    /// The path for a number.
    pub(crate) fn path(&self, number: u64) -> PathBuf {
        let mut name = self.before.clone();
        name.extend(format!("{number:0digits$}", digits = self.digits).as_bytes());
        name.extend(&self.after);
        PathBuf::from(OsString::from_vec(name))
    }
}

/// Start, end and digits of the first `%d` or `%0Nd` from `from` on.
fn find(bytes: &[u8], from: usize) -> Option<(usize, usize, usize)> {
    (from..bytes.len()).filter(|&i| bytes[i] == b'%').find_map(|start| {
        let digits: Vec<u8> = bytes[start + 1..].iter().copied().take_while(u8::is_ascii_digit).collect();
        let end = start + 1 + digits.len();
        let number = match &digits[..] {
            [] => 1,
            [b'0', count @ ..] if !count.is_empty() => std::str::from_utf8(count).ok()?.parse().unwrap_or(usize::MAX),
            _ => return None,
        };
        (bytes.get(end) == Some(&b'd')).then_some((start, end + 1, number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Option<Pattern>, Failure> {
        Pattern::parse(Path::new(text))
    }

    #[test]
    fn one_number_is_a_pattern() {
        let path = |text: &str, n| parse(text).unwrap().map(|p| p.path(n).display().to_string());
        assert_eq!(path("a/%04d.png", 7).unwrap(), "a/0007.png");
        assert_eq!(path("%04d.png", 12345).unwrap(), "12345.png");
        assert_eq!(path("100%_%d.png", 7).unwrap(), "100%_7.png");
        assert_eq!(path("100%.png", 7), None);
        assert_eq!(path("%s%4d.png", 7), None);
        assert!(parse("%d%04d").is_err());
        assert!(parse("%021d").is_err() && parse("%099999999999999999999d").is_err());
    }
}
