//! Laws of images: whose memory they are, what is checked when they are made, what crops, splits and pitches keep.

use framewright::{
    Bgr8, Bgra8, Bytes, ColorInfo, Conversion, Cpu, Error, Gray8, Host, Image, ImageMut, ImageRef, Layout, Linked,
    Matrix, Nv12, Offset, PlaneRef, Range, RawPlane, Rect, Region, Rows, SharedImage, Size, Window, Y, Yuv420p8,
    region,
};
use framewright_tests::{
    formats::{Nv21, Yuv420p16, Yv12},
    frame::{Buffers, Frame, Pattern, Rows as Lie},
    picture::Picture,
    reference::Reference,
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

const fn size(width: u32, height: u32) -> Size {
    match Size::new(width, height) {
        Ok(size) => size,
        Err(_) => panic!("a size"),
    }
}

/// The text of an error.
fn text<T: std::fmt::Debug, E: std::fmt::Display>(result: Result<T, E>) -> String {
    match result {
        Ok(found) => panic!("expected an error, found {found:?}"),
        Err(error) => error.to_string(),
    }
}

/// Bytes that count when they are dropped.
struct Counted {
    bytes: Vec<u8>,
    drops: Arc<AtomicUsize>,
}

impl Counted {
    fn new(len: usize) -> (Self, Arc<AtomicUsize>) {
        let drops = Arc::new(AtomicUsize::new(0));
        (Self { bytes: (0..len).map(|i| i as u8).collect(), drops: drops.clone() }, drops)
    }
}
impl AsMut<[u8]> for Counted {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}
impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
impl Drop for Counted {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}
fn drops(count: &AtomicUsize) -> usize {
    count.load(Ordering::Relaxed)
}

#[test]
fn an_owner_is_dropped_once_and_with_the_image() {
    let layout = Layout::<Yuv420p8>::packed(size(6, 4)).unwrap();
    let (owner, count) = Counted::new(36);
    let first = owner.bytes.as_ptr();
    let mut image = Image::from_owner(owner, &layout).unwrap();
    assert_eq!(image.planes().0.as_raw().first_row.cast_const(), first, "without a copy");
    image.planes_mut().2.fill(200);
    assert_eq!((image.planes().1.row(0)[0], image.planes().2.row(1)), (24, &[200, 200, 200][..]));
    // Under another format's pitch, with other colours, and on another thread it is the same owner.
    let linked = image.with_pitches::<Yuv420p8<Linked>>().unwrap();
    let image = linked.with_free_pitches::<Yuv420p8>().with_color(ColorInfo::new(Matrix::Bt709, Range::Full));
    assert_eq!(drops(&count), 0);
    std::thread::spawn(move || assert_eq!(image.planes().2.row(0)[0], 200)).join().unwrap();
    assert_eq!(drops(&count), 1);
}

#[test]
fn a_refused_owner_is_dropped_once() {
    let layout = Layout::<Yuv420p8>::packed(size(6, 4)).unwrap();
    let (owner, count) = Counted::new(35);
    let error = text(Image::from_owner(owner, &layout));
    assert_eq!(error, "plane Cr: buffer is 35 bytes, expected at least 36");
    assert_eq!(drops(&count), 1);

    let (owner, count) = Counted::new(35);
    assert_eq!(text(SharedImage::from_owner(owner, &layout)), error);
    assert_eq!(drops(&count), 1);

    let (owner, count) = Counted::new(36);
    let plane = RawPlane { first_row: std::ptr::dangling_mut(), pitch_bytes: 6 };
    // SAFETY: one plane is refused before anything is read.
    let refused = unsafe { Image::<Yuv420p8>::from_raw_owner(owner, size(6, 4), &[plane]) };
    assert_eq!(text(refused), "plane yuv420p: count is 1 planes, expected 3");
    assert_eq!(drops(&count), 1);
}

#[test]
fn a_shared_image_drops_its_owner_with_the_last_clone() {
    let layout = Layout::<Gray8>::packed(size(4, 3)).unwrap();
    let (owner, count) = Counted::new(12);
    let shared = SharedImage::from_owner(owner, &layout).unwrap();
    let other = shared.clone();
    let thread = std::thread::spawn(move || other.planes().0.row(2)[3]);
    assert_eq!(thread.join().unwrap(), 11);
    assert_eq!((drops(&count), shared.size()), (0, size(4, 3)));
    let mut copy = Image::<Gray8>::new(size(4, 3)).unwrap();
    Cpu::new().copy(&shared, &mut copy).unwrap();
    assert_eq!(copy.planes().0.row(1), [4, 5, 6, 7]);
    drop(shared);
    assert_eq!(drops(&count), 1);

    let finished = SharedImage::from(copy);
    assert_eq!(finished.crop(region!(Gray8, x: 1, y: 2, width: 2, height: 1)).unwrap().planes().0.row(0), [9, 10]);
}

#[test]
fn raw_planes_keep_their_owner_and_may_lie_anywhere() {
    // Three buffers, as a decoder has them; V bottom-up.
    let (mut owner, count) = Counted::new(0);
    let mut planes = [vec![1u8; 8 * 3 + 5], vec![2; 4 + 3], vec![3; 4 + 3]];
    planes[2][..3].copy_from_slice(&[30, 31, 32]);
    owner.bytes = Vec::new();
    let [y, cb, cr] = planes.each_mut().map(|plane| plane.as_mut_ptr());
    let raw = [
        RawPlane { first_row: y, pitch_bytes: 8 },
        RawPlane { first_row: cb, pitch_bytes: 4 },
        RawPlane { first_row: cr.wrapping_add(4), pitch_bytes: -4 },
    ];
    // SAFETY: the owner keeps the three buffers, which nobody else uses; their rows are 8, 4 and 4 bytes apart.
    let image = unsafe { Image::<Yuv420p8>::from_raw_owner((owner, planes), size(5, 4), &raw) }.unwrap();
    assert_eq!(image.as_raw_planes(), raw);
    assert_eq!(image.pitches_bytes(), [8, 4, -4]);
    let (y, cb, cr) = image.planes();
    assert_eq!((y.row(3), cb.row(1)), (&[1; 5][..], &[2; 3][..]));
    assert_eq!((cr.row(0), cr.row(1)), (&[3; 3][..], &[30, 31, 32][..]), "rows go up in memory");
    drop(image);
    assert_eq!(drops(&count), 1);

    let (owner, count) = Counted::new(4);
    let first = owner.bytes.as_ptr().cast_mut();
    // SAFETY: the owner keeps its bytes, and nobody writes them.
    let shared = unsafe {
        SharedImage::<Gray8>::from_raw_owner(owner, size(2, 2), &[RawPlane { first_row: first, pitch_bytes: 2 }])
    };
    assert_eq!(shared.unwrap().planes().0.row(1), [2, 3]);
    assert_eq!(drops(&count), 1);
}

#[test]
fn errors_name_plane_quantity_unit_expected_and_found() {
    let (y, u, v) = ([0u8; 8 * 3 + 5], [0u8; 4 + 3], [0u8; 4 + 3]);
    let wrap = |y, u, v, pitches: &[i64]| ImageRef::<Yuv420p8>::from_slices([y, u, v], size(5, 4), pitches);
    assert!(wrap(&y, &u, &v, &[8, 4, 4]).is_ok(), "short last rows are enough");
    for (result, expected) in [
        (wrap(&y[1..], &u, &v, &[8, 4, 4]), "plane Y: buffer is 28 bytes, expected at least 29"),
        (wrap(&y, &u[1..], &v, &[8, 4, 4]), "plane Cb: buffer is 6 bytes, expected at least 7"),
        (wrap(&y, &u, &v[1..], &[8, 4, -4]), "plane Cr: buffer is 6 bytes, expected at least 7"),
        (wrap(&y, &u, &v, &[4, 4, 4]), "plane Y: pitch is 4 bytes, expected at least 5"),
        (wrap(&y, &u, &v, &[8, 4, -2]), "plane Cr: pitch is -2 bytes, expected at least 3"),
        (wrap(&y, &u, &v, &[8, 0, 4]), "plane Cb: pitch is 0 bytes, expected at least 3"),
        (wrap(&y, &u, &v, &[8, 4]), "plane yuv420p: count is 2 planes, expected 3"),
        (
            wrap(&y, &u, &v, &[i64::MAX, 4, 4]),
            "plane Y: pitch is 9223372036854775807 bytes, expected at most 2305843009213693951",
        ),
    ] {
        assert_eq!(text(result), expected);
    }
    let mut few = [0; 4];
    assert_eq!(
        text(ImageMut::<Nv12>::from_slices([&mut few[..]], size(2, 2), &[2, 2])),
        "plane nv12: count is 1 planes, expected 2"
    );
    assert_eq!(text(Layout::<Nv12>::new(size(5, 5), &[5, 5])), "plane CbCr: pitch is 5 bytes, expected at least 6");
    assert_eq!(
        text(Layout::<Bgr8>::packed(size(5, 5)).unwrap().with_coded_size(size(4, 5))),
        "plane bgr24: width is 4 samples, expected at least 5"
    );
    assert_eq!(text(Size::new(0, 7)), "size is 0x7 pixels, expected 1 to 134217728 pixels a side");
    assert_eq!(text(Layout::<Gray8<Linked<Bytes<8>>>>::new(size(5, 5), &[9])), "plane Y: pitch is 9 bytes, expected 8");
    assert_eq!(
        text(Image::<Gray8<Linked<Bytes<4>>>>::new(size(5, 5))),
        "plane Y: pitch is 4 bytes, expected at least 5"
    );

    let (source, mut small) = (Image::<Nv12>::new(size(5, 4)).unwrap(), Image::<Bgr8>::new(size(4, 5)).unwrap());
    let convert = Cpu::new().convert(&source, &mut small, &Conversion::new());
    assert_eq!(text(convert), "destination: size is 4x5 pixels, expected 5x4");
    let crop = Conversion::new().crop(Rect::new(Offset::new(2, 0), size(4, 5)));
    assert_eq!(
        text(Cpu::new().convert(&source, &mut small, &crop)),
        "crop 4x5+2+0 reaches past the image, expected to lie inside 5x4 pixels"
    );
    assert_eq!(
        text(source.crop(region!(Nv12, x: 4, y: 2, width: 1, height: 3))),
        "crop 1x3+4+2 reaches past the image, expected to lie inside 5x4 pixels"
    );
    assert_eq!(
        text(Region::<Nv12>::new(Offset::new(0, u32::MAX), size(1, 1))),
        "crop offset y is 4294967295 pixels, expected a multiple of 2 (the nearest are 4294967294 and 4294967296)"
    );
}

#[test]
fn planes_of_another_size_make_no_image() {
    let (big, small) = (Image::<Yuv420p8>::new(size(8, 6)).unwrap(), Image::<Yuv420p8>::new(size(8, 4)).unwrap());
    let ((y, cb, _), (_, _, cr)) = (big.planes(), small.planes());
    let mixed = ImageRef::<Yuv420p8>::from_planes(size(8, 6), (y, cb, cr));
    assert_eq!(text(mixed), "plane Cr: height is 2 samples, expected 3");
    let narrow = ImageRef::<Yuv420p8>::from_planes(size(10, 6), big.planes());
    assert_eq!(text(narrow), "plane Y: width is 8 samples, expected 10");
    // Chroma rounds up, so that both 7 and 8 luma columns have 4: but luma has 8.
    assert_eq!(
        text(ImageRef::<Yuv420p8>::from_planes(size(7, 6), big.planes())),
        "plane Y: width is 8 samples, expected 7"
    );
    assert!(ImageRef::<Yuv420p8>::from_planes(size(8, 6), big.planes()).is_ok());
}

#[test]
fn rows_say_what_they_cannot_be() {
    let bytes = [0u8; 6 * 8];
    assert_eq!(text(Rows::<u8>::new(&bytes, 0, 8)), "plane rows: width is 0 samples, expected at least 1");
    assert_eq!(text(Rows::<u8>::new(&bytes, 9, 8)), "plane rows: pitch is 8 bytes, expected at least 9");
    assert_eq!(text(Rows::<u8>::new(&bytes, 8, -8)), "plane rows: pitch is -8 bytes, expected at least 8");
    assert_eq!(text(Rows::<u8>::new(&bytes[..7], 8, 8)), "plane rows: buffer is 7 bytes, expected at least 8");
    assert_eq!(text(Rows::<u16>::new(&bytes, 2, 5)), "plane rows: pitch is 5 bytes, expected a multiple of 2");
    let rows = Rows::<u8>::new(&bytes, 8, 8).unwrap();
    assert_eq!((rows.rows(), rows.columns(), rows.pitch_bytes()), (6, 8, 8));
    assert_eq!(text(rows.split_at_row(7)), "plane rows: height is 6 samples, expected at least 7");
    assert_eq!(text(rows.split_at_column(8)), "plane rows: width is 8 samples, expected at most 7");
    assert_eq!(text(rows.split_at_column(0)), "plane rows: width is 0 samples, expected at most 7");
    assert_eq!(text(rows.plane::<Y>(size(8, 7))), "plane Y: height is 6 samples, expected at least 7");
    assert_eq!(text(rows.plane::<Y>(size(9, 6))), "plane Y: width is 8 samples, expected at least 9");
    let (luma, chroma) = rows.split_at_row(4).unwrap();
    assert_eq!((luma.rows(), chroma.rows()), (4, 2));
    assert_eq!(text(chroma.halves(size(8, 5))), "plane Cr: buffer is 16 bytes, expected at least 24");
    // An odd count of chroma rows: V starts in the middle of a row of the array.
    let array: Vec<u8> = (0..8 * 9).collect();
    let (_, chroma) = Rows::<u8>::new(&array, 8, 8).unwrap().split_at_row(6).unwrap();
    let (cb, cr) = chroma.halves(size(8, 6)).unwrap();
    assert_eq!((cb.row(2), cr.row(0)), (&[56, 57, 58, 59][..], &[60, 61, 62, 63][..]));
    // A short last row is a row; a shorter one is none.
    assert_eq!(Rows::<u8>::new(&bytes[..21], 5, 8).unwrap().rows(), 3);
    assert_eq!(Rows::<u8>::new(&bytes[..20], 5, 8).unwrap().rows(), 2);
    // A window keeps the pitch of what it was cut from.
    let (left, right): (Window<'_, u8>, Window<'_, u8>) = Rows::new(&array, 8, 8).unwrap().split_at_column(3).unwrap();
    assert_eq!((left.row(1), right.row(1)), (&[8, 9, 10][..], &[11, 12, 13, 14, 15][..]));
    assert_eq!((left.pitch_bytes(), left.columns(), right.columns(), right.rows()), (8, 3, 5, 9));
}

#[test]
fn samples_of_two_bytes_are_aligned() {
    // A buffer of which we know that byte 0 is even.
    let words = [0u16; 64];
    // SAFETY: 64 words are 128 initialised bytes, borrowed as long as the slice.
    let bytes: &[u8] = unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), 128) };
    let layout = Layout::<Yuv420p16>::packed(size(5, 4)).unwrap();
    assert_eq!((layout.pitches_bytes(), layout.len_bytes()), ([10, 6, 6], 40 + 12 + 12));
    assert!(ImageRef::from_slice(&bytes[2..], &layout).is_ok());
    assert_eq!(
        text(ImageRef::from_slice(&bytes[1..], &layout)),
        "plane Y: address is 1 bytes past a sample's alignment, expected 0"
    );
    let planes = [&bytes[..40], &bytes[40..52], &bytes[53..65]];
    assert_eq!(
        text(ImageRef::<Yuv420p16>::from_slices(planes, size(5, 4), &[10, 6, 6])),
        "plane Cr: address is 1 bytes past a sample's alignment, expected 0"
    );
    assert_eq!(
        text(Layout::<Yuv420p16>::new(size(5, 4), &[10, 7, 6])),
        "plane Cb: pitch is 7 bytes, expected a multiple of 2"
    );
    assert_eq!(
        text(Rows::<u16>::new(&bytes[1..], 4, 8)),
        "plane rows: address is 1 bytes past a sample's alignment, expected 0"
    );
    let raw =
        [1, 0, 0].map(|past| RawPlane { first_row: bytes.as_ptr().wrapping_add(past).cast_mut(), pitch_bytes: 10 });
    // SAFETY: refused before anything is read.
    let refused = unsafe { ImageRef::<Yuv420p16>::from_raw_planes(size(5, 4), &raw) };
    assert_eq!(text(refused), "plane Y: address is 1 bytes past a sample's alignment, expected 0");
    // Three bytes a pixel have no alignment.
    assert!(ImageRef::<Bgr8>::from_slices([&bytes[1..]], size(5, 4), &[17]).is_ok());
}

