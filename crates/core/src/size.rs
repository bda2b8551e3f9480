//! Sizes, offsets and rectangles, in pixels of the full (luma) grid.

use crate::error::SizeError;

/// The longest side of an image in pixels: a row of sixteen-byte pixels still fits 31 bits.
pub const MAX_SIDE_PX: u32 = 1 << 27;

/// Width and height in pixels, each from 1 to [`MAX_SIDE_PX`].
///
/// ```
/// use framewright_core::Size;
/// let size = Size::new(854, 480)?;
/// assert_eq!((size.width(), size.height()), (854, 480));
/// assert!(Size::new(0, 480).is_err());
/// # Ok::<(), framewright_core::SizeError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size {
    width: u32,
    height: u32,
}

impl Size {
    /// A size of `width` by `height` pixels.
    ///
    /// # Errors
    /// [`SizeError`] when a side is 0 or above [`MAX_SIDE_PX`].
    pub const fn new(width: u32, height: u32) -> Result<Self, SizeError> {
        if width == 0 || height == 0 || width > MAX_SIDE_PX || height > MAX_SIDE_PX {
            return Err(SizeError { width: width as u64, height: height as u64 });
        }
        Ok(Self { width, height })
    }

    /// A size known when compiling; a wrong one does not compile.
    ///
    /// ```
    /// # use framewright_core::Size;
    /// const HD: Size = Size::fixed::<1920, 1080>();
    /// ```
    ///
    /// # Compile-time errors
    /// ```compile_fail,E0080
    /// # use framewright_core::Size;
    /// const NOTHING: Size = Size::fixed::<0, 1080>();
    /// ```
    pub const fn fixed<const WIDTH: u32, const HEIGHT: u32>() -> Self {
        const {
            match Self::new(WIDTH, HEIGHT) {
                Ok(size) => size,
                Err(_) => panic!("a side of a size is 1 to MAX_SIDE_PX pixels"),
            }
        }
    }

    /// Pixels from left to right.
    pub const fn width(self) -> u32 {
        self.width
    }

    /// Pixels from top to bottom.
    pub const fn height(self) -> u32 {
        self.height
    }

    /// Width times height.
    pub const fn pixels(self) -> u64 {
        self.width as u64 * self.height as u64
    }

    /// The size of a plane that has one sample for `step_x` by `step_y` pixels: rounded up.
    pub const fn subsampled(self, step_x: u32, step_y: u32) -> Self {
        Self { width: self.width.div_ceil(step_x), height: self.height.div_ceil(step_y) }
    }

    /// Whether `other` fits inside.
    pub const fn contains(self, other: Self) -> bool {
        other.width <= self.width && other.height <= self.height
    }
}

impl core::fmt::Debug for Size {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{self}")
    }
}

impl core::fmt::Display for Size {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// Where something starts, in pixels from the top left corner.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Offset {
    /// Pixels from the left edge.
    pub x: u32,
    /// Pixels from the top edge.
    pub y: u32,
}

impl Offset {
    /// The point `x` pixels from the left and `y` from the top.
    pub const fn new(x: u32, y: u32) -> Self {
        Self { x, y }
    }
}

/// Any rectangle of pixels, on no grid: a crop for conversions whose output has no subsampling.
///
/// For a crop that keeps a subsampled format see [`Region`](crate::Region).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rect {
    /// The top left pixel.
    pub offset: Offset,
    /// Width and height.
    pub size: Size,
}

impl Rect {
    /// The rectangle of `size` that starts at `offset`.
    pub const fn new(offset: Offset, size: Size) -> Self {
        Self { offset, size }
    }

    /// The whole of an image of `size`.
    pub const fn whole(size: Size) -> Self {
        Self { offset: Offset::new(0, 0), size }
    }

    /// Whether the rectangle lies inside an image of `size`.
    pub const fn is_inside(self, size: Size) -> bool {
        self.offset.x as u64 + self.size.width as u64 <= size.width as u64
            && self.offset.y as u64 + self.size.height as u64 <= size.height as u64
    }
}

impl core::fmt::Display for Rect {
    /// As ImageMagick and X write it: `WxH+X+Y`.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}+{}+{}", self.size, self.offset.x, self.offset.y)
    }
}
