//! `--device` in a build with CUDA, on the stand-in driver and without one; what the machine itself has is met once.
#![cfg(feature = "cuda")]

#[path = "../../../tests/tests/common/needed.rs"]
mod needed;
mod support;

use std::path::{Path, PathBuf};
use support::{CAT, Place, cat, data, frame, picture, png};

/// Cargo builds it beside this package's tests.
fn library() -> PathBuf {
    let path = std::env::current_exe().unwrap().with_file_name("libframewright_standin.so");
    assert!(path.exists(), "{} is not built", path.display());
    path
}

/// A place whose driver is the stand-in.
fn standin() -> Place {
    let mut place = Place::new();
    place.set("FRAMEWRIGHT_CUDA_DRIVER", library());
    place
}

/// The same, where a call of the driver fails: `cuLaunchKernel:1:700`.
fn failing(call: &str) -> Place {
    let mut place = standin();
    place.set("FRAMEWRIGHT_STANDIN_FAIL", call);
    place
}

/// Runs the line on both devices; the files and what is said must be the same. Gives the first file.
#[track_caller]
fn same_on_both(place: &Place, line: &str, outputs: &[&str]) -> Vec<u8> {
    let run = |device: &str| {
        let said = place.succeeds(&format!("{line} --device {device}"));
        let files: Vec<_> = outputs.iter().map(|name| place.get(name)).collect();
        outputs.iter().for_each(|name| std::fs::remove_file(place.path(name)).unwrap());
        (said, files)
    };
    let (on_cpu, on_gpu) = (run("cpu"), run("cuda"));
    assert!(on_cpu == on_gpu, "{line}: {} and {}", on_cpu.0, on_gpu.0);
    on_gpu.1.into_iter().next().unwrap()
}

fn cat_npy() -> String {
    data("cat_480p_yuv420p.npy").display().to_string()
}

#[test]
fn the_real_frame_is_the_same_picture_on_both() {
    let place = standin();
    let bytes = same_on_both(&place, &format!("convert {} out.png --format yuv420p", cat_npy()), &["out.png"]);
    assert!(png(&bytes).3 == picture(&cat(), CAT, support::BT601, false));
    let padded = data("cat_480p_padded.yuv").display().to_string();
    let line = format!("convert {padded} out.raw --format yuv420p --size 854x480 --pitch 896 --to bgra --range full");
    same_on_both(&place, &line, &["out.raw"]);
}

#[test]
fn crops_are_the_same_on_both() {
    let place = standin();
    for to in ["rgb24", "bgra"] {
        let line =
            format!("convert {} out.npy --format yuv420p --to {to} --crop 101x57+33+21 --matrix bt709", cat_npy());
        same_on_both(&place, &line, &["out.npy"]);
    }
    // A copy of a part.
    let line = format!("convert {} out.npy --format yuv420p --to yuv420p --crop 100x56+34+22", cat_npy());
    same_on_both(&place, &line, &["out.npy"]);
    let line = format!("convert {} out.yuv --format yuv420p --to yuv420p --crop 101x57+34+22", cat_npy());
    same_on_both(&place, &line, &["out.yuv"]);
}

#[test]
fn copies_of_every_format_are_the_same_on_both() {
    let place = standin();
    for (format, bytes) in [
        ("nv12", 13 * 7 + 2 * 7 * 4),
        ("yuv420p", 13 * 7 + 2 * 7 * 4),
        ("gray", 13 * 7),
        ("rgb24", 13 * 7 * 3),
        ("bgr24", 13 * 7 * 3),
        ("rgba", 13 * 7 * 4),
        ("bgra", 13 * 7 * 4),
    ] {
        let input: Vec<u8> = (0..bytes).map(|i| (i * 37 + 11) as u8).collect();
        place.put("in.raw", &input);
        let line = format!("convert in.raw out.raw --format {format} --to {format} --size 13x7");
        assert_eq!(same_on_both(&place, &line, &["out.raw"]), input, "{format}");
        if format == "nv12" {
            same_on_both(&place, "convert in.raw out.raw --format nv12 --to bgr24 --size 13x7", &["out.raw"]);
        }
    }
}

#[test]
fn several_frames_are_the_same_on_both() {
    let place = standin();
    let mut y4m = b"YUV4MPEG2 W5 H3 F25:1 C420jpeg\n".to_vec();
    (0..4).for_each(|seed| y4m.extend([&b"FRAME\n"[..], &frame((5, 3), seed)].concat()));
    place.put("in.y4m", &y4m);
    let rgb = same_on_both(&place, "convert in.y4m out.rgb --to rgb24 --frames all", &["out.rgb"]);
    assert_eq!(rgb.len(), 4 * 5 * 3 * 3);
    same_on_both(&place, "convert in.y4m out.npy --to bgr24 --frames 1..4", &["out.npy"]);
    same_on_both(&place, "convert in.y4m out.y4m --frames all", &["out.y4m"]);
    same_on_both(&place, "convert in.y4m f%d.png --frames 2..4", &["f2.png", "f3.png"]);
}

const CONVERT: &str = "convert in.yuv out.png --format yuv420p --size 6x4";

