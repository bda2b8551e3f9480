//! The report that began this: a decoded yuv420p frame in one array of `h * 3 / 2` rows, whose chroma was cut into U and V
//! down the middle of its columns instead of by rows. The copy "worked", with V read from the wrong place, and nobody
//! noticed.
//!
//! Here the cut down the columns is a `Window`, of which no image is made: `tests/compile/columns_as_u_and_v.rs` does not
//! compile, and the message names `halves`, the way that this file takes.

use framewright::{
    Bgr8, ColorInfo, Conversion, Cpu, Image, ImageRef, Layout, Linked, Matrix, Range, Rect, Rows, Size, Y, Yuv420p8,
};
use framewright_tests::{npy, picture::Picture, reference::Reference};

const SIZE: Size = Size::fixed::<854, 480>();

fn frame() -> npy::Array {
    let array = npy::read(&npy::data("cat_480p_yuv420p.npy"));
    assert_eq!((array.rows, array.columns), (720, 854));
    array
}

/// The frame as the report's authors should have cut it.
fn by_rows(array: &npy::Array) -> ImageRef<'_, Yuv420p8<Linked>> {
    let rows = Rows::new(&array.bytes, SIZE.width(), i64::from(SIZE.width())).expect("whole rows");
    let (luma, chroma) = rows.split_at_row(SIZE.height()).expect("720 rows");
    let (cb, cr) = chroma.halves(SIZE).expect("240 rows of chroma");
    let luma = luma.plane::<Y>(SIZE).expect("480 rows of luma");
    ImageRef::from_planes(SIZE, (luma, cb, cr)).expect("the planes are linked")
}

#[test]
fn by_rows_gives_the_right_picture() {
    let array = frame();
    let frame = by_rows(&array);
    let mut picture = Image::<Bgr8>::new(SIZE).expect("memory");
    let color = Cpu::new().convert(&frame, &mut picture, &Conversion::new()).expect("sizes agree");
    assert_eq!((color.matrix, color.range), (Matrix::Bt601, Range::Limited));
    assert!(color.matrix_assumed && color.range_assumed);

    // The planes as anybody would separate them: 854x480, then twice 427x240.
    let (y, chroma) = array.bytes.split_at(854 * 480);
    let (cb, cr) = chroma.split_at(427 * 240);
    let separate = ImageRef::<Yuv420p8>::from_slices([y, cb, cr], SIZE, &[854, 427, 427]).expect("as long");
    let mut expected = Image::<Bgr8>::new(SIZE).expect("memory");
    let known = Conversion::new().matrix(Matrix::Bt601).range(Range::Limited);
    Cpu::single_threaded().convert(&separate, &mut expected, &known).expect("sizes agree");

    // And what the standard says of them.
    let exact = Picture::of(separate).rgb(&Reference::new(Matrix::Bt601, Range::Limited));
    let ((found,), (expected,)) = (picture.planes(), expected.planes());
    for row in 0..SIZE.height() {
        assert_eq!(found.row(row), expected.row(row), "row {row}");
        for x in 0..SIZE.width() {
            let [b, g, r] = found.row(row)[x as usize];
            assert_eq!([r, g, b], exact.get(x, row), "pixel {x}, {row}");
        }
    }
}

#[test]
fn the_frame_is_one_buffer_laid_out_for_its_size() {
    let array = frame();
    let layout = Layout::<Yuv420p8<Linked>>::packed(SIZE).expect("a layout");
    assert_eq!(layout.len_bytes(), array.bytes.len() as u64);
    let whole = ImageRef::from_slice(&array.bytes, &layout).expect("as long");
    let cut = by_rows(&array);
    assert_eq!(whole.pitches_bytes(), [854, 427, 427]);
    for (a, b) in whole.planes().2.rows().zip(cut.planes().2.rows()) {
        assert_eq!((a.as_ptr(), a.len()), (b.as_ptr(), b.len()), "the same bytes without a copy");
    }
}

