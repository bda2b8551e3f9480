//! Crops that keep a format: rectangles on the format's grid.

use crate::{
    error::{Axis, RegionError},
    format::Format,
    planes::PlaneList,
    size::{Offset, Rect, Size},
};
use core::marker::PhantomData;

/// A rectangle whose corner lies on the grid of format `F`, so that chroma can be cropped with luma.
///
/// For a 4:2:0 format x and y are even; width and height are any from 1, and chroma rounds up. A region off the grid
/// cannot exist. Whether it lies inside an image is known when it meets one.
///
/// ```
/// use framewright_core::*;
/// let region = Region::<Nv12>::new(Offset::new(10, 4), Size::new(33, 7)?)?;
/// assert_eq!(region.to_string(), "33x7+10+4");
///
/// let error = Region::<Nv12>::new(Offset::new(11, 4), Size::new(33, 7)?).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "crop offset x is 11 pixels, expected a multiple of 2 (the nearest are 10 and 12)"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Region<F> {
    rect: Rect,
    format: PhantomData<fn() -> F>,
}

impl<F: Format> Region<F> {
    /// The region of `size` at `offset`.
    ///
    /// # Errors
    /// [`RegionError::OffGrid`] when x or y is no multiple of the format's step.
    pub const fn new(offset: Offset, size: Size) -> Result<Self, RegionError> {
        let step = F::Planes::STEP;
        if !offset.x.is_multiple_of(step.x) {
            return Err(RegionError::OffGrid { axis: Axis::X, offset_px: offset.x, step_px: step.x });
        }
        if !offset.y.is_multiple_of(step.y) {
            return Err(RegionError::OffGrid { axis: Axis::Y, offset_px: offset.y, step_px: step.y });
        }
        Ok(Self { rect: Rect::new(offset, size), format: PhantomData })
    }

    /// A region known when compiling; one off the grid does not compile. [`region!`](crate::region) is the short form.
    ///
    /// # Compile-time errors
    /// ```compile_fail,E0080
    /// # use framewright_core::*;
    /// const ODD: Region<Yuv420p8> = Region::fixed::<1, 0, 2, 2>();
    /// ```
    pub const fn fixed<const X: u32, const Y: u32, const WIDTH: u32, const HEIGHT: u32>() -> Self {
        const {
            match Self::new(Offset::new(X, Y), Size::fixed::<WIDTH, HEIGHT>()) {
                Ok(region) => region,
                Err(_) => panic!("a crop's x and y lie on the format's grid: even for 4:2:0"),
            }
        }
    }

    /// The same rectangle without its promise.
    pub const fn rect(self) -> Rect {
        self.rect
    }

    /// The top left pixel.
    pub const fn offset(self) -> Offset {
        self.rect.offset
    }

    /// Width and height in pixels.
    pub const fn size(self) -> Size {
        self.rect.size
    }
}

/// A [`Region`] of a format, checked when compiling.
///
/// ```
/// use framewright_core::{Nv12, region};
/// let region = region!(Nv12, x: 10, y: 20, width: 640, height: 360);
/// assert_eq!(region.offset().x, 10);
/// ```
///
/// # Compile-time errors
/// ```compile_fail,E0080
/// use framewright_core::{Nv12, region};
/// let region = region!(Nv12, x: 11, y: 20, width: 640, height: 360);
/// ```
#[macro_export]
macro_rules! region {
    ($format:ty, x: $x:expr, y: $y:expr, width: $width:expr, height: $height:expr $(,)?) => {{
        // Not by `Region::fixed`: a panic that expands here is shown at the caller's line.
        const REGION: $crate::Region<$format> = {
            let ::core::result::Result::Ok(size) = $crate::Size::new($width, $height) else {
                ::core::panic!("a side of a size is 1 to MAX_SIDE_PX pixels")
            };
            let ::core::result::Result::Ok(region) = $crate::Region::new($crate::Offset::new($x, $y), size) else {
                ::core::panic!("a crop's x and y lie on the format's grid: even for 4:2:0")
            };
            region
        };
        REGION
    }};
}

impl<F> Clone for Region<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for Region<F> {}
impl<F> PartialEq for Region<F> {
    fn eq(&self, other: &Self) -> bool {
        self.rect == other.rect
    }
}
impl<F> Eq for Region<F> {}
impl<F> core::fmt::Debug for Region<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Region({})", self.rect)
    }
}
impl<F> core::fmt::Display for Region<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.rect.fmt(f)
    }
}
