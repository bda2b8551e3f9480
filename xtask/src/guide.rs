//! `cargo xtask guide`: what the guide shows is taken out of its pages and run, from an empty folder, as a reader would.
//!
//! Every block of code says after its language what it is:
//!
//! ````text
//! ```rust,file=src/main.rs         a file, in the folder that the commands are in
//! ```rust,part=examples/src/x.rs   a part of a file of the repository, word for word
//! ```sh,run                        commands that succeed; `fails`: the last of them fails
//! ```sh,run,needs=compiler+ptxas   where the machine has these: see `Needs`
//! ```text,output                   lines that the commands before printed, in this order
//! ```text,shown=why                is not run; `norun=why` for code
//! ````

use crate::failure::{Failure, Result, fail, read_text, write_text};
use crate::step::{Outcome, Skip};
use crate::workspace::Workspace;
use crate::{process, tools};
use framewright_ptx::{INSTALL, Toolchain};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The book, from the workspace root.
const BOOK: &str = "docs/guide";

/// A block of code.
#[derive(Debug, PartialEq)]
struct Block {
    /// Of its first line, from 1.
    line: usize,
    role: Role,
    text: String,
}

#[derive(Debug, PartialEq)]
enum Role {
    File(String),
    Part(String),
    Run { fails: bool, needs: Vec<String> },
    Output,
    Shown,
}

/// What the machine has of what a block may need.
struct Needs {
    compiler: bool,
    gpu: bool,
    ptxas: Option<PathBuf>,
}

impl Needs {
    fn of(workspace: &Workspace) -> Result<Self> {
        Ok(Self { compiler: Toolchain::find()?.is_some(), gpu: crate::ci::has_gpu(), ptxas: tools::ptxas(workspace) })
    }

    fn has(&self, need: &str) -> Result<bool> {
        match need {
            "compiler" => Ok(self.compiler),
            "ptxas" => Ok(self.ptxas.is_some()),
            "gpu" => Ok(self.gpu),
            "nogpu" => Ok(!self.gpu),
            other => fail!("needs: expected compiler, ptxas, gpu or nogpu, found `{other}`"),
        }
    }
}

/// Runs the guide; where the machine lacks something that can be installed, what needs it is left out and the step skipped.
pub(crate) fn run(workspace: &Workspace) -> Outcome {
    match try_run(workspace) {
        Ok(missing) => match missing.first() {
            None => Outcome::Passed,
            Some((missing, install)) => Skip::lacks(missing, install),
        },
        Err(failure) => Outcome::Failed(failure),
    }
}

/// Runs the guide and tells what was missing.
fn try_run(workspace: &Workspace) -> Result<Vec<(&'static str, &'static str)>> {
    let needs = Needs::of(workspace)?;
    let mut run = Run::start(workspace, &needs)?;
    for chapter in chapters(&workspace.root.join(BOOK).join("src"))? {
        run.chapter(&chapter)?;
    }
    println!("{} commands and {} files; {} blocks were left out here", run.commands, run.files, run.left_out);
    let mut missing = Vec::new();
    match tools::mdbook(workspace) {
        Some(mdbook) => process::run(Command::new(mdbook).arg("build").arg(workspace.root.join(BOOK)))?,
        None => missing.push(("no mdbook", tools::INSTALL)),
    }
    if !needs.compiler {
        missing.push(("no Rust with the sources of `core`", INSTALL));
    }
    if needs.ptxas.is_none() {
        missing.push(("no ptxas", tools::INSTALL));
    }
    Ok(missing)
}

/// The chapters in the order of SUMMARY.md; every page must be in it.
fn chapters(folder: &Path) -> Result<Vec<PathBuf>> {
    let summary = read_text(&folder.join("SUMMARY.md"))?;
    let linked: Vec<PathBuf> = links(&summary).into_iter().map(|name| folder.join(name)).collect();
    let entries =
        std::fs::read_dir(folder).map_err(|error| Failure(format!("cannot read {}: {error}", folder.display())))?;
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // What a page includes is none itself.
        let included = linked
            .iter()
            .any(|page| read_text(page).is_ok_and(|text| text.contains(&format!("{{{{#include {name}}}}}"))));
        if name != "SUMMARY.md" && !linked.contains(&path) && !included {
            return fail!("{}: expected it in SUMMARY.md, found no link", path.display());
        }
    }
    Ok(linked)
}

