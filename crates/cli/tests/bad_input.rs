//! Everything that can be wrong with options, files and the machine: one line, the right status, no file, no panic.

mod support;

use std::{fs, path::Path, process::Command};
use support::{Place, cat, check_failure, data, frame};

const RAW: &str = "--format yuv420p --size 6x4";

/// A folder with a good frame in every container.
fn place() -> Place {
    let place = Place::new();
    place.put("f.yuv", frame((6, 4), 0));
    place.put("f.npy", npy("(6, 6)", &frame((6, 4), 0)));
    place.put("f.y4m", y4m("W6 H4"));
    place
}

fn npy(shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes(), data].concat()
}

fn y4m(tags: &str) -> Vec<u8> {
    [format!("YUV4MPEG2 {tags}\nFRAME\n").as_bytes(), &frame((6, 4), 0)].concat()
}

#[test]
fn the_good_ones_pass() {
    let place = place();
    place.succeeds(&format!("convert f.yuv a.png {RAW}"));
    place.succeeds("convert f.npy b.png --format yuv420p");
    place.succeeds("convert f.y4m c.png");
    assert!(place.get("a.png") == place.get("b.png") && place.get("b.png") == place.get("c.png"));
}

#[test]
fn truncated_by_one_byte() {
    let place = place();
    for name in ["f.yuv", "f.npy", "f.y4m"] {
        let mut bytes = place.get(name);
        bytes.pop();
        place.put(name, bytes);
    }
    place.fails(&format!("convert f.yuv o.png {RAW}"), 1, &["f.yuv: it has 35 bytes, expected 36"]);
    place.fails("convert f.npy o.png --format yuv420p", 1, &["f.npy: data", "is 35 bytes, expected 36"]);
    place.fails("convert f.y4m o.png", 1, &["f.y4m: frame 0: it has 35 bytes, expected 36"]);
    for name in ["f.yuv", "f.npy", "f.y4m"] {
        let options = if name == "f.y4m" {
            ""
        } else if name == "f.npy" {
            "--format yuv420p"
        } else {
            RAW
        };
        place.fails_with(
            &format!("convert - o.png {options}"),
            &place.get(name),
            1,
            &["stdin: frame 0: it has 35 bytes"],
        );
    }
    let mut real = fs::read(data("cat_480p_yuv420p.npy")).unwrap();
    real.pop();
    place.put("cat.npy", real);
    place.fails("convert cat.npy o.png --format yuv420p", 1, &["614879", "614880"]);
    place.put("empty.yuv", b"");
    place.fails(&format!("convert empty.yuv o.png {RAW}"), 1, &["has 0 bytes, expected 36"]);
    place.fails_with(&format!("convert - o.png {RAW}"), b"", 1, &["stdin: it has 0 frames"]);
    place.fails_with("convert - o.png", b"YUV4MPEG2 W6 H4\n", 1, &["it has 0 frames, expected at least 1"]);
    // A header cut anywhere.
    for length in 0..30 {
        place.put("cut.npy", &place.get("f.npy")[..length]);
        place.fails("convert cut.npy o.png --format yuv420p", 1, &["cut.npy: "]);
    }
}

#[test]
fn wrong_sizes() {
    let place = place();
    place.put("cat.yuv", cat());
    let wrong = "convert cat.yuv o.png --format yuv420p --size 853x480";
    place.fails(wrong, 1, &["614880 bytes", "multiple of 614400", "853x480", "1 frame and 480 bytes"]);
    place.fails("convert f.npy o.png --format yuv420p --size 4x6", 1, &["array is yuv420p 6x4, expected 4x6"]);
    place.fails("convert f.y4m o.png --size 4x6", 1, &["its size is 6x4, expected 4x6"]);
    place.fails("convert f.y4m o.png --format nv12", 1, &["its format is yuv420p, expected nv12"]);
    place.fails("convert f.yuv o.png --format yuv420p --size 6", 2, &["--size", "expected WxH"]);
    place.fails("convert f.yuv o.png --format yuv420p --size 0x4", 2, &["0x4", "expected 1 to"]);
    place.fails("convert f.yuv o.png --format yuv420p", 2, &["expected --size"]);
    place.fails("convert f.yuv o.png --size 6x4", 2, &["expected --format"]);
    place.fails("convert f.npy o.png", 2, &["expected --format"]);
    place.fails_with("convert - o.png --size 6x4", &[0; 36], 1, &["stdin: it does not say its format"]);
    let small = format!("convert f.yuv o.png {RAW} --coded-size 5x4");
    place.fails(&small, 2, &["width is 5", "at least 6"]);
    place.put("odd.npy", npy("(7, 6)", &[0; 42]));
    place.fails("convert odd.npy o.png --format yuv420p", 1, &["shape is (7, 6)", "h*3/2"]);
    place.put("chw.npy", npy("(3, 4, 6)", &[0; 72]));
    place.fails("convert chw.npy o.png --format bgr24", 1, &["shape is (3, 4, 6), expected (h, w, 3)"]);
    place.put("none.npy", npy("(0, 6, 6)", &[]));
    place.fails("convert none.npy o.png --format yuv420p", 1, &["it has 0 frames"]);
    place.fails("convert f.npy o.png --format yuv420p --size 5x4 --pitch 8", 1, &["rows of its array are 6 bytes"]);
}

