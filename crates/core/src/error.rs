//! What can be wrong with a size, a region or a layout: small `Copy` errors that name plane, quantity, unit, expected
//! and found.

use crate::{size::MAX_SIDE_PX, size::Rect, size::Size};
use core::fmt;

/// A side of an image that is 0 or too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SizeError {
    /// The width asked for, in pixels.
    pub width: u64,
    /// The height asked for, in pixels.
    pub height: u64,
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "size is {}x{} pixels, expected 1 to {MAX_SIDE_PX} pixels a side", self.width, self.height)
    }
}
impl core::error::Error for SizeError {}

/// What was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Bytes from row to row.
    PitchBytes,
    /// Bytes of a buffer.
    LengthBytes,
    /// Remainder of an address, by the sample's alignment.
    AddressBytes,
    /// Pixels or samples from left to right.
    WidthPx,
    /// Pixels or samples from top to bottom.
    HeightPx,
    /// Planes of a format.
    Planes,
    /// Memories (devices) that an image's planes are in.
    Memories,
}

impl Quantity {
    /// The noun and the unit.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::PitchBytes => ("pitch", "bytes"),
            Self::LengthBytes => ("buffer", "bytes"),
            Self::AddressBytes => ("address", "bytes past a sample's alignment"),
            Self::WidthPx => ("width", "samples"),
            Self::HeightPx => ("height", "samples"),
            Self::Planes => ("count", "planes"),
            Self::Memories => ("count", "memories that the image lies in"),
        }
    }
}

/// What would have been right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// This and nothing else.
    Exactly(i64),
    /// This or more; for a pitch, in either direction.
    AtLeast(i64),
    /// This or less.
    AtMost(i64),
    /// A multiple of this.
    MultipleOf(i64),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(n) => write!(f, "{n}"),
            Self::AtLeast(n) => write!(f, "at least {n}"),
            Self::AtMost(n) => write!(f, "at most {n}"),
            Self::MultipleOf(n) => write!(f, "a multiple of {n}"),
        }
    }
}

/// A plane that is not where its format says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LayoutError {
    /// The plane, by what it holds; the format where all planes are meant.
    pub plane: &'static str,
    /// What was measured.
    pub quantity: Quantity,
    /// What would have been right.
    pub expected: Expected,
    /// What it was.
    pub found: i64,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (noun, unit) = self.quantity.words();
        write!(f, "plane {}: {noun} is {} {unit}, expected {}", self.plane, self.found, self.expected)
    }
}
impl core::error::Error for LayoutError {}

/// Left to right, or top to bottom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axis {
    /// Left to right.
    X,
    /// Top to bottom.
    Y,
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X => "x",
            Self::Y => "y",
        })
    }
}

/// A crop that a format or an image cannot give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegionError {
    /// The offset lies between two chroma samples.
    OffGrid {
        /// The direction.
        axis: Axis,
        /// The offset asked for, in pixels.
        offset_px: u32,
        /// Pixels between legal offsets.
        step_px: u32,
    },
    /// The crop reaches past the image.
    Outside {
        /// The crop asked for.
        rect: Rect,
        /// The image.
        size: Size,
    },
    /// A cut that would leave one side empty.
    EmptySide {
        /// The direction.
        axis: Axis,
        /// Where the cut was asked for, in pixels.
        at_px: u32,
        /// Pixels of the image in that direction.
        side_px: u32,
    },
}

impl fmt::Display for RegionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OffGrid { axis, offset_px, step_px } => {
                let below = offset_px - offset_px % step_px;
                write!(
                    f,
                    "crop offset {axis} is {offset_px} pixels, expected a multiple of {step_px} (the nearest are {below} and {})",
                    u64::from(below) + u64::from(step_px)
                )
            }
            Self::Outside { rect, size } => {
                write!(f, "crop {rect} reaches past the image, expected to lie inside {size} pixels")
            }
            Self::EmptySide { axis, at_px, side_px } => {
                write!(
                    f,
                    "cut at {axis} is {at_px} pixels, expected inside the image's {side_px} (a side would be empty)"
                )
            }
        }
    }
}
impl core::error::Error for RegionError {}
