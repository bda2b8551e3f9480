//! A Rust file as the rules read it: code without comments, tests and the text of strings, all at their old places.

use std::ops::Range;

/// What a comment says where a construct is fine, followed by the reason.
const ALLOW: &str = "rust-cuda: ok,";

/// A file, taken apart. All offsets are into `code`, which is as long as the file.
pub(crate) struct Source {
    /// Path from the workspace root.
    pub(crate) path: String,
    /// The text with blanks for comments, for what is between the quotes of strings, and for `#[cfg(test)]` items.
    pub(crate) code: String,
    /// Strings outside of those: where their text starts, and the text.
    pub(crate) strings: Vec<(usize, String)>,
    /// Numbers of the lines, from 1, with an [`ALLOW`] comment that gives a reason.
    allowed: Vec<usize>,
}

impl Source {
    pub(crate) fn read(path: &str, text: &str) -> Self {
        let mut parts = Parts { text: text.as_bytes(), code: text.as_bytes().to_vec(), ..Parts::default() };
        parts.split();
        let Parts { mut code, strings, comments, .. } = parts;
        for range in tests(&code) {
            blank(&mut code[range]);
        }
        let code = String::from_utf8_lossy(&code).into_owned();
        let strings = strings.into_iter().filter(|range| code[..range.start].ends_with('"'));
        let strings = strings.map(|range| (range.start, text[range].to_owned())).collect();
        let reason = |range: &Range<usize>| text[range.clone()].split_once(ALLOW).map(|(_, reason)| reason.trim());
        let allowed = comments.iter().filter(|range| reason(range).is_some_and(|reason| !reason.is_empty()));
        let allowed = allowed.map(|range| line(text, range.start)).collect();
        Self { path: path.to_owned(), code, strings, allowed }
    }

    /// The number of the line at `offset`, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        line(&self.code, offset)
    }

    /// Whether a comment on this line, or on the one above, says that what is there is fine.
    pub(crate) fn allows(&self, line: usize) -> bool {
        self.allowed.iter().any(|allowed| *allowed == line || *allowed + 1 == line)
    }

    /// Identifiers, keywords and numbers, with where they start.
    pub(crate) fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        let starts = |at: &usize| {
            let before = self.code[..*at].bytes().next_back();
            is_word(self.code.as_bytes()[*at]) && !before.is_some_and(is_word)
        };
        (0..self.code.len()).filter(starts).map(|at| {
            let end = self.code.as_bytes()[at..].iter().position(|byte| !is_word(*byte));
            (at, &self.code[at..end.map_or(self.code.len(), |end| at + end)])
        })
    }

    /// Where this word stands.
    pub(crate) fn places(&self, word: &str) -> Vec<usize> {
        self.words().filter(|(_, other)| *other == word).map(|(at, _)| at).collect()
    }

    /// The code after `offset`, without leading blanks.
    pub(crate) fn after(&self, offset: usize) -> &str {
        self.code[offset..].trim_start()
    }

    /// The code before `offset`, without trailing blanks.
    pub(crate) fn before(&self, offset: usize) -> &str {
        self.code[..offset].trim_end()
    }

    /// What is between the brackets of calls of the macro `name`.
    pub(crate) fn calls(&self, name: &str) -> Vec<Range<usize>> {
        let opened = |at: usize| {
            let rest = self.after(at + name.len()).strip_prefix('!')?.trim_start();
            let open = self.code.len() - rest.len();
            rest.starts_with(['(', '[', '{']).then(|| open..closing(self.code.as_bytes(), open))
        };
        self.places(name).into_iter().filter_map(opened).collect()
    }
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn line(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count()
}

/// Where the bracket at `open` is closed; the end where it is not.
pub(crate) fn closing(code: &[u8], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, byte) in code.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at;
        }
    }
    code.len()
}

fn blank(text: &mut [u8]) {
    text.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// The items under `#[cfg(test)]`.
fn tests(code: &[u8]) -> Vec<Range<usize>> {
    const TEST: &[u8] = b"#[cfg(test)]";
    let starts = (0..code.len()).filter(|at| code[*at..].starts_with(TEST));
    let item = |start: usize| {
        let end = code[start..].iter().position(|byte| matches!(byte, b'{' | b';')).map_or(code.len(), |at| start + at);
        start..if code.get(end) == Some(&b'{') { closing(code, end) } else { end }
    };
    starts.map(item).collect()
}

/// A file on its way to a [`Source`].
#[derive(Default)]
struct Parts<'a> {
    text: &'a [u8],
    code: Vec<u8>,
    /// What is between the quotes.
    strings: Vec<Range<usize>>,
    comments: Vec<Range<usize>>,
}

