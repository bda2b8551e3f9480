//! Times the conversions on a GPU by the method of the peers' script: each figure is microseconds a frame, the median of 7
//! replays of a CUDA graph that holds a run of frames over more than 1.5 GB of distinct buffers, so that neither the launch's
//! cost on the host nor the L2 cache flatters a case. GB/s counts the bytes that must move once.
//!
//! ```text
//! framewright-bench [--json FILE] [--peers CSV] [--sizes 1920x1080,3840x2160,7680x4320]
//! ```
//!
//! `--peers` takes in the rows that the peers' script wrote in the same run (`case,width,height,us_per_frame,gb_per_s`).
//!
//! NV12 to BGR is timed a second time in turns with the yardstick, the same conversion written by hand; `ratios` in the JSON
//! has the DSL's time over the yardstick's, so that above 1 the DSL is slower.

use framewright::{
    AsImage, Bgr8, Bgra8, Conversion, Cpu, Error, Format, Gray8, Image, ImageRef, Layout, Nv12, RgbFormat, Size,
    Yuv420p8, YuvFormat,
    cuda::{Cuda, Device, Scope, Stream},
};
use framewright_driver::sys::{self, Code};
use framewright_kernel::ParamLayout;
use framewright_yardstick::{Color, Plane, Yardstick};
use serde::Serialize;
use std::{
    ffi::{CString, c_void},
    process::ExitCode,
    ptr::null_mut,
};

const REPEATS: usize = 7;

#[derive(Serialize)]
struct Row {
    case: String,
    width: u32,
    height: u32,
    us_per_frame: f64,
    gb_per_s: f64,
    source: &'static str,
}

/// The first's time over the second's, of two that were timed in turns.
#[derive(Serialize)]
struct Ratio {
    case: &'static str,
    width: u32,
    height: u32,
    ratio: f64,
}

#[derive(Serialize)]
struct Bench {
    card: String,
    driver: String,
    date: String,
    commit: String,
    program_sha256: String,
    rows: Vec<Row>,
    ratios: Vec<Ratio>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("framewright-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let (mut json, mut peers, mut sizes) = (None, None, "1920x1080,3840x2160,7680x4320".to_owned());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or(format!("{argument} takes a value"))?;
        match argument.as_str() {
            "--json" => json = Some(value),
            "--peers" => peers = Some(value),
            "--sizes" => sizes = value,
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    let device = Device::new(0)?;
    device.add_kernels(framewright_gpu_suite::examples::module())?;
    // The calls for graphs below are the driver's own and want a current context.
    // SAFETY: the device's context, which lives as long as `device`.
    unsafe { sys::cuCtxSetCurrent(device.as_raw()) }.ok().map_err(|code| code.to_string())?;
    let facts = framewright_gpu_suite::facts::Facts::of(&device)?;
    let by_hand = if facts.card.contains("stand-in") {
        println!("yardstick: skipped, the stand-in driver runs no PTX");
        None
    } else {
        Some(yardstick_function()?)
    };
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    for size in sizes.split(',') {
        let (w, h) = size.split_once('x').ok_or("a size is WxH")?;
        let size = Size::new(w.parse()?, h.parse()?)?;
        let stream = device.stream()?;
        convert::<Nv12, Bgr8>(&stream, size, &mut rows)?;
        convert::<Yuv420p8, Bgr8>(&stream, size, &mut rows)?;
        convert::<Nv12, Bgra8>(&stream, size, &mut rows)?;
        copy::<Nv12>(&stream, size, &mut rows)?;
        versions(&stream, size, &mut rows)?;
        if let Some(function) = by_hand {
            ratios.push(yardstick(&stream, function, size, &mut rows)?);
        }
    }
    if let Some(csv) = peers {
        let text = std::fs::read_to_string(csv)?;
        for line in text.lines().skip(1) {
            let mut fields: Vec<&str> = line.rsplitn(5, ',').collect();
            fields.reverse();
            let [case, width, height, us, gb] = fields[..] else { return Err(format!("not a row: {line}").into()) };
            rows.push(Row {
                case: case.trim_matches('"').to_owned(),
                width: width.parse()?,
                height: height.parse()?,
                us_per_frame: us.parse()?,
                gb_per_s: gb.parse()?,
                source: "peers.py",
            });
        }
    }
    let bench = Bench {
        card: facts.card,
        driver: facts.driver,
        date: facts.date,
        commit: facts.commit,
        program_sha256: facts.program_sha256,
        rows,
        ratios,
    };
    if let Some(file) = json {
        std::fs::write(file, serde_json::to_string_pretty(&bench)? + "\n")?;
    }
    Ok(())
}

/// How many frames make 1.6 GB.
fn frames(size: Size, bytes_per_pixel: f64) -> usize {
    ((1.6e9 / (size.pixels() as f64 * bytes_per_pixel)) as usize).clamp(8, 256)
}

/// Packed images with noise, the same noise shifted in each.
fn noise<F: Format>(stream: &Stream, size: Size, count: usize) -> Result<Vec<Image<F, Cuda>>, Error> {
    let layout = Layout::<F>::packed(size)?;
    let mut state = 0x9e37_79b9_u32;
    let bytes: Vec<u8> = (0..layout.full_len_bytes() as usize + count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 9) as u8
        })
        .collect();
    let device = stream.device();
    (0..count)
        .map(|i| {
            let mut image = device.image_with_layout(&layout)?;
            let source = ImageRef::<F>::from_slice(&bytes[i..], &layout)?;
            stream.scope(|scope| scope.upload(source, &mut image).map(drop))?;
            Ok(image)
        })
        .collect()
}

