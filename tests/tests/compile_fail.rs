//! What must not compile, and why: each case of `tests/compile` fails with the error that it states, at the token that it
//! states, and with no other; its twin, which differs in one token, compiles.
//!
//! ```text
//! // CHECK: check                     fails in `cargo check`; `build`: only once code is generated
//! // ERROR: E0277 cb                  the code, and the source text that the error marks; a line an error
//! // SAYS: halves                     words of each message, where they are framewright's own
//! ```
//!
//! The text of the compiler's diagnostics changes from release to release, so that only codes and marks are compared. All
//! cases are examples of one package, so that dependencies are compiled once.

use serde_json::Value;
use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// A case by its file's comments.
#[derive(Debug)]
struct Case {
    name: String,
    source: String,
    /// Whether it fails only when code is generated.
    late: bool,
    /// Code and marked text of each error, no text where the compiler marks none of the case's; none for a twin.
    errors: Vec<(String, String)>,
    says: Vec<String>,
}

/// What the compiler said of a case.
#[derive(Debug, Default)]
struct Said {
    errors: Vec<Complaint>,
    warnings: Vec<String>,
}

/// An error with its notes.
#[derive(Debug, Default)]
struct Complaint {
    code: String,
    /// All of it, as a person reads it.
    rendered: String,
    /// Source text of the case that the error and its notes mark.
    marks: Vec<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("compile")
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = fs::read_dir(folder())
        .expect("tests/compile")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .map(|path| {
            let source = fs::read_to_string(&path).expect("a case");
            let lines = |key: &str| -> Vec<String> {
                let key = format!("// {key}: ");
                source.lines().filter_map(|line| line.strip_prefix(&key)).map(str::to_owned).collect()
            };
            let name = path.file_stem().expect("a name").to_str().expect("plain text").to_owned();
            let late = match &lines("CHECK")[..] {
                [check] if check == "check" => false,
                [build] if build == "build" => true,
                other => panic!("{name}: CHECK is {other:?}, expected check or build"),
            };
            let error = |line: String| match line.split_once(' ') {
                Some((code, mark)) => (code.to_owned(), mark.to_owned()),
                None => (line, String::new()),
            };
            let errors: Vec<_> = lines("ERROR").into_iter().map(error).collect();
            assert_eq!(errors.is_empty(), name.ends_with("_ok"), "{name}: a case states an error, a twin none");
            let says = lines("SAYS");
            Case { name, source, late, errors, says }
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

/// Writes the package of all cases, with the workspace's versions of everything.
fn package(cases: &[Case]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned();
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile-fail");
    fs::create_dir_all(package.join("src")).expect("a folder");
    let mut manifest = format!(
        "[package]\nname = \"compile-fail\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[workspace]\n\n\
         [dependencies]\nframewright = {{ path = {:?}, default-features = false, features = [\"cuda\"] }}\n\
         framewright-kernel = {{ path = {:?} }}\n",
        root.join("crates/framewright"),
        root.join("crates/kernel")
    );
    for case in cases {
        let path = folder().join(format!("{}.rs", case.name));
        write!(manifest, "\n[[example]]\nname = {:?}\npath = {path:?}\ncrate-type = [\"lib\"]\n", case.name)
            .expect("a string takes all");
    }
    // Only what changed, so that cargo compiles nothing twice.
    let write = |name: &str, text: &str| {
        let path = package.join(name);
        let changed = fs::read_to_string(&path).ok().as_deref() != Some(text);
        if changed {
            fs::write(path, text).expect("a file");
        }
        changed
    };
    write("Cargo.toml", &manifest);
    write("src/lib.rs", "");
    // Cargo takes from the lock file what this package needs and forgets the rest, so the whole is kept beside it.
    let lock = fs::read_to_string(root.join("Cargo.lock")).expect("the workspace's lock file");
    if write("workspace.lock", &lock) {
        fs::write(package.join("Cargo.lock"), lock).expect("a file");
    }
    package
}

/// Runs cargo and collects what it says of each example.
fn cargo(package: &Path, command: &str, examples: &[&str]) -> BTreeMap<String, Said> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(package).args([command, "--offline", "--keep-going", "--quiet", "--message-format=json"]);
    // The flags of the run that this test is part of are not the cases' business.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTC_WORKSPACE_WRAPPER"] {
        cargo.env_remove(name);
    }
    cargo.env("CARGO_TARGET_DIR", package.join("target"));
    cargo.args(examples.iter().flat_map(|name| ["--example", name]));
    let output = cargo.output().expect("cargo runs");
    let mut said: BTreeMap<String, Said> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let line: Value = serde_json::from_str(line).expect("a JSON message");
        let kind = line["target"]["kind"][0].as_str();
        let name = line["target"]["name"].as_str().unwrap_or_default().to_owned();
        match line["reason"].as_str() {
            // An example that compiled has a message too, so that one that never ran is noticed.
            Some("compiler-artifact") if kind == Some("example") => drop(said.entry(name).or_default()),
            Some("compiler-message") => {
                assert_eq!(kind, Some("example"), "only cases fail: {}", line["message"]["rendered"]);
                said.entry(name).or_default().add(&line["message"]);
            }
            _ => {}
        }
    }
    let missing: Vec<_> = examples.iter().filter(|name| !said.contains_key(**name)).collect();
    assert!(missing.is_empty(), "{missing:?} did not run: {}", String::from_utf8_lossy(&output.stderr));
    said
}

