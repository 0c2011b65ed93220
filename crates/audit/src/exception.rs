//! Where the exception of a pattern counts.
//!
//! The author of a skill chooses the words around a match, so an exception counts only where it can change what the
//! match does: in code in the same statement, without comments; in prose up to the match in the same sentence.

use std::ops::Range;

use regex::bytes::Regex;

use super::rule::PatternException;
use super::text::LineKind;

/// The ends of a block comment, in JavaScript, HTML and PowerShell.
const COMMENT_ENDS: [&[u8]; 3] = [b"*/", b"-->", b"#>"];

/// What every URL contains.
const URL_MARK: &[u8] = b"://";

impl PatternException {
    /// Returns `true` if the exception, compiled as `regex`, counts for a match in a line of this kind.
    pub(super) fn applies(&self, regex: &Regex, window: &[u8], found: Range<usize>, kind: LineKind) -> bool {
        match (kind, self.prose_only) {
            (LineKind::Code, true) => false,
            (LineKind::Code | LineKind::Data, false) => excuses(regex, statement(window, found)),
            (LineKind::Data, true) | (LineKind::Prose | LineKind::Frontmatter, _) => {
                excuses(regex, sentence(window, found))
            }
        }
    }
}

/// Returns `true` if an exception matches a text. An exception for URLs must match all of them, so that a
/// harmless URL does not excuse another one.
fn excuses(regex: &Regex, text: &[u8]) -> bool {
    let matches: Vec<Range<usize>> = regex.find_iter(text).map(|found| found.range()).collect();
    let has_url = |range: &Range<usize>| {
        memchr::memmem::find(text.get(range.clone()).unwrap_or_default(), URL_MARK).is_some()
    };
    let is_covered = |mark: usize| matches.iter().any(|range| range.contains(&mark));
    matches.iter().any(|range| !has_url(range))
        || (!matches.is_empty() && memchr::memmem::find_iter(text, URL_MARK).all(is_covered))
}

/// Returns the statement around a match in code. A match in a line that is a comment belongs to the whole line.
fn statement(window: &[u8], found: Range<usize>) -> &[u8] {
    let before = window.get(..found.start).unwrap_or_default();
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    let line = window.get(line_start..).unwrap_or_default();
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_inside = found.end <= line_start + line.len();
    if is_inside && is_comment_line(line) {
        return line;
    }
    let is_end = |index: &usize| is_separator(window, *index);
    let start = (0..found.start).rev().find(is_end).map_or(0, |index| index + 1);
    let end = (found.end..window.len()).find(is_end).unwrap_or(window.len());
    let start = COMMENT_ENDS.iter().fold(start, |start, mark| start.max(after_last(before, mark)));
    let is_comment = |index: &usize| starts_comment(window, *index);
    let end = (found.start..end).find(is_comment).unwrap_or(end);
    window.get(start..end.max(start)).unwrap_or_default()
}

/// Returns the sentence up to the word after a match in prose, or after its code span.
fn sentence(window: &[u8], found: Range<usize>) -> &[u8] {
    let before = window.get(..found.start).unwrap_or_default();
    let sentence_start =
        |end: usize| (0..end).rev().find(|index| ends_sentence(window, *index)).map_or(0, |index| index + 1);
    let matched = window.get(found.clone()).unwrap_or_default();
    let has_pronoun =
        [" it ", " them "].iter().any(|word| memchr::memmem::find(matched, word.as_bytes()).is_some());
    // A pronoun refers to the sentence before.
    let start = sentence_start(found.start);
    let start = if has_pronoun { sentence_start(start.saturating_sub(1)) } else { start };
    let start = start.max(after_last(before, b"-->"));
    let is_span = before.iter().filter(|byte| **byte == b'`').count() % 2 == 1;
    let after = window.get(found.end..).unwrap_or_default();
    let span = memchr::memchr(b'`', after).filter(|_| is_span).map_or(0, |closing| closing + 1);
    let rest = after.get(span..).unwrap_or_default();
    let spaces = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let word = rest.iter().skip(spaces).take_while(|byte| !byte.is_ascii_whitespace()).count();
    let length = span + spaces + word;
    window.get(start..found.end + length).unwrap_or_default()
}

/// Returns the offset after the last occurrence of a mark, or 0.
fn after_last(bytes: &[u8], mark: &[u8]) -> usize {
    memchr::memmem::rfind(bytes, mark).map_or(0, |offset| offset + mark.len())
}

