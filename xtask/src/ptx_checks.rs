//! What the PTX text of every entry must show: no local memory, no access without a state space, vector accesses
//! where they are meant, a parameter hash, and no path of the machine that compiled it.
//!
//! Functions that never return are the panic path: they may read a place and write the host's record by accesses without a
//! state space. Everything else that an entry can call is held to the entry's rules, and local memory is nobody's.

use crate::ptx_text::{Function, HASH_SUFFIX, Module, Variable, words};
use std::collections::BTreeSet;

/// Which vector accesses an entry must contain.
#[derive(Debug)]
pub(crate) struct VectorRule {
    /// The family that it is in.
    pub(crate) family: &'static str,
    /// The entry's name; a `*` at the end stands for any rest.
    pub(crate) entry: &'static str,
    /// What it must hold, each up to the type.
    pub(crate) accesses: &'static [&'static str],
}

impl VectorRule {
    fn covers(&self, name: &str) -> bool {
        match self.entry.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == self.entry,
        }
    }
}

/// Entries and the 8- and 16-byte accesses that they live by. An entry without a row is a failure, so that a new one is
/// not forgotten, and so is a row that fits no entry, so that a renamed one is not lost.
pub(crate) const VECTOR_RULES: &[VectorRule] = &[
    VectorRule { family: "copy", entry: "framewright_copy", accesses: V4 },
    // It writes ones, to be seen to panic.
    VectorRule { family: "selftest", entry: "framewright_panic_at", accesses: &[] },
    VectorRule { family: "yuv420", entry: "framewright_nv12_to_*", accesses: V4 },
    VectorRule { family: "yuv420", entry: "framewright_i420_to_*", accesses: V4_AND_V2 },
    VectorRule { family: "examples", entry: "blend_logo", accesses: STAGED },
    VectorRule { family: "examples", entry: "box_blur", accesses: STAGED },
    VectorRule { family: "examples", entry: "flip_*", accesses: STAGED },
    VectorRule { family: "examples", entry: "gamma", accesses: STAGED },
    VectorRule { family: "examples", entry: "grey", accesses: STAGED },
    VectorRule { family: "examples", entry: "grey_*", accesses: V4 },
    VectorRule { family: "examples", entry: "invert", accesses: STAGED },
    VectorRule { family: "examples", entry: "luma_histogram", accesses: &[V4[0]] },
    // It writes one value.
    VectorRule { family: "examples", entry: "mean_variance", accesses: &[] },
    VectorRule { family: "examples", entry: "nv12_to_planar_f16", accesses: STAGED },
    VectorRule { family: "examples", entry: "sobel", accesses: STAGED },
    VectorRule { family: "examples", entry: "threshold", accesses: STAGED },
    VectorRule { family: "yardstick", entry: "framewright_yardstick_nv12_to_bgr24", accesses: V4 },
];

/// Pixels 16 bytes at a time: from global memory, through shared memory, to global memory.
const V4: &[&str] = &["ld.global.nc.L1::no_allocate.v4", "st.shared.v4", "ld.shared.v4", "st.global.v4"];

/// Single samples read, and written 16 bytes at a time through shared memory.
const STAGED: &[&str] = &[V4[2], V4[3]];

/// Those of V4, and the planes of half the width 8 bytes at a time.
const V4_AND_V2: &[&str] = &[V4[0], V4[1], V4[2], V4[3], "ld.global.nc.L1::no_allocate.v2"];

/// The variable through which the host tells where the record of a panic is (`RECORD_SYMBOL` in crates/kernel/src/fault.rs).
const RECORD: &str = "FRAMEWRIGHT_FAULT_RECORD";

/// Starts of paths that only a machine has; the compiler's are remapped to `/framewright`, `/rust` and `/cargo`.
const MACHINE_PATHS: &[&str] = &["/home", "/root", "/work", "/usr", "/tmp"];

