//! Prepares untrusted text for a model: removes escape sequences and truncates it with an exact notice.

use std::fmt;

use serde::Serialize;

/// How much of a file is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Truncation {
    /// The number of bytes shown, from the beginning of the file.
    pub shown: u64,
    /// The size of the file in bytes.
    pub total: u64,
}

impl fmt::Display for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[truncated: {} of {} bytes shown]", self.shown, self.total)
    }
}

/// Truncates text to at most `limit` bytes, at a character boundary. Bytes that are not UTF-8 are truncated
/// anywhere.
pub(crate) fn truncate_bytes(text: &mut Vec<u8>, limit: u64) -> Option<Truncation> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let total = text.len();
    if total <= limit {
        return None;
    }
    let is_continuation = |offset: &usize| text.get(*offset).is_some_and(|byte| byte & 0xC0 == 0x80);
    let end =
        (limit.saturating_sub(3)..=limit).rev().find(|offset| !is_continuation(offset)).unwrap_or(limit);
    text.truncate(end);
    Some(Truncation { shown: end as u64, total: total as u64 })
}

/// Truncates a string to at most `limit` bytes. See [`truncate_bytes`].
pub(crate) fn truncate_text(text: &mut String, limit: u64) -> Option<Truncation> {
    if text.len() as u64 <= limit {
        return None;
    }
    let mut bytes = std::mem::take(text).into_bytes();
    let truncated = truncate_bytes(&mut bytes, limit);
    // The text was truncated at a character boundary, so it is still UTF-8.
    *text = String::from_utf8(bytes).unwrap_or_default();
    truncated
}

/// Returns `true` if there is anything that [`strip_escapes`] removes. Checks whole blocks first, which the
/// compiler can vectorize: nearly all text has none.
pub(crate) fn has_controls(text: &[u8]) -> bool {
    const BLOCK: usize = 256;
    let suspicious = |block: &[u8]| block.iter().fold(false, |any, byte| any | is_suspicious(*byte));
    let control = |offset: usize| match text.get(offset) {
        Some(0xC2) => text.get(offset + 1).is_none_or(|next| *next < 0xA0),
        Some(byte) => is_suspicious(*byte),
        None => false,
    };
    let blocks = text.chunks(BLOCK).enumerate();
    blocks
        .into_iter()
        .any(|(index, block)| suspicious(block) && (index * BLOCK..index * BLOCK + block.len()).any(control))
}

/// Removes terminal escape sequences and control characters except line breaks and tabs, in place. Returns how
/// many of the bytes before `mark` were removed.
///
/// Hidden Unicode characters stay: they can be legitimate, and `prowess check` warns about them.
pub fn strip_escapes(text: &mut String, mark: usize) -> usize {
    if !has_controls(text.as_bytes()) {
        return 0;
    }
    let mut state = EscapeState::Text;
    let (mut offset, mut removed) = (0, 0);
    text.retain(|c| {
        let keep = state.keeps(c);
        if !keep && offset < mark {
            removed += c.len_utf8();
        }
        offset += c.len_utf8();
        keep
    });
    removed
}

/// Returns `true` if a byte may begin a control character. 0xC2 is the first byte of U+0080 to U+009F, and of
/// other characters.
fn is_suspicious(byte: u8) -> bool {
    (byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t')) || byte == 0x7F || byte == 0xC2
}

/// The state of the parser for escape sequences, according to ECMA-48.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapeState {
    Text,
    /// After ESC and intermediate bytes.
    Escape,
    /// In `ESC [ …`, until its final byte.
    Control,
    /// In `ESC ] …` and similar sequences, until BEL or `ESC \`.
    Command,
    /// In such a sequence, after ESC.
    CommandEnd,
}

