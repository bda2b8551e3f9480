//! Launch bounds and register limits of entries: rustc has no attribute for them, so they are put into the PTX as text.

use crate::failure::{Result, fail};

/// Threads of a block in every launch of framewright's: 32 by 4 (`LANES` and `WARPS` of `framewright_kernel::entry`).
pub const THREADS: u32 = 128;

/// What an entry asks of `ptxas`. Each stands as a directive behind the entry's parameters.
///
/// `.maxntid 128` is always there, since every launch has so many threads a block. The others trade registers for warps: too
/// high a `min_blocks` or too low a `max_registers` spills, which [`Builder::deny_spills`](crate::Builder::deny_spills) finds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    blocks: Option<u32>,
    registers: Option<u32>,
}

impl Limits {
    /// What an entry has by itself: `.maxntid 128`.
    pub const fn new() -> Self {
        Self { blocks: None, registers: None }
    }

    /// The blocks that a multiprocessor must hold at once (`.minnctapersm`): a thread gets at most 65536 / (128 `blocks`)
    /// registers.
    pub const fn min_blocks(self, blocks: u32) -> Self {
        Self { blocks: Some(blocks), ..self }
    }

    /// The registers that a thread may have at most (`.maxnreg`).
    pub const fn max_registers(self, registers: u32) -> Self {
        Self { registers: Some(registers), ..self }
    }

    /// The directives, as they stand in the PTX.
    pub fn directives(&self) -> Vec<String> {
        let blocks = self.blocks.map(|blocks| format!(".minnctapersm {blocks}"));
        let registers = self.registers.map(|registers| format!(".maxnreg {registers}"));
        std::iter::once(format!(".maxntid {THREADS}")).chain(blocks).chain(registers).collect()
    }
}

/// The PTX with each entry's directives on lines of their own behind its parameters.
///
/// # Errors
/// Where an entry is written otherwise than LLVM writes it.
pub fn apply(ptx: &str, limits: impl Fn(&str) -> Limits) -> Result<String> {
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
        let name = head.trim_start_matches(".entry ").split('(').next().unwrap_or_default().trim();
        let directives: String = limits(name).directives().iter().map(|directive| format!("\n{directive}")).collect();
        text += &format!("{before}{head}){directives}");
        rest = body;
    }
    Ok(text + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".func f()\n{\n}\n.visible .entry a(\n\t.param .b64 p\n)\n{\n\tret;\n}\n.entry b() { ret; }\n";

    #[test]
    fn directives_stand_between_parameters_and_body_of_their_entries() {
        let limits = |name: &str| match name {
            "a" => Limits::new().min_blocks(5).max_registers(64),
            _ => Limits::new(),
        };
        let expected = ".func f()\n{\n}\n.visible .entry a(\n\t.param .b64 p\n)\n.maxntid 128\n.minnctapersm 5\n\
                        .maxnreg 64\n{\n\tret;\n}\n.entry b()\n.maxntid 128 { ret; }\n";
        assert_eq!(apply(PTX, limits).expect("PTX"), expected);
    }

    #[test]
    fn an_entry_of_another_form_is_refused() {
        assert!(apply(".entry a() .maxntid 5 { ret; }", |_| Limits::new()).is_err());
        assert!(apply(".entry a { ret; }", |_| Limits::new()).is_err());
    }
}
