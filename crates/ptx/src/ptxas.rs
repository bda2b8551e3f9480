//! `ptxas`, NVIDIA's assembler: every entry must assemble for every supported GPU without stack, spill or warning.

use crate::{
    failure::{Result, fail},
    process,
    text::{Function, Module},
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// The GPUs that the PTX must assemble for: Turing, Ampere, Hopper, Blackwell (data centre and desktop).
pub const ARCHITECTURES: &[&str] = &["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];

/// The one whose registers and shared memory the table shows.
const SHOWN: &str = "sm_90";

/// What `ptxas -v` says of one function.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) entry: bool,
    pub(crate) stack_bytes: u32,
    /// With all that the function calls.
    pub(crate) cumulative_stack_bytes: u32,
    pub(crate) spill_store_bytes: u32,
    pub(crate) spill_load_bytes: u32,
    pub(crate) registers: u32,
    pub(crate) shared_bytes: u32,
}

/// `ptxas -v`, read.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) functions: BTreeMap<String, Usage>,
    /// Lines that warn or report an error.
    pub(crate) complaints: Vec<String>,
}

impl Report {
    /// Reads the lines that `ptxas -v` writes.
    pub(crate) fn parse(text: &str) -> Self {
        let mut report = Report::default();
        let (mut properties, mut compiled) = (None::<String>, None::<String>);
        for line in text.lines() {
            let lower = line.to_lowercase();
            if lower.contains("warning") || lower.contains("error") || lower.contains("fatal") {
                report.complaints.push(line.trim().to_owned());
            } else if let Some((_, after)) = line.split_once("Compiling entry function '") {
                let name = after.split('\'').next().unwrap_or_default().to_owned();
                report.functions.entry(name.clone()).or_default().entry = true;
                compiled = Some(name);
            } else if let Some((_, name)) = line.split_once("Function properties for ") {
                properties = Some(name.trim().to_owned());
            } else if line.contains("bytes stack frame") {
                let Some(name) = properties.take() else { continue };
                let usage = report.functions.entry(name).or_default();
                usage.stack_bytes = number_before(line, " bytes stack frame");
                usage.spill_store_bytes = number_before(line, " bytes spill stores");
                usage.spill_load_bytes = number_before(line, " bytes spill loads");
            } else if line.contains("Used ") && line.contains(" registers") {
                let Some(name) = compiled.take() else { continue };
                let usage = report.functions.entry(name).or_default();
                usage.registers = number_before(line, " registers");
                usage.shared_bytes = number_before(line, " bytes smem");
                usage.cumulative_stack_bytes = number_before(line, " bytes cumulative stack size");
            }
        }
        report
    }

    /// All that is wrong, one line each. The panic path is held to it as well: a stack that only a panic needs would be
    /// reserved for every thread.
    fn findings(&self, architecture: &str, expected: &[&str]) -> Vec<String> {
        let mut found: Vec<String> = self
            .complaints
            .iter()
            .map(|line| format!("{architecture}: expected no complaint, found `{line}`"))
            .collect();
        for (name, usage) in &self.functions {
            let numbers = [
                (usage.stack_bytes, "stack frame"),
                (usage.cumulative_stack_bytes, "cumulative stack size"),
                (usage.spill_store_bytes, "spill stores"),
                (usage.spill_load_bytes, "spill loads"),
            ];
            for (bytes, what) in numbers.into_iter().filter(|(bytes, _)| *bytes != 0) {
                found.push(format!("{architecture}: {name}: expected 0 bytes {what}, found {bytes}"));
            }
        }
        for name in expected.iter().filter(|name| !self.functions.get(**name).is_some_and(|usage| usage.entry)) {
            found.push(format!("{architecture}: {name}: expected ptxas to compile this entry, found no word of it"));
        }
        found
    }

