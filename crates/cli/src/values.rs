//! Values of options: sizes, crops, pitches, frames, as they are written on a command line.

use crate::{device::DeviceChoice, formats, formats::FormatId};
use framewright::{LumaWeights, Matrix, Offset, Range, Rect, Size, SizeError};

/// `--format`, `--to`: FFmpeg's name of a layout.
pub(crate) fn format(text: &str) -> Result<FormatId, String> {
    FormatId::named(text)
        .ok_or_else(|| format!("unknown format, expected one of {}", formats::list(FormatId::ALL.iter().copied())))
}

/// `--matrix`: a standard's name, or weights as `kr=0.299,kb=0.114`.
pub(crate) fn matrix(text: &str) -> Result<Matrix, String> {
    if let Some((kr, kb)) = text.strip_prefix("kr=").and_then(|rest| rest.split_once(",kb=")) {
        let weights = LumaWeights::new(millionths(kr, "kr")?, millionths(kb, "kb")?);
        return weights.map(Matrix::Custom).map_err(|error| error.to_string());
    }
    Matrix::ALL.into_iter().find(|m| m.name() == text).ok_or_else(|| {
        let names = Matrix::ALL.map(Matrix::name).join(", ");
        format!("unknown matrix, expected one of {names}, or weights as kr=0.299,kb=0.114")
    })
}

/// A number from 0 to 1 with at most six digits after the point.
fn millionths(text: &str, what: &str) -> Result<u32, String> {
    let wrong = || format!("{what} is '{text}', expected 0. and at most six digits");
    let digits = text.strip_prefix("0.").filter(|digits| (1..=6).contains(&digits.len())).ok_or_else(wrong)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    format!("{digits:0<6}").parse().map_err(|_| wrong())
}

/// `--range`.
pub(crate) fn range(text: &str) -> Result<Range, String> {
    Range::ALL
        .into_iter()
        .find(|r| r.name() == text)
        .ok_or_else(|| format!("unknown range, expected {}", Range::ALL.map(Range::name).join(" or ")))
}

/// A size from numbers of any length.
pub(crate) fn checked_size(width: u64, height: u64) -> Result<Size, SizeError> {
    let wrong = SizeError { width, height };
    match (u32::try_from(width), u32::try_from(height)) {
        (Ok(w), Ok(h)) => Size::new(w, h),
        _ => Err(wrong),
    }
}

/// A count without sign, `what` names it in the message.
fn number(text: &str, what: &str) -> Result<u64, String> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("{what} is '{text}', expected a whole number"));
    }
    text.parse().map_err(|_| format!("{what} is {text}, expected at most {}", u64::MAX))
}

/// `WxH`.
pub(crate) fn size(text: &str) -> Result<Size, String> {
    let (w, h) = text.split_once('x').ok_or("expected WxH, as 854x480")?;
    checked_size(number(w, "width")?, number(h, "height")?).map_err(|e| e.to_string())
}

/// `WxH+X+Y`.
pub(crate) fn crop(text: &str) -> Result<Rect, String> {
    let mut parts = text.split('+');
    let (Some(wh), Some(x), Some(y), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err("expected WxH+X+Y, as 640x360+10+20".into());
    };
    let offset = |text, what| {
        let px = number(text, what)?;
        u32::try_from(px).map_err(|_| format!("{what} is {px} pixels, expected at most {}", u32::MAX))
    };
    Ok(Rect::new(Offset::new(offset(x, "x")?, offset(y, "y")?), size(wh)?))
}

/// `B[,B…]`: bytes from row to row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pitches(pub(crate) Vec<i64>);

/// `--pitch`.
pub(crate) fn pitches(text: &str) -> Result<Pitches, String> {
    let one = |part: &str| match part.parse::<i64>() {
        Ok(0) => Err("pitch is 0 bytes, expected at least a row".into()),
        Ok(pitch) => Ok(pitch),
        Err(_) => Err(format!("pitch is '{part}', expected a count of bytes that fits 64 bits, as 896 or 896,448,448")),
    };
    Ok(Pitches(text.split(',').map(one).collect::<Result<_, String>>()?))
}

/// Which frames: the `start`th and those before `end`, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Frames {
    /// The first one.
    pub(crate) start: u64,
    /// The one after the last; `None` where all are meant.
    pub(crate) end: Option<u64>,
}

impl Frames {
    /// The first frame alone.
    pub(crate) const FIRST: Self = Self { start: 0, end: Some(1) };

    /// Whether this is a single frame whatever the file holds.
    pub(crate) fn is_single(self) -> bool {
        self.end == Some(self.start + 1)
    }
}

