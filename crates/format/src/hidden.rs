//! Invisible characters, which can hide instructions in a description.

use std::borrow::Cow;

/// Returns `true` if a character is invisible or reorders the displayed text: Unicode tags, zero-width
/// characters, direction marks, variation selectors other than the two that emoji use, and other
/// default-ignorable characters.
///
/// This includes the zero-width joiner and non-joiner; [`find_hidden`] accepts them where a script or an emoji
/// needs them.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{3164}' | '\u{FE00}'..='\u{FE0D}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Returns `true` for control characters other than line breaks and tabs. They disturb terminals and prompts.
pub fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

/// Returns the first hidden or control character and its byte offset. Joiners that a script or an emoji needs
/// are skipped.
pub fn find_hidden(text: &str) -> Option<(usize, char)> {
    // Almost no text contains such characters, so scan for suspicious bytes first.
    let mut position = 0;
    while let Some(offset) = next_suspicious_byte(text.as_bytes().get(position..)?) {
        position += offset;
        let c = text.get(position..)?.chars().next()?;
        let is_hiding = is_hidden(c)
            && !text[..position]
                .chars()
                .next_back()
                .is_some_and(|previous| is_legitimate_joiner(previous, c));
        if is_hiding || is_control(c) {
            return Some((position, c));
        }
        position += c.len_utf8();
    }
    None
}

/// Returns `false` if [`find_hidden`] would find nothing in any part of `bytes`. The bytes need not be UTF-8.
///
/// ```
/// use prowess_format::hidden::may_contain_hidden;
///
/// assert!(!may_contain_hidden("Grüße".as_bytes()));
/// assert!(may_contain_hidden("a\u{202e}b".as_bytes()));
/// ```
pub fn may_contain_hidden(bytes: &[u8]) -> bool {
    next_suspicious_byte(bytes).is_some()
}

/// Returns the offset of the next suspicious byte. Whole blocks are tested without branches so that the
/// compiler can vectorize the loop.
fn next_suspicious_byte(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 64;
    let pairs = |block: &[u8], next: &[u8]| {
        block.iter().zip(next).fold(false, |any, (byte, next)| any | is_suspicious(*byte, *next))
    };
    let mut start = 0;
    while let (Some(block), Some(next)) =
        (bytes.get(start..start + BLOCK), bytes.get(start + 1..start + BLOCK + 1))
    {
        if pairs(block, next) {
            break;
        }
        start += BLOCK;
    }
    let rest = bytes.get(start..)?;
    let next = |index: usize| rest.get(index + 1).copied().unwrap_or_default();
    (0..rest.len())
        .find(|index| rest.get(*index).is_some_and(|byte| is_suspicious(*byte, next(*index))))
        .map(|index| start + index)
}

/// Returns `true` if a hidden or control character may begin with this byte and the next. Latin, Greek,
/// Cyrillic and most Chinese letters, arrows and mathematical signs never match, so such text is scanned fast.
fn is_suspicious(byte: u8, next: u8) -> bool {
    let is_control = (byte < 0x20) & (byte != b'\n') & (byte != b'\r') & (byte != b'\t');
    let begins_two_bytes = (byte == 0xC2) | (byte == 0xCD) | (byte == 0xD8);
    let begins_three_bytes =
        (byte == 0xE1) | ((byte == 0xE2) & (next < 0x82)) | (byte == 0xE3) | (byte == 0xEF);
    let begins_four_bytes = (byte == 0xF0) | (byte == 0xF3);
    is_control | (byte == 0x7F) | begins_two_bytes | begins_three_bytes | begins_four_bytes
}

/// Returns `true` if a zero-width joiner or non-joiner is legitimate after `previous`: inside emoji, and in the
/// Arabic and Indic scripts, whose spelling needs it.
fn is_legitimate_joiner(previous: char, c: char) -> bool {
    let in_emoji = matches!(previous, '\u{2190}'..='\u{2BFF}' | '\u{FE0F}' | '\u{1F000}'..='\u{1FAFF}');
    let in_script =
        matches!(previous, '\u{0600}'..='\u{06FF}' | '\u{0750}'..='\u{077F}' | '\u{0900}'..='\u{0DFF}');
    (c == '\u{200D}' && (in_emoji || in_script)) || (c == '\u{200C}' && in_script)
}

