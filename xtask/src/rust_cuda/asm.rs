//! The entries and parameter hashes in the assembler's text of a host.

use crate::failure::{Result, fail};
use crate::ptx_text::HASH_SUFFIX;
use std::collections::BTreeMap;

/// Entry -> hash of its parameters. A hash without its entry is an error.
pub(crate) fn hashes(listing: &str) -> Result<BTreeMap<String, u64>> {
    let label = |line: &str| -> Option<String> {
        let name = line.strip_suffix(':')?;
        (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
            .then(|| name.to_owned())
    };
    let lines: Vec<&str> = listing.lines().collect();
    let functions: BTreeMap<String, String> =
        lines.iter().filter_map(|line| label(line)).map(|name| (name.to_uppercase(), name)).collect();
    let mut all = BTreeMap::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(entry) = label(line).and_then(|name| name.strip_suffix(HASH_SUFFIX).map(str::to_owned)) else {
            continue;
        };
        let Some(name) = functions.get(&entry) else {
            return fail!("{entry}{HASH_SUFFIX}: expected its entry, found none");
        };
        let value = lines.get(at + 1).map_or("", |next| next.trim());
        match number(value) {
            Some(hash) => all.insert(name.clone(), hash),
            None => return fail!("{entry}{HASH_SUFFIX}: expected 8 bytes, found `{value}`"),
        };
    }
    Ok(all)
}

/// The value of a directive that lays down 8 bytes.
fn number(directive: &str) -> Option<u64> {
    let (name, value) = directive.split_once(char::is_whitespace)?;
    let value = value.trim();
    match name {
        ".quad" | ".xword" | ".8byte" => {
            value.parse::<u64>().ok().or_else(|| value.parse::<i64>().ok().map(i64::cast_unsigned))
        }
        ".ascii" => text(value.strip_prefix('"')?.strip_suffix('"')?).try_into().ok().map(u64::from_le_bytes),
        // The last byte is 0.
        ".asciz" => {
            let mut bytes = text(value.strip_prefix('"')?.strip_suffix('"')?);
            bytes.push(0);
            bytes.try_into().ok().map(u64::from_le_bytes)
        }
        _ => None,
    }
}

/// The bytes of a string with the assembler's escapes.
fn text(escaped: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = escaped.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let mut code = 0u32;
        let mut digits = 0;
        while let Some(digit @ b'0'..=b'7') = rest.peek().copied().filter(|_| digits < 3) {
            code = code * 8 + u32::from(digit - b'0');
            digits += 1;
            rest.next();
        }
        bytes.push(match (digits, rest.peek().copied()) {
            (1.., _) => u8::try_from(code & 0xff).unwrap_or_default(),
            (_, Some(letter)) => {
                rest.next();
                match letter {
                    b'b' => 8,
                    b'f' => 12,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    other => other,
                }
            }
            (_, None) => b'\\',
        });
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_read_in_all_forms() {
        let listing = "a_b:\n\tret\nc:\nd:\ne:\nA_B_PARAMS_HASH:\n\t.ascii\t\"\\215)\\020\\223%\\367\\274C\"\n\
                       C_PARAMS_HASH:\n\t.quad\t-2\nD_PARAMS_HASH:\n\t.asciz\t\"\\b]\\\"\\\\\\n\\0011\"\n\
                       E_PARAMS_HASH:\n\t.xword 18446744073709551615\n";
        let expected = [
            ("a_b", u64::from_le_bytes([141, 41, 16, 147, 37, 247, 188, 67])),
            ("c", u64::MAX - 1),
            ("d", u64::from_le_bytes([8, 93, 34, 92, 10, 1, 49, 0])),
            ("e", u64::MAX),
        ];
        assert_eq!(hashes(listing), Ok(expected.map(|(name, hash)| (name.to_owned(), hash)).into()));
    }

    #[test]
    fn a_hash_without_an_entry_is_refused() {
        assert!(hashes("A_PARAMS_HASH:\n\t.quad 1\n").expect_err("no entry").0.contains("expected its entry"));
        assert!(hashes("a:\nA_PARAMS_HASH:\n\t.long 1\n").expect_err("4 bytes").0.contains("expected 8 bytes"));
    }
}