#[test]
fn formats_of_a_users_own_run_on_the_built_in_kernels() {
    let picture = Picture::noise(size(37, 11), 5);
    let exact = picture.rgb(&Reference::new(Matrix::Bt2020, Range::Full));
    let conversion = Conversion::new().matrix(Matrix::Bt2020).range(Range::Full);
    fn frame<F: framewright::Format>(picture: &Picture) -> Frame<F> {
        let mut frame = Frame::new(picture.size(), &[Lie::Odd, Lie::Padded], Buffers::Together, Pattern::Plain);
        let planes = picture.planes::<F>();
        frame.fill(|i, y| planes.row(i, y));
        frame
    }
    let mut bgra = [(); 4].map(|()| Image::<Bgra8>::new(picture.size()).unwrap());
    let [of_nv21, of_yv12, of_nv12, of_i420] = &mut bgra;
    Cpu::new().convert(&frame::<Nv21>(&picture).view(), of_nv21, &conversion).unwrap();
    Cpu::new().convert(&frame::<Yv12>(&picture).view(), of_yv12, &conversion).unwrap();
    Cpu::new().convert(&frame::<Nv12>(&picture).view(), of_nv12, &conversion).unwrap();
    Cpu::new().convert(&frame::<Yuv420p8>(&picture).view(), of_i420, &conversion).unwrap();
    for image in &bgra {
        for (y, row) in image.planes().0.rows().enumerate() {
            for (x, &[b, g, r, a]) in row.iter().enumerate() {
                assert_eq!(([r, g, b], a), (exact.get(x as u32, y as u32), 255), "pixel {x}, {y}");
            }
        }
    }
}