/// All that is wrong with the module, one line each. `paths` are further machine paths that it must not hold.
pub(crate) fn findings(module: &Module<'_>, rules: &[&VectorRule], paths: &[String], ptx: &str) -> Vec<String> {
    let mut found = Vec::new();
    if module.entries().next().is_none() {
        found.push("expected entries, found none: is an entry's `#[unsafe(no_mangle)]` missing?".to_owned());
    }
    for function in &module.functions {
        accesses(function, &mut found);
    }
    for entry in module.entries() {
        if !module.hashes.contains_key(&entry.name) {
            let symbol = entry.name.to_ascii_uppercase() + HASH_SUFFIX;
            found.push(format!("{}: expected a symbol {symbol}, found none", entry.name));
        }
    }
    for name in module.hashes.keys().filter(|name| !module.entries().any(|entry| entry.name == **name)) {
        found.push(format!("{}{HASH_SUFFIX}: expected an entry {name}, found none", name.to_ascii_uppercase()));
    }
    if !module.variables.iter().any(|variable| variable.name == RECORD) {
        found.push(format!("expected a variable {RECORD}, which the host sets, found none"));
    }
    let hosts = |name: &str| name == RECORD || name.ends_with(HASH_SUFFIX);
    for variable in module.variables.iter().filter(|variable| hosts(&variable.name) && !variable.visible) {
        found.push(format!("{}: expected `.visible`, so that the host finds it, found none", variable.name));
    }
    vectors(module, rules, &mut found);
    machine_paths(module, paths, ptx, &mut found);
    // An unrolled loop repeats its accesses: once is enough.
    let mut seen = BTreeSet::new();
    found.retain(|line| seen.insert(line.clone()));
    found
}

/// Local memory and accesses without a state space.
fn accesses(function: &Function<'_>, found: &mut Vec<String>) {
    let name = &function.name;
    if function.body.contains("__local_depot") || words(function.body).any(|word| word == ".local") {
        found.push(format!("{name}: expected no local memory, found a local depot"));
    }
    for word in words(function.body) {
        let mut parts = word.split('.');
        if !matches!(parts.next(), Some("ld" | "ldu" | "st" | "atom" | "red")) || !word.contains('.') {
            continue;
        }
        // `shared::cta`, `param::entry` name a part of the space.
        let spaces: Vec<&str> = parts.map(|part| part.split("::").next().unwrap_or(part)).collect();
        if spaces.contains(&"local") {
            found.push(format!("{name}: expected no local memory, found `{word}`"));
        } else if !function.noreturn
            && !spaces.iter().any(|space| matches!(*space, "param" | "global" | "shared" | "const"))
        {
            found.push(format!("{name}: expected a state space (.global, .shared, …), found the generic `{word}`"));
        }
    }
}

/// The vector accesses that the rules of the module's family ask for.
fn vectors(module: &Module<'_>, rules: &[&VectorRule], found: &mut Vec<String>) {
    for entry in module.entries().filter(|entry| !rules.iter().any(|rule| rule.covers(&entry.name))) {
        found.push(format!("{}: expected a row in VECTOR_RULES, found none", entry.name));
    }
    for rule in rules {
        let mut covered = module.entries().filter(|entry| rule.covers(&entry.name)).peekable();
        if covered.peek().is_none() {
            found.push(format!("VECTOR_RULES: expected an entry `{}`, found none", rule.entry));
        }
        for entry in covered {
            for access in rule.accesses.iter().filter(|access| !has(entry, access)) {
                found.push(format!("{}: expected `{access}`, found none", entry.name));
            }
        }
    }
}

/// Whether the function holds the access with any type after it.
fn has(function: &Function<'_>, access: &str) -> bool {
    words(function.body).any(|word| word.strip_prefix(access).is_some_and(|rest| rest.starts_with('.')))
}

/// Paths in the text, in constants, which PTX writes as lists of numbers, and in stores of one constant byte after the
/// other, into which LLVM turns a copy of a known text (the place of a panic).
fn machine_paths(module: &Module<'_>, paths: &[String], ptx: &str, found: &mut Vec<String>) {
    let all = || MACHINE_PATHS.iter().copied().chain(paths.iter().map(String::as_str)).filter(|path| path.len() > 1);
    for path in all().filter(|path| ptx.contains(*path)) {
        found.push(format!("expected no path of this machine, found `{path}` in the text"));
    }
    for Variable { name, bytes, .. } in &module.variables {
        for path in all().filter(|path| bytes.windows(path.len()).any(|part| part == path.as_bytes())) {
            let text = String::from_utf8_lossy(bytes);
            found.push(format!("{name}: expected no path of this machine, found `{path}` in the constant `{text}`"));
        }
    }
    for function in &module.functions {
        let bytes = stored_bytes(function);
        for path in all().filter(|path| bytes.windows(path.len()).any(|part| part == path.as_bytes())) {
            let name = &function.name;
            found.push(format!("{name}: expected no path of this machine, found `{path}` in the bytes that it stores"));
        }
    }
}

