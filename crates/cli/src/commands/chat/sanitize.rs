//! Escapes streamed text, which arrives in arbitrary pieces.

use prowess_format::hidden::{self, is_control};

/// Escapes the pieces of a text stream.
#[derive(Debug)]
pub(in crate::commands) struct StreamSanitizer {
    previous: char,
    /// Whether the output is a terminal, where hidden characters are escaped.
    terminal: bool,
}

impl StreamSanitizer {
    pub(in crate::commands) fn new(terminal: bool) -> Self {
        Self { previous: '\n', terminal }
    }

    /// Returns `true` if the next piece starts a line.
    pub(super) fn at_line_start(&self) -> bool {
        self.previous == '\n'
    }

    /// Escapes the next piece. Line breaks and tabs are kept; control and hidden characters become `\u{…}`. In a pipe,
    /// hidden characters are kept, since they may be intended.
    pub(in crate::commands) fn sanitize(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        for c in piece.chars() {
            match c {
                // A carriage return would let later text overwrite the line.
                '\r' => continue,
                '\n' | '\t' => out.push(c),
                c if is_control(c) => out.extend(c.escape_unicode()),
                c if self.terminal => {
                    // Whether a joiner is hidden depends on the previous character, which was handled already.
                    let is_escaped = hidden::is_hidden(self.previous) || is_control(self.previous);
                    let before = if is_escaped { ' ' } else { self.previous };
                    match hidden::find_hidden(&String::from_iter([before, c])) {
                        Some((index, _)) if index > 0 => out.extend(c.escape_unicode()),
                        _ => out.push(c),
                    }
                }
                c => out.push(c),
            }
            self.previous = c;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sanitize_all(pieces: &[&str], terminal: bool) -> String {
        let mut sanitizer = StreamSanitizer::new(terminal);
        pieces.iter().map(|piece| sanitizer.sanitize(piece)).collect()
    }

    #[test]
    fn control_characters_are_escaped_and_text_is_kept() {
        let hostile = "a\u{1b}[31m\r\u{9b}2J\u{202e}b\n\tc";
        assert_eq!(sanitize_all(&[hostile], true), "a\\u{1b}[31m\\u{9b}2J\\u{202e}b\n\tc");
        assert_eq!(
            sanitize_all(&["\u{7f}\u{200b}\u{2066}\u{202e}"], true),
            "\\u{7f}\\u{200b}\\u{2066}\\u{202e}"
        );
        assert_eq!(sanitize_all(&[hostile], false), "a\\u{1b}[31m\\u{9b}2J\u{202e}b\n\tc");
        assert_eq!(sanitize_all(&["👩", "\u{200d}", "🔧"], true), "👩\u{200d}🔧");
        assert_eq!(sanitize_all(&["a", "\u{200d}", "b"], true), "a\\u{200d}b");
    }

    proptest! {
        #[test]
        fn escaping_does_not_depend_on_the_pieces(text in any::<String>(), at in any::<prop::sample::Index>()) {
            let cut = text.floor_char_boundary(at.index(text.len() + 1));
            let (left, right) = text.split_at(cut);
            let sanitized = sanitize_all(&[left, right], true);
            prop_assert_eq!(hidden::find_hidden(&sanitized), None);
            prop_assert_eq!(sanitized, sanitize_all(&[&text], true));
        }
    }
}