#[test]
fn pitches_shorter_than_a_row_or_too_many() {
    let place = place();
    place.fails(
        &format!("convert f.yuv o.png {RAW} --pitch 5"),
        2,
        &["plane Y: pitch is 5 bytes, expected at least 6"],
    );
    place.fails(
        &format!("convert f.yuv o.png {RAW} --pitch 6,3,2"),
        2,
        &["plane Cr: pitch is 2 bytes, expected at least 3"],
    );
    place.fails(&format!("convert f.yuv o.png {RAW} --pitch -5"), 2, &["pitch is -5"]);
    place.fails(&format!("convert f.yuv o.png {RAW} --pitch 6,3"), 2, &["2 planes, expected 3"]);
    place.fails(&format!("convert f.yuv o.png {RAW} --pitch 0"), 2, &["pitch is 0"]);
    place.fails(&format!("convert f.yuv o.png {RAW} --pitch 6;3"), 2, &["'6;3'"]);
    place.fails("convert f.npy o.png --format yuv420p --pitch 5", 1, &["plane Y: pitch is 5"]);
    place.fails("convert f.y4m o.png --pitch 6", 2, &["no padding"]);
}

#[test]
fn crops_outside_or_off_the_grid() {
    let place = place();
    for crop in ["7x4+0+0", "6x4+1+0", "1x1+6+0", "1x1+0+4", "1x1+4294967295+4294967295", "134217728x1+0+0"] {
        place.fails(&format!("convert f.yuv o.png {RAW} --crop {crop}"), 1, &["reaches past", crop, "6x4"]);
    }
    let odd = format!("convert f.yuv o.yuv {RAW} --to yuv420p --crop 2x2+1+0");
    place.fails(&odd, 2, &["offset x is 1", "the nearest are 0 and 2"]);
    place.fails("convert f.y4m o.y4m --crop 2x2+2+3", 1, &["offset y is 3", "the nearest are 2 and 4"]);
    place.fails(&format!("convert f.yuv o.png {RAW} --crop 2x2"), 2, &["expected WxH+X+Y"]);
    place.fails(&format!("convert f.yuv o.png {RAW} --crop 2x2+4294967296+0"), 2, &["x is 4294967296"]);
}

#[test]
fn formats_unknown_or_not_to_be_had() {
    let place = place();
    let known = "yuv420p, nv12, yv12, nv21, bgr24, rgb24, bgra, rgba, gray";
    place.fails("convert f.yuv o.png --format yuv420 --size 6x4", 2, &["'yuv420'", known]);
    place.fails(&format!("convert f.yuv o.png {RAW} --to jpeg"), 2, &["'jpeg'", known]);
    place.fails("convert f.yuv o.raw --format gray --size 6x6", 2, &["no conversion of gray to bgr24", "--to gray"]);
    place.fails(&format!("convert f.yuv o.raw {RAW} --to nv12"), 2, &["no conversion of yuv420p to nv12", "rgb24"]);
    place.fails(&format!("convert f.yuv o.png {RAW} --to yuv420p"), 2, &["a .png holds no yuv420p"]);
    place.fails(&format!("convert f.yuv o.y4m {RAW} --to rgb24"), 2, &["a .y4m holds no rgb24"]);
    place.put("mono.y4m", y4m("W6 H6 Cmono"));
    place.fails("convert mono.y4m o.npy", 1, &["no conversion of gray to bgr24"]);
    place.put("odd.yuv", frame((5, 4), 0));
    let odd = "convert odd.yuv o.npy --format yuv420p --size 5x4 --to yuv420p";
    place.fails(odd, 1, &["5x4", "expected even sides", "--crop"]);
    place.fails(&format!("convert f.yuv o.png {RAW} --matrix bt470"), 2, &["'bt470'", "bt601, bt709, bt2020"]);
    place.fails(&format!("convert f.yuv o.png {RAW} --range tv"), 2, &["'tv'", "limited or full"]);
    let missing = if cfg!(feature = "cuda") { "no CUDA driver" } else { "this build has no CUDA" };
    place.fails(&format!("convert f.yuv o.png {RAW} --device cuda"), 1, &["--device cuda:0", missing]);
    place.fails(&format!("convert f.yuv o.png {RAW} --device tpu"), 2, &["'tpu'"]);
}