#[test]
fn tiles_are_disjoint_cover_all_and_go_to_threads() {
    let whole = size(23, 17);
    for tile in [size(2, 2), size(4, 6), size(8, 2), size(22, 16), size(23, 17), size(64, 64), size(23, 4), size(6, 17)]
    {
        let mut frame = Frame::<Nv12>::new(whole, &[Lie::Negative, Lie::Odd], Buffers::Together, Pattern::Plain);
        let tiles: Vec<_> = frame.view_mut().tiles(tile).unwrap().collect();
        let across = whole.width().div_ceil(tile.width());
        assert_eq!(tiles.len() as u32, across * whole.height().div_ceil(tile.height()), "{tile}");
        std::thread::scope(|threads| {
            for (i, mut tile) in tiles.into_iter().enumerate() {
                threads.spawn(move || {
                    let (mut y, mut cbcr) = tile.planes_mut();
                    y.rows_mut().for_each(|row| row.iter_mut().for_each(|sample| *sample = i as u8));
                    cbcr.fill([i as u8, !(i as u8)]);
                });
            }
        });
        let of = |x: usize, y: usize| (y as u32 / tile.height() * across + x as u32 / tile.width()) as u8;
        let mut rows = [Vec::new(), Vec::new()];
        for y in 0..17 {
            rows[0].push((0..23).map(|x| of(x, y)).collect::<Vec<u8>>());
        }
        for y in 0..9 {
            rows[1].push((0..12).flat_map(|x| [of(2 * x, 2 * y), !of(2 * x, 2 * y)]).collect());
        }
        assert_eq!(frame.first_wrong(|i, y| &rows[i][y]), None, "tiles of {tile}");
    }
}

