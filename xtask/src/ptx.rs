//! `cargo xtask ptx`: kernels as PTX, a file for each family, checked in inside the crates that embed them.
//!
//! Without options it compiles, checks and writes the files. `--check` writes nothing and compares: the source hash must
//! match always; the same rustc must give the same bytes; another rustc must give the same entries and parameter hashes.

use crate::failure::{Failure, Result, fail, read_text, write_text};
use crate::ptx_bounds;
use crate::ptx_build::{self, CPU, EXTENSION, PACKAGES, PROFILE, Package, TARGET};
use crate::ptx_checks::{self, VECTOR_RULES};
use crate::ptx_head::Head;
use crate::ptx_source::Sources;
use crate::ptx_text::{Module, without_comments};
use crate::ptxas::{self, Row};
use crate::tools;
use crate::workspace::Workspace;
use framewright_ptx::files::sha256;
use framewright_ptx::{Limits, Toolchain, Version, limits};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The PTX of a workspace: where it is checked in, and what it must be made of.
pub(crate) struct Ptx<'a> {
    workspace: &'a Workspace,
    /// The sources of each package, in the order of [`PACKAGES`].
    sources: Vec<Sources>,
    families: Vec<Family>,
}

/// A family of entries: a module, a file.
struct Family {
    name: String,
    /// Its place in [`PACKAGES`].
    package: usize,
    bounds: Limits,
    file: PathBuf,
}

impl<'a> Ptx<'a> {
    /// `folder` is where all files lie, by default inside the crates that embed them.
    pub(crate) fn of(workspace: &'a Workspace, folder: Option<&Path>) -> Result<Self> {
        let (mut sources, mut families) = (Vec::new(), Vec::<Family>::new());
        for (index, package) in PACKAGES.iter().enumerate() {
            let Package { name, folder: own, .. } = package;
            let folder = folder.map_or_else(|| workspace.root.join(own), Path::to_path_buf);
            sources.push(Sources::read(workspace, name, TARGET, &format!("{CPU} {}", ptx_build::flags()?))?);
            let names = ptx_build::families(workspace, package)?;
            if names.is_empty() {
                return fail!("{name}: expected features, a family of entries each, found none");
            }
            for name in names {
                if families.iter().any(|family| family.name == name) {
                    return fail!("family `{name}`: expected it in one package, found it in two");
                }
                let bounds = ptx_bounds::of(&name)?;
                let file = folder.join(&name).with_extension(EXTENSION);
                families.push(Family { name, package: index, bounds, file });
            }
        }
        let known = |name: &str| families.iter().any(|family| family.name == name);
        if let Some(rule) = VECTOR_RULES.iter().find(|rule| !known(rule.family)) {
            return fail!("VECTOR_RULES: expected a family `{}`, found none", rule.family);
        }
        Ok(Self { workspace, sources, families })
    }

    /// Compiles, checks and writes the files. PTX that fails a check is left in the target folder to be looked at.
    pub(crate) fn write(&self) -> Result<()> {
        let toolchain = Toolchain::find()?.ok_or_else(ptx_build::no_toolchain)?;
        println!("{}: {} ({})", toolchain.origin, toolchain.version.rustc, toolchain.rustc.display());
        let ptxas = tools::ptxas(self.workspace);
        let made = self.each(|family| {
            let body = self.compile(&toolchain, family)?;
            let checked = self.check_text(family, &body).and_then(|()| match &ptxas {
                Some(ptxas) => self.assemble(ptxas, &body),
                None => Ok(Vec::new()),
            });
            let rows = checked.or_else(|failure| {
                let rejected = self.left("rejected", family);
                write_text(&rejected, &body)?;
                fail!("{failure}\nthe PTX is in {}; {} is as it was", rejected.display(), family.file.display())
            })?;
            Ok((body, rows))
        })?;
        // None is written where one is bad.
        let flags = ptx_build::flags()?;
        for (family, (body, _)) in self.families.iter().zip(&made) {
            let head = Head {
                family: family.name.clone(),
                version: toolchain.version.clone(),
                target: TARGET.to_owned(),
                cpu: CPU.to_owned(),
                flags: flags.clone(),
                profile: PROFILE.to_owned(),
                bounds: ptx_bounds::text(&family.bounds),
                source_sha256: self.source_sha256(family),
                body_sha256: sha256(body.as_bytes()),
            };
            write_text(&family.file, &head.with_body(body))?;
            println!("wrote {} ({} bytes)", family.file.display(), body.len());
        }
        match ptxas {
            Some(_) => print!("{}", ptxas::table(&made.into_iter().flat_map(|(_, rows)| rows).collect::<Vec<_>>())),
            None => println!("ptxas: skipped, found none; install it: {}", tools::INSTALL),
        }
        self.strays()
    }

    /// The checks that need no tool: head, hashes, text.
    pub(crate) fn check_files(&self) -> Result<()> {
        self.strays()?;
        let compilers = self.each(|family| {
            let text = checked_in(family)?;
            let (head, body) = Head::split(&text)?;
            let expected =
                Head { family: family.name.clone(), source_sha256: self.source_sha256(family), ..head.clone() };
            agree(&family.file, &head, &expected, body)?;
            self.check_text(family, body)?;
            Ok(head.version.rustc)
        })?;
        for (family, compiler) in self.families.iter().zip(compilers) {
            println!("{}: made of these sources by {compiler}", family.file.display());
        }
        Ok(())
    }