#[test]
fn a_failure_of_the_driver_is_one_line_and_leaves_no_file() {
    // A launch is only asked of a GPU, so `auto` has taken it.
    for device in ["cuda", "cuda:0", "auto"] {
        for (call, says) in
            [("cuLaunchKernel:1:304", "cuLaunchKernel"), ("cuMemAlloc_v2:1:2", "could not be allocated")]
        {
            let place = failing(call);
            place.put("in.yuv", frame((6, 4), 1));
            place.fails(&format!("{CONVERT} --device {device}"), 1, &[says]);
        }
    }
}

#[test]
fn frames_before_a_failure_are_kept_and_named() {
    let place = failing("cuLaunchKernel:3:304");
    place.put("in.yuv", [frame((6, 4), 1), frame((6, 4), 2), frame((6, 4), 3)].concat());
    let output = place.run("convert in.yuv f%d.png --format yuv420p --size 6x4 --frames all --device cuda", &[]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let says = ["cuLaunchKernel", "finished before and kept: f0.png to f1.png"];
    support::check_failure("set", &stderr, output.status.code(), 1, &says);
    assert_eq!(place.names(), ["f0.png", "f1.png", "in.yuv"]);
}

#[test]
fn a_gpu_that_does_not_open_leaves_auto_the_cpu() {
    for call in ["cuInit:1:999", "cuDevicePrimaryCtxRetain:1:2", "cuStreamCreateWithPriority:1:304"] {
        let place = failing(call);
        place.put("in.yuv", frame((6, 4), 1));
        place.fails(&format!("{CONVERT} --device cuda"), 1, &["--device cuda:0: "]);
        place.succeeds(&format!("{CONVERT} --device auto"));
        assert!(png(&place.get("out.png")).3 == picture(&frame((6, 4), 1), (6, 4), support::BT601, false), "{call}");
    }
}

#[test]
fn gpus_are_counted() {
    let mut place = standin();
    place.set("FRAMEWRIGHT_STANDIN_DEVICES", "2");
    place.put("in.yuv", frame((6, 4), 1));
    place.fails(&format!("{CONVERT} --device cuda:7"), 1, &["--device cuda:7: ", "expected below 2"]);
    place.succeeds(&format!("{CONVERT} --device cuda:1"));
}

#[test]
fn info_lists_gpus_and_driver() {
    let mut place = standin();
    place.set("FRAMEWRIGHT_STANDIN_DEVICES", "2");
    let info: serde_json::Value = serde_json::from_slice(&place.succeeds_with("info --json", &[]).0).unwrap();
    let names: Vec<_> = info["devices"].as_array().unwrap().iter().map(|device| &device["name"]).collect();
    assert_eq!(names, ["cpu", "cuda:0", "cuda:1"]);
    let description = info["devices"][1]["description"].as_str().unwrap();
    assert!(description.contains("stand-in, compute capability 9.0"), "{description}");
    let driver = info["driver"].as_str().unwrap();
    assert!(driver.contains("libframewright_standin.so for CUDA 13.0"), "{driver}");
    let text = String::from_utf8(place.succeeds_with("info", &[]).0).unwrap();
    assert!(text.contains("\n  cuda:1 ") && text.contains("for CUDA 13.0\n"), "{text}");
}

#[test]
fn without_a_driver_the_cpu_works_and_a_gpu_is_missed_by_name() {
    let mut place = Place::new();
    for (driver, why) in [("", "no driver is to be used"), ("/nowhere/libcuda.so", "cannot open /nowhere/libcuda.so")] {
        place.set("FRAMEWRIGHT_CUDA_DRIVER", driver);
        place.put("in.yuv", frame((6, 4), 1));
        let says = ["--device cuda:0: no NVIDIA GPU can be used: no CUDA driver", why];
        place.fails(&format!("{CONVERT} --device cuda"), 1, &says);
        place.fails(&format!("{CONVERT} --device cuda:7"), 1, &["--device cuda:7: no NVIDIA GPU can be used", why]);
        place.succeeds(&format!("{CONVERT} --device auto"));
        std::fs::remove_file(place.path("out.png")).unwrap();
        let info: serde_json::Value = serde_json::from_slice(&place.succeeds_with("info --json", &[]).0).unwrap();
        assert_eq!(info["devices"].as_array().unwrap().len(), 1);
        assert!(info["driver"].as_str().unwrap().contains(why), "{}", info["driver"]);
    }
}

/// With a GPU or without one.
#[test]
fn what_the_machine_has_gives_the_same_bytes() {
    let mut place = Place::new();
    place.remove("FRAMEWRIGHT_CUDA_DRIVER");
    let line = format!("convert {} out.rgb --format yuv420p --crop 301x157+33+21", cat_npy());
    place.succeeds(&format!("{line} --device cpu"));
    let on_cpu = place.get("out.rgb");
    place.succeeds(&format!("{line} --device auto"));
    assert!(place.get("out.rgb") == on_cpu);
    let info: serde_json::Value = serde_json::from_slice(&place.succeeds_with("info --json", &[]).0).unwrap();
    assert!(info["driver"].as_str().unwrap().contains("CUDA driver"));
}

#[test]
fn the_program_needs_no_libcuda() {
    needed::needs_no_cuda(Path::new(env!("CARGO_BIN_EXE_framewright")));
}