/// The targets of the links in a page of links.
fn links(summary: &str) -> Vec<&str> {
    summary.lines().filter_map(|line| line.split_once("](")?.1.split_once(')')).map(|(target, _)| target).collect()
}

struct Run<'a> {
    workspace: &'a Workspace,
    needs: &'a Needs,
    /// Where the reader is.
    folder: PathBuf,
    /// What the last commands printed; none where they were left out.
    printed: Option<String>,
    commands: usize,
    files: usize,
    left_out: usize,
}

impl<'a> Run<'a> {
    /// In an empty folder beside a link to the repository.
    fn start(workspace: &'a Workspace, needs: &'a Needs) -> Result<Self> {
        let name = format!(
            "framewright-guide-{}",
            framewright_ptx::files::sha256(workspace.root.as_os_str().as_encoded_bytes())
        );
        let folder = std::env::temp_dir().join(&name[..34]);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)
                .map_err(|error| Failure(format!("cannot remove {}: {error}", folder.display())))?;
        }
        std::fs::create_dir_all(&folder)
            .map_err(|error| Failure(format!("cannot make {}: {error}", folder.display())))?;
        std::os::unix::fs::symlink(&workspace.root, folder.join("framewright"))
            .map_err(|error| Failure(format!("cannot link the repository: {error}")))?;
        Ok(Self { workspace, needs, folder, printed: None, commands: 0, files: 0, left_out: 0 })
    }

    fn chapter(&mut self, page: &Path) -> Result<()> {
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        println!("-- {name}");
        let at = |line: usize, Failure(text): Failure| Failure(format!("{BOOK}/src/{name}:{line}: {text}"));
        for block in blocks(&read_text(page)?).map_err(|(line, failure)| at(line, failure))? {
            self.block(&block).map_err(|failure| at(block.line, failure))?;
        }
        Ok(())
    }

    fn block(&mut self, block: &Block) -> Result<()> {
        match &block.role {
            Role::File(name) => {
                self.files += 1;
                write_text(&self.folder.join(name), &block.text)
            }
            Role::Part(name) => {
                let whole = read_text(&self.workspace.root.join(name))?;
                if whole.contains(&block.text) { Ok(()) } else { fail!("expected these lines in {name}, found others") }
            }
            Role::Run { fails, needs } => {
                for need in needs {
                    if !self.needs.has(need)? {
                        println!("left out, no {need}: {}", block.text.lines().next().unwrap_or_default());
                        (self.printed, self.left_out) = (None, self.left_out + 1);
                        return Ok(());
                    }
                }
                self.commands += block.text.lines().count();
                let (good, printed) = self.shell(&block.text)?;
                if good == *fails {
                    let expected = if *fails { "a failure" } else { "success" };
                    return fail!("expected {expected} of `{}`, found the other\n{printed}", block.text.trim());
                }
                self.printed = Some(printed);
                Ok(())
            }
            Role::Output => match &self.printed {
                Some(printed) => compare(&block.text, printed),
                None => Ok(()),
            },
            Role::Shown => Ok(()),
        }
    }

    /// Whether the commands succeed, and what they print. The folder in which they end is the next one's.
    fn shell(&mut self, commands: &str) -> Result<(bool, String)> {
        let mut bash = Command::new("bash");
        // Nothing of the cargo that runs this, and no toolkit: a reader has neither.
        const OURS: &[&str] =
            &["CARGO", "CARGO_TARGET_DIR", "CARGO_MANIFEST_DIR", "CUDA_LIBRARY_PATH", "CUDA_PATH", "OUT_DIR"];
        const FLAGS: &[&str] =
            &["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER", "FRAMEWRIGHT_CUDA_DRIVER"];
        for name in OURS.iter().chain(FLAGS) {
            bash.env_remove(name);
        }
        if let Some(ptxas) = &self.needs.ptxas {
            bash.env("PTXAS", ptxas);
        }
        // What the workspace needs has been fetched; the book needs no more.
        bash.env("CARGO_NET_OFFLINE", "true");
        let place = self.workspace.target.join("guide/place");
        write_text(&place, "")?;
        let text = format!("set -euo pipefail\nexec 2>&1\ntrap 'pwd > {}' EXIT\n{commands}", place.display());
        let output = process::output(bash.current_dir(&self.folder).arg("-c").arg(text))?;
        self.folder = PathBuf::from(read_text(&place)?.trim());
        Ok((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
    }
}

/// Each line must be part of a printed one, in this order; `…` stands for any.
fn compare(shown: &str, printed: &str) -> Result<()> {
    let mut rest = printed.lines();
    for line in shown.lines().filter(|line| *line != "…") {
        if !rest.any(|other| other.contains(line)) {
            return fail!("expected the line `{line}`, found\n{printed}");
        }
    }
    Ok(())
}

/// The blocks of a page.
fn blocks(page: &str) -> std::result::Result<Vec<Block>, (usize, Failure)> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(head) = line.strip_prefix("```") else { continue };
        let at = at + 1;
        let role = role(head).map_err(|failure| (at, failure))?;
        let mut text = String::new();
        loop {
            match lines.next() {
                Some((_, "```")) => break,
                Some((_, line)) => text += &format!("{line}\n"),
                None => return Err((at, Failure("expected the end of this block, found the page's".to_owned()))),
            }
        }
        found.push(Block { line: at, role, text });
    }
    Ok(found)
}