#[test]
fn tiles_and_splits_lie_on_the_grid() {
    let mut image = Image::<Nv12>::new(size(9, 6)).unwrap();
    let split = |image: &mut Image<Nv12>, y| text(image.view_mut().split_at_row(y));
    assert_eq!(split(&mut image, 3), "crop offset y is 3 pixels, expected a multiple of 2 (the nearest are 2 and 4)");
    assert_eq!(split(&mut image, 0), "cut at y is 0 pixels, expected inside the image's 6 (a side would be empty)");
    assert_eq!(split(&mut image, 6), "cut at y is 6 pixels, expected inside the image's 6 (a side would be empty)");
    assert_eq!(
        text(image.view_mut().split_at_column(10)),
        "cut at x is 10 pixels, expected inside the image's 9 (a side would be empty)"
    );
    assert!(image.view_mut().split_at_column(1).is_err());
    assert_eq!(
        text(image.view_mut().tiles(size(3, 2))),
        "crop offset x is 3 pixels, expected a multiple of 2 (the nearest are 2 and 4)"
    );
    assert!(image.view_mut().tiles(size(2, 5)).is_err());
    assert!(image.view_mut().tiles(size(9, 7)).is_ok(), "one tile may have any size");
    let (mut upper, lower) = image.view_mut().split_at_row(4).unwrap();
    assert_eq!((upper.size(), lower.size(), lower.frame_size()), (size(9, 4), size(9, 2), size(9, 6)));
    let (left, mut right) = lower.split_at_column(8).unwrap();
    assert_eq!((left.size(), right.size()), (size(8, 2), size(1, 2)));
    right.planes_mut().1.fill([7, 8]);
    upper.planes_mut().0.fill(1);
    right.planes_mut().0.fill(9);
    let _ = left;
    assert_eq!((image.planes().1.row(2)[4], image.planes().1.row(2)[3]), ([7, 8], [0, 0]));
    assert_eq!((image.planes().0.row(3), image.planes().0.row(4)), (&[1; 9][..], &[0, 0, 0, 0, 0, 0, 0, 0, 9][..]));
    // Gray has no grid.
    assert!(Image::<Gray8>::new(size(9, 6)).unwrap().view_mut().split_at_row(3).is_ok());
}

