//! Mentions of other skills in a body: `/name`, `$name`, or the name as a code span.

use std::ops::Range;

/// Returns the name of a skill that may be mentioned at an offset, and its bytes.
pub(crate) fn mention_at(text: &str, body: usize, offset: usize) -> Option<(Range<usize>, &str)> {
    if offset < body {
        return None;
    }
    let bytes = name_around(text, body, offset);
    let name = text.get(bytes.clone()).filter(|name| !name.is_empty())?;
    let before = text.get(body..bytes.start)?;
    let is_mentioned = match before.chars().next_back() {
        Some('/' | '$') => begins_word(before.get(..before.len() - 1)?),
        Some('`') => text.get(bytes.end..)?.starts_with('`'),
        _ => false,
    };
    is_mentioned.then_some((bytes, name))
}

/// Returns the part of a name after `/` or `$` that is being typed before an offset, and its start.
pub(crate) fn typed_mention(line: &str) -> Option<&str> {
    let name = line.rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
    let before = line.strip_suffix(name)?;
    let before = before.strip_suffix(['/', '$'])?;
    begins_word(before).then_some(name)
}

fn begins_word(before: &str) -> bool {
    before.chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '`' | '"'))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

fn name_around(text: &str, body: usize, offset: usize) -> Range<usize> {
    let before = text.get(body..offset).unwrap_or_default();
    let after = text.get(offset..).unwrap_or_default();
    let start = offset - before.chars().rev().take_while(|c| is_name(*c)).map(char::len_utf8).sum::<usize>();
    let end = offset + after.chars().take_while(|c| is_name(*c)).map(char::len_utf8).sum::<usize>();
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_found_at_the_beginning_of_a_word() {
        let text = "Use /pdf-tools, then $csv and `docx`. Not a/b, /usr/bin or plain.";
        let name = |word: &str| {
            let offset = text.find(word).unwrap() + 1;
            mention_at(text, 0, offset).map(|(_, name)| name)
        };
        assert_eq!(name("pdf-"), Some("pdf-tools"));
        assert_eq!((name("csv"), name("docx")), (Some("csv"), Some("docx")));
        assert_eq!((name("b, "), name("bin"), name("plain")), (None, None, None));
        assert_eq!(mention_at(text, 20, 6), None);
    }

    #[test]
    fn typed_mentions() {
        assert_eq!(typed_mention("Use /pd"), Some("pd"));
        assert_eq!(typed_mention("$"), Some(""));
        assert_eq!(
            (typed_mention("a/b"), typed_mention("pd"), typed_mention("https://x")),
            (None, None, None)
        );
    }
}