/// What stands after the three marks.
fn role(head: &str) -> Result<Role> {
    let mut parts = head.split(',').skip(1);
    let value = |part: Option<&str>, key: &str| part.and_then(|part| part.strip_prefix(key)).map(str::to_owned);
    let first = parts.next();
    for (key, make) in [("file=", Role::File as fn(String) -> Role), ("part=", Role::Part)] {
        if let Some(name) = value(first, key) {
            return Ok(make(name));
        }
    }
    match first {
        Some(word @ ("run" | "fails")) => {
            let needs = value(parts.next(), "needs=").unwrap_or_default();
            let needs = needs.split('+').filter(|need| !need.is_empty()).map(str::to_owned).collect();
            Ok(Role::Run { fails: word == "fails", needs })
        }
        Some("output") => Ok(Role::Output),
        Some(part) if part.starts_with("shown=") || part.starts_with("norun=") => Ok(Role::Shown),
        _ => {
            fail!("```{head}: expected what is done with the block (file=, part=, run, fails, output, shown=, norun=)")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_say_what_they_are() {
        let page = "a\n```rust,file=src/a.rs\nfn a() {}\n```\n```sh,fails,needs=compiler+gpu\ncargo run\n```\n```text,output\nx\n```\n";
        let found = blocks(page).expect("blocks");
        assert_eq!(found[0], Block { line: 2, role: Role::File("src/a.rs".into()), text: "fn a() {}\n".into() });
        let needs = vec!["compiler".to_owned(), "gpu".to_owned()];
        assert_eq!(found[1].role, Role::Run { fails: true, needs });
        assert_eq!((found.len(), &found[2].role), (3, &Role::Output));
        for wrong in ["```rust\n```\n", "```sh,runs\n```\n", "x\n```sh,run\nls\n"] {
            assert!(blocks(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn output_is_compared_in_order() {
        assert_eq!(compare("b\n…\nc\n", "a\nb1\nx\nc\n"), Ok(()));
        assert!(compare("c\nb\n", "a\nb\nc\n").is_err());
        assert!(compare("d\n", "a\n").is_err());
    }

    #[test]
    fn pages_are_found_in_the_summary() {
        assert_eq!(links("# Summary\n\n[A](a.md)\n- [B](b.md)\n"), ["a.md", "b.md"]);
    }
}