/// The constant bytes that a function stores, in order.
fn stored_bytes(function: &Function<'_>) -> Vec<u8> {
    let byte = |statement: &str| {
        let mut words = words(statement);
        let access = words.next().filter(|word| word.starts_with("st."))?;
        // A byte is stored as `.b8`, `.u8` or, negative, `.s8`.
        access.ends_with('8').then(|| words.last()?.parse::<i16>().ok())?.map(|value| value.to_le_bytes()[0])
    };
    function.body.split(';').filter_map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx_text::without_comments;

    /// The findings for a module with one entry `a` of this body, and more lines before it.
    fn check(before: &str, body: &str, rules: &[&VectorRule]) -> Vec<String> {
        let ptx = format!(".version 7.4\n.target sm_75\n{before}\n.visible .entry a(.param .b64 p)\n{{\n{body}\n}}\n");
        let text = without_comments(&ptx);
        let module = Module::parse(&text).expect("a module");
        findings(&module, rules, &["/opt/place".to_owned()], &ptx)
    }

    const HASH: &str = ".visible .global .align 8 .u64 FRAMEWRIGHT_FAULT_RECORD = 0; .shared .u64 kernel_name[2];
        .visible .global .align 8 .u64 A_PARAMS_HASH = 7;";
    const NONE: &VectorRule = &VectorRule { family: "f", entry: "a", accesses: &[] };
    const GOOD: &str = "ld.param.b64 %rd1, [p]; ld.global.nc.L1::no_allocate.v4.u32 {%r1,%r2,%r3,%r4}, [%rd1];
        st.shared::cta.u32 [%r5], %r1; bar.warp.sync -1; ld.volatile.shared.u32 %r2, [%r5]; atom.global.add.u32 %r1, [%rd1], 1;
        st.shared.v4.u32 [%r5], {%r1,%r2,%r3,%r4}; ld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [%r5];
        st.global.v4.u32 [%rd1], {%r1,%r2,%r3,%r4}; cvta.to.global.u64 %rd2, %rd1; ret;";

    /// Exactly one finding, which names `what`.
    fn refused(before: &str, body: &str, what: &str) {
        let found = check(before, body, &[NONE]);
        assert!(found.len() == 1 && found[0].contains(what), "expected one finding with `{what}`, found {found:?}");
    }

    #[test]
    fn a_good_entry_passes() {
        assert_eq!(check(HASH, GOOD, &[&VectorRule { family: "f", entry: "a*", accesses: V4 }]), [""; 0]);
    }

    #[test]
    fn local_memory_is_refused() {
        refused(HASH, ".local .align 4 .b8 __local_depot0[16]; ret;", "local depot");
        refused(
            HASH,
            "ld.local.b32 %r1, [%rd1]; ld.local.b32 %r2, [%rd1]; ret;",
            "no local memory, found `ld.local.b32`",
        );
        refused(HASH, "@%p1 st.local.v2.b32 [%rd1], {%r1,%r2}; ret;", "no local memory, found `st.local.v2.b32`");
    }

    #[test]
    fn generic_accesses_are_refused() {
        refused(HASH, "ld.b32 %r1, [%rd1]; ret;", "the generic `ld.b32`");
        refused(HASH, "{ .reg .pred q; @q st.v4.u32 [%rd1], {%r1,%r1,%r1,%r1}; } ret;", "the generic `st.v4.u32`");
        refused(HASH, "atom.add.u32 %r1, [%rd1], 1; ret;", "the generic `atom.add.u32`");
        refused(HASH, "ld.relaxed.gpu.u32 %r1, [%rd1]; ret;", "the generic `ld.relaxed.gpu.u32`");
    }

    #[test]
    fn functions_are_held_to_the_same_rules() {
        let helper =
            |attribute: &str, body: &str| format!("{HASH}\n.func f(.param .b64 q)\n{attribute}\n{{ {body} trap; }}");
        refused(&helper("", "ld.b32 %r1, [%rd1];"), GOOD, "f: expected a state space");
        refused(&helper("", "ld.local.b32 %r1, [%rd1];"), GOOD, "f: expected no local memory");
    }

    #[test]
    fn the_panic_path_may_access_any_memory_but_local() {
        let panics = |body: &str| format!("{HASH}\n.func f(.param .b64 q)\n.noreturn\n{{ {body} trap; }}");
        assert_eq!(check(&panics("ld.b32 %r1, [%rd1]; st.volatile.b32 [%rd2], %r1;"), GOOD, &[NONE]), [""; 0]);
        refused(&panics("st.local.b32 [%rd1], %r1;"), GOOD, "f: expected no local memory");
        refused(&panics(".local .align 4 .b8 __local_depot0[16];"), GOOD, "f: expected no local memory");
    }

    #[test]
    fn a_comment_is_no_access() {
        assert_eq!(check(HASH, "ret; // ld.b32 and __local_depot0", &[NONE]), [""; 0]);
    }

    #[test]
    fn hash_and_entry_go_together() {
        refused(&HASH.replace("A_PARAMS_HASH", "OTHER"), GOOD, "expected a symbol A_PARAMS_HASH");
        refused(&format!("{HASH} .visible .global .u64 B_PARAMS_HASH = 7;"), GOOD, "expected an entry b");
    }

    #[test]
    fn the_host_must_find_its_variables() {
        refused(
            &HASH.replace("FRAMEWRIGHT_FAULT_RECORD", "OTHER"),
            GOOD,
            "expected a variable FRAMEWRIGHT_FAULT_RECORD",
        );
        let hidden = |name: &str| {
            HASH.replace(&format!(".visible .global .align 8 .u64 {name}"), &format!(".global .u64 {name}"))
        };
        refused(&hidden("FRAMEWRIGHT_FAULT_RECORD"), GOOD, "FRAMEWRIGHT_FAULT_RECORD: expected `.visible`");
        refused(&hidden("A_PARAMS_HASH"), GOOD, "A_PARAMS_HASH: expected `.visible`");
    }

    #[test]
    fn missing_vectors_are_refused() {
        let all = &VectorRule { family: "f", entry: "a", accesses: V4_AND_V2 };
        for access in V4 {
            let found = check(HASH, &GOOD.replace(&format!("{access}."), "ld.global.v1."), &[all]);
            let missing = |access: &str| format!("a: expected `{access}`, found none");
            assert_eq!(found, [missing(access), missing("ld.global.nc.L1::no_allocate.v2")]);
        }
        let other = &VectorRule { family: "f", entry: "b*", accesses: &[] };
        let found = check(HASH, GOOD, &[NONE, other]);
        assert_eq!(found, ["VECTOR_RULES: expected an entry `b*`, found none"]);
        let found = check(HASH, GOOD, &[]);
        assert_eq!(found, ["a: expected a row in VECTOR_RULES, found none"]);
    }

    #[test]
    fn machine_paths_are_refused_in_text_and_in_constants() {
        refused(&format!("{HASH} // /home/me"), GOOD, "`/home` in the text");
        refused(&format!("{HASH} // /opt/place"), GOOD, "`/opt/place` in the text");
        let stores: String = "/root/x".bytes().map(|byte| format!("st.volatile.b8 [%rd1+{byte}], {byte}; ")).collect();
        let panics = |stores: &str| format!("{HASH}\n.func f()\n.noreturn\n{{ {stores} trap; }}");
        refused(&panics(&stores), GOOD, "f: expected no path of this machine, found `/root`");
        assert_eq!(check(&panics(&stores.replace(", 111;", ", %rs1;")), GOOD, &[NONE]), [""; 0]);
        refused(&format!("{HASH} .global .b8 s[6] = {{47, 114, 111, 111, 116, 47}};"), GOOD, "s: expected no path");
    }

    #[test]
    fn a_module_without_entries_is_refused() {
        let module = Module::default();
        let found = findings(&module, &[], &[], "");
        assert!(found.iter().any(|line| line.starts_with("expected entries, found none")), "{found:?}");
    }
}
