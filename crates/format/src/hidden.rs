//! Characters that nobody sees: a description can carry orders in them.

use std::borrow::Cow;

/// Whether a character is invisible or reorders what is seen: Unicode tags, zero-width characters, direction marks,
/// variation selectors beyond the two that emoji use, and other default-ignorable ones.
///
/// The zero-width joiner and non-joiner count, too; [`first`] lets them pass where a script or an emoji needs them.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{3164}' | '\u{FE00}'..='\u{FE0D}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Whether a control character would disturb a terminal or a prompt. Line breaks and tabs are not counted.
pub fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

/// The first hidden or control character with its byte offset. A joiner that its script or emoji needs is left alone.
pub fn first(text: &str) -> Option<(usize, char)> {
    // Nearly no text has such characters, and it is passed over in one go.
    let mut at = 0;
    while let Some(offset) = next_odd(text.as_bytes().get(at..)?) {
        at += offset;
        let c = text.get(at..)?.chars().next()?;
        let hides = is_hidden(c) && !text[..at].chars().next_back().is_some_and(|before| joins(before, c));
        if hides || is_control(c) {
            return Some((at, c));
        }
        at += c.len_utf8();
    }
    None
}

/// Whether bytes may hold a hidden or control character, once they are decoded: `false` where [`first`] would find
/// nothing in any part of them. They need not be UTF-8.
///
/// ```
/// use prowess_format::hidden::is_suspect;
///
/// assert!(!is_suspect("Grüße".as_bytes()));
/// assert!(is_suspect("a\u{202e}b".as_bytes()));
/// ```
pub fn is_suspect(bytes: &[u8]) -> bool {
    next_odd(bytes).is_some()
}

/// The next byte that is odd. Whole blocks are judged at once, without branches, which the compiler turns into
/// instructions for many bytes at a time.
fn next_odd(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 64;
    let pairs = |block: &[u8], next: &[u8]| {
        block.iter().zip(next).fold(false, |any, (byte, next)| any | is_odd(*byte, *next))
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
    let next = |at: usize| rest.get(at + 1).copied().unwrap_or_default();
    (0..rest.len()).find(|at| rest.get(*at).is_some_and(|byte| is_odd(*byte, next(*at)))).map(|at| start + at)
}

/// Whether a hidden or control character may begin with this byte and the next. No letter of Latin, Greek, Cyrillic or
/// most Chinese text does, nor do arrows and mathematical signs, so that such text is passed over, too.
fn is_odd(byte: u8, next: u8) -> bool {
    let control = (byte < 0x20) & (byte != b'\n') & (byte != b'\r') & (byte != b'\t');
    let two = (byte == 0xC2) | (byte == 0xCD) | (byte == 0xD8);
    let three = (byte == 0xE1) | ((byte == 0xE2) & (next < 0x82)) | (byte == 0xE3) | (byte == 0xEF);
    let four = (byte == 0xF0) | (byte == 0xF3);
    control | (byte == 0x7F) | two | three | four
}

/// Whether a zero-width joiner or non-joiner does its work after `before`: inside emoji, and in the Arabic and Indic
/// scripts, whose spelling needs it.
fn joins(before: char, c: char) -> bool {
    let emoji = matches!(before, '\u{2190}'..='\u{2BFF}' | '\u{FE0F}' | '\u{1F000}'..='\u{1FAFF}');
    let script =
        matches!(before, '\u{0600}'..='\u{06FF}' | '\u{0750}'..='\u{077F}' | '\u{0900}'..='\u{0DFF}');
    (c == '\u{200D}' && (emoji || script)) || (c == '\u{200C}' && script)
}

/// The text as it may be shown: hidden and control characters become `\u{…}`, line breaks become spaces.
///
/// ```
/// assert_eq!(prowess_format::hidden::shown("a\u{202e}b\x1b[31m"), "a\\u{202e}b\\u{1b}[31m");
/// ```
pub fn shown(text: &str) -> Cow<'_, str> {
    match shown_lines(text) {
        shown if shown.contains(['\n', '\r', '\t']) => shown.replace(['\n', '\r', '\t'], " ").into(),
        shown => shown,
    }
}

/// The text as it may be shown where lines are kept: hidden and control characters become `\u{…}`, line breaks and tabs
/// stay.
///
/// ```
/// assert_eq!(prowess_format::hidden::shown_lines("a\u{202e}b\n\tc"), "a\\u{202e}b\n\tc");
/// ```
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    if first(text).is_none() {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for c in text.chars() {
        match c {
            c if joins(before, c) => out.push(c),
            c if is_hidden(c) || is_control(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
        before = c;
    }
    out.into()
}

/// The same for text that may be endless: what comes after 200 characters is left out, and that is seen.
///
/// ```
/// use prowess_format::hidden::brief;
///
/// assert_eq!(brief("a\nb"), "a b");
/// assert_eq!(brief(&"x".repeat(1_000_000)).chars().count(), 201);
/// ```
pub fn brief(text: &str) -> String {
    const MAX: usize = 200;
    // Each character is shown as one or more: what is cut here could not have been seen anyway.
    let end = text.char_indices().nth(MAX + 1).map_or(text.len(), |(at, _)| at);
    let shown = shown(&text[..end]);
    match shown.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_family_is_not_hidden_but_a_joiner_between_letters_is() {
        assert_eq!(first("👩\u{200d}🔧 fixes ❤\u{fe0f}"), None);
        assert_eq!(first("a\u{200d}b"), Some((1, '\u{200d}')));
        assert_eq!(first("می\u{200c}خواهم"), None);
        assert_eq!(first("tag \u{E0041}"), Some((4, '\u{E0041}')));
    }

    #[test]
    fn every_hidden_or_control_character_begins_with_an_odd_byte() {
        for c in '\0'..=char::MAX {
            let mut bytes = [0; 4];
            if is_hidden(c) || is_control(c) {
                c.encode_utf8(&mut bytes);
                assert!(is_odd(bytes[0], bytes[1]), "{c:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_hides_nothing(text in any::<String>()) {
            prop_assert_eq!(first(&shown(&text)), None);
        }
    }
}
