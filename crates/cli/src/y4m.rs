//! YUV4MPEG2, `.y4m`: a line of text, then frames of packed planes with a line before each.
//!
//! `YUV4MPEG2 W854 H480 F25:1 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED`, then `FRAME` and the planes, again and again.

use crate::{formats::FormatId, values::checked_size};
use framewright::{ChromaSiting, ColorInfo, Range, Size};
use std::io::{BufRead, Read};

/// What a `.y4m` begins with.
pub(crate) const MAGIC: &[u8; 10] = b"YUV4MPEG2 ";
/// No line is longer.
const LONGEST_LINE: u64 = 4096;

/// What the first line says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    /// Which planes.
    pub(crate) format: FormatId,
    /// Width and height.
    pub(crate) size: Size,
    /// Range and chroma place.
    pub(crate) color: ColorInfo,
    /// Frames a second, as written.
    pub(crate) rate: String,
    /// Width to height of a pixel, as written.
    pub(crate) aspect: String,
}

impl Header {
    /// Reads the first line.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(crate) fn read(reader: &mut impl BufRead) -> Result<Self, String> {
        let line = line(reader)?.unwrap_or_default();
        let Some(tags) = line.strip_prefix(b"YUV4MPEG2").filter(|tags| tags.first().is_none_or(|&b| b == b' ')) else {
            let head = &line[..line.len().min(10)];
            return Err(format!("it begins with \"{}\", expected \"YUV4MPEG2\" of a .y4m file", head.escape_ascii()));
        };
        let tags = std::str::from_utf8(tags)
            .map_err(|_| format!("header is \"{}\", expected text", tags[..tags.len().min(60)].escape_ascii()))?;
        let (mut width, mut height, mut chroma, mut color) = (None, None, "420jpeg", ColorInfo::UNSPECIFIED);
        let (mut rate, mut aspect) = ("25:1".to_owned(), "0:0".to_owned());
        for tag in tags.split_ascii_whitespace() {
            let (name, value) = tag.split_at_checked(1).ok_or_else(|| format!("header has '{tag}', expected ASCII"))?;
            match name {
                "W" => width = Some(side("width", value)?),
                "H" => height = Some(side("height", value)?),
                "C" => chroma = value,
                "F" => rate = value.to_owned(),
                "A" => aspect = value.to_owned(),
                "I" => progressive(value)?,
                "X" => match value.strip_prefix("COLORRANGE=") {
                    Some("LIMITED") => color.range = Some(Range::Limited),
                    Some("FULL") => color.range = Some(Range::Full),
                    Some(other) => return Err(format!("XCOLORRANGE is {other}, expected LIMITED or FULL")),
                    None => {}
                },
                _ => {}
            }
        }
        let width = width.ok_or("header has no W (width), expected one")?;
        let height = height.ok_or("header has no H (height), expected one")?;
        let (format, siting) = planes(chroma)?;
        color.siting = siting;
        Ok(Self { format, size: checked_size(width, height).map_err(|e| e.to_string())?, color, rate, aspect })
    }

    /// A header for frames that come from elsewhere.
    pub(crate) fn of(format: FormatId, size: Size, color: ColorInfo) -> Self {
        Self { format, size, color, rate: "25:1".into(), aspect: "0:0".into() }
    }

    /// The first line, with its end.
    pub(crate) fn line(&self) -> String {
        let chroma = match (self.format, self.color.siting) {
            (FormatId::Gray8, _) => "mono",
            (_, Some(ChromaSiting::Left)) => "420mpeg2",
            (_, Some(ChromaSiting::TopLeft)) => "420paldv",
            _ => "420jpeg",
        };
        let range = match self.color.range {
            Some(Range::Limited) => " XCOLORRANGE=LIMITED",
            Some(Range::Full) => " XCOLORRANGE=FULL",
            None => "",
        };
        let (w, h) = (self.size.width(), self.size.height());
        format!("YUV4MPEG2 W{w} H{h} F{} Ip A{} C{chroma}{range}\n", self.rate, self.aspect)
    }
}

/// Whether a `.y4m` can hold the format.
pub(crate) fn holds(format: FormatId) -> bool {
    matches!(format, FormatId::Yuv420p8 | FormatId::Gray8)
}

/// Reads the line before a frame; `false` at the end of the file.
///
/// # Errors
/// Something else is there.
pub(crate) fn frame_line(reader: &mut impl BufRead) -> Result<bool, String> {
    let Some(line) = line(reader)? else { return Ok(false) };
    match line.strip_prefix(b"FRAME") {
        Some(parameters) if parameters.first().is_none_or(|&b| b == b' ') => Ok(true),
        _ => Err(format!("line is \"{}\", expected FRAME", line[..line.len().min(20)].escape_ascii())),
    }
}

