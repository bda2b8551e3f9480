//! The head of a checked-in file: which compiler made it, and of what.

use crate::{files::sha256, toolchain::Version};

/// The first line.
const TITLE: &str = "// PTX of framewright kernels, written by framewright-ptx. Not to be edited.";
/// The keys of what is compared.
const SOURCE: &str = "// source-sha256: ";
const BODY: &str = "// body-sha256: ";

/// Head and body.
pub(crate) fn with_head(package: &str, version: &Version, source_sha256: &str, body: &str) -> String {
    format!(
        "{TITLE}\n// package: {package}\n// rustc: {}\n// LLVM version: {}\n{SOURCE}{source_sha256}\n{BODY}{}\n\n{body}",
        version.rustc,
        version.llvm,
        sha256(body.as_bytes())
    )
}

/// What a checked-in file is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Made of these sources.
    Current,
    /// Made of others.
    Stale,
    /// No file of ours, or one that was changed.
    Foreign(&'static str),
}

/// Compares a file's text with the sources' hash.
pub(crate) fn state(text: &str, source_sha256: &str) -> State {
    let Some((head, body)) = text.split_once("\n\n").filter(|(head, _)| head.starts_with(TITLE)) else {
        return State::Foreign("expected a head by framewright-ptx, found none");
    };
    let field = |key: &str| head.lines().find_map(|line| line.strip_prefix(key));
    if field(BODY) != Some(sha256(body.as_bytes()).as_str()) {
        return State::Foreign("expected the body that its body-sha256 names, found another: it was edited or cut");
    }
    if field(SOURCE) == Some(source_sha256) { State::Current } else { State::Stale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_current_stale_or_foreign() {
        let version = Version { rustc: "rustc 1".into(), commit: "c".into(), llvm: "22".into() };
        let text = with_head("k", &version, "abc", ".version 7.4\n\n.target sm_75\n");
        assert_eq!(state(&text, "abc"), State::Current);
        assert_eq!(state(&text, "abd"), State::Stale);
        assert!(matches!(state(&text.replace("sm_75", "sm_80"), "abc"), State::Foreign(why) if why.contains("edited")));
        assert!(matches!(state(".version 7.4\n\n", "abc"), State::Foreign(why) if why.contains("head")));
    }
}