fn empty<F: Format>(device: &Device, size: Size, count: usize) -> Result<Vec<Image<F, Cuda>>, Error> {
    let layout = Layout::<F>::packed(size)?;
    (0..count).map(|_| device.image_with_layout(&layout)).collect()
}

fn check(code: Code, call: &str) {
    code.ok().unwrap_or_else(|code| panic!("{call}: {code}"));
}

/// A graph of all frames of a run, ready to be replayed.
struct Replay(sys::CUgraphExec);

impl Replay {
    /// `launch` queues all frames of a run.
    fn of<W>(stream: &Stream, mut launch: W) -> Result<Self, Error>
    where
        W: for<'scope, 'env> FnMut(&'scope Scope<'scope, 'env>) -> Result<(), Error>,
    {
        // Once plainly, so that modules are loaded.
        stream.scope(&mut launch)?;
        let raw = stream.as_raw();
        let mut exec = std::ptr::null_mut();
        stream.scope(|scope| {
            // SAFETY: the stream captures until the end of this closure, and only launches of this thread.
            check(unsafe { sys::cuStreamBeginCapture_v2(raw, 2) }, "cuStreamBeginCapture");
            let launched = launch(scope);
            let mut graph = std::ptr::null_mut();
            // SAFETY: ends the capture just begun.
            check(unsafe { sys::cuStreamEndCapture(raw, &mut graph) }, "cuStreamEndCapture");
            launched?;
            // SAFETY: a graph of launches on images that live until the replays are done.
            check(unsafe { sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0) }, "cuGraphInstantiate");
            // SAFETY: instantiated; not used any more.
            check(unsafe { sys::cuGraphDestroy(graph) }, "cuGraphDestroy");
            Ok::<_, Error>(())
        })?;
        Ok(Self(exec))
    }
}
impl Drop for Replay {
    fn drop(&mut self) {
        // SAFETY: no launch of it runs any more: each replay was waited for.
        check(unsafe { sys::cuGraphExecDestroy(self.0) }, "cuGraphExecDestroy");
    }
}