/// A line without its end; `None` where nothing is left.
fn line(reader: &mut impl BufRead) -> Result<Option<Vec<u8>>, String> {
    let mut line = Vec::new();
    reader.take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(|e| e.to_string())?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(last) => {
            line.push(last);
            let head = line[..line.len().min(20)].escape_ascii();
            Err(format!("it has \"{head}\", expected a line of .y4m that ends within {LONGEST_LINE} bytes"))
        }
    }
}

fn side(what: &str, text: &str) -> Result<u64, String> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("{what} is '{text}', expected a whole number"));
    }
    text.parse().map_err(|_| format!("{what} is {text}, expected at most {}", u64::MAX))
}

fn progressive(interlacing: &str) -> Result<(), String> {
    match interlacing {
        "p" | "?" => Ok(()),
        "t" | "b" | "m" => Err(format!("frames are interlaced (I{interlacing}), expected progressive ones (Ip)")),
        other => Err(format!("interlacing is I{other}, expected Ip")),
    }
}

/// The planes that a colour space tag means.
fn planes(chroma: &str) -> Result<(FormatId, Option<ChromaSiting>), String> {
    const EXPECTED: &str = "expected 8-bit 4:2:0 (C420, C420jpeg, C420mpeg2, C420paldv) or Cmono";
    match chroma {
        "420" | "420jpeg" => Ok((FormatId::Yuv420p8, Some(ChromaSiting::Center))),
        "420mpeg2" => Ok((FormatId::Yuv420p8, Some(ChromaSiting::Left))),
        "420paldv" => Ok((FormatId::Yuv420p8, Some(ChromaSiting::TopLeft))),
        "mono" => Ok((FormatId::Gray8, None)),
        deep if deep.starts_with("420p") || deep.starts_with("mono") => {
            Err(format!("samples are deeper than 8 bits (C{deep}), {EXPECTED}"))
        }
        other if other.starts_with('4') => Err(format!("chroma is subsampled otherwise (C{other}), {EXPECTED}")),
        other => Err(format!("colour space is C{other}, {EXPECTED}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Header, String> {
        Header::read(&mut text.as_bytes())
    }

    #[test]
    fn headers_are_read_and_written() {
        let text = "YUV4MPEG2 W854 H480 F30000:1001 Ip A1:1 C420mpeg2 XCOLORRANGE=FULL\n";
        let header = read(text).unwrap();
        assert_eq!((header.format, header.size), (FormatId::Yuv420p8, Size::fixed::<854, 480>()));
        assert_eq!((header.color.range, header.color.siting), (Some(Range::Full), Some(ChromaSiting::Left)));
        assert_eq!(header.line(), text);
        let mono = read("YUV4MPEG2 H2 W3 Cmono XYSCSS=MONO\n").unwrap();
        assert_eq!((mono.format, mono.color), (FormatId::Gray8, ColorInfo::UNSPECIFIED));
        for chroma in ["", " C420", " C420jpeg", " C420paldv"] {
            assert_eq!(read(&format!("YUV4MPEG2 W3 H2{chroma}\n")).unwrap().format, FormatId::Yuv420p8);
        }
    }

    #[test]
    fn what_cannot_be_read_says_so() {
        for (tags, says) in [
            ("W3 H2 It", "interlaced"),
            ("W3 H2 Ib", "interlaced"),
            ("W3 H2 Im", "interlaced"),
            ("W3 H2 C420p10", "deeper than 8 bits"),
            ("W3 H2 Cmono16", "deeper than 8 bits"),
            ("W3 H2 C422", "subsampled otherwise"),
            ("W3 H2 C444alpha", "subsampled otherwise"),
            ("W3", "no H"),
            ("H3", "no W"),
            ("W-3 H2", "width is '-3'"),
            ("W0 H2", "size is 0x2"),
            ("W4294967296 H2", "size is 4294967296x2"),
            ("W3 H9223372036854775808", "size is 3x9223372036854775808"),
            ("W3 H18446744073709551616", "height is 18446744073709551616"),
            ("W3 H2 XCOLORRANGE=TV", "XCOLORRANGE is TV"),
        ] {
            let error = read(&format!("YUV4MPEG2 {tags}\n")).unwrap_err();
            assert!(error.contains(says) && error.contains("expected"), "{tags}: {error}");
        }
        assert!(read("YUV4MPEG W3 H2\n").unwrap_err().contains("begins with"));
        assert!(read(&format!("YUV4MPEG2 {}", "W3 ".repeat(5000))).unwrap_err().contains("ends within 4096"));
        assert!(read("").unwrap_err().contains("begins with \"\""));
    }

    #[test]
    fn frame_lines_may_have_parameters() {
        assert_eq!(frame_line(&mut &b"FRAME\n"[..]), Ok(true));
        assert_eq!(frame_line(&mut &b"FRAME Ip XQ=1\n"[..]), Ok(true));
        assert_eq!(frame_line(&mut &b""[..]), Ok(false));
        assert!(frame_line(&mut &b"FRAMES\n"[..]).is_err());
        assert!(frame_line(&mut &b"FRAM"[..]).is_err());
    }
}