impl Said {
    fn add(&mut self, message: &Value) {
        let rendered = message["rendered"].as_str().unwrap_or_default().to_owned();
        match message["level"].as_str() {
            Some("error") if message["spans"].as_array().is_some_and(|spans| !spans.is_empty()) => {
                let code = message["code"]["code"].as_str().unwrap_or("none").to_owned();
                self.errors.push(Complaint { code, rendered, marks: Vec::new() });
                self.mark(message);
            }
            // "aborting due to …"
            Some("error" | "failure-note") => {}
            // Where a constant is used: notes of their own after the error.
            Some("note") => self.mark(message),
            _ => self.warnings.push(rendered),
        }
    }

    /// Collects the source text that a message marks in the case, and its notes, and for macros the call.
    fn mark(&mut self, message: &Value) {
        let Some(complaint) = self.errors.last_mut() else { return };
        let notes = message["children"].as_array().into_iter().flatten().filter(|child| child["level"] == "note");
        for part in std::iter::once(message).chain(notes) {
            let spans = part["spans"].as_array().into_iter().flatten();
            spans.filter(|span| span["is_primary"] == true).for_each(|span| complaint.mark(span));
        }
    }
}

impl Complaint {
    fn mark(&mut self, span: &Value) {
        if span["file_name"].as_str().is_some_and(|file| Path::new(file).starts_with(folder())) {
            let lines = span["text"].as_array().into_iter().flatten().map(|line| {
                let at = |key: &str| line[key].as_u64().expect("a column") as usize - 1;
                let text = line["text"].as_str().unwrap_or_default().chars();
                text.take(at("highlight_end")).skip(at("highlight_start")).collect::<String>()
            });
            self.marks.push(lines.collect::<Vec<_>>().join("\n"));
        }
        if span["expansion"].is_object() {
            self.mark(&span["expansion"]["span"]);
        }
    }

    fn is(&self, (code, mark): &(String, String)) -> bool {
        self.code == *code && if mark.is_empty() { self.marks.is_empty() } else { self.marks.contains(mark) }
    }
}

/// All cases by `cargo check`, and the late ones with their twins by `cargo build`.
fn results() -> &'static (Vec<Case>, BTreeMap<String, Said>, BTreeMap<String, Said>) {
    static RESULTS: OnceLock<(Vec<Case>, BTreeMap<String, Said>, BTreeMap<String, Said>)> = OnceLock::new();
    RESULTS.get_or_init(|| {
        let cases = cases();
        let package = package(&cases);
        let all: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        let late: Vec<&str> = cases.iter().filter(|case| case.late).map(|case| case.name.as_str()).collect();
        let checked = cargo(&package, "check", &all);
        let built = cargo(&package, "build", &late);
        (cases, checked, built)
    })
}

#[test]
fn each_case_fails_with_its_error_alone() {
    let (cases, checked, built) = results();
    let mut failing = 0;
    let mut wrong = String::new();
    for case in cases.iter().filter(|case| !case.errors.is_empty()) {
        failing += 1;
        let said = if case.late { &built[&case.name] } else { &checked[&case.name] };
        let each = said.errors.iter().zip(&case.errors);
        if said.errors.len() != case.errors.len() || each.into_iter().any(|(found, expected)| !found.is(expected)) {
            let _ = writeln!(wrong, "{}: {:#?}, expected {:?} alone", case.name, said.errors, case.errors);
        }
        for words in &case.says {
            if !said.errors.iter().all(|error| error.rendered.contains(words)) {
                let _ = writeln!(wrong, "{}: says {:#?}, expected {words:?}", case.name, said.errors);
            }
        }
        if case.late && !checked[&case.name].errors.is_empty() {
            let _ = writeln!(wrong, "{}: fails in `cargo check` already", case.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(failing >= 25, "only {failing} cases were found");
}

#[test]
fn each_twin_compiles_and_differs_in_one_token() {
    let (cases, checked, built) = results();
    let mut wrong = String::new();
    for case in cases.iter().filter(|case| !case.errors.is_empty()) {
        let Some(twin) = cases.iter().find(|twin| twin.name == format!("{}_ok", case.name)) else {
            let _ = writeln!(wrong, "{}: no twin", case.name);
            continue;
        };
        assert_eq!(twin.late, case.late, "{}: both by check or both by build", case.name);
        let said = [Some(&checked[&twin.name]), built.get(&twin.name)];
        for said in said.into_iter().flatten() {
            if !said.errors.is_empty() || !said.warnings.is_empty() {
                let _ = writeln!(wrong, "{}: {said:#?}", twin.name);
            }
        }
        let (a, b) = (tokens(&case.source), tokens(&twin.source));
        let differing = a.iter().zip(&b).filter(|(a, b)| a != b).count();
        if a.len() != b.len() || differing != 1 {
            let _ = writeln!(wrong, "{}: {differing} tokens differ from its twin's", case.name);
        }
    }
    assert_eq!(cases.iter().filter(|case| case.errors.is_empty()).count() * 2, cases.len(), "a twin a case");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Words, numbers and signs of a file without its comments.
fn tokens(source: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut joins = false;
    for line in source.lines().filter(|line| !line.starts_with("//")) {
        for c in line.chars() {
            let word = c.is_alphanumeric() || c == '_';
            match tokens.last_mut() {
                Some(last) if word && joins => last.push(c),
                _ if c.is_whitespace() => {}
                _ => tokens.push(c.to_string()),
            }
            joins = word;
        }
        joins = false;
    }
    tokens
}

#[test]
fn tokens_are_words_and_signs() {
    assert_eq!(tokens("// no\nfn a_1(x: u8) {}\n"), ["fn", "a_1", "(", "x", ":", "u8", ")", "{", "}"]);
}