    /// The table's rows.
    fn rows(&self, module: &Module<'_>) -> Vec<Row> {
        let row = |entry: &Function<'_>| {
            let usage = self.functions.get(&entry.name).copied().unwrap_or_default();
            let (name, ptx_bytes) = (entry.name.clone(), entry.body.len());
            Row { name, registers: usage.registers, shared_bytes: usage.shared_bytes, ptx_bytes }
        };
        module.entries().map(row).collect()
    }
}

/// The number right before `unit`, 0 where the line has none.
fn number_before(line: &str, unit: &str) -> u32 {
    let before = line.find(unit).map_or("", |at| &line[..at]);
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}

/// The assembler: variable `PTXAS`, then PATH, then `CUDA_PATH/bin`, then `folder`.
pub fn find(folder: Option<&Path>) -> Option<PathBuf> {
    let named = |variable: &str| std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    let toolkit = named("CUDA_PATH").map(|path| path.join("bin/ptxas"));
    let candidates = named("PTXAS").into_iter().chain([PathBuf::from("ptxas")]).chain(toolkit);
    let mut candidates = candidates.chain(folder.map(|folder| folder.join("ptxas")));
    candidates.find(|path| process::succeeds(Command::new(path).arg("--version")))
}

/// What the table shows of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The entry.
    pub name: String,
    /// Registers a thread.
    pub registers: u32,
    /// Shared memory a block.
    pub shared_bytes: u32,
    /// Of its PTX, without comments.
    pub ptx_bytes: usize,
}

/// The number in `sm_90`.
///
/// # Errors
/// For another word.
pub(crate) fn number(architecture: &str) -> Result<u32> {
    match architecture.strip_prefix("sm_").and_then(|number| number.parse().ok()) {
        Some(number) => Ok(number),
        None => fail!("architecture: expected `sm_` and a number, found `{architecture}`"),
    }
}

/// Assembles the file to machine code.
///
/// # Errors
/// Where it does not assemble; no file stays then.
pub(crate) fn cubin(ptxas: &Path, file: &Path, architecture: &str, out: &Path) -> Result<()> {
    let mut command = Command::new(ptxas);
    command.arg(format!("-arch={architecture}")).arg("-o").arg(out).arg(file);
    process::stdout(&mut command).map(drop)
}

/// Assembles the file for one architecture: how `ptxas` ended, and what it said.
fn assemble(ptxas: &Path, file: &Path, architecture: &str) -> Result<(ExitStatus, String)> {
    let mut command = Command::new(ptxas);
    command.arg(format!("-arch={architecture}")).args(["-v", "-o", "/dev/null"]).arg(file);
    let output = process::output(&mut command)?;
    let text = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    Ok((output.status, text.into_owned()))
}

/// Assembles the file for every architecture.
///
/// # Errors
/// Where an entry does not assemble, warns, or has a stack or spills.
pub fn check(ptxas: &Path, file: &Path, module: &Module<'_>, architectures: &[&str]) -> Result<Vec<Row>> {
    let entries: Vec<&str> = module.entries().map(|entry| entry.name.as_str()).collect();
    let (mut found, mut rows) = (Vec::new(), Vec::new());
    let shown = if architectures.contains(&SHOWN) { SHOWN } else { architectures.last().copied().unwrap_or(SHOWN) };
    for architecture in architectures {
        let (status, text) = assemble(ptxas, file, architecture)?;
        let report = Report::parse(&text);
        if !status.success() && report.complaints.is_empty() {
            found.push(format!("{architecture}: expected status 0, found {status}: {}", text.trim()));
        }
        found.extend(report.findings(architecture, &entries));
        if *architecture == shown {
            rows = report.rows(module);
        }
    }
    if found.is_empty() {
        Ok(rows)
    } else {
        fail!("{} on {}:\n  {}", ptxas.display(), file.display(), found.join("\n  "))
    }
}

/// What `ptxas` takes for each entry, whatever that is.
///
/// # Errors
/// Where the file does not assemble.
pub fn usage(ptxas: &Path, file: &Path, module: &Module<'_>, architecture: &str) -> Result<Vec<Row>> {
    let (status, text) = assemble(ptxas, file, architecture)?;
    if !status.success() {
        return fail!("{} on {}: {}", ptxas.display(), file.display(), text.trim());
    }
    Ok(Report::parse(&text).rows(module))
}