#[test]
fn a_crop_keeps_the_frames_colours() {
    let mut frame = Image::<Nv12>::new(size(1280, 4)).unwrap();
    frame.planes_mut().0.fill(63);
    frame.planes_mut().1.fill([102, 240]);
    let crop = frame.crop(region!(Nv12, x: 10, y: 2, width: 8, height: 2)).unwrap();
    assert_eq!((crop.size(), crop.frame_size()), (size(8, 2), size(1280, 4)));
    let crop = crop.crop(region!(Nv12, x: 2, y: 0, width: 3, height: 1)).unwrap();
    assert_eq!(crop.frame_size(), size(1280, 4), "and so does a crop of the crop");
    let mut out = Image::<Bgr8>::new(size(3, 1)).unwrap();
    let color = Cpu::new().convert(&crop, &mut out, &Conversion::new()).unwrap();
    assert_eq!((color.matrix, color.matrix_assumed), (Matrix::Bt709, true), "1280 wide is BT.709, also in part");
    assert_eq!(out.planes().0.row(0), [[0, 1, 255]; 3]);

    // What the image says goes before the rule, and what the conversion says before both.
    let said = frame.view().with_color(ColorInfo { matrix: Some(Matrix::Bt601), ..ColorInfo::UNSPECIFIED });
    let said = said.crop(region!(Nv12, x: 10, y: 2, width: 3, height: 1)).unwrap();
    let color = Cpu::new().convert(&said, &mut out, &Conversion::new().range(Range::Full)).unwrap();
    assert_eq!((color.matrix, color.range), (Matrix::Bt601, Range::Full));
    assert!(!color.matrix_assumed && !color.range_assumed);
    let color = Cpu::new().convert(&said, &mut out, &Conversion::new().matrix(Matrix::Bt2020)).unwrap();
    assert_eq!((color.matrix, color.range_assumed), (Matrix::Bt2020, true));
    // An image of its own of that size is BT.601.
    let alone = Image::<Nv12>::new(size(3, 1)).unwrap();
    assert_eq!(Cpu::new().convert(&alone, &mut out, &Conversion::new()).unwrap().matrix, Matrix::Bt601);
}