/// Returns `true` if nothing in the line runs. `//bin/sh` is a path, and `#x` is a field in JavaScript.
fn is_comment_line(line: &[u8]) -> bool {
    match line.trim_ascii_start() {
        [b'#', next, ..] => next.is_ascii_whitespace() || matches!(next, b'!' | b'#'),
        [b'#'] => true,
        line => line.starts_with(b"// "),
    }
}

/// Returns `true` if a statement ends at an offset.
fn is_separator(window: &[u8], index: usize) -> bool {
    let byte = |index: Option<usize>| index.and_then(|index| window.get(index)).copied();
    let (previous, next) = (byte(index.checked_sub(1)), byte(Some(index + 1)));
    match window.get(index) {
        Some(b';') => true,
        Some(b'&') => matches!(next, Some(b'&' | b' ')) && previous != Some(b'>'),
        Some(b'|') => next == Some(b'|'),
        Some(b'\n') => !continues_below(window, index),
        _ => false,
    }
}

/// Returns `true` if the line below continues the one that ends at this newline. A comment is never continued.
fn continues_below(window: &[u8], newline: usize) -> bool {
    let (above, below) = window.split_at(newline.min(window.len()));
    let line = above.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_open = line.last().is_some_and(|byte| b"\\|(-".contains(byte));
    let has_comment = || (0..line.len()).any(|index| starts_comment(line, index));
    !has_comment() && (is_open || below.trim_ascii_start().starts_with(b"|"))
}

/// Returns `true` if a comment may start at an offset. In a text literal, it may be something else.
fn starts_comment(window: &[u8], index: usize) -> bool {
    let previous = index.checked_sub(1).and_then(|index| window.get(index));
    let rest = window.get(index..).unwrap_or_default();
    match rest {
        [b'#', ..] => previous.is_none_or(|byte| byte.is_ascii_whitespace() || b")]};,'\"".contains(byte)),
        [b'/', b'/', ..] => previous.is_none_or(|byte| !matches!(byte, b':' | b'/')),
        [b'/', b'*', ..] => {
            previous.is_none_or(|byte| !b"/~.*'\"".contains(byte) && !byte.is_ascii_alphanumeric())
        }
        _ => rest.starts_with(b"<#") || rest.starts_with(b"<!--"),
    }
}

/// Returns `true` if a sentence or an item of a list ends at an offset.
fn ends_sentence(window: &[u8], index: usize) -> bool {
    let rest = window.get(index..).unwrap_or_default();
    match rest {
        [b'.' | b'!' | b'?', next, ..] => next.is_ascii_whitespace(),
        [b';', ..] => true,
        [b'\n', next @ ..] => next.trim_ascii_start().first().is_some_and(|byte| b"-*+#|>".contains(byte)),
        // The last bytes of the full-width stops.
        _ => ["。", "！", "？", "；"].iter().any(|stop| {
            index.checked_sub(2).and_then(|start| window.get(start..=index)) == Some(stop.as_bytes())
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around<'a>(scope: fn(&[u8], Range<usize>) -> &[u8], text: &'a str, found: &str) -> &'a str {
        let start = text.find(found).unwrap();
        std::str::from_utf8(scope(text.as_bytes(), start..start + found.len())).unwrap()
    }

    #[test]
    fn a_statement_has_no_comments_and_no_neighbors() {
        for text in [
            "a; run X y # z",
            "a && run X y && z",
            "/* a */ run X y // z",
            "a\nrun X y; z",
            "<# a #> run X y <# z #>",
            "# a \\\n run X y)# z",
        ] {
            assert_eq!(around(statement, text, "X").trim_matches([' ', ')']), "run X y", "{text}");
        }
        assert_eq!(around(statement, "X http://h/#a | b \\\n c", "X"), "X http://h/#a | b \\\n c");
        assert_eq!(around(statement, "# a; X b", "X"), "# a; X b");
        assert_eq!(around(statement, "//bin/X b # c", "X"), "//bin/X b ");
    }

    #[test]
    fn a_sentence_ends_after_the_match() {
        assert_eq!(around(sentence, "One. Two X now or later. Three.", "X"), " Two X now");
        assert_eq!(around(sentence, "Use `X -a -b` for z", "X"), "Use `X -a -b` for");
        assert_eq!(around(sentence, "<!-- a --> b X", "X"), " b X");
        assert_eq!(around(sentence, "一。二 X", "X"), "二 X");
        assert_eq!(around(sentence, "One. Two. X it Y", "X it Y"), " Two. X it Y");
    }
}
