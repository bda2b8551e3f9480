//! The API of feature `cuda`, as an application uses it: chains, loops, temporaries, submitted work, errors.

use crate::exact::Count;
use framewright::{
    Bgr8, Conversion, Cpu, Error, Gray8, Image, ImageRef, Nv12, Size, Yuv420p8,
    cuda::{Cuda, CudaError, Device, Pinned, Stream},
};
use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake},
    thread::Thread,
};

type Check = fn(&Device) -> Result<(), String>;

/// The checks by name.
pub const CHECKS: &[(&str, Check)] = &[
    ("a chain through temporaries", chain),
    ("a loop over 100 frames with two buffers", hundred_frames),
    ("pinned images both ways", pinned),
    ("submitted work gives its images back", submit),
    ("submitted work is a future", future),
    ("a failed submission gives its images back", failed_submission),
    ("an image of every linked form", linked),
    ("out of memory leaves everything usable", out_of_memory),
    ("cust's context and stream go in and out", cust_in_and_out),
    ("the current context stays as it was", current_context),
    ("events order streams", events),
    ("a destination of another size is refused", wrong_size),
    ("shared device memory is refused", overlap),
    ("tall images take several grids", tall),
    ("a user's kernels chain, reduce and count in one scope", users_kernels),
    ("a kernel whose module was not given is refused", unknown_kernel),
];

