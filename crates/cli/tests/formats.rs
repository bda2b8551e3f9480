//! Real and made frames through the program, every container and layout, against the exact reference.

mod support;

use support::{BT601, BT709, BT2020, CAT, Place, cat, data, frame, picture, png, rgb, sample, swapped};

const ASSUMED: &str = "framewright: assumed BT.601, limited range (unspecified; 854x480)\n";

fn cat_npy() -> String {
    data("cat_480p_yuv420p.npy").display().to_string()
}

#[test]
fn the_real_frame_becomes_a_picture_that_another_decoder_reads() {
    let place = Place::new();
    let said = place.succeeds(&format!("convert {} cat.png --format yuv420p", cat_npy()));
    assert_eq!(said, ASSUMED);
    let (w, h, channels, pixels) = png(&place.get("cat.png"));
    assert_eq!((w, h, channels), (854, 480, 3));
    let cat = cat();
    // Corners, an eye, its rim, the nose: places that a wrong plane, pitch or matrix would change.
    for (x, y) in [(0, 0), (853, 0), (0, 479), (853, 479), (330, 210), (331, 211), (385, 250), (520, 465), (700, 60)] {
        let at = (y * w + x) * 3;
        assert_eq!(pixels[at..at + 3], rgb(BT601, false, sample(&cat, CAT, x, y)), "pixel {x},{y}");
    }
    assert!(pixels == picture(&cat, CAT, BT601, false));
    assert_eq!(place.names(), ["cat.png"]);
}

#[test]
fn padded_planes_give_the_same_picture() {
    let place = Place::new();
    let yuv = data("cat_480p_padded.yuv").display().to_string();
    for pitch in ["896", "896,448,448"] {
        let said = place
            .succeeds(&format!("convert {yuv} cat.rgb --format yuv420p --size 854x480 --pitch {pitch} --to rgb24"));
        assert_eq!(said, ASSUMED);
        assert!(place.get("cat.rgb") == picture(&cat(), CAT, BT601, false), "{pitch}");
    }
    // A copy takes the padding away, and the last row of a plane needs none.
    let mut bytes = std::fs::read(&yuv).unwrap();
    bytes.truncate(bytes.len() - 21);
    place.put("short.yuv", bytes);
    place.succeeds("convert short.yuv packed.yuv --format yuv420p --to yuv420p --size 854x480 --pitch 896");
    assert!(place.get("packed.yuv") == cat());
}

