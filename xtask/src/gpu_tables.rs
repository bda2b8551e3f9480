//! The tables of docs/gpu-runs/README.md, in Markdown, from the records alone.

use crate::gpu_record::{Bench, Content, Facts, Part, Record, Row, Tool};
use std::cmp::Reverse;
use std::collections::BTreeMap;

const HEAD: &str = "\
# Runs on GPUs

`cargo xtask gpu-report` makes this page from the JSON files beside it, which programs wrote on the card;
`cargo xtask gpu-report --check`, a step of `cargo xtask ci`, compares.
";

/// The page: the newest run first, a run being a date and a commit.
pub(crate) fn page(records: &[Record]) -> String {
    let mut runs: BTreeMap<(Reverse<&str>, &str), Vec<&Record>> = BTreeMap::new();
    for record in records {
        let Facts { date, commit, .. } = &record.facts;
        runs.entry((Reverse(date), commit)).or_default().push(record);
    }
    let mut text = HEAD.to_owned();
    if runs.is_empty() {
        text += "\nNo run yet.\n";
    }
    for ((Reverse(date), commit), mut records) in runs {
        text += &format!("\n## {date}, commit {commit}\n");
        records.sort_by_key(|record| (rank(&record.content), &record.file));
        for record in records {
            text += &section(record);
        }
    }
    text
}

/// The order of a run's files.
fn rank(content: &Content) -> u8 {
    match content {
        Content::Suite(_) => 0,
        Content::Sanitizer(_) => 1,
        Content::Bench(_) => 2,
    }
}

fn section(record: &Record) -> String {
    let (title, table) = match &record.content {
        Content::Suite(parts) => ("The suite: CPU = GPU = exact reference", suite(parts)),
        Content::Sanitizer(tools) => ("compute-sanitizer", sanitizer(tools)),
        Content::Bench(timings) => ("Timings: microseconds a frame, GB/s", bench(timings)),
    };
    let Facts { card, compute_capability, driver, program_sha256, .. } = &record.facts;
    let capability = compute_capability.as_ref().map(|c| format!(" (compute capability {c})")).unwrap_or_default();
    let file = &record.file;
    format!(
        "\n### {title}\n\n{}{}, {}; program sha256 `{}`; [{file}]({file})\n\n{table}",
        plain(card),
        plain(&capability),
        plain(driver),
        plain(program_sha256)
    )
}

fn suite(parts: &[Part]) -> String {
    let mut table = Table::new(["part", "cases", "differing", "seconds"], 1);
    for part in parts {
        table.row([part.name.clone(), digits(part.cases), digits(part.differing), seconds(part.seconds)]);
    }
    let (cases, differing) = (parts.iter().map(|p| p.cases).sum(), parts.iter().map(|p| p.differing).sum());
    table.row(["all".to_owned(), digits(cases), digits(differing), seconds(parts.iter().map(|p| p.seconds).sum())]);
    let mut text = table.0;
    for part in parts {
        if let Some(first) = &part.first_difference {
            text += &format!("\nFirst difference of {}: {}\n", plain(&part.name), plain(first));
        }
    }
    text
}

fn sanitizer(tools: &[Tool]) -> String {
    let mut table = Table::new(["tool", "cases", "errors", "seconds"], 1);
    for tool in tools {
        table.row([tool.tool.clone(), digits(tool.cases), digits(tool.errors), seconds(tool.seconds)]);
    }
    table.0
}

/// The guide's kernel in its versions, from the newest run that timed them.
pub(crate) fn versions(records: &[Record]) -> String {
    const CASE: &str = "example grey";
    let newest = records.iter().filter_map(|record| match &record.content {
        Content::Bench(bench) if bench.rows.iter().any(|row| row.case.starts_with(CASE)) => Some((record, bench)),
        _ => None,
    });
    let Some((Record { facts, .. }, timed)) = newest.max_by_key(|(record, _)| &record.facts.date) else {
        return "**Not measured yet:** no card has run the three. The benchmark times them in turns (`example grey…`), and this \
                table is made of what it writes.\n"
            .to_owned();
    };
    let large = timed.rows.iter().filter(|row| row.case.starts_with("large copy") || row.case.starts_with(CASE));
    let rows = large.map(|row| Row { case: row.case.clone(), source: row.source.clone(), ..*row }).collect();
    let table = bench(&Bench { rows, ratios: Vec::new() });
    format!("On {} (driver {}, {}, commit {}):\n\n{table}", facts.card, facts.driver, facts.date, facts.commit)
}

/// A row a case, in the file's order; a pair of columns a size, the smallest first. Then the ratios, a line each.
fn bench(Bench { rows, ratios }: &Bench) -> String {
    let mut sizes: Vec<(u32, u32)> = rows.iter().map(|row| (row.width, row.height)).collect();
    sizes.sort_by_key(|&(width, height)| (u64::from(width) * u64::from(height), width));
    sizes.dedup();
    let mut cases: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        if !cases.contains(&(&row.case, &row.source)) {
            cases.push((&row.case, &row.source));
        }
    }
    let columns = sizes.iter().flat_map(|(width, height)| [format!("{width}x{height}, us"), "GB/s".to_owned()]);
    let mut table = Table::new(["case".to_owned(), "timed by".to_owned()].into_iter().chain(columns), 2);
    for (case, source) in cases {
        let timed = sizes.iter().flat_map(|&(width, height)| {
            let is_it = |row: &&Row| (&*row.case, &*row.source, row.width, row.height) == (case, source, width, height);
            match rows.iter().find(is_it) {
                Some(row) => [format!("{:.2}", row.us_per_frame), format!("{:.0}", row.gb_per_s)],
                None => [String::new(), String::new()],
            }
        });
        table.row([case.to_owned(), source.to_owned()].into_iter().chain(timed));
    }
    if ratios.is_empty() {
        return table.0;
    }
    let mut times = Table::new(["ratio of times", "size", "ratio"], 2);
    for ratio in ratios {
        times.row([ratio.case.clone(), format!("{}x{}", ratio.width, ratio.height), format!("{:.3}", ratio.ratio)]);
    }
    format!("{}\n{}", table.0, times.0)
}

