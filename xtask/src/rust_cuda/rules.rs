//! What one of the two generators refuses, or does otherwise, found in the sources before somebody's build finds it.

use super::source::{Source, closing, is_word};

/// The findings of all rules in a file, `path:line: what`, in the order of lines.
pub(crate) fn findings(source: &Source) -> Vec<String> {
    let mut all: Vec<(usize, String)> = Vec::new();
    for rule in RULES {
        all.extend(rule(source).into_iter().map(|(at, what)| (source.line(at), what)));
    }
    all.retain(|(line, _)| !source.allows(*line));
    all.sort();
    all.dedup();
    all.into_iter().map(|(line, what)| format!("{}:{line}: {what}", source.path)).collect()
}

type Rule = fn(&Source) -> Vec<(usize, String)>;

const RULES: &[Rule] = &[fences, simd, assembler, wide_products, own_attributes, entries];

/// `core::sync::atomic::fence` and `compiler_fence` break one or the other.
fn fences(source: &Source) -> Vec<(usize, String)> {
    let what = "expected `asm!(\"fence.acq_rel.gpu;\")`, found";
    let mut found = Vec::new();
    for word in ["fence", "compiler_fence"] {
        for at in source.places(word) {
            let imported = source.before(at).ends_with("atomic::") || source.before(at).ends_with("atomic::{");
            if imported || source.after(at + word.len()).starts_with('(') {
                found.push((at, format!("{what} `{word}`, which one of the generators refuses")));
            }
        }
    }
    found
}

/// Arithmetic of `core::simd` is not there in rust-cuda.
fn simd(source: &Source) -> Vec<(usize, String)> {
    let paths = source.places("simd").into_iter().filter(|at| source.before(*at).ends_with("::"));
    paths
        .map(|at| (at, "expected arrays, found `core::simd`, whose arithmetic rust-cuda does not have".to_owned()))
        .collect()
}

/// No `sym` in `global_asm!`, no labels in `asm!`.
fn assembler(source: &Source) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for range in source.calls("global_asm") {
        let sym = source.places("sym").into_iter().filter(|at| range.contains(at));
        found.extend(sym.map(|at| (at, "expected no `sym` in `global_asm!`: rust-cuda refuses it".to_owned())));
    }
    for name in ["asm", "global_asm", "naked_asm"] {
        for range in source.calls(name) {
            for (at, text) in source.strings.iter().filter(|(at, _)| range.contains(at)) {
                if let Some(label) = label(text) {
                    found
                        .push((*at, format!("expected no label in `{name}!`, found `{label}:`: rust-cuda refuses it")));
                }
            }
        }
    }
    found
}

/// The first label in a line of the assembler: a word with one colon behind it.
fn label(text: &str) -> Option<&str> {
    let lines = text.split(['\n', ';', '{', '}']).flat_map(|part| part.split("\\n"));
    lines.map(str::trim).find_map(|line| {
        let (word, rest) = line.split_once(':')?;
        let one = !word.is_empty() && word.bytes().all(|byte| is_word(byte) || matches!(byte, b'$' | b'%' | b'.'));
        (one && !rest.starts_with(':')).then_some(word)
    })
}

/// Files that hold no code of a kernel: sizes of images, which the host computes.
const HOST_ONLY: &[&str] = &["crates/core/src/layout.rs"];

/// Compiled, but to a multiple of the instructions.
fn wide_products(source: &Source) -> Vec<(usize, String)> {
    if HOST_ONLY.contains(&source.path.as_str()) {
        return Vec::new();
    }
    const WORDS: &[&str] = &["u128", "i128", "funnel_shl", "funnel_shr", "widening_mul", "carrying_mul"];
    let places = WORDS.iter().flat_map(|word| source.places(word).into_iter().map(move |at| (at, *word)));
    let what = "is one instruction in one generator and many in the other; say why that is fine";
    places.map(|(at, word)| (at, format!("`{word}` {what}: `// rust-cuda: ok, REASON`"))).collect()
}

/// What only rust-cuda knows. `nvvm_internal::kernel` is the macro's to write.
fn own_attributes(source: &Source) -> Vec<(usize, String)> {
    const WORDS: &[(&str, &str)] = &[
        ("shared_array", "`.shared` in `asm!`"),
        ("address_space", "`.shared` in `asm!`"),
        ("dynamic_shared_mem", "`.shared` in `asm!`"),
        ("GpuFloat", "`core::f32::math` and the like"),
    ];
    let places =
        WORDS.iter().flat_map(|(word, instead)| source.places(word).into_iter().map(move |at| (at, *word, *instead)));
    places.map(|(at, word, instead)| (at, format!("expected {instead}, found rust-cuda's own `{word}`"))).collect()
}

