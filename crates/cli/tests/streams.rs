//! Several frames, stdin and stdout, files that are there before, and signals.

mod support;

use std::{
    fs,
    io::{Read, Write},
    os::unix::fs::{PermissionsExt, symlink},
    process::Stdio,
    time::{Duration, Instant},
};
use support::{BT601, Place, check_failure, frame, picture, png};

const SIZE: (usize, usize) = (6, 4);
const RAW: &str = "--format yuv420p --size 6x4";

fn frames(seeds: std::ops::Range<usize>) -> Vec<u8> {
    seeds.flat_map(|seed| frame(SIZE, seed)).collect()
}

fn pictures(seeds: std::ops::Range<usize>) -> Vec<u8> {
    seeds.flat_map(|seed| picture(&frame(SIZE, seed), SIZE, BT601, false)).collect()
}

#[test]
fn frames_are_chosen_by_count_range_or_all() {
    let place = Place::new();
    place.put("in.yuv", frames(0..5));
    for (options, seeds) in [("", 0..1), ("--frames 3", 0..3), ("--frames 1..4", 1..4), ("--frames all", 0..5)] {
        place.succeeds(&format!("convert in.yuv out.rgb {RAW} --to rgb24 {options}"));
        assert_eq!(place.get("out.rgb"), pictures(seeds), "{options}");
    }
    place.fails(&format!("convert in.yuv new.rgb {RAW} --frames 6"), 1, &["has 5 frames, expected at least 6"]);
    place.fails(&format!("convert in.yuv new.rgb {RAW} --frames 5..6"), 1, &["has 5 frames, expected at least 6"]);
}

#[test]
fn arrays_of_several_frames_have_a_leading_axis() {
    let place = Place::new();
    // From stdin the count is not known before the end.
    let stdin = frames(0..3);
    place.succeeds_with(&format!("convert - out.npy {RAW} --to yuv420p --frames all"), &stdin);
    let npy = place.get("out.npy");
    assert!(String::from_utf8_lossy(&npy[..128]).contains("'shape': (3, 6, 6), }"));
    assert_eq!(npy[128..], stdin);
    place.succeeds("convert out.npy out.rgb --format yuv420p --to rgb24 --frames 2..3");
    assert_eq!(place.get("out.rgb"), pictures(2..3));
    place.succeeds("convert out.npy one.npy --format yuv420p --to rgb24");
    assert!(String::from_utf8_lossy(&place.get("one.npy")[..128]).contains("'shape': (4, 6, 3), }"));
}

#[test]
fn a_set_has_a_file_a_frame_named_by_its_number() {
    let place = Place::new();
    place.put("in.yuv", frames(0..4));
    place.succeeds(&format!("convert in.yuv f%04d.png {RAW} --frames 1..4"));
    assert_eq!(place.names(), ["f0001.png", "f0002.png", "f0003.png", "in.yuv"]);
    for number in 1..4 {
        let (w, h, _, pixels) = png(&place.get(&format!("f000{number}.png")));
        assert_eq!((w, h, pixels), (6, 4, pictures(number..number + 1)));
    }
}

#[test]
fn finished_frames_of_a_set_stay_and_are_named() {
    let place = Place::new();
    let mut stdin = frames(0..3);
    stdin.pop();
    let output = place.run(&format!("convert - f%d.png {RAW} --frames all"), &stdin);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let says = ["frame 2: it has 35 bytes, expected 36", "finished before and kept: f0.png to f1.png"];
    check_failure("set", &stderr, output.status.code(), 1, &says);
    assert_eq!(place.names(), ["f0.png", "f1.png"]);
    assert_eq!(png(&place.get("f1.png")).3, pictures(1..2));
}

