//! The CPU executor allocates nothing a call. A binary of its own: it counts every allocation of the process.

use framewright::{Bgr8, Conversion, Cpu, Gray8, Image, Matrix, Nv12, Offset, Rect, Region, Rgba8, Size, Yuv420p8};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

struct Counting;

thread_local! {
    /// Allocations of this thread: the test harness has threads of its own.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all calls go to the system's allocator as they are; counting touches no memory of theirs.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations that `work` makes in this thread.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![0; 100]))), 1);
    let mut growing = vec![0; 100];
    assert_eq!(allocations(|| growing.reserve_exact(1000)), 1, "realloc counts");
    assert_eq!(allocations(|| ()), 0);
}

#[test]
fn an_image_is_few_allocations_and_a_view_is_none() {
    let size = Size::fixed::<640, 480>();
    let mut image = None;
    assert_eq!(allocations(|| image = Image::<Nv12>::new(size).ok()), 1);
    let mut image = image.expect("memory");
    let region = Region::fixed::<2, 2, 33, 7>();
    assert_eq!(
        allocations(|| {
            image.planes_mut().0.fill(9);
            let crop = image.crop(region).expect("inside");
            assert_eq!(crop.planes().0.row(6)[32], 9);
        }),
        0
    );
}

/// Calls once to warm up, and counts the second call's allocations.
fn second_call(mut call: impl FnMut()) -> u64 {
    call();
    allocations(call)
}

#[test]
fn launches_allocate_nothing() {
    // The small size stays on the calling thread with every executor; the large one only where that is asked for.
    for (cpu, size) in [
        (Cpu::single_threaded(), Size::fixed::<1283, 717>()),
        (Cpu::single_threaded(), Size::fixed::<5, 3>()),
        (Cpu::new(), Size::fixed::<65, 33>()),
    ] {
        let nv12 = Image::<Nv12>::new(size).expect("memory");
        let i420 = Image::<Yuv420p8>::new(size).expect("memory");
        let gray = Image::<Gray8>::new(size).expect("memory");
        let (mut bgr, mut rgba) =
            (Image::<Bgr8>::new(size).expect("memory"), Image::<Rgba8>::new(size).expect("memory"));
        let crop = Rect::new(Offset::new(1, 1), Size::fixed::<3, 2>());
        let mut cropped = Image::<Bgr8>::new(crop.size).expect("memory");
        let conversion = Conversion::new().matrix(Matrix::Bt709);
        let count = second_call(|| {
            cpu.convert(&nv12, &mut bgr, &conversion).expect("sizes agree");
            cpu.convert(&i420, &mut rgba, &conversion).expect("sizes agree");
            cpu.convert(&i420.view(), &mut cropped.view_mut(), &conversion.crop(crop)).expect("sizes agree");
        });
        assert_eq!(count, 0, "convert {size} on {cpu:?}");

        let (mut nv12_copy, mut i420_copy) =
            (Image::<Nv12>::new(size).expect("memory"), Image::<Yuv420p8>::new(size).expect("memory"));
        let mut gray_copy = Image::<Gray8>::new(size).expect("memory");
        let count = second_call(|| {
            cpu.copy(&nv12, &mut nv12_copy).expect("sizes agree");
            cpu.copy(&i420, &mut i420_copy).expect("sizes agree");
            cpu.copy(&gray, &mut gray_copy).expect("sizes agree");
        });
        assert_eq!(count, 0, "copy {size} on {cpu:?}");

        // Nor does a refusal.
        let count = second_call(|| {
            let error = cpu.convert(&nv12, &mut cropped, &conversion).expect_err("another size");
            std::hint::black_box(error);
        });
        assert_eq!(count, 0, "a refused conversion of {size} on {cpu:?}");
    }
}