/// `--frames`.
pub(crate) fn frames(text: &str) -> Result<Frames, String> {
    if text == "all" {
        return Ok(Frames { start: 0, end: None });
    }
    let (start, end) = match text.split_once("..") {
        Some((a, b)) => (number(a, "first frame")?, number(b, "end")?),
        None => (0, number(text, "count").map_err(|e| format!("{e}, a range A..B or all"))?),
    };
    if start >= end {
        return Err("0 frames, expected at least 1 (A..B counts from 0 and ends before B)".into());
    }
    Ok(Frames { start, end: Some(end) })
}

/// `--device`.
pub(crate) fn device(text: &str) -> Result<DeviceChoice, String> {
    match text.split_once(':') {
        None if text == "auto" => Ok(DeviceChoice::Auto),
        None if text == "cpu" => Ok(DeviceChoice::Cpu),
        None if text == "cuda" => Ok(DeviceChoice::Cuda(0)),
        Some(("cuda", index)) => {
            let index = number(index, "device")?;
            Ok(DeviceChoice::Cuda(u32::try_from(index).map_err(|_| format!("device is {index}, expected 32 bits"))?))
        }
        _ => Err("unknown device, expected auto, cpu, cuda or cuda:N".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_numbers_from_1_to_the_limit() {
        assert_eq!(size("854x480"), Ok(Size::fixed::<854, 480>()));
        for wrong in [
            "",
            "854",
            "854x",
            "x480",
            "-1x480",
            "+1x4",
            "0x480",
            "4294967295x2",
            "4294967296x2",
            "9223372036854775808x1",
        ] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        let huge = size("18446744073709551616x1").unwrap_err();
        assert_eq!(huge, "width is 18446744073709551616, expected at most 18446744073709551615");
        assert!(size("4294967297x2").unwrap_err().contains("4294967297x2"));
    }

    #[test]
    fn matrices_are_names_or_weights() {
        for known in Matrix::ALL {
            assert_eq!(matrix(known.name()), Ok(known));
        }
        let weights = LumaWeights::new(299_000, 114_000).expect("weights");
        assert_eq!(matrix("kr=0.299,kb=0.114"), Ok(Matrix::Custom(weights)));
        assert!(matrix("bt470").unwrap_err().ends_with("smpte240m, fcc, ycgco, or weights as kr=0.299,kb=0.114"));
        for (wrong, says) in [
            ("kr=1.3,kb=0.1", "kr is '1.3'"),
            ("kr=0.3,kb=0.1234567", "kb is '0.1234567'"),
            ("kr=0.+3,kb=0.1", "kr is '0.+3'"),
            ("kr=0.3,kb=0.", "kb is '0.'"),
            ("kr=0.6,kb=0.1", "Kr is 600000, Kb is 100000"),
        ] {
            assert!(matrix(wrong).unwrap_err().contains(says), "{wrong}: {:?}", matrix(wrong));
        }
    }

    #[test]
    fn crops_are_written_as_x_does() {
        let rect = Rect::new(Offset::new(3, 4), Size::fixed::<33, 7>());
        assert_eq!(crop("33x7+3+4"), Ok(rect));
        for wrong in ["33x7", "33x7+3", "33x7+3+4+5", "33x7-3-4", "33x7+4294967296+0", "33x0+0+0"] {
            assert!(crop(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pitches_are_signed_and_never_0() {
        assert_eq!(pitches("-896,448"), Ok(Pitches(vec![-896, 448])));
        for wrong in ["", "896,", "0", "9223372036854775808", "1.5"] {
            assert!(pitches(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn frames_are_a_count_a_range_or_all() {
        assert_eq!(frames("3"), Ok(Frames { start: 0, end: Some(3) }));
        assert_eq!(frames("2..5"), Ok(Frames { start: 2, end: Some(5) }));
        assert_eq!(frames("all"), Ok(Frames { start: 0, end: None }));
        for wrong in ["0", "5..5", "5..2", "..", "1..", "-1", "x", "18446744073709551616"] {
            assert!(frames(wrong).is_err(), "{wrong}");
        }
        assert!(frames("4..5").unwrap().is_single() && !frames("all").unwrap().is_single());
    }

    #[test]
    fn devices_have_an_index_only_where_they_are_gpus() {
        assert_eq!(device("cuda:3"), Ok(DeviceChoice::Cuda(3)));
        assert_eq!(device("auto"), Ok(DeviceChoice::Auto));
        assert!(device("cpu:0").is_err() && device("cuda:").is_err() && device("gpu").is_err());
    }
}