#[test]
fn matrices_ranges_and_orders_are_as_asked() {
    let place = Place::new();
    let cat = cat();
    for (name, matrix) in
        [("bt601", BT601), ("bt709", BT709), ("bt2020", BT2020), ("smpte240m", (2120, 870)), ("fcc", (3000, 1100))]
    {
        for (range, full) in [("limited", false), ("full", true)] {
            let options = format!("--format yuv420p --matrix {name} --range {range}");
            let said = place.succeeds(&format!("convert {} out.bgr {options}", cat_npy()));
            assert_eq!(said, "");
            assert!(place.get("out.bgr") == swapped(&picture(&cat, CAT, matrix, full), 3), "{options}");
        }
    }
    let rgba: Vec<u8> = picture(&cat, CAT, BT601, false).chunks(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect();
    for (to, expected) in [("rgba", rgba.clone()), ("bgra", swapped(&rgba, 4))] {
        place.succeeds(&format!("convert {} out.raw --format yuv420p --to {to}", cat_npy()));
        assert!(place.get("out.raw") == expected, "{to}");
        place.succeeds(&format!("convert {} out.png --format yuv420p --to {to}", cat_npy()));
        assert!(png(&place.get("out.png")) == (854, 480, 4, rgba.clone()), "{to}");
    }
    place.succeeds(&format!("convert {} out.png --format yuv420p --to bgr24", cat_npy()));
    assert!(png(&place.get("out.png")).3 == picture(&cat, CAT, BT601, false));
}

#[test]
fn the_rule_for_unspecified_colours_is_by_the_whole_frame() {
    let place = Place::new();
    let size = (1280, 4);
    place.put("wide.yuv", frame(size, 1));
    let said = place
        .succeeds("convert wide.yuv out.rgb --format yuv420p --size 1280x4 --to rgb24 --crop 4x4+0+0 --range full");
    assert_eq!(said, "framewright: assumed BT.709 (unspecified; 1280x4)\n");
    let whole = picture(&frame(size, 1), size, BT709, true);
    let expected: Vec<u8> = (0..4).flat_map(|y| whole[y * 1280 * 3..][..12].to_vec()).collect();
    assert_eq!(place.get("out.rgb"), expected);
}

#[test]
fn nv12_and_odd_sizes() {
    let place = Place::new();
    let size @ (w, h) = (5, 3);
    let planar = frame(size, 3);
    let (luma, chroma) = planar.split_at(w * h);
    let (cb, cr) = chroma.split_at(6);
    let nv12: Vec<u8> = luma.iter().copied().chain(cb.iter().zip(cr).flat_map(|(&b, &r)| [b, r])).collect();
    place.put("f.nv12", &nv12);
    place.put("f.yuv", &planar);
    // Cr first, as planes and in pairs.
    place.put("f.yv12", [luma, cr, cb].concat());
    place.put(
        "f.nv21",
        nv12[..w * h].iter().copied().chain(nv12[w * h..].chunks(2).flat_map(|p| [p[1], p[0]])).collect::<Vec<u8>>(),
    );
    let expected = picture(&planar, size, BT601, false);
    for (file, format) in [("f.nv12", "nv12"), ("f.yuv", "yuv420p"), ("f.yv12", "yv12"), ("f.nv21", "nv21")] {
        place.succeeds(&format!("convert {file} out.rgb --format {format} --size 5x3 --to rgb24"));
        assert_eq!(place.get("out.rgb"), expected, "{file}");
        place.succeeds(&format!("convert {file} copy.raw --format {format} --size 5x3 --to {format}"));
        assert_eq!(place.get("copy.raw"), place.get(file));
    }
}

#[test]
fn coded_sizes_and_rows_bottom_up() {
    let place = Place::new();
    // 6x4 shown of 8x6 coded.
    let (coded, size) = ((8, 6), (6, 4));
    let all = frame(coded, 5);
    let shown: Vec<u8> = [(8, 6, 4, 0), (4, 3, 2, 48), (4, 3, 2, 60)]
        .iter()
        .flat_map(|&(pitch, w, h, at)| (0..h).flat_map(move |y| at + y * pitch..at + y * pitch + w))
        .map(|i: usize| all[i])
        .collect();
    place.put("coded.yuv", &all);
    let options = "--format yuv420p --size 6x4 --coded-size 8x6";
    place.succeeds(&format!("convert coded.yuv shown.yuv {options} --to yuv420p"));
    assert_eq!(place.get("shown.yuv"), shown);
    place.succeeds(&format!("convert coded.yuv shown.rgb {options} --to rgb24"));
    assert_eq!(place.get("shown.rgb"), picture(&shown, size, BT601, false));

    // The same planes with their rows from the last to the first.
    let flipped: Vec<u8> = [(0, 6, 4), (24, 3, 2), (30, 3, 2)]
        .iter()
        .flat_map(|&(at, w, h)| (0..h).rev().flat_map(move |y| at + y * w..at + (y + 1) * w))
        .map(|i: usize| shown[i])
        .collect();
    place.put("flipped.yuv", &flipped);
    for pitch in ["-6", "-6,-3,-3"] {
        place.succeeds(&format!("convert flipped.yuv up.yuv --format yuv420p --to yuv420p --size 6x4 --pitch {pitch}"));
        assert_eq!(place.get("up.yuv"), shown, "{pitch}");
    }
}

#[test]
fn crops_off_the_grid_are_the_pixels_of_the_whole() {
    let place = Place::new();
    let whole = picture(&cat(), CAT, BT601, false);
    for (w, h, x, y) in [(33, 7, 11, 5), (1, 1, 853, 479), (64, 32, 200, 100)] {
        place.succeeds(&format!("convert {} out.rgb --format yuv420p --to rgb24 --crop {w}x{h}+{x}+{y}", cat_npy()));
        let expected: Vec<u8> = (y..y + h).flat_map(|y| whole[(y * 854 + x) * 3..][..w * 3].to_vec()).collect();
        assert_eq!(place.get("out.rgb"), expected, "{w}x{h}+{x}+{y}");
    }
    // On the grid 4:2:0 stays 4:2:0, also with an odd size.
    place.succeeds(&format!("convert {} out.yuv --format yuv420p --to yuv420p --crop 3x3+10+20", cat_npy()));
    let cat = cat();
    let expected: Vec<u8> = [(0, 854, 10, 20, 3), (409_920, 427, 5, 10, 2), (512_400, 427, 5, 10, 2)]
        .iter()
        .flat_map(|&(at, pitch, x, y, side)| {
            (y..y + side).flat_map(move |y| at + y * pitch + x..at + y * pitch + x + side)
        })
        .map(|i: usize| cat[i])
        .collect();
    assert_eq!(place.get("out.yuv"), expected);
}

#[test]
fn npy_is_written_as_numpy_reads_it_and_read_back() {
    let place = Place::new();
    place.succeeds(&format!("convert {} copy.npy --format yuv420p --to yuv420p", cat_npy()));
    let (copy, original) = (place.get("copy.npy"), std::fs::read(cat_npy()).unwrap());
    assert!(copy == original, "header is {}", copy[..128].escape_ascii());
    place.succeeds(&format!("convert {} bgr.npy --format yuv420p", cat_npy()));
    let bgr = place.get("bgr.npy");
    assert!(String::from_utf8_lossy(&bgr[..128]).contains("'|u1', 'fortran_order': False, 'shape': (480, 854, 3), }"));
    assert!(bgr[128..] == swapped(&picture(&cat(), CAT, BT601, false), 3));
    place.succeeds("convert bgr.npy back.png --format bgr24");
    assert!(png(&place.get("back.png")).3 == picture(&cat(), CAT, BT601, false));

    // One tensor with padded rows: its rows are the luma pitch.
    let mut padded = original[..128].to_vec();
    padded.extend(std::fs::read(data("cat_480p_padded.yuv")).unwrap());
    let header = String::from_utf8_lossy(&padded[10..128]).replace("(720, 854)", "(720, 896)");
    padded.splice(10..128, header.bytes());
    place.put("padded.npy", padded);
    place.succeeds("convert padded.npy packed.yuv --format yuv420p --to yuv420p --size 854x480 --pitch 896");
    assert!(place.get("packed.yuv") == cat());
}

#[test]
fn gray_is_copied() {
    let place = Place::new();
    place.put("g.raw", [1, 2, 3, 4, 5, 6]);
    place.succeeds("convert g.raw g.png --format gray --size 3x2");
    assert_eq!(png(&place.get("g.png")), (3, 2, 1, vec![1, 2, 3, 4, 5, 6]));
    place.succeeds("convert g.raw g.npy --format gray --to gray --size 3x2");
    place.succeeds("convert g.npy g.y4m --format gray --crop 2x1+1+1");
    assert_eq!(place.get("g.y4m"), b"YUV4MPEG2 W2 H1 F25:1 Ip A0:0 Cmono\nFRAME\n\x05\x06");
}

#[test]
fn y4m_goes_round_and_its_range_counts() {
    let place = Place::new();
    let size = (5, 3);
    let head = "YUV4MPEG2 W5 H3 F30000:1001 Ip A1:1 C420mpeg2 XCOLORRANGE=FULL\n";
    let mut y4m = head.as_bytes().to_vec();
    for seed in 0..3 {
        y4m.extend(if seed == 1 { &b"FRAME Ip XNOTE\n"[..] } else { b"FRAME\n" });
        y4m.extend(frame(size, seed));
    }
    place.put("in.y4m", &y4m);
    assert_eq!(place.succeeds("convert in.y4m out.y4m --frames all"), "");
    let mut plain = head.as_bytes().to_vec();
    (0..3).for_each(|seed| plain.extend([&b"FRAME\n"[..], &frame(size, seed)].concat()));
    assert_eq!(place.get("out.y4m"), plain);

    let said = place.succeeds("convert in.y4m out.rgb --to rgb24 --frames 1..3");
    assert_eq!(said, "framewright: assumed BT.601 (unspecified; 5x3)\n");
    let pictures: Vec<u8> = (1..3).flat_map(|seed| picture(&frame(size, seed), size, BT601, true)).collect();
    assert_eq!(place.get("out.rgb"), pictures);
}

#[test]
fn info_lists_what_there_is() {
    let place = Place::new();
    let (text, _) = place.succeeds_with("info", &[]);
    let text = String::from_utf8(text).unwrap();
    let driver = if cfg!(feature = "cuda") { "no CUDA driver" } else { "this build has none" };
    assert!(text.contains(driver) && text.contains("nv12     to bgr24, rgb24, bgra, rgba"), "{text}");
    let (json, _) = place.succeeds_with("info --json", &[]);
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["devices"][0]["name"], "cpu");
    assert_eq!(json["driver"].as_str().is_some(), cfg!(feature = "cuda"), "{}", json["driver"]);
    assert_eq!(json["formats"].as_array().unwrap().len(), 9);
    assert!(json["conversions"].as_array().unwrap().iter().any(|c| c["from"] == "nv12" && c["to"] == "bgra"));
}