/// Removes hidden and control characters. Joiners that a script or an emoji needs are kept.
///
/// ```
/// assert_eq!(prowess_format::hidden::remove_hidden("a\u{202e}b\u{200d}c 👩\u{200d}🔧"), "abc 👩\u{200d}🔧");
/// ```
pub fn remove_hidden(text: &str) -> Cow<'_, str> {
    if find_hidden(text).is_none() {
        return text.into();
    }
    let mut visible = String::with_capacity(text.len());
    for c in text.chars() {
        let is_joiner = visible.chars().next_back().is_some_and(|previous| is_legitimate_joiner(previous, c));
        if is_joiner || !(is_hidden(c) || is_control(c)) {
            visible.push(c);
        }
    }
    visible.into()
}

/// Escapes text for display on one line: hidden and control characters become `\u{…}`, line breaks and tabs
/// become spaces.
///
/// ```
/// assert_eq!(prowess_format::hidden::escape_for_display("a\u{202e}b\x1b[31m"), "a\\u{202e}b\\u{1b}[31m");
/// ```
pub fn escape_for_display(text: &str) -> Cow<'_, str> {
    match escape_lines_for_display(text) {
        escaped if escaped.contains(['\n', '\r', '\t']) => escaped.replace(['\n', '\r', '\t'], " ").into(),
        escaped => escaped,
    }
}

/// Escapes text for display on several lines: hidden and control characters become `\u{…}`, line breaks and
/// tabs are kept.
///
/// ```
/// assert_eq!(prowess_format::hidden::escape_lines_for_display("a\u{202e}b\n\tc"), "a\\u{202e}b\n\tc");
/// ```
pub fn escape_lines_for_display(text: &str) -> Cow<'_, str> {
    if find_hidden(text).is_none() {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut previous = ' ';
    for c in text.chars() {
        match c {
            c if is_legitimate_joiner(previous, c) => out.push(c),
            c if is_hidden(c) || is_control(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
        previous = c;
    }
    out.into()
}

/// Escapes text like [`escape_for_display`] and truncates it to 200 characters, marked with `…`.
///
/// ```
/// use prowess_format::hidden::escape_and_truncate;
///
/// assert_eq!(escape_and_truncate("a\nb"), "a b");
/// assert_eq!(escape_and_truncate(&"x".repeat(1_000_000)).chars().count(), 201);
/// ```
pub fn escape_and_truncate(text: &str) -> String {
    const MAX: usize = 200;
    // Escaping never shortens text, so more input than this cannot be visible.
    let end = text.char_indices().nth(MAX + 1).map_or(text.len(), |(offset, _)| offset);
    let escaped = escape_for_display(&text[..end]);
    match escaped.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &escaped[..end]),
        None => escaped.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn joiners_are_hidden_between_letters_but_not_in_emoji() {
        assert_eq!(find_hidden("👩\u{200d}🔧 fixes ❤\u{fe0f}"), None);
        assert_eq!(find_hidden("a\u{200d}b"), Some((1, '\u{200d}')));
        assert_eq!(find_hidden("می\u{200c}خواهم"), None);
        assert_eq!(find_hidden("tag \u{E0041}"), Some((4, '\u{E0041}')));
        assert_eq!(find_hidden("shorthand \u{1BCA0}"), Some((10, '\u{1BCA0}')));
    }

    #[test]
    fn every_hidden_or_control_character_begins_with_a_suspicious_byte() {
        for c in '\0'..=char::MAX {
            let mut bytes = [0; 4];
            if is_hidden(c) || is_control(c) {
                c.encode_utf8(&mut bytes);
                assert!(is_suspicious(bytes[0], bytes[1]), "{c:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn escaped_text_contains_no_hidden_characters(text in any::<String>()) {
            prop_assert_eq!(find_hidden(&escape_for_display(&text)), None);
        }
    }
}
