//! The CUDA suite on the stand-in driver, and what only a stand-in can be asked for: failures of each call, and counts.

#[path = "../../standin/tests/common/mod.rs"]
mod common;

use common::{Control, isolated};
use framewright::{
    Bgr8, Conversion, Error, Image, Nv12, Size,
    cuda::{Asked, CudaError, Device},
};
use framewright_driver::sys::Code;
use framewright_gpu_suite::report::Report;
use std::process::Command;

fn suite() -> Command {
    Command::new(env!("CARGO_BIN_EXE_framewright-gpu-suite"))
}

#[test]
fn the_whole_suite_passes() {
    let json = std::env::temp_dir().join(format!("framewright-suite-{}.json", std::process::id()));
    let mut command = suite();
    // BACKGROUND: the queue moves on while a future sleeps, as a device would.
    command.env(framewright_driver::DRIVER_VARIABLE, common::library()).env("FRAMEWRIGHT_STANDIN_BACKGROUND", "5");
    let output = command.args(["--quick", "--json"]).arg(&json).output().expect("the suite runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{text}");
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let report: Report =
        serde_json::from_slice(&std::fs::read(&json).expect("the suite wrote a report")).expect("a report");
    std::fs::remove_file(&json).expect("the report is removed");
    assert!(report.passed());
    assert_eq!(report.parts.len(), 10);
    assert_eq!(report.card, "framewright stand-in");
    assert_eq!(report.program_sha256.len(), 64);
    let triples = report.parts.iter().find(|part| part.name == "triples").expect("the part ran");
    assert_eq!(triples.cases, 12 << 24);
}

