//! `cargo xtask ptx`: gpu-kernels/ as PTX, checked in inside the crate that embeds it.
//!
//! Without options it compiles, checks and writes the file. `--check` writes nothing and compares: the source hash must
//! match always; the same rustc must give the same bytes; another rustc must give the same entries and parameter hashes.

use crate::failure::{Failure, Result, fail, read_text, write_text};
use crate::ptx_build::{self, CPU, FILE, PACKAGE, PROFILE, TARGET};
use crate::ptx_checks::{self, VECTOR_RULES};
use crate::ptx_head::{Head, sha256};
use crate::ptx_source::Sources;
use crate::ptx_text::{Module, without_comments};
use crate::toolchain::{Toolchain, Version};
use crate::workspace::Workspace;
use crate::{ptxas, tools};
use std::path::{Path, PathBuf};

/// The PTX of a workspace: where it is checked in, and what it must be made of.
pub(crate) struct Ptx<'a> {
    workspace: &'a Workspace,
    file: PathBuf,
    sources: Sources,
}

impl<'a> Ptx<'a> {
    /// `folder` is where the file lies, by default inside the crate that embeds it.
    pub(crate) fn of(workspace: &'a Workspace, folder: Option<&Path>) -> Result<Self> {
        let folder = folder.map_or_else(|| ptx_build::embedding_folder(workspace), Path::to_path_buf);
        let sources = Sources::read(workspace, PACKAGE, TARGET, &format!("{CPU} {}", ptx_build::flags()))?;
        Ok(Self { workspace, file: folder.join(FILE), sources })
    }

    /// Whether there is anything to compile or to check.
    pub(crate) fn applies(&self) -> bool {
        self.file.exists() || self.sources.mentions_entries()
    }

    /// Compiles, checks and writes the file. PTX that fails a check is left in the target folder to be looked at.
    pub(crate) fn write(&self) -> Result<()> {
        let toolchain = Toolchain::find()?.ok_or_else(ptx_build::no_toolchain)?;
        println!("{}: {} ({})", toolchain.origin, toolchain.version.rustc, toolchain.rustc.display());
        let body = ptx_build::compile(self.workspace, &toolchain)?;
        let checked = self.check_text(&body).and_then(|()| match ptxas::find(&self.workspace.target) {
            Some(ptxas) => self.assemble(&ptxas, &body),
            None => {
                println!("ptxas: skipped, found none; install it: {}", tools::INSTALL);
                Ok(())
            }
        });
        if let Err(failure) = checked {
            let rejected = self.workspace.target.join("ptx/rejected.ptx");
            write_text(&rejected, &body)?;
            return fail!("{failure}\nthe PTX is in {}; {} is as it was", rejected.display(), self.file.display());
        }
        let head = Head {
            version: toolchain.version,
            target: TARGET.to_owned(),
            cpu: CPU.to_owned(),
            flags: ptx_build::flags(),
            profile: PROFILE.to_owned(),
            source_sha256: self.sources.sha256(),
            body_sha256: sha256(body.as_bytes()),
        };
        write_text(&self.file, &head.with_body(&body))?;
        println!("wrote {} ({} bytes)", self.file.display(), body.len());
        Ok(())
    }

    /// The checks that need no tool: head, hashes, text.
    pub(crate) fn check_file(&self) -> Result<()> {
        let text = self.checked_in()?;
        let (head, body) = Head::split(&text)?;
        let expected = self.sources.sha256();
        if head.source_sha256 != expected {
            return fail!(
                "{}: expected source-sha256 {expected}, found {}: the sources have changed since; run `cargo xtask ptx`",
                self.file.display(),
                head.source_sha256
            );
        }
        let found = sha256(body.as_bytes());
        if head.body_sha256 != found {
            let (file, expected) = (self.file.display(), head.body_sha256);
            return fail!(
                "{file}: expected body-sha256 {expected}, found {found}: edited by hand; run `cargo xtask ptx`"
            );
        }
        self.check_text(body)?;
        println!("{}: made of these sources by {}", self.file.display(), head.version.rustc);
        Ok(())
    }

    /// Compiles again and compares with the file.
    pub(crate) fn check_rebuilt(&self, toolchain: &Toolchain) -> Result<()> {
        let rebuilt = ptx_build::compile(self.workspace, toolchain)?;
        let text = self.checked_in()?;
        let (head, body) = Head::split(&text)?;
        let said = compare(&head, body, &toolchain.version, &rebuilt).map_err(|failure| {
            let other = self.workspace.target.join("ptx/rebuilt.ptx");
            let kept = write_text(&other, &rebuilt).map_or_else(|error| error.0, |()| other.display().to_string());
            Failure(format!("{}: {failure}; the rebuilt PTX is in {kept}", self.file.display()))
        })?;
        self.check_text(&rebuilt)?;
        if rebuilt != body
            && let Some(ptxas) = ptxas::find(&self.workspace.target)
        {
            self.assemble(&ptxas, &rebuilt)?;
        }
        println!("{said}");
        Ok(())
    }