#[test]
fn planes_are_laid_out_for_the_coded_size() {
    let layout = Layout::<Yuv420p8>::new(size(5, 3), &[8, 4, 4]).unwrap().with_coded_size(size(8, 6)).unwrap();
    let bytes: Vec<u8> = (0..layout.full_len_bytes() as u8).collect();
    assert_eq!(bytes.len(), 48 + 12 + 12);
    let image = ImageRef::from_slice(&bytes, &layout).unwrap();
    assert_eq!((image.size(), image.frame_size()), (size(5, 3), size(5, 3)), "the rule goes by the visible size");
    let (y, cb, cr) = image.planes();
    assert_eq!((y.height(), y.row(2)), (3, &[16, 17, 18, 19, 20][..]));
    assert_eq!((cb.row(0), cr.row(1)), (&[48, 49, 50][..], &[64, 65, 66][..]));
    assert_eq!(layout.len_bytes(), 67, "to the last visible byte");
    assert!(ImageRef::from_slice(&bytes[..67], &layout).is_ok());
    assert_eq!(text(ImageRef::from_slice(&bytes[..66], &layout)), "plane Cr: buffer is 66 bytes, expected at least 67");
    // 1088 coded rows of a 1080 frame.
    let hd = Layout::<Nv12>::packed(size(1920, 1080)).unwrap().with_coded_size(size(1920, 1088)).unwrap();
    assert_eq!(hd.offsets_bytes(), [0, 1920 * 1088]);
}