#[test]
fn frames_and_names_that_do_not_go_together() {
    let place = place();
    place.fails(&format!("convert f.yuv o.png {RAW} --frames all"), 2, &["%04d"]);
    place.fails(&format!("convert f.yuv o%d%d.png {RAW} --frames all"), 2, &["several %d"]);
    place.fails(&format!("convert f.yuv o.png {RAW} --frames 0"), 2, &["expected at least 1"]);
    place.fails(&format!("convert f.yuv o.png {RAW} --frames 3..2"), 2, &["expected at least 1"]);
    place.fails(&format!("convert f.yuv o.png {RAW} --frames 9223372036854775808"), 2, &["%04d"]);
    place.fails(&format!("convert f.yuv /dev/null/o.png {RAW}"), 1, &["/dev/null/o.png"]);
    place.fails("convert f.yuv", 2, &["<OUTPUT>"]);
    place.fails("", 2, &["expected convert or info"]);
    place.fails("transmogrify", 2, &["'transmogrify'"]);
}

#[test]
fn targets_that_cannot_be_written() {
    let place = place();
    place.fails(&format!("convert f.yuv f.npy/x.png {RAW}"), 1, &["f.npy/x.png", "Not a directory"]);
    place.fails(&format!("convert f.yuv none/x.png {RAW}"), 1, &["none/x.png", "folder none"]);
    fs::create_dir(place.path("folder.png")).unwrap();
    place.fails(&format!("convert f.yuv folder.png {RAW}"), 1, &["folder.png", "directory"]);
    place.fails(&format!("convert f.yuv f.npy/%d.png {RAW}"), 1, &["f.npy/0.png"]);
    place.fails(&format!("convert none.yuv x.png {RAW}"), 1, &["none.yuv: No such file"]);
    place.fails("convert folder.png x.png --format gray --size 1x1", 1, &["folder.png: it is a folder"]);
    place.fails(&format!("convert f.yuv /dev/full {RAW}"), 1, &["/dev/full: cannot be written: No space left"]);
}

#[test]
fn a_full_disk() {
    let place = Place::new();
    place.put("cat.yuv", cat());
    let disk = place.path("disk");
    fs::create_dir(&disk).unwrap();
    /// Unmounted at the end, whatever happens.
    struct Mounted<'a>(&'a Path);
    impl Drop for Mounted<'_> {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(self.0).status();
        }
    }
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&disk).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: a tmpfs cannot be mounted here; /dev/full stands for it in targets_that_cannot_be_written");
        return;
    }
    let _mounted = Mounted(&disk);
    let raw = "--format yuv420p --size 854x480";
    for name in ["o.png", "o.raw", "o.npy", "%d.png"] {
        place.fails(&format!("convert cat.yuv disk/{name} {raw}"), 1, &["disk/", "No space left"]);
    }
    place.put("disk/old.png", b"old");
    place.fails(&format!("convert cat.yuv disk/old.png {raw}"), 1, &["No space left"]);
    assert_eq!(place.get("disk/old.png"), b"old");
}

#[test]
fn a_closed_pipe() {
    let place = Place::new();
    place.put("cat.yuv", cat());
    for line in ["convert cat.yuv - --format yuv420p --size 854x480", "info"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = place.command(line).stdout(writer).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        check_failure(line, &stderr, output.status.code(), 1, &["stdout"]);
    }
    assert_eq!(place.names(), ["cat.yuv"]);
}