#[test]
fn without_a_driver_the_program_starts_and_says_what_is_missing() {
    let output = suite().env(framewright_driver::DRIVER_VARIABLE, "").output().expect("the suite runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("no NVIDIA GPU can be used"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// Everything that the API does, once; ends with nothing alive.
fn scenario() -> Result<(), Error> {
    let size = Size::fixed::<33, 9>();
    let device = Device::new(0)?;
    device.info()?;
    let (stream, other) = (device.stream()?, device.stream()?);
    let frame = Image::<Nv12>::new(size)?;
    let pinned = device.pinned::<Nv12>(size)?;
    let nv12 = stream.upload(&frame)?;
    let mut bgr = device.image::<Bgr8>(size)?;
    let mut picture = Image::<Bgr8>::new(size)?;
    stream.scope(|scope| {
        let again = scope.upload(&pinned, scope.temporary::<Nv12>(size)?)?;
        let copy = scope.copy(&again, scope.temporary::<Nv12>(size)?)?;
        let bgr = scope.convert(&copy, &mut bgr, &Conversion::new())?;
        scope.download(&bgr, &mut picture)
    })?;
    let pending =
        stream.submit((nv12, bgr), |scope, (nv12, bgr)| scope.convert(&*nv12, bgr, &Conversion::new()).map(drop))?;
    let event = stream.record()?;
    other.wait_for(&event)?;
    pending.is_done()?;
    pending.wait()?;
    device.memory_bytes()?;
    device.synchronize()
}

const ALIVE: [&str; 6] = ["allocations", "pinned", "streams", "events", "modules", "retained"];

/// What a failure of each call is told as, and that nothing leaks and everything works again afterwards.
fn each_call_fails_once() {
    let control = Control::new();
    scenario().expect("the scenario passes");
    let calls = [
        ("cuInit", "cuInit"),
        ("cuDeviceGetCount", "cuDeviceGetCount"),
        ("cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain"),
        ("cuMemHostAlloc", "cuMemHostAlloc"),
        ("cuDeviceGetName", "cuDeviceGetName"),
        ("cuDeviceTotalMem_v2", "cuDeviceTotalMem"),
        ("cuDeviceGetAttribute", "cuDeviceGetAttribute"),
        ("cuCtxPushCurrent_v2", "cuCtxPushCurrent"),
        ("cuStreamCreateWithPriority", "cuStreamCreateWithPriority"),
        ("cuMemAlloc_v2", "cuMemAlloc"),
        ("cuMemcpy2DAsync_v2", "cuMemcpy2DAsync"),
        ("cuModuleLoadDataEx", "cuModuleLoadDataEx"),
        ("cuModuleGetGlobal_v2", "cuModuleGetGlobal"),
        ("cuModuleGetFunction", "cuModuleGetFunction"),
        ("cuMemHostGetDevicePointer_v2", "cuMemHostGetDevicePointer"),
        ("cuMemcpyDtoH_v2", "cuMemcpyDtoH"),
        ("cuMemcpyHtoD_v2", "cuMemcpyHtoD"),
        ("cuLaunchKernel", "cuLaunchKernel"),
        ("cuStreamSynchronize", "cuStreamSynchronize"),
        ("cuEventCreate", "cuEventCreate"),
        ("cuEventRecord", "cuEventRecord"),
        ("cuStreamWaitEvent", "cuStreamWaitEvent"),
        ("cuEventQuery", "cuEventQuery"),
        ("cuEventSynchronize", "cuEventSynchronize"),
        ("cuMemGetInfo_v2", "cuMemGetInfo"),
        ("cuCtxSynchronize", "cuCtxSynchronize"),
    ];
    for (function, told) in calls {
        let before = control.calls(function);
        scenario().expect("the scenario passes");
        let times = (control.calls(function) - before) as u32;
        assert!(times > 0, "the scenario never calls {function}");
        for nth in 0..times {
            control.fail(function, nth, Code(304));
            let result = scenario();
            control.succeed();
            if function == "cuCtxPushCurrent_v2" && result.is_ok() {
                continue; // It failed in a drop, which has nobody to tell.
            }
            let error = result.expect_err(function);
            let Error::Cuda(CudaError::Driver { call, code: 304, .. }) = error else {
                panic!("{function}, call {nth}: {error:?}");
            };
            assert_eq!(call, told, "call {nth}");
            assert!(error.to_string().contains("304"), "{error}");
            // A wait that fails keeps its images: that is the promise. And what cannot make its context current cannot be freed.
            let kept = matches!(function, "cuEventSynchronize" | "cuCtxPushCurrent_v2");
            for kind in ALIVE {
                assert!(kept || control.live(kind) == 0, "{function}, call {nth}: {} {kind} alive", control.live(kind));
            }
            scenario().unwrap_or_else(|error| panic!("after {function}, call {nth}: {error}"));
        }
    }
}

#[test]
fn each_call_of_the_driver_may_fail() {
    isolated("each_call_of_the_driver_may_fail", &[], each_call_fails_once);
}

#[test]
fn out_of_memory_says_how_much_and_where() {
    isolated("out_of_memory_says_how_much_and_where", &[], || {
        let control = Control::new();
        let device = Device::new(0).expect("a device");
        control.fail("cuMemAlloc_v2", 0, Code::OUT_OF_MEMORY);
        let error = device.image::<Nv12>(Size::fixed::<100, 100>()).expect_err("no memory");
        assert_eq!(error, Error::OutOfMemory { location: "GPU memory", bytes: 512 * 100 + 512 * 50 });
        assert_eq!(error.to_string(), "GPU memory: 76800 bytes could not be allocated");
        device.image::<Nv12>(Size::fixed::<100, 100>()).expect("memory again");
    });
}

#[test]
fn a_lost_context_stays_lost_and_nothing_hangs() {
    isolated("a_lost_context_stays_lost_and_nothing_hangs", &[], || {
        let control = Control::new();
        let device = Device::new(0).expect("a device");
        let stream = device.stream().expect("a stream");
        let pair = || (device.image::<Nv12>(Size::fixed::<8, 8>()), device.image::<Bgr8>(Size::fixed::<8, 8>()));
        let (Ok(nv12), Ok(bgr)) = pair() else { panic!("no images") };
        let pending = stream
            .submit((nv12, bgr), |scope, (nv12, bgr)| scope.convert(&*nv12, bgr, &Conversion::new()).map(drop))
            .expect("submitted");
        control.fail("cuEventSynchronize", 0, Code::ILLEGAL_ADDRESS);
        let error = pending.wait().map(drop).expect_err("lost");
        assert_eq!(error, CudaError::ContextLost { call: "cuEventSynchronize", code: 700 }.into());
        assert!(error.to_string().contains("the CUDA context is lost"), "{error}");
        let later = stream.synchronize().expect_err("still lost");
        assert!(matches!(later, Error::Cuda(CudaError::ContextLost { code: 700, .. })), "{later}");
        drop((stream, device));
    });
}

#[test]
fn devices_are_named_and_counted() {
    isolated("devices_are_named_and_counted", &[("FRAMEWRIGHT_STANDIN_DEVICES", "2")], || {
        assert_eq!(Device::count(), Ok(2));
        let error = Device::new(7).expect_err("no such device");
        assert_eq!(error, CudaError::NoSuchDevice { ordinal: 7, count: 2 }.into());
        let info = Device::new(1).expect("a device").info().expect("facts");
        assert_eq!((info.ordinal, info.compute_capability), (1, (9, 0)));
        let _ = Asked::Nothing;
    });
}

/// An image of one device in a launch on another is an error, and never an access.
#[test]
fn an_image_of_another_device_is_refused() {
    isolated("an_image_of_another_device_is_refused", &[("FRAMEWRIGHT_STANDIN_DEVICES", "2")], || {
        let (first, second) = (Device::new(0).expect("a device"), Device::new(1).expect("a device"));
        let size = Size::fixed::<8, 8>();
        let source = first.image::<Nv12>(size).expect("an image");
        let mut here = second.image::<Bgr8>(size).expect("an image");
        let stream = second.stream().expect("a stream");
        let result = stream.scope(|scope| scope.convert(&source, &mut here, &Conversion::new()).map(drop));
        assert_eq!(result, Err(CudaError::OtherDevice { image: "source" }.into()));
    });
}