impl EscapeState {
    fn keeps(&mut self, c: char) -> bool {
        // A sequence ends at the end of its line, so that an unterminated one does not remove the rest of the
        // text.
        if matches!(c, '\n' | '\r') {
            *self = Self::Text;
            return true;
        }
        let (next, keep) = match (*self, c) {
            (Self::CommandEnd, '\\') => (Self::Text, false),
            (Self::Command, '\u{1B}') => (Self::CommandEnd, false),
            (Self::Command, '\u{07}' | '\u{9C}') => (Self::Text, false),
            (Self::Command, _) => (Self::Command, false),
            (_, '\u{1B}') => (Self::Escape, false),
            (_, '\u{9B}') => (Self::Control, false),
            (_, '\u{90}' | '\u{98}' | '\u{9D}' | '\u{9E}' | '\u{9F}') => (Self::Command, false),
            (Self::Escape | Self::CommandEnd, '[') => (Self::Control, false),
            (Self::Escape | Self::CommandEnd, ']' | 'P' | 'X' | '^' | '_') => (Self::Command, false),
            (Self::Escape, ' '..='/') => (Self::Escape, false),
            (Self::Escape | Self::CommandEnd, '0'..='~') => (Self::Text, false),
            (Self::Control, ' '..='?') => (Self::Control, false),
            (Self::Control, '@'..='~') => (Self::Text, false),
            (_, c) => (Self::Text, c == '\t' || !c.is_control()),
        };
        *self = next;
        keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stripped(text: &str) -> String {
        let mut text = text.to_owned();
        strip_escapes(&mut text, 0);
        text
    }

    #[test]
    fn escape_sequences_go_and_text_stays() {
        for (text, expected) in [
            ("a\x1b[31mred\x1b[0m b", "ared b"),
            ("\x1b]0;title\x07x\x1b]8;;http://a\x1b\\link", "xlink"),
            ("\u{9b}2Jx \u{9d}52;c;evil\u{9c}y", "x y"),
            ("\x1bPdata\x1b\\z \x1b(Bq \x1bc", "z q "),
            ("a\0b\x08c\x7f\td\r\n", "abc\td\r\n"),
            ("never closed \x1b]0;abc\nnext line", "never closed \nnext line"),
            ("cut \x1b[31\nnext", "cut \nnext"),
            ("é £ \u{a0} ü\u{200b}", "é £ \u{a0} ü\u{200b}"),
            ("\x1b]0;a\x1b[31mb", "b"),
        ] {
            assert_eq!(stripped(text), expected, "{text:?}");
        }
    }

    #[test]
    fn removed_bytes_before_the_mark_are_counted() {
        let mut text = "\x1b[1mab\0|c\0d".to_owned();
        let mark = text.find('|').unwrap();
        assert_eq!(strip_escapes(&mut text, mark), 5);
        assert_eq!(text, "ab|cd");
    }

    proptest! {
        #[test]
        fn text_without_controls_is_unchanged(
            text in "[\\x00-\\x7f\\u{80}-\\u{ff}]{0,4}[a-z \u{a3}é]{250,258}[ -~\\u{9b}\u{c0}]{0,4}",
        ) {
            prop_assert_eq!(has_controls(text.as_bytes()), stripped(&text) != text);
            prop_assert_eq!(has_controls(text.as_bytes()), text.chars().any(
                |c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')));
        }

        #[test]
        fn truncation_respects_the_limit_and_characters(text in any::<String>(), limit in 0u64..64) {
            let mut short = text.clone().into_bytes();
            let truncation = truncate_bytes(&mut short, limit);
            let short = String::from_utf8(short).unwrap();
            prop_assert!(short.len() as u64 <= limit);
            prop_assert!(text.starts_with(&short));
            prop_assert_eq!(truncation.is_some(), text.len() as u64 > limit);
            if let Some(truncation) = truncation {
                prop_assert_eq!((truncation.shown, truncation.total), (short.len() as u64, text.len() as u64));
                prop_assert!(limit - truncation.shown < 4);
            }
        }

        #[test]
        fn no_control_character_survives_and_lines_stay(text in "[\\x00-\\x1f\\u{80}-\\u{9f}\\[\\]a-c;\n]{0,40}") {
            let out = stripped(&text);
            prop_assert!(!out.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')));
            prop_assert_eq!(out.matches('\n').count(), text.matches('\n').count());
            prop_assert_eq!(stripped(&out), out);
        }
    }
}