/// Entries by hand: marked for rust-cuda, with parameters that are neither fat, nor references, nor of no size.
fn entries(source: &Source) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let abis = source
        .strings
        .iter()
        .filter(|(at, text)| text == "ptx-kernel" && source.code[..at - 1].trim_end().ends_with("extern"));
    for (at, text) in abis {
        let item = source.code[..*at].rfind(['}', ';']).map_or(0, |end| end + 1);
        if !source.code[item..*at].contains("nvvm_internal::kernel") {
            let what = "expected `#[cfg_attr(feature = \"rust-cuda\", nvvm_internal::kernel)]` at the entry";
            found.push((*at, format!("{what}: without it rust-cuda drops it in silence")));
        }
        let Some(open) = source.code[at + text.len()..].find('(').map(|open| at + text.len() + open) else { continue };
        let parameters = &source.code[open..closing(source.code.as_bytes(), open)];
        let zero = ["PhantomData", "()", "[", "str"].into_iter().find(|part| parameters[1..].contains(part));
        if let Some(part) = zero.filter(|part| *part != "[" || !parameters.contains(';')) {
            found.push((open, format!("expected parameters with a size and one word's pointers, found `{part}`")));
        } else if parameters.contains('&') {
            found.push((open, "expected pointers or structures by value, found a reference".to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        findings(&Source::read("a.rs", text))
    }

    /// One finding in line 1 that says `what`, and none once a comment gives a reason.
    fn refused(text: &str, what: &str) {
        let all = found(text);
        assert!(all.len() == 1 && all[0].starts_with("a.rs:1: ") && all[0].contains(what), "{text}: {all:?}");
        assert_eq!(found(&format!("// rust-cuda: ok, a test\n{text}")), [""; 0], "{text}");
    }

    fn fine(text: &str) {
        assert_eq!(found(text), [""; 0], "{text}");
    }

    #[test]
    fn fences_are_refused() {
        refused("fn f() { fence(Ordering::AcqRel); }", "`fence`");
        refused("fn f() { core::sync::atomic::compiler_fence(Ordering::AcqRel); }", "`compiler_fence`");
        refused("use core::sync::atomic::fence;", "`fence`");
        fine("fn f() { unsafe { asm!(\"fence.acq_rel.gpu;\") } let fence = 1; }");
    }

    #[test]
    fn simd_is_refused() {
        refused("use core::simd::u32x4;", "core::simd");
        fine("fn simd() {}");
    }

    #[test]
    fn labels_and_symbols_in_the_assembler_are_refused() {
        refused("fn f() { unsafe { asm!(\"2: bra 2b;\") } }", "`2:`");
        refused("fn f() { unsafe { asm!(\"add.u32 a, b, c;\", \"$loop:\", \"ret;\") } }", "`$loop:`");
        refused("fn f() { unsafe { asm!(\"nop;\\nagain: ret;\") } }", "`again:`");
        refused("core::arch::global_asm!(\".global .u64 a = {};\", sym a);", "`sym`");
        fine(
            "fn f() { unsafe { asm!(\"ld.global.nc.L1::no_allocate.v4.u32 {{{0}}}, [{1}];\", sym a) } let l = \"a: b\"; }",
        );
    }

    #[test]
    fn wide_products_want_a_reason() {
        refused("fn f(a: u64) -> u64 { (a as u128) as u64 }", "`u128`");
        refused("fn f(a: u32) -> u32 { a.funnel_shl(a, 3) }", "`funnel_shl`");
    }

    #[test]
    fn what_only_rust_cuda_knows_is_refused() {
        refused("fn f() { let s = shared_array![u32; 4]; }", "`shared_array`");
        refused("#[address_space(shared)] static mut A: u32 = 0;", "`address_space`");
        refused("use cuda_std::GpuFloat;", "`GpuFloat`");
    }

    #[test]
    fn entries_are_marked_and_their_parameters_have_sizes() {
        let entry =
            |mark: &str, parameters: &str| format!("{mark} pub unsafe extern \"ptx-kernel\" fn a({parameters}) {{}}");
        let mark = "#[cfg_attr(feature = \"rust-cuda\", nvvm_internal::kernel)]";
        fine(&entry(mark, "p: Params, q: *const u8, n: [u32; 4]"));
        refused(&entry("", "p: Params"), "nvvm_internal::kernel");
        refused(&entry(mark, "p: &Params"), "a reference");
        refused(&entry(mark, "p: *const [u8]"), "`[`");
        refused(&entry(mark, "p: PhantomData<u8>"), "`PhantomData`");
        refused(&entry(mark, "p: ()"), "`()`");
        refused(&entry(mark, "p: &str"), "`str`");
    }
}
