//! Runs the CUDA suite and writes what it showed.
//!
//! ```text
//! framewright-gpu-suite [--json FILE] [--quick] [--sanitizer] [--part NAME]…
//! ```
//!
//! `--quick` leaves out what takes long on a stand-in driver; `--sanitizer` runs a fixed list of about 2,000 launches that
//! reaches each path of the kernels, for compute-sanitizer. Exit status 1 when anything differs.

use framewright::cuda::{self, Device, DriverStatus};
use framewright_gpu_suite::{
    api,
    exact::{self, Count},
    executor::Gpu,
    report::{Part, Report},
};
use framewright_tests::conformance::{self, Section};
use sha2::{Digest, Sha256};
use std::{process::ExitCode, time::Instant};

/// The parts in order; each runs alone with `--part`.
const PARTS: [&str; 9] = ["sizes", "crops", "large", "copies", "triples", "frames", "streams", "api", "panic"];

struct Options {
    json: Option<String>,
    quick: bool,
    sanitizer: bool,
    parts: Vec<String>,
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("framewright-gpu-suite: {error}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Options, Box<dyn std::error::Error>> {
    let mut options = Options { json: None, quick: false, sanitizer: false, parts: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} takes a value"));
        match argument.as_str() {
            "--json" => options.json = Some(value()?),
            "--quick" => options.quick = true,
            "--sanitizer" => options.sanitizer = true,
            "--part" => options.parts.push(value()?),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    if let Some(unknown) = options.parts.iter().find(|part| !PARTS.contains(&part.as_str())) {
        return Err(format!("unknown part {unknown}, expected one of {PARTS:?}").into());
    }
    Ok(options)
}

fn run(options: &Options) -> Result<bool, Box<dyn std::error::Error>> {
    let device = Device::new(0)?;
    let info = device.info()?;
    let driver = match cuda::status() {
        DriverStatus::Loaded(loaded) => {
            let version = loaded.version.map_or_else(|| "unknown".to_owned(), |version| version.to_string());
            format!("{} for CUDA {version}", kernel_driver().unwrap_or_else(|| loaded.library.display().to_string()))
        }
        DriverStatus::Missing(missing) => missing.to_string(),
    };
    let on_card = !info.name.contains("stand-in");
    let mut report = Report {
        card: info.name,
        compute_capability: format!("{}.{}", info.compute_capability.0, info.compute_capability.1),
        driver,
        date: today(),
        commit: env!("FRAMEWRIGHT_COMMIT").to_owned(),
        program_sha256: own_sha256()?,
        parts: Vec::new(),
    };
    println!("{} ({}), {}, commit {}", report.card, report.compute_capability, report.driver, report.commit);
    let gpu = Gpu { stream: device.stream()? };
    for name in PARTS {
        let chosen = options.parts.is_empty() || options.parts.iter().any(|part| part == name);
        if !chosen || (options.sanitizer && !matches!(name, "sizes" | "copies" | "crops" | "api")) {
            continue;
        }
        let start = Instant::now();
        let count = part(name, &gpu, &device, options, on_card)?;
        let part = count.part(name, start.elapsed().as_secs_f64());
        print_part(&part);
        report.parts.push(part);
    }
    if let Some(file) = &options.json {
        std::fs::write(file, serde_json::to_string_pretty(&report)? + "\n")?;
    }
    let failed = report.parts.iter().filter(|part| part.differing > 0 || part.cases == 0).count();
    println!("parts: {} passed, {failed} failed", report.parts.len() - failed);
    Ok(report.passed())
}

fn part(
    name: &str,
    gpu: &Gpu,
    device: &Device,
    options: &Options,
    on_card: bool,
) -> Result<Count, Box<dyn std::error::Error>> {
    let section = |section| {
        // Primes: every row layout, buffer and colour has its turn.
        let stride = match (options.sanitizer, options.quick, section) {
            (true, _, Section::Crops) => 997,
            (true, _, _) => 101,
            (_, true, Section::Crops) => 211,
            (_, true, Section::Large) => 3,
            (_, true, _) => 37,
            _ => 1,
        };
        let outcome = conformance::run_every(gpu, section, stride);
        let first = outcome.first_difference.map(|difference| format!("{difference:?}"));
        Count { cases: outcome.cases, differing: outcome.differing, first }
    };
    Ok(match name {
        "sizes" => section(Section::Sizes),
        "crops" => section(Section::Crops),
        "large" => section(Section::Large),
        "copies" => section(Section::Copies),
        "triples" => exact::triples(&gpu.stream)?,
        "frames" => exact::large(&gpu.stream, options.quick)?,
        "streams" => exact::streams(device, if options.quick { 2 } else { 32 })?,
        "api" => api::run(device),
        // The last: it ends the device for this process.
        "panic" => {
            let mut count = Count::default();
            count.add(1, api::panic(device, on_card).err());
            count
        }
        other => return Err(format!("no part {other}").into()),
    })
}

fn print_part(part: &Part) {
    let verdict = if part.differing == 0 && part.cases > 0 { "ok" } else { "DIFFERS" };
    println!(
        "{:8} {:>12} cases {:>8} differing {:>7.1} s  {verdict}",
        part.name, part.cases, part.differing, part.seconds
    );
    if let Some(first) = &part.first_difference {
        println!("         first: {first}");
    }
}

/// The version of NVIDIA's kernel module.
fn kernel_driver() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let version =
        text.split_whitespace().find(|word| word.split('.').count() >= 2 && word.starts_with(char::is_numeric))?;
    Some(format!("NVIDIA {version}"))
}

fn own_sha256() -> Result<String, Box<dyn std::error::Error>> {
    let digest = Sha256::digest(std::fs::read(std::env::current_exe()?)?);
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The date in UTC, by the civil-from-days algorithm.
fn today() -> String {
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let days = (seconds / 86_400) as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