/// Runs all checks; without those that make the driver fail where a sanitizer watches, which takes that for a finding.
pub fn run(device: &Device, sanitizer: bool) -> Count {
    let mut count = Count::default();
    for (name, check) in CHECKS.iter().filter(|(name, _)| !(sanitizer && name.starts_with("out of memory"))) {
        count.add(1, check(device).err().map(|error| format!("{name}: {error}")));
    }
    count
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn frame(size: Size, seed: u8) -> Result<Image<Nv12>, Error> {
    let mut frame = Image::<Nv12>::new(size)?;
    let (mut y, mut cbcr) = frame.planes_mut();
    for (row, samples) in y.rows_mut().enumerate() {
        samples.iter_mut().enumerate().for_each(|(x, s)| *s = (x as u8).wrapping_mul(3) ^ row as u8 ^ seed);
    }
    for (row, samples) in cbcr.rows_mut().enumerate() {
        samples.iter_mut().enumerate().for_each(|(x, s)| *s = [(x as u8) ^ seed, row as u8]);
    }
    Ok(frame)
}

fn expected(frame: &Image<Nv12>) -> Result<Image<Bgr8>, Error> {
    let mut picture = Image::<Bgr8>::new(frame.size())?;
    Cpu::new().convert(frame, &mut picture, &Conversion::new())?;
    Ok(picture)
}

fn same(found: ImageRef<'_, Bgr8>, wanted: &Image<Bgr8>) -> Result<(), String> {
    let (a, b) = (found.planes().0, wanted.planes().0);
    match (0..a.height()).find(|&y| a.row(y) != b.row(y)) {
        Some(y) => Err(format!("row {y} differs")),
        None => Ok(()),
    }
}

const SIZE: Size = Size::fixed::<173, 41>();

fn chain(device: &Device) -> Result<(), String> {
    let stream = device.stream().map_err(text)?;
    let source = frame(SIZE, 1).map_err(text)?;
    let mut picture = Image::<Bgr8>::new(SIZE).map_err(text)?;
    stream
        .scope(|scope| {
            let nv12 = scope.upload(&source, scope.temporary::<Nv12>(SIZE)?)?;
            let copy = scope.copy(&nv12, scope.temporary::<Nv12>(SIZE)?)?;
            let bgr = scope.convert(&copy, scope.temporary::<Bgr8>(SIZE)?, &Conversion::new())?;
            // The temporaries are written again after they are read: the stream keeps the order.
            let _again = scope.copy(&bgr, scope.temporary::<Bgr8>(SIZE)?)?;
            scope.download(&bgr, &mut picture)
        })
        .map_err(text)?;
    same(picture.view(), &expected(&source).map_err(text)?)
}

fn hundred_frames(device: &Device) -> Result<(), String> {
    let stream = device.stream().map_err(text)?;
    let frames: Vec<_> = (0..100).map(|i| frame(SIZE, i)).collect::<Result<_, _>>().map_err(text)?;
    let mut pictures: Vec<_> = (0..100).map(|_| Image::<Bgr8>::new(SIZE)).collect::<Result<_, _>>().map_err(text)?;
    let (mut a, mut b) = (device.image::<Nv12>(SIZE).map_err(text)?, device.image::<Bgr8>(SIZE).map_err(text)?);
    stream
        .scope(|scope| {
            let (mut nv12, mut bgr) = (scope.queued(&mut a)?, scope.queued(&mut b)?);
            for (frame, picture) in frames.iter().zip(&mut pictures) {
                nv12 = scope.upload(frame, nv12)?;
                bgr = scope.convert(&nv12, bgr, &Conversion::new())?;
                scope.download(&bgr, picture)?;
            }
            Ok::<_, Error>(())
        })
        .map_err(text)?;
    for (i, (frame, picture)) in frames.iter().zip(&pictures).enumerate() {
        same(picture.view(), &expected(frame).map_err(text)?).map_err(|e| format!("frame {i}: {e}"))?;
    }
    Ok(())
}

fn pinned(device: &Device) -> Result<(), String> {
    let stream = device.stream().map_err(text)?;
    let source = frame(SIZE, 7).map_err(text)?;
    let mut pinned_in: Image<Nv12, Pinned> = device.pinned(SIZE).map_err(text)?;
    let mut pinned_out: Image<Bgr8, Pinned> = device.pinned(SIZE).map_err(text)?;
    Cpu::new().copy(&source, &mut pinned_in).map_err(text)?;
    stream
        .scope(|scope| {
            let nv12 = scope.upload(&pinned_in, scope.temporary::<Nv12>(SIZE)?)?;
            let bgr = scope.convert(&nv12, scope.temporary::<Bgr8>(SIZE)?, &Conversion::new())?;
            scope.download(&bgr, &mut pinned_out)
        })
        .map_err(text)?;
    let mut host = Image::<Bgr8>::new(SIZE).map_err(text)?;
    Cpu::new().copy(&pinned_out, &mut host).map_err(text)?;
    same(host.view(), &expected(&source).map_err(text)?)
}

fn submitted(stream: &Stream, seed: u8) -> Result<(framewright::cuda::Pending<Pair>, Image<Bgr8>), String> {
    let source = frame(SIZE, seed).map_err(text)?;
    let pair = (stream.upload(&source).map_err(text)?, stream.device().image::<Bgr8>(SIZE).map_err(text)?);
    let pending = stream
        .submit(pair, |scope, (nv12, bgr)| scope.convert(&*nv12, bgr, &Conversion::new()).map(drop))
        .map_err(text)?;
    Ok((pending, expected(&source).map_err(text)?))
}

type Pair = (Image<Nv12, Cuda>, Image<Bgr8, Cuda>);

fn submit(device: &Device) -> Result<(), String> {
    let stream = device.stream().map_err(text)?;
    let (first, wanted) = submitted(&stream, 3)?;
    let (second, _) = submitted(&stream, 4)?;
    let (_, bgr) = first.wait().map_err(text)?;
    same(stream.download(&bgr).map_err(text)?.view(), &wanted)?;
    drop(second); // Waits.
    Ok(())
}

struct Unpark(Thread);
impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future in this thread, which sleeps until it is woken.
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

fn future(device: &Device) -> Result<(), String> {
    let stream = device.stream().map_err(text)?;
    let ((_, a), wanted_a, (_, b), wanted_b) = {
        let (first, wanted_first) = submitted(&stream, 11)?;
        let (second, wanted_second) = submitted(&stream, 12)?;
        let second = block_on(second).map_err(text)?;
        (block_on(first).map_err(text)?, wanted_first, second, wanted_second)
    };
    same(stream.download(&a).map_err(text)?.view(), &wanted_a)?;
    same(stream.download(&b).map_err(text)?.view(), &wanted_b)
}

fn failed_submission(device: &Device) -> Result<(), String> {
    let stream = device.stream().map_err(text)?;
    let pair = (device.image::<Nv12>(SIZE).map_err(text)?, device.image::<Bgr8>(Size::fixed::<5, 5>()).map_err(text)?);
    let result = stream.submit(pair, |scope, (nv12, bgr)| scope.convert(&*nv12, bgr, &Conversion::new()).map(drop));
    match result {
        Err(failed) if matches!(failed.error, Error::DestinationSize { .. }) && failed.images.0.size() == SIZE => {
            Ok(())
        }
        Err(failed) => Err(format!("another error: {failed}")),
        Ok(_) => Err("no error".into()),
    }
}

fn linked(device: &Device) -> Result<(), String> {
    use framewright::{Bytes, Layout, Linked};
    type Fixed = Yuv420p8<Linked<Bytes<192>>>;
    let stream = device.stream().map_err(text)?;
    let mut image = device.image_with_layout(&Layout::<Fixed>::packed(SIZE).map_err(text)?).map_err(text)?;
    let mut frame = Image::<Yuv420p8>::new(SIZE).map_err(text)?;
    let (mut y, mut cb, mut cr) = frame.planes_mut();
    y.rows_mut().enumerate().for_each(|(i, row)| row.fill(i as u8 * 5));
    cb.rows_mut().enumerate().for_each(|(i, row)| row.fill(100 + i as u8));
    cr.rows_mut().enumerate().for_each(|(i, row)| row.fill(180 - i as u8));
    let mut wanted = Image::<Bgr8>::new(SIZE).map_err(text)?;
    Cpu::new().convert(&frame, &mut wanted, &Conversion::new()).map_err(text)?;
    let mut found = Image::<Bgr8>::new(SIZE).map_err(text)?;
    stream
        .scope(|scope| {
            let image = scope.upload(&frame, &mut image)?;
            let bgr = scope.convert(&image, scope.temporary::<Bgr8>(SIZE)?, &Conversion::new())?;
            scope.download(&bgr, &mut found)
        })
        .map_err(text)?;
    same(found.view(), &wanted)
}

fn out_of_memory(device: &Device) -> Result<(), String> {
    let (_, total) = device.memory_bytes().map_err(text)?;
    let rows = u32::try_from(total / (1 << 27) + 8).map_err(text)?;
    let huge = Size::new(1 << 27, rows).map_err(text)?;
    match device.image::<Gray8>(huge) {
        Err(Error::OutOfMemory { .. }) => chain(device),
        Err(error) => Err(format!("another error: {error}")),
        Ok(_) => Err(format!("{huge} bytes fit")),
    }
}

fn cust_in_and_out(device: &Device) -> Result<(), String> {
    let again = Device::from_cust(&device.cust_context()).map_err(text)?;
    if again != *device {
        return Err("another device".into());
    }
    let stream = device.stream().map_err(text)?;
    let cust = stream.as_cust().ok_or("not cust's stream")?;
    // The same stream, as a foreign one.
    // SAFETY: `stream`, which is moved in as the owner, keeps the handle alive.
    let foreign = unsafe { Stream::from_raw(device, cust.as_inner().cast(), stream.clone()) };
    let source = frame(SIZE, 21).map_err(text)?;
    let on_device = foreign.upload(&source).map_err(text)?;
    let mut bgr = device.image::<Bgr8>(SIZE).map_err(text)?;
    foreign.scope(|scope| scope.convert(&on_device, &mut bgr, &Conversion::new()).map(drop)).map_err(text)?;
    same(foreign.download(&bgr).map_err(text)?.view(), &expected(&source).map_err(text)?)
}

fn current_context(device: &Device) -> Result<(), String> {
    use framewright_driver::sys;
    let current = || {
        let mut context = std::ptr::null_mut();
        // SAFETY: writes one handle.
        let _ = unsafe { sys::cuCtxGetCurrent(&mut context) };
        context
    };
    let before = current();
    let stream = device.stream().map_err(text)?;
    let image = stream.upload(&frame(SIZE, 5).map_err(text)?).map_err(text)?;
    let event = stream.record().map_err(text)?;
    drop((device.cust_context(), image, event, stream));
    if current() == before { Ok(()) } else { Err("another context is current".into()) }
}

fn events(device: &Device) -> Result<(), String> {
    let (first, second) = (device.stream().map_err(text)?, device.stream().map_err(text)?);
    let source = frame(SIZE, 9).map_err(text)?;
    let on_device = first.upload(&source).map_err(text)?;
    let pair = (on_device, device.image::<Bgr8>(SIZE).map_err(text)?);
    let start = first.record().map_err(text)?;
    let pending = first
        .submit(pair, |scope, (nv12, bgr)| scope.convert(&*nv12, bgr, &Conversion::new()).map(drop))
        .map_err(text)?;
    let end = first.record().map_err(text)?;
    second.wait_for(&end).map_err(text)?;
    second.synchronize().map_err(text)?;
    if !end.is_reached().map_err(text)? {
        return Err("the second stream did not wait".into());
    }
    let milliseconds = end.milliseconds_since(&start).map_err(text)?;
    let (_, bgr) = pending.wait().map_err(text)?;
    same(second.download(&bgr).map_err(text)?.view(), &expected(&source).map_err(text)?)?;
    if milliseconds >= 0.0 { Ok(()) } else { Err(format!("{milliseconds} ms")) }
}

fn wrong_size(device: &Device) -> Result<(), String> {
    let stream = device.stream().map_err(text)?;
    let source = device.image::<Nv12>(SIZE).map_err(text)?;
    let mut small = device.image::<Bgr8>(Size::fixed::<5, 5>()).map_err(text)?;
    let result = stream.scope(|scope| scope.convert(&source, &mut small, &Conversion::new()).map(drop));
    match result {
        Err(Error::DestinationSize { expected, .. }) if expected == SIZE => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

fn overlap(device: &Device) -> Result<(), String> {
    let stream = device.stream().map_err(text)?;
    let image = device.image::<Gray8>(SIZE).map_err(text)?;
    // SAFETY: no launch is queued with both: that is what is tested.
    let (from, to) = unsafe {
        let planes = image.as_raw_planes();
        let from = device.wrap::<Gray8>(SIZE, &planes).map_err(text)?;
        (from, device.wrap_mut::<Gray8>(SIZE, &planes).map_err(text)?)
    };
    match stream.scope(|scope| scope.copy(from, to).map(drop)) {
        Err(Error::Overlap { .. }) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// More rows than one grid has.
fn tall(device: &Device) -> Result<(), String> {
    let stream = device.stream().map_err(text)?;
    let size = Size::fixed::<2, 600_003>();
    let source = frame(size, 33).map_err(text)?;
    let on_device = stream.upload(&source).map_err(text)?;
    let mut bgr = device.image::<Bgr8>(size).map_err(text)?;
    stream.scope(|scope| scope.convert(&on_device, &mut bgr, &Conversion::new()).map(drop)).map_err(text)?;
    same(stream.download(&bgr).map_err(text)?.view(), &expected(&source).map_err(text)?)
}

/// A panic on the device is reported with kernel and place, and later calls say that the context is lost. Ends the device for
/// this process. `on_card`: the stand-in has no device that could write the record.
pub fn panic(device: &Device, on_card: bool) -> Result<(), String> {
    let image = device.image::<Gray8>(SIZE).map_err(text)?;
    let error = device.selftest_panic((16, 3)).err().ok_or("no error")?;
    match error {
        Error::Cuda(CudaError::DevicePanic { kernel, file, line, place, .. }) if on_card => {
            let block_and_thread = [0, 0, 0, 1, 3, 0];
            if kernel != "framewright_panic_at"
                || !file.ends_with("selftest.rs")
                || line == 0
                || place != block_and_thread
            {
                return Err(format!("another report: {error}"));
            }
        }
        Error::Cuda(CudaError::ContextLost { .. }) if !on_card => {}
        other => return Err(format!("another error: {other}")),
    }
    match device.image::<Gray8>(SIZE) {
        Err(Error::Cuda(CudaError::DevicePanic { .. } | CudaError::ContextLost { .. })) => {}
        other => return Err(format!("later calls: {other:?}")),
    }
    drop(image);
    Ok(())
}

fn users_kernels(device: &Device) -> Result<(), String> {
    use framewright_examples::{Moments, invert, luma_histogram, mean_variance};
    device.add_kernels(crate::examples::module()).map_err(text)?;
    // The same again is the same.
    device.add_kernels(crate::examples::module()).map_err(text)?;
    let stream = device.stream().map_err(text)?;
    let size = Size::fixed::<200, 90>();
    let host = frame(size, 5).map_err(text)?;
    let mut luma = Image::<Gray8>::new(size).map_err(text)?;
    for y in 0..90 {
        luma.planes_mut().0.row_mut(y).copy_from_slice(host.planes().0.row(y));
    }
    let (nv12, gray) = (stream.upload(&host).map_err(text)?, stream.upload(&luma).map_err(text)?);
    let (mut twice, mut counts, mut before, mut after) =
        (device.image::<Gray8>(size).map_err(text)?, [0; 256], Moments::default(), Moments::default());
    stream
        .scope(|scope| {
            let negative = scope.launch(invert(&gray, scope.temporary::<Gray8>(size)?))?;
            scope.launch(mean_variance(&negative, &mut after))?;
            scope.launch(mean_variance(&gray, &mut before))?;
            scope.launch(luma_histogram(&nv12, &mut counts))?;
            scope.launch(invert(&negative, &mut twice)).map(drop)
        })
        .map_err(text)?;
    let back = stream.download(&twice).map_err(text)?;
    let same = (0..90).all(|y| back.planes().0.row(y) == luma.planes().0.row(y));
    let pixels = 200 * 90;
    let sum: u64 = counts.iter().zip(0..).map(|(count, code)| count * code).sum();
    let expected = (pixels, pixels, sum, 255 * pixels - sum);
    let found = (before.count, after.count, before.sum, after.sum);
    if same && expected == found { Ok(()) } else { Err(format!("same {same}, expected {expected:?}, found {found:?}")) }
}

fn unknown_kernel(device: &Device) -> Result<(), String> {
    use framewright_kernel::prelude::{In, Out, Pixel, kernel};
    #[kernel(module = "nowhere")]
    fn lost(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {
        src.get(at)
    }
    let size = Size::fixed::<8, 8>();
    let (source, mut destination) =
        (device.image::<Gray8>(size).map_err(text)?, device.image::<Gray8>(size).map_err(text)?);
    let stream = device.stream().map_err(text)?;
    let refused = stream.scope(|scope| scope.launch(lost(&source, &mut destination)).map(drop));
    match refused {
        Err(Error::Cuda(CudaError::UnknownKernel { module: "nowhere", entry: "lost" })) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}
