//! `framewright info`: devices, driver, formats and conversions of this build on this machine.

use crate::{
    device,
    formats::{self, FormatId},
};
use framewright::{Matrix, Range};
use serde_json::json;
use std::fmt::Write;

/// As JSON, for programs.
pub(crate) fn json() -> String {
    let devices: Vec<_> =
        device::devices().iter().map(|d| json!({ "name": d.name, "description": d.description })).collect();
    let formats: Vec<_> = FormatId::ALL
        .iter()
        .map(|format| {
            let planes: Vec<_> = format
                .planes()
                .iter()
                .map(|p| {
                    json!({
                        "name": p.name,
                        "channels": p.channels.len(),
                        "bytes_per_element": p.element_bytes(),
                        "subsampling": [p.step.x, p.step.y],
                    })
                })
                .collect();
            let step = format.step();
            json!({ "name": format.name(), "planes": planes, "crop_step": [step.x, step.y] })
        })
        .collect();
    let conversions: Vec<_> = FormatId::ALL
        .iter()
        .flat_map(|&from| from.targets().map(move |to| json!({ "from": from.name(), "to": to.name() })))
        .collect();
    let info = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "devices": devices,
        "driver": device::driver(),
        "formats": formats,
        "conversions": conversions,
        "matrices": Matrix::ALL.map(Matrix::name),
        "ranges": Range::ALL.map(Range::name),
    });
    format!("{info:#}\n")
}

/// In words, for people.
pub(crate) fn text() -> String {
    let mut text = format!("framewright {}\n\ndevices\n", env!("CARGO_PKG_VERSION"));
    // Writing to a string does not fail.
    for device in device::devices() {
        let _ = writeln!(text, "  {:<8} {}", device.name, device.description);
    }
    let _ = writeln!(text, "\nCUDA driver\n  {}", device::driver().as_deref().unwrap_or("this build has none"));
    text.push_str("\nformats: planes of samples\n");
    for format in FormatId::ALL {
        let planes: Vec<_> = format
            .planes()
            .iter()
            .map(|p| match (p.step.x, p.step.y) {
                (1, 1) => p.name.to_owned(),
                (x, y) => format!("{} (1 for {x}x{y} pixels)", p.name),
            })
            .collect();
        let _ = writeln!(text, "  {:<8} {}", format.name(), planes.join(", "));
    }
    text.push_str("\nconversions: every format to itself (a copy), and\n");
    for &from in FormatId::ALL.iter().filter(|from| from.targets().next().is_some()) {
        let _ = writeln!(text, "  {:<8} to {}", from.name(), formats::list(from.targets()));
    }
    let (matrices, ranges) = (Matrix::ALL.map(Matrix::name).join(", "), Range::ALL.map(Range::name).join(", "));
    let _ = writeln!(text, "  matrix   {matrices}\n  range    {ranges}");
    text
}