#[test]
fn stdin_is_known_by_its_first_bytes_and_stdout_is_raw() {
    let place = Place::new();
    let (rgb, _) = place.succeeds_with(&format!("convert - - {RAW} --to rgb24"), &frames(0..2));
    assert_eq!(rgb, pictures(0..1));
    let y4m = [b"YUV4MPEG2 W6 H4 F25:1\nFRAME\n", &frame(SIZE, 7)[..]].concat();
    let (rgb, _) = place.succeeds_with("convert - - --to rgb24", &y4m);
    assert_eq!(rgb, pictures(7..8));
    place.put("in.yuv", frame(SIZE, 8));
    place.succeeds(&format!("convert in.yuv in.npy {RAW} --to yuv420p"));
    let (rgb, _) = place.succeeds_with("convert - - --to rgb24 --format yuv420p", &place.get("in.npy"));
    assert_eq!(rgb, pictures(8..9));
}

#[test]
fn an_endless_stream_is_read_frame_by_frame() {
    let place = Place::new();
    let mut command = place.command("convert - - --format gray --size 1000x1000 --to gray --frames 60");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    // Writes until nobody reads.
    let writer = std::thread::spawn(move || while stdin.write_all(&[7; 100_000]).is_ok() {});
    let pid = child.id();
    let (mut read, mut peak_kib) = (0, 0);
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = stdout.read(&mut buffer).unwrap();
        read += count;
        if count == 0 {
            break;
        }
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak_kib = peak.and_then(|p| p.split_whitespace().next()?.parse().ok()).unwrap_or(peak_kib);
    }
    assert!(child.wait().unwrap().success());
    writer.join().unwrap();
    assert_eq!(read, 60_000_000);
    assert!((1..40_000).contains(&peak_kib), "{peak_kib} KiB for 60 frames of 1000 KiB");
}

#[test]
fn a_file_that_is_there_keeps_its_mode_and_a_link_stays_one() {
    let place = Place::new();
    place.put("in.yuv", frames(0..1));
    place.put("old.rgb", [0; 1000]);
    fs::set_permissions(place.path("old.rgb"), PermissionsExt::from_mode(0o604)).unwrap();
    symlink("old.rgb", place.path("link")).unwrap();
    place.succeeds(&format!("convert in.yuv link {RAW} --to rgb24"));
    assert_eq!(place.get("old.rgb"), pictures(0..1));
    assert!(fs::symlink_metadata(place.path("link")).unwrap().is_symlink());
    assert_eq!(fs::metadata(place.path("old.rgb")).unwrap().permissions().mode() & 0o777, 0o604);
    // A failure leaves it as it was.
    place.fails_with(
        &format!("convert - old.rgb {RAW} --frames 2"),
        &frames(0..1),
        1,
        &["has 1 frame, expected at least 2"],
    );
    assert_eq!(place.get("old.rgb"), pictures(0..1));
    // In and out may be the same file.
    place.succeeds(&format!("convert in.yuv in.yuv {RAW} --to rgb24"));
    assert_eq!(place.get("in.yuv"), pictures(0..1));
    assert_eq!(place.names(), ["in.yuv", "link", "old.rgb"]);
}

#[test]
fn a_pipe_is_written_straight() {
    let place = Place::new();
    place.put("in.yuv", frames(0..2));
    let fifo = place.path("fifo");
    if !std::process::Command::new("mkfifo").arg(&fifo).status().is_ok_and(|s| s.success()) {
        eprintln!("skipped: no mkfifo here");
        return;
    }
    let reader = std::thread::spawn(move || fs::read(fifo).unwrap());
    place.succeeds(&format!("convert in.yuv fifo {RAW} --to rgb24 --frames all"));
    assert_eq!(reader.join().unwrap(), pictures(0..2));
    assert_eq!(place.names(), ["fifo", "in.yuv"]);
}

#[test]
fn a_signal_leaves_no_half_file() {
    let place = Place::new();
    let mut command = place.command(&format!("convert - out.rgb {RAW} --frames all"));
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&frames(0..2)).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while place.names().is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(place.names().len(), 1, "a file is written aside");
    let killed = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    if !killed.is_ok_and(|status| status.success()) {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
    assert!(place.names().is_empty(), "{:?}", place.names());
}
