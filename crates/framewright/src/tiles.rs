//! Disjoint parts of one image, for writing at the same time.

use crate::{location::Location, view::ImageMut};
use framewright_core::{Axis, Format, Offset, PlaneList, Rect, RegionError, Size};

impl<'a, F: Format, L: Location> ImageMut<'a, F, L> {
    /// The rows above `y` and the others.
    ///
    /// # Errors
    /// [`RegionError`] when `y` is off the format's grid, or a side would be empty.
    pub fn split_at_row(self, y: u32) -> Result<(Self, Self), RegionError> {
        let size = self.size();
        let rest = check_cut::<F>(Axis::Y, y, size.height())?;
        let upper = sized(size.width(), y);
        let lower = Rect::new(Offset::new(0, y), sized(size.width(), rest));
        Ok((Self::new(self.parts.crop_down(Rect::whole(upper))), Self::new(self.parts.crop_down(lower))))
    }

    /// The columns left of `x` and the others.
    ///
    /// # Errors
    /// [`RegionError`] when `x` is off the format's grid, or a side would be empty.
    pub fn split_at_column(self, x: u32) -> Result<(Self, Self), RegionError> {
        let size = self.size();
        let rest = check_cut::<F>(Axis::X, x, size.width())?;
        let left = sized(x, size.height());
        let right = Rect::new(Offset::new(x, 0), sized(rest, size.height()));
        Ok((Self::new(self.parts.crop_down(Rect::whole(left))), Self::new(self.parts.crop_down(right))))
    }

    /// All tiles of `tile` pixels, row by row; those at the right and bottom edge are smaller. No two share a byte, so they
    /// can be written from different threads.
    ///
    /// # Errors
    /// [`RegionError::OffGrid`] when the tile's width or height is no multiple of the format's step, and there is more than
    /// one in that direction.
    ///
    /// ```
    /// use framewright::*;
    /// let mut image = Image::<Gray8>::new(Size::new(5, 4)?)?;
    /// std::thread::scope(|threads| {
    ///     for (i, mut tile) in image.view_mut().tiles(Size::new(2, 2)?)?.enumerate() {
    ///         threads.spawn(move || tile.planes_mut().0.fill(i as u8));
    ///     }
    ///     Ok::<_, Box<dyn std::error::Error>>(())
    /// })?;
    /// assert_eq!(image.planes().0.row(3), [3, 3, 4, 4, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tiles(self, tile: Size) -> Result<Tiles<'a, F, L>, RegionError> {
        let (size, step) = (self.size(), F::Planes::STEP);
        for (axis, tile_px, step_px, size_px) in
            [(Axis::X, tile.width(), step.x, size.width()), (Axis::Y, tile.height(), step.y, size.height())]
        {
            if tile_px < size_px && !tile_px.is_multiple_of(step_px) {
                return Err(RegionError::OffGrid { axis, offset_px: tile_px, step_px });
            }
        }
        Ok(Tiles { image: self, tile, next: Offset::default() })
    }
}

/// The tiles of an image, each once.
#[derive(Debug)]
pub struct Tiles<'a, F: Format, L: Location> {
    image: ImageMut<'a, F, L>,
    tile: Size,
    next: Offset,
}

impl<'a, F: Format, L: Location> Iterator for Tiles<'a, F, L> {
    type Item = ImageMut<'a, F, L>;
    fn next(&mut self) -> Option<Self::Item> {
        let (size, at) = (self.image.size(), self.next);
        if at.y >= size.height() {
            return None;
        }
        let width = self.tile.width().min(size.width() - at.x);
        let height = self.tile.height().min(size.height() - at.y);
        self.next =
            if at.x + width < size.width() { Offset::new(at.x + width, at.y) } else { Offset::new(0, at.y + height) };
        Some(ImageMut::new(self.image.parts.crop_down(Rect::new(at, sized(width, height)))))
    }
}

/// A part of a size that exists.
fn sized(width: u32, height: u32) -> Size {
    Size::new(width, height).unwrap_or_else(|_| unreachable!("a part of an image is no larger and not empty"))
}

/// What is left after a cut at `at`.
fn check_cut<F: Format>(axis: Axis, at: u32, side_px: u32) -> Result<u32, RegionError> {
    let step_px = match axis {
        Axis::X => F::Planes::STEP.x,
        Axis::Y => F::Planes::STEP.y,
    };
    if !at.is_multiple_of(step_px) {
        return Err(RegionError::OffGrid { axis, offset_px: at, step_px });
    }
    if at == 0 || at >= side_px {
        return Err(RegionError::EmptySide { axis, at_px: at, side_px });
    }
    Ok(side_px - at)
}
