//! What the PTX text of every entry must show: no local memory, no access without a state space, vector accesses
//! where they are meant, a parameter hash, and no path of the machine that compiled it.
//!
//! Functions that never return are the panic path: they may build a message in local memory and read its place by
//! generic loads. Everything else that an entry can call is held to the entry's rules.

use crate::ptx_text::{Function, Module, words};
use std::collections::BTreeSet;

/// Which vector accesses an entry must contain.
#[derive(Debug)]
pub(crate) struct VectorRule {
    /// The entry's name; a `*` at the end stands for any rest.
    pub(crate) entry: &'static str,
    /// It must hold an `ld.global….v4`.
    pub(crate) load: bool,
    /// It must hold an `st.global….v4`.
    pub(crate) store: bool,
}

impl VectorRule {
    fn covers(&self, name: &str) -> bool {
        match self.entry.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == self.entry,
        }
    }
}

/// Entries that live by 16-byte accesses. A row that fits no entry is a failure, so that a renamed entry is not lost.
pub(crate) const VECTOR_RULES: &[VectorRule] = &[];

/// Starts of paths that only a machine has; the compiler's are remapped to `/framewright`, `/rust` and `/cargo`.
const MACHINE_PATHS: &[&str] = &["/home", "/root", "/work", "/usr", "/tmp"];

/// All that is wrong with the module, one line each. `paths` are further machine paths that it must not hold.
pub(crate) fn findings(module: &Module<'_>, rules: &[VectorRule], paths: &[String], ptx: &str) -> Vec<String> {
    let mut found = Vec::new();
    if module.entries().next().is_none() {
        found.push("expected entries, found none: is an entry's `#[unsafe(no_mangle)]` missing?".to_owned());
    }
    for function in module.functions.iter().filter(|function| !function.noreturn) {
        accesses(function, &mut found);
    }
    for entry in module.entries() {
        if !module.hashes.contains_key(&entry.name) {
            found.push(format!("{}: expected a symbol {}_PARAMS_HASH, found none", entry.name, entry.name));
        }
    }
    for name in module.hashes.keys().filter(|name| !module.entries().any(|entry| entry.name == **name)) {
        found.push(format!("{name}_PARAMS_HASH: expected an entry {name}, found none"));
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
        } else if !spaces.iter().any(|space| matches!(*space, "param" | "global" | "shared" | "const")) {
            found.push(format!("{name}: expected a state space (.global, .shared, …), found the generic `{word}`"));
        }
    }
}

/// The vector accesses that the rules ask for.
fn vectors(module: &Module<'_>, rules: &[VectorRule], found: &mut Vec<String>) {
    let has = |entry: &Function<'_>, start: &str| {
        words(entry.body).any(|word| word.starts_with(start) && word.split('.').any(|part| part == "v4"))
    };
    for rule in rules {
        let mut covered = module.entries().filter(|entry| rule.covers(&entry.name)).peekable();
        if covered.peek().is_none() {
            found.push(format!("VECTOR_RULES: expected an entry `{}`, found none", rule.entry));
        }
        for entry in covered {
            for (wanted, start) in [(rule.load, "ld.global"), (rule.store, "st.global")] {
                if wanted && !has(entry, start) {
                    found.push(format!("{}: expected `{start}….v4`, found none", entry.name));
                }
            }
        }
    }
}