impl Parts<'_> {
    fn split(&mut self) {
        let mut at = 0;
        while at < self.text.len() {
            let rest = &self.text[at..];
            at = match rest {
                [b'/', b'/', ..] => self.comment(at, rest.iter().position(|byte| *byte == b'\n')),
                [b'/', b'*', ..] => self.comment(at, Some(block_comment(rest))),
                [b'"', ..] => self.string(at + 1),
                [b'r', b'"' | b'#', ..] if !self.in_word(at) => match hashes(&rest[1..]) {
                    Some(hashes) => self.raw_string(at + 2 + hashes, hashes),
                    None => at + 1,
                },
                [b'\'', b'\\', ..] => self.quoted(at + 1, at + 3),
                [b'\'', next, ..] => {
                    // A character or the name of a lifetime.
                    let length = if next.is_ascii() { 1 } else { utf8_length(*next) };
                    if rest.get(1 + length) == Some(&b'\'') { self.quoted(at + 1, at + 1 + length) } else { at + 1 }
                }
                _ => at + 1,
            };
        }
    }

    /// Whether the byte before is a word's; `br"…"` is one raw string all the same.
    fn in_word(&self, at: usize) -> bool {
        let before = |back: usize| at.checked_sub(back).map(|at| self.text[at]);
        match before(1) {
            Some(b'b' | b'c') => before(2).is_some_and(is_word),
            byte => byte.is_some_and(is_word),
        }
    }

    fn comment(&mut self, at: usize, length: Option<usize>) -> usize {
        let end = length.map_or(self.text.len(), |length| at + length);
        blank(&mut self.code[at..end]);
        self.comments.push(at..end);
        end
    }

    /// A string whose text starts at `start`.
    fn string(&mut self, start: usize) -> usize {
        let mut at = start;
        while at < self.text.len() && self.text[at] != b'"' {
            at += if self.text[at] == b'\\' { 2 } else { 1 };
        }
        self.text_of_string(start, at.min(self.text.len())) + 1
    }

    fn raw_string(&mut self, start: usize, hashes: usize) -> usize {
        let ends = |at: &usize| {
            let rest = &self.text[*at..];
            rest[0] == b'"' && rest[1..].iter().take_while(|byte| **byte == b'#').count() >= hashes
        };
        let end = (start..self.text.len()).find(ends).unwrap_or(self.text.len());
        self.text_of_string(start, end) + 1 + hashes
    }

    fn text_of_string(&mut self, start: usize, end: usize) -> usize {
        blank(&mut self.code[start..end]);
        self.strings.push(start..end);
        end
    }

    /// A character; `least` is the first place where its quote may end it.
    fn quoted(&mut self, start: usize, least: usize) -> usize {
        let end = (least..self.text.len()).find(|at| self.text[*at] == b'\'').unwrap_or(self.text.len());
        blank(&mut self.code[start..end]);
        end + 1
    }
}

fn block_comment(text: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match text[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// How many `#` before the quote of a raw string.
fn hashes(text: &[u8]) -> Option<usize> {
    let count = text.iter().take_while(|byte| **byte == b'#').count();
    (text.get(count) == Some(&b'"')).then_some(count)
}

fn utf8_length(first: u8) -> usize {
    match first {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_characters_and_tests_are_no_code() {
        let text = r##"fn a<'x>() { let s = "u128 \" u128"; let c = '"'; } // u128
/* u128 /* u128 */ u128 */ let r = r#"u128 " u128"#; let b = br"u128"; let q = '\''; let u = 'ß';
#[cfg(test)]
mod tests { fn b() { let n: u128 = 1; let s = "test"; } }
let rest: u64 = 1;
"##;
        let source = Source::read("a.rs", text);
        assert_eq!(source.places("u128"), [0; 0], "{}", source.code);
        assert_eq!(source.code.len(), text.len());
        assert_eq!(source.line(source.places("u64")[0]), 5);
        let strings: Vec<&str> = source.strings.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(strings, [r#"u128 \" u128"#, r#"u128 " u128"#, "u128"]);
    }

    #[test]
    fn a_comment_allows_its_line_and_the_next_if_it_gives_a_reason() {
        let source = Source::read("a.rs", "a // rust-cuda: ok, measured\nb\nc\nd // rust-cuda: ok,\n");
        assert_eq!([1, 2, 3, 4].map(|line| source.allows(line)), [true, true, false, false]);
    }

    #[test]
    fn calls_are_found_with_their_brackets() {
        let source = Source::read("a.rs", "asm!(f(1), [2]); asm::x; asm! { b }");
        let calls: Vec<&str> = source.calls("asm").into_iter().map(|range| &source.code[range]).collect();
        assert_eq!(calls, ["(f(1), [2]", "{ b "]);
    }
}
