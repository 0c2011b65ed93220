//! How wide a text is on a terminal, and how it is brought to a width.
//!
//! What comes in is clean already: without control characters, and on one line.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many columns a text takes: two for most characters of East Asian scripts, none for combining ones.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text with spaces up to so many columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text cut to so many columns, with a sign that it was.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |c: &char| match left.checked_sub(c.width().unwrap_or(0)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

/// The text in lines of so many columns. A word that is longer stays whole, so that a path can still be copied.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|line| width(line) + 1 + width(word) <= columns) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(width("日本語"), 6);
        assert_eq!(pad("日本", 6), "日本  ");
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語の説明", 6), "日本…");
        assert_eq!(width("tiếng-việt"), 10);
    }

    #[test]
    fn words_stay_whole() {
        assert_eq!(
            wrap("trust it: prowess trust /a/very/long/path", 12),
            ["trust it:", "prowess", "trust", "/a/very/long/path"]
        );
        assert_eq!(wrap("", 12), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn what_is_cut_fits(text in any::<String>(), columns in 1_usize..40) {
            let text = crate::output::clean(&text).into_owned();
            prop_assert!(width(&cut(&text, columns)) <= columns);
        }

        #[test]
        fn wrapping_loses_no_word(text in "[a-z日 ]{0,60}", columns in 1_usize..20) {
            let words: Vec<_> = text.split_whitespace().collect();
            prop_assert_eq!(wrap(&text, columns).join(" "), words.join(" "));
        }
    }
}
