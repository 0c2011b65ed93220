//! Words of a model, as they may reach whoever reads them. They come in pieces that end anywhere.

use prowess_format::hidden::{self, is_control};

/// What was passed on so far, as far as the next piece depends on it.
#[derive(Debug)]
pub(in crate::commands) struct Words {
    before: char,
    /// Whether somebody looks: then nothing is hidden.
    seen: bool,
}

impl Words {
    pub(in crate::commands) fn new(seen: bool) -> Self {
        Self { before: '\n', seen }
    }

    /// Whether the next word begins a line.
    pub(super) fn at_start(&self) -> bool {
        self.before == '\n'
    }

    /// The next piece. Line breaks and tabs stay; what a terminal would obey, or nobody would see, becomes `\u{…}`. In a
    /// pipe, what is merely hidden stays: it may be meant.
    pub(in crate::commands) fn shown(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        for c in piece.chars() {
            match c {
                // It would move the cursor over what stands there.
                '\r' => continue,
                '\n' | '\t' => out.push(c),
                c if is_control(c) => out.extend(c.escape_unicode()),
                c if self.seen => {
                    // A joiner is judged by what stands before it, and that was judged already.
                    let is_judged = hidden::is_hidden(self.before) || is_control(self.before);
                    let before = if is_judged { ' ' } else { self.before };
                    match hidden::first(&String::from_iter([before, c])) {
                        Some((at, _)) if at > 0 => out.extend(c.escape_unicode()),
                        _ => out.push(c),
                    }
                }
                c => out.push(c),
            }
            self.before = c;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(pieces: &[&str], seen: bool) -> String {
        let mut words = Words::new(seen);
        pieces.iter().map(|piece| words.shown(piece)).collect()
    }

    #[test]
    fn a_terminal_is_told_nothing_and_a_pipe_loses_nothing_that_is_text() {
        let nasty = "a\u{1b}[31m\r\u{9b}2J\u{202e}b\n\tc";
        assert_eq!(all(&[nasty], true), "a\\u{1b}[31m\\u{9b}2J\\u{202e}b\n\tc");
        assert_eq!(all(&["\u{7f}\u{200b}\u{2066}\u{202e}"], true), "\\u{7f}\\u{200b}\\u{2066}\\u{202e}");
        assert_eq!(all(&[nasty], false), "a\\u{1b}[31m\\u{9b}2J\u{202e}b\n\tc");
        assert_eq!(all(&["👩", "\u{200d}", "🔧"], true), "👩\u{200d}🔧");
        assert_eq!(all(&["a", "\u{200d}", "b"], true), "a\\u{200d}b");
    }

    proptest! {
        #[test]
        fn nothing_is_hidden_however_it_is_cut(text in any::<String>(), at in any::<prop::sample::Index>()) {
            let cut = text.floor_char_boundary(at.index(text.len() + 1));
            let (left, right) = text.split_at(cut);
            let shown = all(&[left, right], true);
            prop_assert_eq!(hidden::first(&shown), None);
            prop_assert_eq!(shown, all(&[&text], true));
        }
    }
}