    /// Assembles the checked-in file for every GPU.
    pub(crate) fn check_assembled(&self, ptxas: &Path) -> Result<()> {
        let text = self.checked_in()?;
        self.assemble(ptxas, Head::split(&text)?.1)
    }

    fn checked_in(&self) -> Result<String> {
        read_text(&self.file).map_err(|failure| Failure(format!("{failure}; run `cargo xtask ptx`")))
    }

    fn check_text(&self, body: &str) -> Result<()> {
        let text = without_comments(body);
        let module = Module::parse(&text)?;
        let findings = ptx_checks::findings(&module, VECTOR_RULES, &ptx_build::machine_folders(self.workspace), body);
        if findings.is_empty() { Ok(()) } else { fail!("PTX of {PACKAGE}:\n  {}", findings.join("\n  ")) }
    }

    fn assemble(&self, ptxas: &Path, body: &str) -> Result<()> {
        let text = without_comments(body);
        let file = self.workspace.target.join("ptx/assembled.ptx");
        write_text(&file, body)?;
        ptxas::check(ptxas, &file, &Module::parse(&text)?)
    }
}

/// Compares checked-in PTX with what `version` made of the same sources, and says in a line what that shows.
fn compare(head: &Head, body: &str, version: &Version, rebuilt: &str) -> Result<String> {
    if head.version == *version {
        if body == rebuilt {
            return Ok(format!("{}, the same compiler: the same {} bytes", version.rustc, body.len()));
        }
        let at = body.lines().zip(rebuilt.lines()).take_while(|(old, new)| old == new).count();
        let line = |text: &str| text.lines().nth(at).unwrap_or("the end").trim().to_owned();
        return fail!(
            "rebuilt by the same compiler: expected the same bytes, found that line {} of the body differs: expected `{}`, found `{}`",
            at + 1,
            line(body),
            line(rebuilt)
        );
    }
    let (old, new) = (without_comments(body), without_comments(rebuilt));
    let (old, new) = (Module::parse(&old)?, Module::parse(&new)?);
    let names = |module: &Module<'_>| {
        let mut names: Vec<String> = module.entries().map(|entry| entry.name.clone()).collect();
        names.sort();
        names
    };
    if names(&old) != names(&new) {
        return fail!("rebuilt by {}: expected the entries {:?}, found {:?}", version.rustc, names(&old), names(&new));
    }
    for (name, hash) in &old.hashes {
        if new.hashes.get(name) != Some(hash) {
            let found = new.hashes.get(name);
            return fail!("rebuilt by {}: {name}: expected the parameter hash {hash}, found {found:?}", version.rustc);
        }
    }
    Ok(format!(
        "{} is not the file's compiler ({}): the bytes are not compared; the same {} entries with the same parameter hashes",
        version.rustc,
        head.version.rustc,
        names(&old).len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx_head::tests::head;

    const BODY: &str = ".version 7.4\n.target sm_75\n.global .u64 a_PARAMS_HASH = 7;\n.visible .entry a() { ret; }\n";

    fn other() -> Version {
        Version { rustc: "rustc 1.97.0 (y)".into(), commit: "def".into(), llvm: "22.1.9".into() }
    }

    #[test]
    fn the_same_compiler_must_give_the_same_bytes() {
        let head = head(BODY);
        assert!(compare(&head, BODY, &head.version, BODY).expect("a match").contains("the same compiler"));
        let changed = BODY.replace("ret;", "exit;");
        let failure = compare(&head, BODY, &head.version, &changed).expect_err("a failure");
        assert!(failure.0.contains("line 4") && failure.0.contains("exit;"), "{failure}");
        assert!(compare(&head, BODY, &head.version, &format!("{BODY}\n// more")).is_err());
        assert!(compare(&head, BODY, &head.version, &BODY.replace("ret;", "rat;")).is_err());
    }

    #[test]
    fn another_compiler_must_give_the_same_entries_and_hashes() {
        let head = head(BODY);
        let said = compare(&head, BODY, &other(), &BODY.replace("ret;", "exit;")).expect("a match");
        assert!(said.contains("not compared"), "{said}");
        assert!(compare(&head, BODY, &other(), &BODY.replace("= 7", "= 8")).is_err());
        assert!(compare(&head, BODY, &other(), &BODY.replace(".entry a", ".entry b")).is_err());
    }
}