    /// Compiles again and compares with the files.
    pub(crate) fn check_rebuilt(&self, toolchain: &Toolchain) -> Result<()> {
        let said = self.each(|family| {
            let rebuilt = self.compile(toolchain, family)?;
            let text = checked_in(family)?;
            let (head, body) = Head::split(&text)?;
            let said = compare(&head, body, &toolchain.version, &rebuilt).map_err(|failure| {
                let other = self.left("rebuilt", family);
                let kept = write_text(&other, &rebuilt).map_or_else(|error| error.0, |()| other.display().to_string());
                Failure(format!("{}: {failure}; the rebuilt PTX is in {kept}", family.file.display()))
            })?;
            self.check_text(family, &rebuilt)?;
            if rebuilt != body
                && let Some(ptxas) = tools::ptxas(self.workspace)
            {
                self.assemble(&ptxas, &rebuilt)?;
            }
            Ok(format!("{}: {said}", family.name))
        })?;
        println!("{}", said.join("\n"));
        Ok(())
    }

    /// Assembles the checked-in files for every GPU and prints the table.
    pub(crate) fn check_assembled(&self, ptxas: &Path) -> Result<()> {
        let rows = self.each(|family| self.assemble(ptxas, Head::split(&checked_in(family)?)?.1))?;
        print!("{}", ptxas::table(&rows.concat()));
        Ok(())
    }

    /// Does the same with each family; the failure holds those of all.
    fn each<T>(&self, work: impl Fn(&Family) -> Result<T>) -> Result<Vec<T>> {
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        for family in &self.families {
            match work(family) {
                Ok(value) => done.push(value),
                Err(Failure(text)) => failed.push(text),
            }
        }
        if failed.is_empty() { Ok(done) } else { Err(Failure(failed.join("\n"))) }
    }

    fn source_sha256(&self, family: &Family) -> String {
        self.sources[family.package].sha256(&family.name, &ptx_bounds::text(&family.bounds))
    }

    fn compile(&self, toolchain: &Toolchain, family: &Family) -> Result<String> {
        let ptx = ptx_build::compile(self.workspace, toolchain, &PACKAGES[family.package], &family.name)?;
        limits::apply(&ptx, |_| family.bounds)
    }

    /// PTX in a folder that is no family's: a crate that embeds it would embed what nobody compiles.
    fn strays(&self) -> Result<()> {
        let mut strays = Vec::new();
        let folders: BTreeSet<&Path> = self.families.iter().filter_map(|family| family.file.parent()).collect();
        for folder in folders {
            let files = std::fs::read_dir(folder).map_err(|error| {
                Failure(format!("cannot list {}: {error}; run `cargo xtask ptx`", folder.display()))
            })?;
            let paths = files
                .filter_map(|file| file.ok().map(|file| file.path()))
                .filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION))
                .filter(|path| !self.families.iter().any(|family| family.file == *path));
            strays.extend(paths.map(|path| path.display().to_string()));
        }
        if strays.is_empty() {
            return Ok(());
        }
        strays.sort();
        let families: Vec<&str> = self.families.iter().map(|family| family.name.as_str()).collect();
        fail!("{}: expected a family of that name ({}), found none; remove it", strays.join(", "), families.join(", "))
    }

    /// Where a family's PTX is left to be looked at.
    fn left(&self, why: &str, family: &Family) -> PathBuf {
        self.workspace.target.join("ptx").join(format!("{why}-{}.{EXTENSION}", family.name))
    }

    fn check_text(&self, family: &Family, body: &str) -> Result<()> {
        let text = without_comments(body);
        let module = Module::parse(&text)?;
        let rules: Vec<_> = VECTOR_RULES.iter().filter(|rule| rule.family == family.name).collect();
        let findings = ptx_checks::findings(&module, &rules, &ptx_build::machine_folders(self.workspace), body);
        if findings.is_empty() { Ok(()) } else { fail!("PTX of {}:\n  {}", family.name, findings.join("\n  ")) }
    }

    fn assemble(&self, ptxas: &Path, body: &str) -> Result<Vec<Row>> {
        let text = without_comments(body);
        let file = self.workspace.target.join("ptx/assembled.ptx");
        write_text(&file, body)?;
        ptxas::check(ptxas, &file, &Module::parse(&text)?, ptxas::ARCHITECTURES)
    }
}

fn checked_in(family: &Family) -> Result<String> {
    read_text(&family.file).map_err(|failure| Failure(format!("{failure}; run `cargo xtask ptx`")))
}

/// Whether the head of a checked-in file is what the sources and the file's body make it.
fn agree(file: &Path, head: &Head, expected: &Head, body: &str) -> Result<()> {
    let body_sha256 = sha256(body.as_bytes());
    let facts = [
        ("family", &expected.family, &head.family, "another family's file"),
        ("source-sha256", &expected.source_sha256, &head.source_sha256, "the sources have changed since"),
        ("body-sha256", &head.body_sha256, &body_sha256, "edited by hand"),
    ];
    match facts.into_iter().find(|(_, expected, found, _)| expected != found) {
        None => Ok(()),
        Some((key, expected, found, why)) => {
            let file = file.display();
            fail!("{file}: expected {key} {expected}, found {found}: {why}; run `cargo xtask ptx`")
        }
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
    fn a_file_must_be_its_familys_of_these_sources_and_unedited() {
        let good = head(BODY);
        let refused = |head: &Head, expected: &Head, body: &str, why: &str| {
            let failure = agree(Path::new("copy.ptx"), head, expected, body).expect_err("a failure");
            assert!(failure.0.starts_with("copy.ptx: expected ") && failure.0.contains(why), "{failure}");
        };
        assert_eq!(agree(Path::new("copy.ptx"), &good, &good, BODY), Ok(()));
        refused(&good, &Head { family: "crop".into(), ..good.clone() }, BODY, "another family's file");
        refused(&good, &Head { source_sha256: "0".into(), ..good.clone() }, BODY, "the sources have changed since");
        refused(&good, &good, &BODY.replace("ret;", "exit;"), "edited by hand");
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
