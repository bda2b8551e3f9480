//! PNG pictures of packed frames.

use crate::{error::Failure, shape::Shape, target::Target};
use framewright::{Channel, ScalarKind};
use png::{BitDepth, ColorType, Compression, Encoder, EncodingError};

/// The colour type that holds these samples, whatever their order; `None` where PNG has none.
fn color_type(shape: &Shape) -> Option<ColorType> {
    use Channel::{A, B, G, R, Y};
    let [plane] = shape.format.planes() else { return None };
    match (plane.scalar, plane.channels) {
        (ScalarKind::U8, [Y]) => Some(ColorType::Grayscale),
        (ScalarKind::U8, [R, G, B] | [B, G, R]) => Some(ColorType::Rgb),
        (ScalarKind::U8, [R, G, B, A] | [B, G, R, A]) => Some(ColorType::Rgba),
        _ => None,
    }
}

/// Checks that a frame can be a picture.
///
/// # Errors
/// Its format is none of PNG's.
pub(crate) fn check(shape: &Shape) -> Result<(), String> {
    match color_type(shape) {
        Some(_) => Ok(()),
        None => Err(format!(
            "a .png holds no {}, expected --to rgb24, bgr24, rgba, bgra or gray, or another ending",
            shape.format
        )),
    }
}

/// Writes a packed frame as a PNG; where blue comes first, `frame` is turned to PNG's order in place.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write(shape: &Shape, frame: &mut [u8], target: &mut Target) -> Result<(), Failure> {
    let color = color_type(shape).ok_or_else(|| Failure::usage(format!("a .png holds no {}", shape.format)))?;
    let plane = &shape.format.planes()[0];
    if plane.channels[0] == Channel::B {
        frame.chunks_exact_mut(plane.channels.len()).for_each(|pixel| pixel.swap(0, 2));
    }
    let failure = |e: EncodingError| match e {
        EncodingError::IoError(e) => Failure::wrong(e),
        other => Failure::wrong(other),
    };
    let mut encoder = Encoder::new(target, shape.size.width(), shape.size.height());
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header().map_err(failure)?;
    writer.write_image_data(frame).map_err(failure)?;
    writer.finish().map_err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::FormatId;
    use framewright::Size;

    #[test]
    fn pictures_are_8_bit_gray_rgb_or_rgba() {
        let pictures = FormatId::ALL.iter().filter(|&&f| check(&Shape::packed(f, Size::fixed::<1, 1>())).is_ok());
        assert_eq!(crate::formats::list(pictures.copied()), "bgr24, rgb24, bgra, rgba, gray");
    }
}
