//! PTX as text: the entries, functions and parameter hashes of a module, and the bytes of its constants.
//!
//! This reads what LLVM's NVPTX back end writes, and no more of PTX than the checks need.

use crate::failure::{Result, fail};
use std::collections::BTreeMap;

/// The suffix of the symbol that holds the hash of an entry's parameter types; before it stands the entry, in capitals.
pub const HASH_SUFFIX: &str = "_PARAMS_HASH";

/// A module, taken apart.
#[derive(Debug, Default)]
pub struct Module<'a> {
    /// Entries and device functions.
    pub functions: Vec<Function<'a>>,
    /// Entry name -> hash of its parameter types.
    pub hashes: BTreeMap<String, u64>,
    /// The `.global` and `.const` variables.
    pub variables: Vec<Variable>,
}

/// A variable of the module.
#[derive(Debug)]
pub struct Variable {
    /// Its symbol.
    pub name: String,
    /// Whether the host finds it by name.
    pub visible: bool,
    /// What it holds, where that is a list of `.b8`.
    pub bytes: Vec<u8>,
}

/// An entry or a device function with its body.
#[derive(Debug)]
pub struct Function<'a> {
    /// Its symbol.
    pub name: String,
    /// Whether it is a kernel.
    pub entry: bool,
    /// It never comes back: the panic path.
    pub noreturn: bool,
    /// From its `{` to its `}`.
    pub body: &'a str,
}

impl<'a> Module<'a> {
    /// Takes PTX without comments apart (see [`without_comments`]).
    pub fn parse(ptx: &'a str) -> Result<Self> {
        let mut module = Module::default();
        let mut rest = ptx;
        // A piece is a statement up to `;`, or a function up to its closing brace.
        while let Some(end) = rest.find(['{', ';']) {
            let head = skip_directives(&rest[..end]);
            let is_function = words(head).any(|word| word == ".entry" || word == ".func");
            if rest[end..].starts_with('{') {
                let Some(body) = braced(&rest[end..]) else {
                    return fail!("PTX: a `{{` without its `}}` after `{}`", head.trim());
                };
                let after = end + body.len();
                if is_function {
                    module.functions.push(function(head, body)?);
                    rest = &rest[after..];
                } else if words(head).any(|word| word == ".section") {
                    // Debug information: which line of the sources an instruction is from.
                    rest = &rest[after..];
                } else {
                    // An initialiser: it belongs to the statement that ends at the next `;`.
                    let Some(semicolon) = rest[after..].find(';') else {
                        return fail!("PTX: no `;` after the initialiser of `{}`", head.trim());
                    };
                    module.variable(head, Some(body))?;
                    rest = &rest[after + semicolon + 1..];
                }
            } else {
                if !is_function {
                    module.variable(head, None)?;
                }
                rest = &rest[end + 1..];
            }
        }
        Ok(module)
    }

    /// The entries, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = &Function<'a>> {
        self.functions.iter().filter(|function| function.entry)
    }

    /// Takes note of a `.global` or `.const` variable; other statements say nothing that a check reads.
    fn variable(&mut self, head: &str, initialiser: Option<&str>) -> Result<()> {
        let (declaration, scalar) = match head.split_once('=') {
            Some((declaration, value)) => (declaration, Some(value.trim()).filter(|value| !value.is_empty())),
            None => (head, None),
        };
        if !words(declaration).any(|word| word == ".global" || word == ".const") {
            return Ok(());
        }
        let Some(name) = words(declaration).last().map(|word| word.split('[').next().unwrap_or(word)) else {
            return Ok(());
        };
        let bytes = match initialiser {
            Some(list) if words(declaration).any(|word| word == ".b8") => byte_list(name, list)?,
            _ => Vec::new(),
        };
        if let Some(entry) = name.strip_suffix(HASH_SUFFIX) {
            let hash = match (scalar, bytes.len()) {
                (Some(value), _) => integer(name, value)?,
                // LLVM leaves trailing zeros out, and the whole list where all are zero.
                (None, 0..=8) => {
                    let mut all = [0; 8];
                    all[..bytes.len()].copy_from_slice(&bytes);
                    u64::from_le_bytes(all)
                }
                (None, found) => return fail!("PTX: {name}: expected 8 bytes, found {found}"),
            };
            self.hashes.insert(entry.to_ascii_lowercase(), hash);
        }
        let visible = words(declaration).any(|word| word == ".visible");
        self.variables.push(Variable { name: name.to_owned(), visible, bytes });
        Ok(())
    }
}

/// PTX without `//` and `/* */` comments.
pub fn without_comments(ptx: &str) -> String {
    let mut kept = String::with_capacity(ptx.len());
    let mut rest = ptx;
    while let Some(start) = rest.find('/') {
        let (before, comment) = rest.split_at(start);
        kept.push_str(before);
        let skipped = if comment.starts_with("//") {
            comment.find('\n')
        } else if comment.starts_with("/*") {
            comment.find("*/").map(|end| end + 2)
        } else {
            kept.push('/');
            Some(1)
        };
        rest = skipped.map_or("", |end| &comment[end..]);
    }
    kept.push_str(rest);
    kept
}

/// The words of a piece of PTX: brackets, commas and braces separate, dots do not.
pub fn words(ptx: &str) -> impl Iterator<Item = &str> {
    ptx.split(|c: char| c.is_whitespace() || matches!(c, ';' | ',' | '{' | '}' | '(' | ')'))
        .filter(|word| !word.is_empty())
}