#[test]
fn files_that_are_not_what_they_are_called() {
    let place = place();
    place.put("no.npy", b"hello, this is no array");
    place.put("no.y4m", b"hello, this is no video");
    place.put("bin.y4m", [0; 10_000]);
    place.put("new\nline.npy", b"x");
    place.fails("convert no.npy o.png --format yuv420p", 1, &["no.npy: it begins with \"hello,\"", "NUMPY"]);
    place.fails("convert no.y4m o.png", 1, &["no.y4m: it has \"hello, this is no vi\""]);
    place.fails("convert bin.y4m o.png", 1, &["bin.y4m: "]);
    let mut command = place.command("convert");
    let output = command.args(["new\nline.npy", "o.png", "--format", "gray"]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    check_failure("newline", &stderr, output.status.code(), 1, &["new\\nline.npy: "]);

    let text = |descr, order| format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': (6, 6), }}\n");
    for (descr, order, says) in [("<u2", "False", "'<u2', expected '|u1'"), ("|u1", "True", "Fortran order")] {
        let text = text(descr, order);
        let head = [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat();
        place.put("other.npy", head);
        place.fails("convert other.npy o.png --format yuv420p", 1, &[says]);
    }
    for (tags, says) in [
        ("W6 H4 It", "interlaced"),
        ("W6 H4 Ib", "interlaced"),
        ("W6 H4 Im", "interlaced"),
        ("W6 H4 C420p10", "deeper than 8 bits"),
        ("W6 H4 C444", "subsampled otherwise"),
        ("W6 H4 C422 It", "expected"),
        ("W6", "no H"),
    ] {
        place.put("t.y4m", y4m(tags));
        place.fails("convert t.y4m o.png", 1, &["t.y4m: ", says, "expected"]);
    }
    let bad = [&y4m("W6 H4")[..], b"FRAMED\n"].concat();
    place.put("second.y4m", bad);
    place.fails("convert second.y4m o.raw --frames all", 1, &["frame 1: ", "\"FRAMED\", expected FRAME"]);
}

#[test]
fn sizes_near_2_to_the_32_and_63() {
    let place = place();
    let huge = [
        "4294967294",
        "4294967295",
        "4294967296",
        "4294967297",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
    ];
    for n in huge {
        for size in [format!("{n}x2"), format!("2x{n}"), format!("{n}x{n}")] {
            place.fails(&format!("convert f.yuv o.png --format yuv420p --size {size}"), 2, &["--size", n]);
            place.fails(&format!("convert f.yuv o.png {RAW} --coded-size {size}"), 2, &["--coded-size", n]);
            place.fails(&format!("convert f.yuv o.png {RAW} --crop {size}+0+0"), 2, &["--crop", n]);
        }
        // Up to 63 bits a pitch may be meant; the file is then too short, or no buffer can be so long.
        for pitch in [n.to_owned(), format!("-{n}"), format!("{n},{n},{n}")] {
            let output = place.run(&format!("convert f.yuv o.png {RAW} --pitch {pitch}"), &[]);
            let stderr = String::from_utf8(output.stderr).unwrap();
            let status = output.status.code().unwrap();
            assert!(status == 1 || status == 2, "{pitch}: {stderr}");
            check_failure(&pitch, &stderr, Some(status), status, &["expected"]);
        }
        for (w, h) in [(n, "4"), ("6", n), (n, n)] {
            place.put("huge.y4m", y4m(&format!("W{w} H{h}")));
            place.fails("convert huge.y4m o.png", 1, &["huge.y4m: ", n]);
            place.fails_with("convert - o.png", &y4m(&format!("W{w} H{h}")), 1, &["stdin: ", n]);
            for format in ["gray", "yuv420p", "bgr24"] {
                // The count of frames may be any on a stream, but not the sides.
                let stdin = npy(&format!("({h}, {w})"), &[0; 36]);
                place.fails_with(&format!("convert - o.png --format {format}"), &stdin, 1, &["stdin: shape is"]);
                for shape in [format!("({h}, {w})"), format!("({h}, {w}, 3)"), format!("({n}, {h}, {w})")] {
                    place.put("huge.npy", npy(&shape, &[0; 36]));
                    place.fails(&format!("convert huge.npy o.png --format {format}"), 1, &["huge.npy: "]);
                }
            }
        }
    }
    // The largest sides that there are: the frame is what is missing, and no memory is taken for it.
    let most = "134217728x134217728";
    place.fails(&format!("convert f.yuv o.png --format rgba --size {most}"), 1, &["has 36 bytes", "72057594037927936"]);
    place.fails_with(&format!("convert - o.png --format rgba --size {most}"), &[0; 36], 1, &["36 bytes"]);
    place.put("most.y4m", y4m("W134217728 H134217728"));
    place.fails("convert most.y4m o.png", 1, &["36 bytes, expected 27021597764222976"]);
    // A header that claims to be longer than any.
    place.put("long.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff");
    place.fails("convert long.npy o.png --format gray", 1, &["header is 4294967295 bytes"]);
    place.put("many.npy", npy("(9223372036854775808, 6, 6)", &[0; 36]));
    place.fails("convert many.npy o.png --format yuv420p", 1, &["is 36 bytes, expected 332041393326771929088"]);
}