#[test]
fn negative_pitches_are_bottom_up() {
    let bytes: Vec<u8> = (0..12).collect();
    let layout = Layout::<Gray8>::new(size(3, 3), &[-4]).unwrap();
    let image = ImageRef::from_slice(&bytes, &layout).unwrap();
    assert_eq!((image.planes().0.row(0), image.planes().0.row(2)), (&[8, 9, 10][..], &[0, 1, 2][..]));
    let same = ImageRef::<Gray8>::from_slices([&bytes[..11]], size(3, 3), &[-4]).unwrap();
    assert!(same.planes().0.rows().eq(image.planes().0.rows()));
    // A copy turns it the usual way round.
    let mut copy = Image::<Gray8>::with_layout(&Layout::packed(size(3, 3)).unwrap()).unwrap();
    Cpu::new().copy(&image, &mut copy).unwrap();
    assert_eq!(copy.planes().0.rows().collect::<Vec<_>>().concat(), [8, 9, 10, 4, 5, 6, 0, 1, 2]);
    // Coded rows below the visible ones come first in memory.
    let coded = Layout::<Gray8>::new(size(3, 2), &[-4]).unwrap().with_coded_size(size(3, 3)).unwrap();
    assert_eq!(ImageRef::from_slice(&bytes, &coded).unwrap().planes().0.row(1), [4, 5, 6]);
    let crop = image.crop(region!(Gray8, x: 1, y: 1, width: 2, height: 2)).unwrap();
    assert_eq!((crop.planes().0.row(0), crop.planes().0.row(1)), (&[5, 6][..], &[1, 2][..]));
    // Linked pitches count forwards.
    assert_eq!(
        text(Layout::<Yuv420p8<Linked>>::new(size(4, 4), &[-4, -2, -2])),
        "plane Cb: pitch is -2 bytes, expected at least 1"
    );
}

#[test]
fn memory_that_is_shared_is_refused() {
    let mut bytes = vec![7u8; 64];
    let first = bytes.as_mut_ptr();
    let wrap = |at: usize| [RawPlane { first_row: first.wrapping_add(at), pitch_bytes: 8 }];
    // Two wraps of one pointer: right by themselves, and never read or written while both exist, since the launch refuses.
    // SAFETY: the rows lie in the vector; the launch below is refused before it touches them.
    let source = unsafe { ImageRef::<Gray8>::from_raw_planes(size(4, 4), &wrap(0)) }.unwrap();
    for at in [0, 3, 8, 24, 27] {
        // SAFETY: as above.
        let mut destination = unsafe { ImageMut::<Gray8>::from_raw_planes(size(4, 4), &wrap(at)) }.unwrap();
        let error = Cpu::new().copy(&source, &mut destination).unwrap_err();
        assert_eq!(error, Error::Overlap { source: "Y", destination: "Y" }, "{at}");
        assert_eq!(error.to_string(), "destination plane Y shares memory with plane Y, expected memory of its own");
    }
    assert_eq!(bytes, vec![7; 64]);
    // Columns beside each other share no byte, though their rows alternate.
    bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = i as u8);
    let (first, mut left_and_right) = (bytes.as_mut_ptr(), [0, 4]);
    left_and_right.reverse();
    let wrap = |at: usize| [RawPlane { first_row: first.wrapping_add(at), pitch_bytes: 8 }];
    // SAFETY: columns 4..8 are read and 0..4 written; the rows lie in the vector.
    let (source, mut destination) = unsafe {
        (
            ImageRef::<Gray8>::from_raw_planes(size(4, 4), &wrap(left_and_right[0])).unwrap(),
            ImageMut::<Gray8>::from_raw_planes(size(4, 4), &wrap(left_and_right[1])).unwrap(),
        )
    };
    Cpu::new().copy(&source, &mut destination).unwrap();
    assert_eq!(bytes[24..32], [28, 29, 30, 31, 28, 29, 30, 31]);

    // A destination whose own planes overlap.
    let mut chroma = [0u8; 16];
    let first = chroma.as_mut_ptr();
    let planes = [0, 8, 9].map(|at| RawPlane { first_row: first.wrapping_add(at), pitch_bytes: 4 });
    let source = Image::<Yuv420p8>::new(size(4, 2)).unwrap();
    // SAFETY: Cb and Cr share a byte, which the launch refuses before it writes one.
    let mut twice = unsafe { ImageMut::<Yuv420p8>::from_raw_planes(size(4, 2), &planes) }.unwrap();
    assert_eq!(Cpu::new().copy(&source, &mut twice), Err(Error::Overlap { source: "Cb", destination: "Cr" }));
    assert_eq!(chroma, [0; 16]);
}