/// Median microseconds of a frame of each; replays take turns, so that what the clock does meets all.
fn medians_us<const N: usize>(stream: &Stream, count: usize, replays: &[Replay; N]) -> Result<[f64; N], Error> {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..=REPEATS {
        for (Replay(exec), times) in replays.iter().zip(&mut times) {
            let start = stream.record()?;
            // SAFETY: the images live; the launch is waited for below.
            check(unsafe { sys::cuGraphLaunch(*exec, stream.as_raw()) }, "cuGraphLaunch");
            let end = stream.record()?;
            end.wait()?;
            times.push(f64::from(end.milliseconds_since(&start)?) * 1000.0 / count as f64);
        }
    }
    Ok(times.map(|mut times| {
        // The first replay warms up.
        let mut times = times.split_off(1);
        times.sort_by(f64::total_cmp);
        times[REPEATS / 2]
    }))
}

/// The yardstick's function, from its PTX.
fn yardstick_function() -> Result<sys::CUfunction, Error> {
    let ptx = concat!(include_str!("../../ptx/yardstick.ptx"), "\0");
    let (mut module, mut function, mut address, mut bytes, mut hash) = (null_mut(), null_mut(), 0, 0, 0u64);
    let name = |name: &str| CString::new(name).expect("names have no zero byte");
    // SAFETY: the text is terminated; handles, address and hash are written to variables of their types. The module lives as
    // long as the process.
    unsafe {
        check(
            sys::cuModuleLoadDataEx(&mut module, ptx.as_ptr().cast(), 0, null_mut(), null_mut()),
            "cuModuleLoadDataEx",
        );
        let symbol = name(framewright_yardstick::HASH_SYMBOL);
        check(sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, module, symbol.as_ptr()), "cuModuleGetGlobal");
        check(sys::cuMemcpyDtoH_v2((&raw mut hash).cast(), address, size_of::<u64>()), "cuMemcpyDtoH");
        assert_eq!(hash, <Yardstick as ParamLayout>::HASH, "the yardstick's PTX is of other sources");
        let entry = name(framewright_yardstick::ENTRY);
        check(sys::cuModuleGetFunction(&mut function, module, entry.as_ptr()), "cuModuleGetFunction");
    }
    Ok(function)
}