/// Registers, shared memory and text of each entry.
pub fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max(5);
    let mut text = format!("{:width$}  registers  shared bytes  PTX bytes   ({SHOWN})\n", "entry");
    for Row { name, registers, shared_bytes, ptx_bytes } in rows {
        text += &format!("{name:width$}  {registers:9}  {shared_bytes:12}  {ptx_bytes:9}\n");
    }
    text += &format!("{} entries assemble for {}: no stack, no spills\n", rows.len(), ARCHITECTURES.join(", "));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "\
ptxas info    : 24 bytes gmem
ptxas info    : Compiling entry function 'copy' for 'sm_90'
ptxas info    : Function properties for copy
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 48 registers, used 1 barriers, 12288 bytes smem, 376 bytes cmem[0]
ptxas info    : Compile time = 3.291 ms
ptxas info    : Function properties for stop
    32 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
";

    #[test]
    fn the_report_is_read() {
        let report = Report::parse(SAMPLE);
        let copy = Usage { entry: true, registers: 48, shared_bytes: 12288, ..Usage::default() };
        assert_eq!(report.functions["copy"], copy);
        assert_eq!(report.functions["stop"], Usage { stack_bytes: 32, ..Usage::default() });
        let module = Module::parse(".visible .entry copy() { ret; }").expect("a module");
        let rows = report.rows(&module);
        assert_eq!(rows, [Row { name: "copy".into(), registers: 48, shared_bytes: 12288, ptx_bytes: 8 }]);
        assert!(table(&rows).contains("copy          48         12288          8\n"), "{}", table(&rows));
    }

    #[test]
    fn nothing_that_an_entry_calls_may_have_a_stack() {
        assert_eq!(
            Report::parse(SAMPLE).findings("sm_90", &["copy"]),
            ["sm_90: stop: expected 0 bytes stack frame, found 32"]
        );
        let cumulative = SAMPLE.replace("1 barriers, ", "1 barriers, 40 bytes cumulative stack size, ");
        assert_eq!(
            Report::parse(&cumulative.replace("    32", "    0")).findings("sm_90", &["copy"]),
            ["sm_90: copy: expected 0 bytes cumulative stack size, found 40"]
        );
        assert_eq!(Report::parse(&SAMPLE.replace("    32", "    0")).findings("sm_90", &["copy"]), [""; 0]);
    }

    #[test]
    fn spills_stacks_and_warnings_are_findings() {
        let bad = SAMPLE.replace(
            "    0 bytes stack frame, 0 bytes spill stores, 0",
            "    16 bytes stack frame, 8 bytes spill stores, 4",
        );
        let report = Report::parse(&(bad + "ptxas warning : Value of threads per SM is out of range\n"));
        assert_eq!(
            report.findings("sm_90", &["copy"]),
            [
                "sm_90: expected no complaint, found `ptxas warning : Value of threads per SM is out of range`",
                "sm_90: copy: expected 0 bytes stack frame, found 16",
                "sm_90: copy: expected 0 bytes spill stores, found 8",
                "sm_90: copy: expected 0 bytes spill loads, found 4",
                "sm_90: stop: expected 0 bytes stack frame, found 32",
            ]
        );
    }

    #[test]
    fn an_entry_that_ptxas_passes_over_is_a_finding() {
        let found = |entry: &str| Report::parse(SAMPLE).findings("sm_90", &[entry]);
        let none = |entry: &str| format!("sm_90: {entry}: expected ptxas to compile this entry, found no word of it");
        // The other finding is the stack of `stop`.
        assert_eq!((found("crop").len(), &found("crop")[1]), (2, &none("crop")));
        assert_eq!((found("stop").len(), &found("stop")[1]), (2, &none("stop")));
    }
}