/// Paths in the text, and in constants, which PTX writes as lists of numbers.
fn machine_paths(module: &Module<'_>, paths: &[String], ptx: &str, found: &mut Vec<String>) {
    let all = || MACHINE_PATHS.iter().copied().chain(paths.iter().map(String::as_str)).filter(|path| path.len() > 1);
    for path in all().filter(|path| ptx.contains(*path)) {
        found.push(format!("expected no path of this machine, found `{path}` in the text"));
    }
    for (name, bytes) in &module.constants {
        for path in all().filter(|path| bytes.windows(path.len()).any(|part| part == path.as_bytes())) {
            let text = String::from_utf8_lossy(bytes);
            found.push(format!("{name}: expected no path of this machine, found `{path}` in the constant `{text}`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx_text::without_comments;

    /// The findings for a module with one entry `a` of this body, and more lines before it.
    fn check(before: &str, body: &str, rules: &[VectorRule]) -> Vec<String> {
        let ptx = format!(".version 7.4\n.target sm_75\n{before}\n.visible .entry a(.param .b64 p)\n{{\n{body}\n}}\n");
        let text = without_comments(&ptx);
        let module = Module::parse(&text).expect("a module");
        findings(&module, rules, &["/opt/place".to_owned()], &ptx)
    }

    const HASH: &str = ".visible .global .align 8 .u64 a_PARAMS_HASH = 7;";
    const GOOD: &str = "ld.param.b64 %rd1, [p]; ld.global.nc.L1::no_allocate.v4.u32 {%r1,%r2,%r3,%r4}, [%rd1];
        st.shared::cta.u32 [%r5], %r1; bar.warp.sync -1; ld.volatile.shared.u32 %r2, [%r5]; atom.global.add.u32 %r1, [%rd1], 1;
        st.global.v4.u32 [%rd1], {%r1,%r2,%r3,%r4}; cvta.to.global.u64 %rd2, %rd1; ret;";

    /// Exactly one finding, which names `what`.
    fn refused(before: &str, body: &str, what: &str) {
        let found = check(before, body, &[]);
        assert!(found.len() == 1 && found[0].contains(what), "expected one finding with `{what}`, found {found:?}");
    }

    #[test]
    fn a_good_entry_passes() {
        let rules = [VectorRule { entry: "a*", load: true, store: true }];
        assert_eq!(check(HASH, GOOD, &rules), [""; 0]);
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
    fn functions_are_held_to_the_same_rules_unless_they_never_return() {
        let helper =
            |attribute: &str| format!("{HASH}\n.func f(.param .b64 q)\n{attribute}\n{{ ld.b32 %r1, [%rd1]; trap; }}");
        refused(&helper(""), GOOD, "f: expected a state space");
        assert_eq!(check(&helper(".noreturn"), GOOD, &[]), [""; 0]);
    }

    #[test]
    fn a_comment_is_no_access() {
        assert_eq!(check(HASH, "ret; // ld.b32 and __local_depot0", &[]), [""; 0]);
    }

    #[test]
    fn hash_and_entry_go_together() {
        refused("", GOOD, "expected a symbol a_PARAMS_HASH");
        refused(&format!("{HASH} .visible .global .u64 b_PARAMS_HASH = 7;"), GOOD, "expected an entry b");
    }

    #[test]
    fn missing_vectors_are_refused() {
        let scalar = "ld.global.u32 %r1, [%rd1]; st.global.v2.u32 [%rd1], {%r1,%r2}; ret;";
        let found = check(HASH, scalar, &[VectorRule { entry: "a", load: true, store: true }]);
        assert_eq!(found, ["a: expected `ld.global….v4`, found none", "a: expected `st.global….v4`, found none"]);
        let found = check(HASH, GOOD, &[VectorRule { entry: "b*", load: true, store: true }]);
        assert_eq!(found, ["VECTOR_RULES: expected an entry `b*`, found none"]);
    }

    #[test]
    fn machine_paths_are_refused_in_text_and_in_constants() {
        refused(&format!("{HASH} // /home/me"), GOOD, "`/home` in the text");
        refused(&format!("{HASH} // /opt/place"), GOOD, "`/opt/place` in the text");
        refused(&format!("{HASH} .global .b8 s[6] = {{47, 114, 111, 111, 116, 47}};"), GOOD, "s: expected no path");
    }

    #[test]
    fn a_module_without_entries_is_refused() {
        let module = Module::default();
        assert_eq!(findings(&module, &[], &[], "").len(), 1);
    }
}