/// The library's NV12 to BGR beside the one that is written by hand, in turns.
fn yardstick(stream: &Stream, function: sys::CUfunction, size: Size, rows: &mut Vec<Row>) -> Result<Ratio, Error> {
    let count = frames(size, 4.5);
    let sources = noise::<Nv12>(stream, size, count)?;
    let (mut ours, mut theirs) =
        (empty::<Bgr8>(stream.device(), size, count)?, empty::<Bgr8>(stream.device(), size, count)?);
    let conversion = Conversion::new();
    let color = conversion.resolve(framewright::ColorInfo::UNSPECIFIED, size);
    let color = Color(framewright_kernels::YuvToRgb8::new(color.matrix, color.range, true));
    let device = stream.device().clone();
    let replays = {
        let planes =
            |images: &mut [Image<Bgr8, Cuda>]| images.iter_mut().map(|t| t.as_raw_planes()).collect::<Vec<_>>();
        let (ours, theirs) = (planes(&mut ours), planes(&mut theirs));
        // Memory that a conversion of the same noise freed may hold the right bytes.
        for target in ours.iter().chain(&theirs) {
            let (to, pitch) = (target[0].first_row as sys::CUdeviceptr, target[0].pitch_bytes as usize);
            let (bytes, height) = (size.width() as usize * 3, size.height() as usize);
            // SAFETY: the rows of images that live, top down as they were made, and that nobody else uses.
            check(
                unsafe { sys::cuMemsetD2D8Async(to, pitch, 0xa5, bytes, height, stream.as_raw()) },
                "cuMemsetD2D8Async",
            );
        }
        let dsl = Replay::of(stream, |scope| {
            for (source, target) in sources.iter().zip(&ours) {
                // SAFETY: as in `convert`.
                let (source, target) = unsafe {
                    (device.wrap::<Nv12>(size, &source.as_raw_planes())?, device.wrap_mut::<Bgr8>(size, target)?)
                };
                let _queued = scope.convert(source, target, &conversion)?;
            }
            Ok(())
        })?;
        let by_hand = Replay::of(stream, |_| {
            for (source, target) in sources.iter().zip(&theirs) {
                let planes = source.as_raw_planes();
                let plane = |i: usize, rows: u32| Plane {
                    base: planes[i].first_row.cast_const(),
                    pitch_bytes: planes[i].pitch_bytes,
                    row_bytes: size.width().next_multiple_of(if i == 0 { 1 } else { 2 }),
                    rows,
                };
                let (width, height) = (size.width(), size.height());
                let mut parameters = Yardstick {
                    y: plane(0, height),
                    cbcr: plane(1, height.div_ceil(2)),
                    out: target[0].first_row,
                    out_pitch_bytes: target[0].pitch_bytes,
                    width,
                    height,
                    color,
                };
                let mut parameter = (&raw mut parameters).cast::<c_void>();
                let (x, y) = (width.div_ceil(16 * 32), height.div_ceil(2 * 4));
                // SAFETY: the parameters describe images that live; the hash was compared.
                let code = unsafe {
                    sys::cuLaunchKernel(function, x, y, 1, 32, 4, 1, 0, stream.as_raw(), &raw mut parameter, null_mut())
                };
                check(code, "cuLaunchKernel");
            }
            Ok(())
        })?;
        [dsl, by_hand]
    };
    // The plain run before each capture wrote all frames.
    for at in [0, count - 1] {
        let (ours, theirs) = (stream.download(&ours[at])?, stream.download(&theirs[at])?);
        assert!(same(&ours, &theirs), "the yardstick gives other bytes in frame {at}");
    }
    let [dsl, by_hand] = medians_us(stream, count, &replays)?;
    row(rows, "framewright nv12 to bgr24, in turns with the yardstick".to_owned(), size, dsl, 4.5);
    row(rows, "yardstick: nv12 to bgr24 by hand".to_owned(), size, by_hand, 4.5);
    let (case, width, height) = ("nv12 to bgr24, DSL : by hand", size.width(), size.height());
    let ratio = dsl / by_hand;
    println!("{:44} {width:5}x{height:<5} {ratio:9.3} DSL : by hand", "ratio");
    Ok(Ratio { case, width, height, ratio })
}

fn row(rows: &mut Vec<Row>, case: String, size: Size, us: f64, bytes_per_pixel: f64) {
    let gb = size.pixels() as f64 * bytes_per_pixel / us / 1e3;
    println!("{case:44} {:5}x{:<5} {us:9.2} us {gb:8.1} GB/s", size.width(), size.height());
    let (width, height) = (size.width(), size.height());
    rows.push(Row { case, width, height, us_per_frame: us, gb_per_s: gb, source: "framewright" });
}

fn convert<S: YuvFormat, D: RgbFormat>(stream: &Stream, size: Size, rows: &mut Vec<Row>) -> Result<(), Error> {
    let pixel = f64::from(<<D as Format>::Planes as framewright::PlaneList>::INFOS[0].element_bytes());
    let bytes_per_pixel = 1.5 + pixel;
    let count = frames(size, bytes_per_pixel);
    let sources = noise::<S>(stream, size, count)?;
    let mut targets = empty::<D>(stream.device(), size, count)?;
    let conversion = Conversion::new();
    let us = {
        let targets: Vec<_> = targets.iter_mut().map(|t| t.as_raw_planes()).collect();
        let device = stream.device().clone();
        let replay = Replay::of(stream, |scope| {
            for (source, target) in sources.iter().zip(&targets) {
                // SAFETY: the targets live, and nobody else uses them while this runs.
                let (source, target) =
                    unsafe { (device.wrap::<S>(size, &source.as_raw_planes())?, device.wrap_mut::<D>(size, target)?) };
                let _queued = scope.convert(source, target, &conversion)?;
            }
            Ok(())
        })?;
        medians_us(stream, count, &[replay])?[0]
    };
    // What was timed is right.
    for at in [0, count - 1] {
        let mut expected = Image::<D>::new(size)?;
        Cpu::new().convert(&stream.download(&sources[at])?, &mut expected, &conversion)?;
        assert!(same(&expected, &stream.download(&targets[at])?), "{} to {}: frame {at} is wrong", S::NAME, D::NAME);
    }
    row(rows, format!("framewright {} to {}", S::NAME, D::NAME), size, us, bytes_per_pixel);
    Ok(())
}

