//! Launch bounds of the entries: rustc has no attribute for them, so they are put into the PTX as text.
//!
//! Behind each entry's parameters stand `.maxntid 128`, the threads of a block in every launch of ours, and, for the
//! families whose row below names a number, `.minnctapersm N`: the blocks that a multiprocessor must hold at once, which
//! gives a thread 65536 / (128 N) registers. ptxas takes what such a bound leaves: too high a number spills, a low one
//! gives more registers than it would take by itself. `cargo xtask ptx` shows both.

use crate::failure::{Failure, Result, fail};

/// Families and the blocks a multiprocessor, `None` where ptxas decides.
///
/// No family has one now: with 5 (96 registers), which the hand-written yuv420 needed to keep from spilling on sm_120, the
/// conversions are slower by 5 to 8 % at 4K and 8K on an H200 than with what ptxas takes by itself (docs/performance.md).
const BLOCKS: &[(&str, Option<u32>)] =
    &[("copy", None), ("selftest", None), ("yuv420", None), ("examples", None), ("yardstick", None)];

/// The file that says how many threads a block has.
pub(crate) const THREADS_FILE: &str = "crates/kernel/src/entry.rs";

/// The directives of a family's entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bounds {
    threads: u32,
    blocks: Option<u32>,
}

impl Bounds {
    /// Of a family; `entry_source` is the text of [`THREADS_FILE`].
    pub(crate) fn of(family: &str, entry_source: &str) -> Result<Self> {
        let threads = constant(entry_source, "WARPS")? * constant(entry_source, "LANES")?;
        let Some((_, blocks)) = BLOCKS.iter().find(|(name, _)| *name == family) else {
            return fail!("xtask/src/ptx_bounds.rs: expected a row for the family `{family}`, found none");
        };
        Ok(Self { threads, blocks: *blocks })
    }

    /// As the head records them.
    pub(crate) fn text(&self) -> String {
        self.directives().join(", ")
    }

    fn directives(&self) -> Vec<String> {
        let blocks = self.blocks.map(|blocks| format!(".minnctapersm {blocks}"));
        std::iter::once(format!(".maxntid {}", self.threads)).chain(blocks).collect()
    }

    /// The PTX with the directives on lines of their own behind each entry's parameters.
    pub(crate) fn apply(&self, ptx: &str) -> Result<String> {
        let directives: String = self.directives().iter().map(|directive| format!("\n{directive}")).collect();
        let mut text = String::with_capacity(ptx.len());
        let mut rest = ptx;
        while let Some(at) = rest.find(".entry ") {
            let (before, entry) = rest.split_at(at);
            // LLVM writes the parameters without parentheses inside, and nothing between them and the body.
            let parts = entry.split_once(')').filter(|(_, body)| body.trim_start().starts_with('{'));
            let Some((head, body)) = parts else {
                let line = entry.lines().next().unwrap_or_default();
                return fail!("PTX: expected the body behind the parameters of `{line}`, found something else");
            };
            text += &format!("{before}{head}){directives}");
            rest = body;
        }
        Ok(text + rest)
    }
}

/// `pub const NAME: u32 = 4;`
fn constant(source: &str, name: &str) -> Result<u32> {
    let start = format!("pub const {name}: u32 = ");
    let value =
        source.lines().find_map(|line| line.trim().strip_prefix(start.as_str())?.strip_suffix(';')?.parse().ok());
    value.ok_or_else(|| Failure(format!("{THREADS_FILE}: expected a line `{start}NUMBER;`, found none")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "/// Warps.\npub const WARPS: u32 = 4;\npub const LANES: u32 = 32;\n";
    const PTX: &str = ".func f()\n{\n}\n.visible .entry a(\n\t.param .b64 p\n)\n{\n\tret;\n}\n.entry b() { ret; }\n";

    #[test]
    fn threads_come_from_the_kernels() {
        assert_eq!(Bounds::of("copy", SOURCE).expect("bounds").text(), ".maxntid 128");
        assert_eq!(Bounds::of("yuv420", SOURCE).expect("bounds").text(), ".maxntid 128");
        let eight = SOURCE.replace("= 4", "= 8");
        assert_eq!(Bounds::of("copy", &eight).expect("bounds").text(), ".maxntid 256");
        assert!(Bounds::of("copy", "pub const WARPS: u32 = 4;\n").is_err());
        assert!(Bounds::of("other", SOURCE).is_err());
    }

    #[test]
    fn the_kernels_of_this_workspace_say_how_many_threads() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(THREADS_FILE);
        let source = crate::failure::read_text(&file).expect("the file");
        assert_eq!(Bounds::of("copy", &source).expect("bounds").threads, 128);
    }

    #[test]
    fn directives_stand_between_parameters_and_body_of_entries() {
        let bounds = Bounds { threads: 128, blocks: Some(5) };
        let expected = ".func f()\n{\n}\n.visible .entry a(\n\t.param .b64 p\n)\n.maxntid 128\n.minnctapersm 5\n{\n\tret;\n}\n\
            .entry b()\n.maxntid 128\n.minnctapersm 5 { ret; }\n";
        assert_eq!(bounds.apply(PTX).expect("PTX"), expected);
        let none = Bounds { threads: 64, blocks: None };
        assert_eq!(none.apply(".entry b()\n{ ret; }").expect("PTX"), ".entry b()\n.maxntid 64\n{ ret; }");
    }

    #[test]
    fn an_entry_of_another_form_is_refused() {
        let bounds = Bounds { threads: 128, blocks: None };
        assert!(bounds.apply(".entry a() .maxntid 5 { ret; }").is_err());
        assert!(bounds.apply(".entry a { ret; }").is_err());
    }
}
