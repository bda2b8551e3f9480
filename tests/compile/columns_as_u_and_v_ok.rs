// The report that began this: the left and right half of a chroma region's columns as U and V.
// CHECK: check
use framewright::*;

type Cut<T> = Result<T, LayoutError>;

fn columns(chroma: Rows<'_, u8>, size: Size) -> Cut<(Window<'_, u8>, Window<'_, u8>)> {
    chroma.split_at_column(size.width() / 2)
}

fn rows(chroma: Rows<'_, u8>, size: Size) -> Cut<(Plane<'_, Cb>, Plane<'_, Cr>)> {
    chroma.halves(size)
}

type Plane<'a, C> = PlaneRef<'a, Spec<C, u8, Half, Per<Dyn, 2>>>;

pub fn frame(array: &[u8], size: Size) -> Cut<ImageRef<'_, Yuv420p8<Linked>>> {
    let _ = (columns, rows);
    let (luma, chroma) = Rows::new(array, size.width(), size.width().into())?.split_at_row(size.height())?;
    let (u, v) = rows(chroma, size)?;
    let luma = luma.plane::<Y>(size)?;
    ImageRef::from_planes(size, (luma, u, v))
}