#[test]
fn pitches_are_linked_by_a_check_and_freed_without() {
    let image = Image::<Yuv420p8>::with_layout(&Layout::new(size(5, 5), &[16, 16, 16]).unwrap()).unwrap();
    // FFmpeg's 16, 16, 16 is not linked; the image comes back as it was.
    let (image, error) = image.with_pitches::<Yuv420p8<Linked>>().map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "plane Cb: pitch is 16 bytes, expected 8");
    assert_eq!(image.pitches_bytes(), [16, 16, 16]);
    assert_eq!(text(image.view().with_pitches::<Yuv420p8<Linked>>()), "plane Cb: pitch is 16 bytes, expected 8");

    let linked = Image::<Yuv420p8<Linked>>::with_layout(&Layout::packed(size(5, 5)).unwrap()).unwrap();
    assert_eq!(linked.pitches_bytes(), [5, 3, 3]);
    let fixed = linked.view().with_pitches::<Yuv420p8<Linked<Bytes<5>>>>().unwrap();
    assert_eq!(fixed.pitches_bytes(), [5, 3, 3]);
    assert_eq!(
        text(linked.view().with_pitches::<Yuv420p8<Linked<Bytes<6>>>>()),
        "plane Y: pitch is 5 bytes, expected 6"
    );
    let first = linked.as_raw_planes();
    let free = linked.with_free_pitches::<Yuv420p8>();
    assert_eq!(free.as_raw_planes(), first, "the same planes");
    let mut back = free.with_pitches::<Yuv420p8<Linked>>().unwrap();
    assert!(back.view_mut().with_pitches::<Yuv420p8>().is_ok());
    assert_eq!(
        Image::<Nv12<Linked>>::with_layout(&Layout::packed(size(5, 5)).unwrap()).unwrap().pitches_bytes(),
        [5, 6]
    );
    // Copies go between them.
    let mut copy = Image::<Yuv420p8>::new(size(5, 5)).unwrap();
    Cpu::new().copy(&back, &mut copy).unwrap();
}

#[test]
fn a_static_pitch_costs_no_bytes() {
    type Static = Linked<Bytes<896>>;
    let saved = |free: usize, other: usize| free - other;
    assert_eq!(saved(size_of::<ImageRef<'_, Yuv420p8>>(), size_of::<ImageRef<'_, Yuv420p8<Static>>>()), 3 * 8);
    assert_eq!(saved(size_of::<Image<Nv12>>(), size_of::<Image<Nv12<Static>>>()), 2 * 8);
    assert_eq!(size_of::<Layout<Yuv420p8<Static>>>(), 16, "two sizes");
    type Luma<P> = framewright::Spec<Y, u8, framewright::Full, P>;
    assert_eq!(size_of::<PlaneRef<'_, Luma<Bytes<896>>>>(), 16, "address and size");
    assert_eq!(size_of::<PlaneRef<'_, Luma<framewright::Dyn>>>(), 24, "and pitch");
}

#[test]
fn images_views_and_errors_go_to_other_threads() {
    fn send_and_sync<T: Send + Sync + 'static>() {}
    send_and_sync::<Image<Nv12>>();
    send_and_sync::<SharedImage<Yuv420p8, Host>>();
    send_and_sync::<ImageRef<'static, Bgr8>>();
    send_and_sync::<ImageMut<'static, Bgr8>>();
    send_and_sync::<Error>();
    send_and_sync::<Cpu>();
}

#[test]
fn new_images_are_zeroed_and_aligned() {
    let image = Image::<Yuv420p8>::new(size(70, 3)).unwrap();
    assert_eq!(image.pitches_bytes(), [128, 64, 64]);
    assert!(image.as_raw_planes().iter().all(|plane| (plane.first_row as usize).is_multiple_of(64)));
    assert!(image.planes().1.rows().flatten().all(|&byte| byte == 0));
    assert_eq!(format!("{image:?}"), "yuv420p 70x3 in host memory, pitches [128, 64, 64] bytes");
    let huge = Image::<Bgr8>::new(size(1 << 27, 1 << 27)).map(|_| ());
    assert!(matches!(huge, Err(Error::OutOfMemory { location: "host memory", .. })), "{huge:?}");
    assert_eq!(image.planes().0.get(70, 0), None);
    assert_eq!(image.planes().0.get(69, 2), Some(0));
}

#[test]
#[should_panic(expected = "plane Cb: row is 2, expected below 2")]
fn a_row_that_is_not_there_panics() {
    let image = Image::<Yuv420p8>::new(size(3, 3)).unwrap();
    let _ = image.planes().1.row(2);
}