fn copy<F: Format>(stream: &Stream, size: Size, rows: &mut Vec<Row>) -> Result<(), Error> {
    let count = frames(size, 3.0);
    let sources = noise::<F>(stream, size, count)?;
    let targets = empty::<F>(stream.device(), size, count)?;
    let device = stream.device().clone();
    let replay = Replay::of(stream, |scope| {
        for (source, target) in sources.iter().zip(&targets) {
            // SAFETY: as in `convert`.
            let (source, target) = unsafe {
                (device.wrap::<F>(size, &source.as_raw_planes())?, device.wrap_mut::<F>(size, &target.as_raw_planes())?)
            };
            let _queued = scope.copy(source, target)?;
        }
        Ok(())
    })?;
    let [us] = medians_us(stream, count, &[replay])?;
    row(rows, format!("framewright copy of {}, a launch a plane", F::NAME), size, us, 3.0);
    Ok(())
}

/// The guide's kernel in its three versions, in turns.
fn versions(stream: &Stream, size: Size, rows: &mut Vec<Row>) -> Result<(), Error> {
    use framewright_examples::{grey, grey_tiles, grey_words};
    let count = frames(size, 4.0);
    let sources = noise::<Bgr8>(stream, size, count)?;
    let mut targets: [_; 3] = [const { Vec::new() }; 3];
    for version in &mut targets {
        *version = empty::<Gray8>(stream.device(), size, count)?;
    }
    let device = stream.device().clone();
    let times = {
        let [pixels, tiles, words] = [0, 1, 2].map(|version| {
            let targets: Vec<_> = targets[version].iter_mut().map(|image| image.as_raw_planes()).collect();
            let (sources, device) = (&sources, &device);
            Replay::of(stream, move |scope| {
                for (source, target) in sources.iter().zip(&targets) {
                    // SAFETY: as in `convert`.
                    let (src, dst) = unsafe {
                        (device.wrap::<Bgr8>(size, &source.as_raw_planes())?, device.wrap_mut::<Gray8>(size, target)?)
                    };
                    match version {
                        0 => drop(scope.launch(grey(src, dst))?),
                        1 => drop(scope.launch(grey_tiles(src, dst))?),
                        _ => drop(scope.launch(grey_words(src, dst))?),
                    }
                }
                Ok(())
            })
        });
        medians_us(stream, count, &[pixels?, tiles?, words?])?
    };
    for ((name, us), targets) in ["grey", "grey_tiles", "grey_words"].into_iter().zip(times).zip(&targets) {
        for at in [0, count - 1] {
            let mut expected = Image::<Gray8>::new(size)?;
            Cpu::new().launch(grey(&stream.download(&sources[at])?, &mut expected))?;
            let found = stream.download(&targets[at])?;
            assert!(expected.planes().0.rows().eq(found.planes().0.rows()), "{name}: frame {at} is wrong");
        }
        row(rows, format!("example {name}: bgr24 to gray"), size, us, 4.0);
    }
    Ok(())
}

/// Whether two interleaved images show the same.
fn same<D: RgbFormat>(a: &Image<D>, b: &Image<D>) -> bool {
    let bytes = |image: &Image<D>| {
        let size = AsImage::view(image).size();
        let mut packed = vec![0u8; Layout::<D>::packed(size).map_or(0, |l| l.full_len_bytes() as usize)];
        let layout = Layout::<D>::packed(size).expect("a layout");
        let mut view = framewright::ImageMut::from_slice(&mut packed, &layout).expect("a view");
        Cpu::new().copy(image, &mut view).expect("a copy");
        packed
    };
    bytes(a) == bytes(b)
}