/// What the wrong cut reads, said by a `Window`: the right half of the chroma region's columns.
#[test]
fn the_v_of_a_column_cut_is_another_plane() {
    let array = frame();
    let rows = Rows::<u8>::new(&array.bytes, SIZE.width(), i64::from(SIZE.width())).expect("whole rows");
    let (_, chroma) = rows.split_at_row(SIZE.height()).expect("720 rows");
    let (left, right) = chroma.split_at_column(SIZE.width() / 2).expect("two sides");
    // As large as V, so that the copy complains of nothing: it takes 240 rows of 427 and finds 240 and 427.
    assert_eq!((right.columns(), right.rows()), (427, 240));
    assert_eq!(right.pitch_bytes(), 854, "but with the pitch of what it was cut from");

    let (_, cb, cr) = by_rows(&array).planes();
    let differing = |window: &dyn Fn(u32) -> Vec<u8>, plane: &dyn Fn(u32) -> Vec<u8>| -> usize {
        (0..240).map(|y| window(y).iter().zip(plane(y)).filter(|(a, b)| *a != b).count()).sum()
    };
    let all = 427 * 240;
    let wrong_v = differing(&|y| right.row(y).to_vec(), &|y| cr.row(y).to_vec());
    assert!(wrong_v * 2 > all, "{wrong_v} of {all} bytes of V differ");
    // V of the cut is every second row of U, then every second row of V.
    assert_eq!(right.row(0), cb.row(1));
    assert_eq!(right.row(120), cr.row(1));
    assert_eq!(left.row(0), cb.row(0), "its first row of U is right, which is why nobody noticed");

    // And the picture is another one.
    let mut wrong_cr = Vec::new();
    (0..240).for_each(|y| wrong_cr.extend_from_slice(right.row(y)));
    let (y, _) = array.bytes.split_at(854 * 480);
    let mut wrong_cb = Vec::new();
    (0..240).for_each(|y| wrong_cb.extend_from_slice(left.row(y)));
    let cut = ImageRef::<Yuv420p8>::from_slices([y, &wrong_cb, &wrong_cr], SIZE, &[854, 427, 427]).expect("as long");
    let reference = Reference::new(Matrix::Bt601, Range::Limited);
    let free = by_rows(&array).with_free_pitches::<Yuv420p8>();
    let (right, wrong) = (Picture::of(free).rgb(&reference), Picture::of(cut).rgb(&reference));
    let pixels = (0..480).flat_map(|y| (0..854).map(move |x| (x, y)));
    let differ = pixels.filter(|&(x, y)| right.get(x, y) != wrong.get(x, y)).count();
    assert!(differ * 2 > 854 * 480, "{differ} pixels differ");
}

/// Colours and crops go with the frame: the matrix is decided by the whole frame, also for a part of it.
#[test]
fn a_crop_of_the_frame_is_that_part_of_the_picture() {
    let array = frame();
    let frame = by_rows(&array).with_color(ColorInfo::new(Matrix::Bt709, Range::Full));
    let rect = Rect::new(framewright::Offset::new(301, 77), Size::fixed::<127, 93>());
    let mut part = Image::<Bgr8>::new(rect.size).expect("memory");
    let color = Cpu::new().convert(&frame, &mut part, &Conversion::new().crop(rect)).expect("sizes agree");
    assert!(!color.matrix_assumed && color.matrix == Matrix::Bt709 && color.range == Range::Full);
    let whole = Picture::of(frame.with_free_pitches()).rgb(&Reference::new(Matrix::Bt709, Range::Full));
    let (plane,) = part.planes();
    for y in 0..rect.size.height() {
        for x in 0..rect.size.width() {
            let [b, g, r] = plane.row(y)[x as usize];
            assert_eq!([r, g, b], whole.get(rect.offset.x + x, rect.offset.y + y), "pixel {x}, {y}");
        }
    }
}