/// A table, a line a row.
struct Table(String);

impl Table {
    /// The columns after the first `words` hold numbers, to the right.
    fn new<T: Into<String>>(columns: impl IntoIterator<Item = T>, words: usize) -> Self {
        let columns: Vec<String> = columns.into_iter().map(Into::into).collect();
        let rule = (0..columns.len()).map(|i| if i < words { "---|" } else { "---:|" });
        let rule = format!("|{}\n", rule.collect::<String>());
        let mut table = Self(String::new());
        table.row(columns);
        table.0 += &rule;
        table
    }

    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0 += "|";
        for cell in cells {
            self.0 += &format!(" {} |", plain(&cell));
        }
        self.0 += "\n";
    }
}

/// The text in one line, with what Markdown would take for its own escaped.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '|' | '<' | '`' | '*' | '\\' | '[' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// 383,666,400
fn digits(number: u64) -> String {
    let plain = number.to_string();
    let mut out = String::new();
    for (i, digit) in plain.chars().enumerate() {
        if i > 0 && (plain.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu_record::tests::{on, record};

    const SUITE: &str = r#""compute_capability":"9.0","parts":[
        {"name":"sizes","cases":72250,"differing":0,"first_difference":null,"seconds":2.11},
        {"name":"tri|ples","cases":100663296,"differing":1,"first_difference":"a\nb","seconds":1.64}]"#;
    const TOOLS: &str = r#""tools":[{"tool":"memcheck","cases":2104,"errors":0,"seconds":61.04}]"#;
    const ROWS: &str = r#""rows":[
        {"case":"b","width":7680,"height":4320,"us_per_frame":40.256,"gb_per_s":3708.9,"source":"framewright"},
        {"case":"b","width":1920,"height":1080,"us_per_frame":3.5,"gb_per_s":2666.1,"source":"framewright"},
        {"case":"a","width":7680,"height":4320,"us_per_frame":99.0,"gb_per_s":1508.2,"source":"peers.py"}]"#;

    #[test]
    fn a_run_is_a_heading_with_a_table_a_file() {
        let text = page(&[record("bench", ROWS), record("sanitizer", TOOLS), record("suite", SUITE)]);
        let expected = "
## 2026-11-30, commit 3a06dc4b1045

### The suite: CPU = GPU = exact reference

NVIDIA H200 (compute capability 9.0), NVIDIA 580 for CUDA 13.0; program sha256 `5f8b`; \
[2026-11-30-suite-3a06dc4.json](2026-11-30-suite-3a06dc4.json)

| part | cases | differing | seconds |
|---|---:|---:|---:|
| sizes | 72,250 | 0 | 2.1 |
| tri\\|ples | 100,663,296 | 1 | 1.6 |
| all | 100,735,546 | 1 | 3.8 |

First difference of tri\\|ples: a b

### compute-sanitizer

NVIDIA H200, NVIDIA 580 for CUDA 13.0; program sha256 `5f8b`; \
[2026-11-30-sanitizer-3a06dc4.json](2026-11-30-sanitizer-3a06dc4.json)

| tool | cases | errors | seconds |
|---|---:|---:|---:|
| memcheck | 2,104 | 0 | 61.0 |

### Timings: microseconds a frame, GB/s

NVIDIA H200, NVIDIA 580 for CUDA 13.0; program sha256 `5f8b`; \
[2026-11-30-bench-3a06dc4.json](2026-11-30-bench-3a06dc4.json)

| case | timed by | 1920x1080, us | GB/s | 7680x4320, us | GB/s |
|---|---|---:|---:|---:|---:|
| b | framewright | 3.50 | 2666 | 40.26 | 3709 |
| a | peers.py |  |  | 99.00 | 1508 |
";
        assert_eq!(text, format!("{HEAD}{expected}"));
    }

    #[test]
    fn ratios_stand_below_the_timings() {
        let ratios = r#","ratios":[{"case":"a : b","width":1920,"height":1080,"ratio":0.98765}]"#;
        let text = page(&[record("bench", &format!("{ROWS}{ratios}"))]);
        let expected = "1508 |\n\n| ratio of times | size | ratio |\n|---|---|---:|\n| a : b | 1920x1080 | 0.988 |\n";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn the_newest_run_is_first() {
        let text = page(&[on("2026-11-30", "bench", ROWS), on("2027-01-02", "suite", SUITE)]);
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(headings, ["## 2027-01-02, commit 3a06dc4b1045", "## 2026-11-30, commit 3a06dc4b1045"]);
        assert!(page(&[]).ends_with("\nNo run yet.\n"));
    }

    #[test]
    fn numbers_have_commas() {
        assert_eq!([0, 999, 1000, 1_234_567].map(digits), ["0", "999", "1,000", "1,234,567"]);
    }
}
