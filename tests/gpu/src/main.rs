//! Runs the CUDA suite and writes what it showed.
//!
//! ```text
//! framewright-gpu-suite [--json FILE] [--quick] [--sanitizer] [--part NAME]…
//! ```
//!
//! `--quick` leaves out what takes long on a stand-in driver; `--sanitizer` runs a fixed list of about 2,000 launches that
//! reaches each path of the kernels, for compute-sanitizer. Exit status 1 when anything differs.

use framewright::cuda::Device;
use framewright_gpu_suite::{
    api,
    exact::{self, Count},
    examples,
    executor::Gpu,
    facts::Facts,
    report::{Part, Report},
};
use framewright_tests::conformance::{self, Outcome, Section};
use std::{process::ExitCode, time::Instant};

/// The parts in order; each runs alone with `--part`.
const PARTS: [&str; 10] =
    ["sizes", "crops", "large", "copies", "examples", "triples", "frames", "streams", "api", "panic"];

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
    let facts = Facts::of(&device)?;
    let on_card = !facts.card.contains("stand-in");
    let mut report = Report {
        card: facts.card,
        compute_capability: facts.compute_capability,
        driver: facts.driver,
        date: facts.date,
        commit: facts.commit,
        program_sha256: facts.program_sha256,
        parts: Vec::new(),
    };
    println!("{} ({}), {}, commit {}", report.card, report.compute_capability, report.driver, report.commit);
    let gpu = Gpu { stream: device.stream()? };
    for name in PARTS {
        let chosen = options.parts.is_empty() || options.parts.iter().any(|part| part == name);
        if !chosen
            || (options.sanitizer && !matches!(name, "sizes" | "crops" | "large" | "copies" | "examples" | "api"))
        {
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
            (true, _, Section::Copies) => 211,
            (true, _, Section::Large) => 7,
            (true, _, _) => 101,
            (_, true, Section::Crops) => 211,
            (_, true, Section::Large) => 3,
            (_, true, _) => 37,
            _ => 1,
        };
        counted(conformance::run_every(gpu, section, stride))
    };
    Ok(match name {
        "sizes" => section(Section::Sizes),
        "crops" => section(Section::Crops),
        "large" => section(Section::Large),
        "copies" => section(Section::Copies),
        "examples" => {
            device.add_kernels(examples::module())?;
            // Primes: every row layout has its turn.
            let stride = if options.sanitizer {
                37
            } else if options.quick {
                5
            } else {
                1
            };
            counted(framewright_tests::examples::run(gpu, stride))
        }
        "triples" => exact::triples(&gpu.stream)?,
        "frames" => exact::large(&gpu.stream, options.quick)?,
        "streams" => exact::streams(device, if options.quick { 2 } else { 32 })?,
        "api" => api::run(device, options.sanitizer),
        // The last: it ends the device for this process.
        "panic" => {
            let mut count = Count::default();
            count.add(1, api::panic(device, on_card).err());
            count
        }
        other => return Err(format!("no part {other}").into()),
    })
}

fn counted(outcome: Outcome) -> Count {
    let first = outcome.first_difference.map(|difference| format!("{difference:?}"));
    Count { cases: outcome.cases, differing: outcome.differing, first }
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
