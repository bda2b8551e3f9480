//! The kernels of `examples/` on the CPU, and what goes wrong with kernels.

use framewright::*;
use framewright_examples::{invert, mean_variance};
use framewright_kernel::prelude::{In, Out, Pixel, kernel};
use framewright_tests::examples;

#[test]
fn examples_are_right_on_all_cores_and_on_one() {
    for cpu in [Cpu::new(), Cpu::single_threaded()] {
        let outcome = examples::run(&cpu, 1);
        assert_eq!(outcome.first_difference, None);
        assert_eq!((outcome.differing, outcome.cases), (0, 14 * 4 * (289 + 4)));
    }
}

fn gray(width: u32, height: u32) -> Image<Gray8> {
    Image::new(Size::new(width, height).expect("a size")).expect("memory")
}

#[test]
fn images_of_other_sizes_are_refused_by_parameter() {
    let (source, mut destination) = (gray(8, 6), gray(8, 5));
    let error = Cpu::new().launch(invert(&source, &mut destination)).expect_err("refused");
    assert_eq!(error.to_string(), "kernel invert: the image for dst is 8x5 pixels, expected 8x6");
    let part = Rect::new(Offset::new(1, 1), Size::fixed::<3, 3>());
    let error = Cpu::new().launch(invert(&source, &mut destination).crop(part)).expect_err("refused");
    assert_eq!(error.to_string(), "kernel invert: the image for dst is 8x5 pixels, expected 3x3");
}

#[test]
fn parts_past_the_images_or_off_a_written_grid_are_refused() {
    let (source, mut moments) = (gray(8, 6), Default::default());
    let part = Rect::new(Offset::new(6, 0), Size::fixed::<3, 3>());
    let error = Cpu::new().launch(mean_variance(&source, &mut moments).crop(part)).expect_err("refused");
    assert!(matches!(error, Error::Region(RegionError::Outside { .. })), "{error}");
    assert_eq!(moments, Default::default());
    let size = Size::fixed::<8, 6>();
    let (mut frame, logo) = (Image::<Nv12>::new(size).expect("memory"), Image::<Nv12>::new(size).expect("memory"));
    let odd = Rect::new(Offset::new(2, 1), Size::fixed::<3, 3>());
    let call = framewright_examples::blend_logo(&mut frame, &logo, &source).crop(odd);
    let error = Cpu::new().launch(call).expect_err("refused");
    assert!(
        matches!(error, Error::Region(RegionError::OffGrid { axis: Axis::Y, offset_px: 1, step_px: 2 })),
        "{error}"
    );
}

#[test]
fn what_is_written_may_not_be_read_elsewhere() {
    let mut bytes = [0u8; 64];
    let size = Size::fixed::<8, 4>();
    let base = bytes.as_mut_ptr();
    let plane = |at: usize| [RawPlane { first_row: base.wrapping_add(at), pitch_bytes: 8 }];
    // SAFETY: both lie in the array; that they overlap by a row is what the launch must find.
    let (source, destination) = unsafe {
        (
            ImageRef::<Gray8>::from_raw_planes(size, &plane(0)).expect("planes"),
            ImageMut::<Gray8>::from_raw_planes(size, &plane(24)).expect("planes"),
        )
    };
    let error = Cpu::new().launch(invert(source, destination)).expect_err("refused");
    assert_eq!(error, Error::Overlap { source: "Y", destination: "Y" });
}

#[kernel]
fn no_ninth(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
    assert!(src.get(at) != 9, "a nine");
    1
}

#[test]
fn a_panic_is_an_error_of_the_launch_that_names_kernel_and_place() {
    // Small, and large enough for several threads.
    for (width, height, x, y) in [(9, 7, 4, 3), (1000, 900, 777, 888)] {
        let (mut source, mut destination) = (gray(width, height), gray(width, height));
        source.planes_mut().0.row_mut(y)[x as usize] = 9;
        let error = Cpu::new().launch(no_ninth(&source, &mut destination)).expect_err("a panic");
        assert_eq!(error, Error::KernelPanic { kernel: "no_ninth", x, y });
        source.planes_mut().0.row_mut(y)[x as usize] = 8;
        Cpu::new().launch(no_ninth(&source, &mut destination)).expect("no nine");
        assert!(destination.planes().0.rows().all(|row| row.iter().all(|&sample| sample == 1)));
    }
}