/// Cuts `.version 7.4`, `.target sm_75` and `.address_size 64`, which end without `;`, from the front.
fn skip_directives(head: &str) -> &str {
    let mut rest = head.trim_start();
    while [".version", ".target", ".address_size"].iter().any(|directive| rest.starts_with(directive)) {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
    }
    rest
}

/// From a `{` at the front to its `}`.
fn braced(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(&text[..=at]),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn function<'a>(head: &str, body: &'a str) -> Result<Function<'a>> {
    let entry = words(head).any(|word| word == ".entry");
    let directive = if entry { ".entry" } else { ".func" };
    let mut after = head.split_once(directive).map_or("", |(_, after)| after).trim_start();
    if after.starts_with('(') {
        // The value that a function returns stands before its name.
        after = after.split_once(')').map_or("", |(_, after)| after);
    }
    let Some(name) = words(after).next() else {
        return fail!("PTX: {directive} without a name: `{}`", head.trim());
    };
    let noreturn = words(head).any(|word| word == ".noreturn");
    Ok(Function { name: name.to_owned(), entry, noreturn, body })
}

fn byte_list(name: &str, list: &str) -> Result<Vec<u8>> {
    // `0xFF(symbol)` is one byte of an address: no text, so it counts as zero.
    let byte = |word: &str| if word.contains('(') { Ok(0) } else { word.parse::<u8>().map_err(|_| word.to_owned()) };
    let words = list.trim_matches(['{', '}']).split(',').map(str::trim).filter(|word| !word.is_empty());
    match words.map(byte).collect::<std::result::Result<Vec<u8>, String>>() {
        Ok(bytes) => Ok(bytes),
        Err(word) => fail!("PTX: {name}: expected a list of bytes, found `{word}`"),
    }
}

fn integer(name: &str, value: &str) -> Result<u64> {
    let digits = value.trim_end_matches('U');
    let parsed = match digits.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok(),
        // The back end may print a 64-bit pattern as a signed number.
        None => digits.parse::<u64>().ok().or_else(|| digits.parse::<i64>().ok().map(i64::cast_unsigned)),
    };
    parsed.map_or_else(|| fail!("PTX: {name}: expected a 64-bit integer, found `{value}`"), Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "\
// made by hand {
.version 7.4
.target sm_75
.address_size 64
.func stop
(
	.param .b64 stop_param_0
)
.noreturn;
.visible .global .align 8 .b8 COPY_PARAMS_HASH[8] = {21, 129, 233, 125, 244, 16, 34, 17};
.visible .global .align 8 .u64 crop_PARAMS_HASH = 1234567890123456789;
.visible .global .align 8 .b64 fill_PARAMS_HASH = -1;
.visible .global .align 8 .b8 zero_PARAMS_HASH[8];
.global .align 8 .b8 text[6] = {47, 104, 111, 109, 101, 0xFF(other)};
.visible .entry copy(
	.param .align 8 .b8 copy_param_0[24]
)
{ ld.param.b64 %rd1, [copy_param_0]; { .reg .pred p; } /* } */ ret; }
.func  (.param .b32 out) helper(.param .b32 in) { ret; }
.func stop(.param .b64 stop_param_0)
.noreturn
{ trap; exit; }
";

    #[test]
    fn functions_are_found_with_their_bodies() {
        let text = without_comments(SAMPLE);
        let module = Module::parse(&text).expect("a module");
        let found: Vec<_> = module.functions.iter().map(|f| (f.name.as_str(), f.entry, f.noreturn)).collect();
        assert_eq!(found, [("copy", true, false), ("helper", false, false), ("stop", false, true)]);
        assert!(module.functions[0].body.ends_with("ret; }"), "{:?}", module.functions[0].body);
        assert_eq!(module.entries().count(), 1);
    }

    #[test]
    fn debug_sections_are_no_statements() {
        let lines = "\t.file\t1 \"/k/src/lib.rs\"\n\t.section\t.debug_macinfo\n\t{\n.b8 0\n\t}\n";
        let text = without_comments(&format!("{lines}{SAMPLE}{lines}"));
        let names: Vec<String> =
            Module::parse(&text).expect("a module").functions.into_iter().map(|f| f.name).collect();
        assert_eq!(names, ["copy", "helper", "stop"]);
    }

    #[test]
    fn hashes_are_read_in_both_forms() {
        let text = without_comments(SAMPLE);
        let module = Module::parse(&text).expect("a module");
        let hash = |name: &str| module.hashes.get(name).copied();
        assert_eq!(hash("copy"), Some(1_234_567_890_123_456_789));
        assert_eq!(hash("crop"), Some(1_234_567_890_123_456_789));
        assert_eq!(hash("fill"), Some(u64::MAX));
        assert_eq!(hash("zero"), Some(0));
        assert_eq!(module.hashes.len(), 4);
    }

    #[test]
    fn constants_give_their_bytes() {
        let text = without_comments(SAMPLE);
        let module = Module::parse(&text).expect("a module");
        let variable = |name: &str| module.variables.iter().find(|variable| variable.name == name).expect("a variable");
        assert_eq!(variable("text").bytes, b"/home\0");
        assert!(!variable("text").visible && variable("COPY_PARAMS_HASH").visible);
    }

    #[test]
    fn torn_modules_are_refused() {
        assert!(Module::parse(".visible .entry a() { ret;").is_err());
        assert!(Module::parse(".global .b8 x_PARAMS_HASH[9] = {1,2,3,4,5,6,7,8,9};").is_err());
        assert!(Module::parse(".global .u64 x_PARAMS_HASH = seven;").is_err());
    }
}
