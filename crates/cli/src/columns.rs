//! Measures, pads, truncates and wraps text in terminal columns.
//!
//! The text must be a single line without control characters.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the width in columns: two for most East Asian characters, none for combining characters.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Pads the text with spaces to a width.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Truncates the text to a width, with an ellipsis if there is room for one.
pub(crate) fn truncate(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(mut remaining) = columns.checked_sub(1) else { return String::new() };
    let fits = |c: &char| match remaining.checked_sub(c.width().unwrap_or(0)) {
        Some(width_left) => {
            remaining = width_left;
            true
        }
        None => false,
    };
    let prefix: String = text.chars().take_while(fits).collect();
    format!("{}…", prefix.trim_end())
}

/// Wraps the text at a width. Longer words are not broken, so that paths can be copied.
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

/// Wraps the text at a width, and breaks words that are longer, for texts of any script.
pub(crate) fn wrap_prose(text: &str, columns: usize) -> Vec<String> {
    wrap(text, columns).into_iter().flat_map(|line| break_line(line, columns)).collect()
}

/// Breaks a line that is wider than the columns.
fn break_line(line: String, columns: usize) -> Vec<String> {
    if width(&line) <= columns {
        return vec![line];
    }
    let (mut parts, mut part, mut used) = (Vec::new(), String::new(), 0);
    for c in line.chars() {
        let columns_of_char = c.width().unwrap_or(0);
        if used + columns_of_char > columns && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
            used = 0;
        }
        part.push(c);
        used += columns_of_char;
    }
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(width("日本語"), 6);
        assert_eq!(pad("日本", 6), "日本  ");
        assert_eq!(truncate("日本語", 6), "日本語");
        assert_eq!(truncate("日本語の説明", 6), "日本…");
        assert_eq!(width("tiếng-việt"), 10);
    }

    #[test]
    fn nothing_fits_into_no_columns() {
        assert_eq!(truncate("text", 0), "");
        assert_eq!(truncate("text", 1), "…");
    }

    #[test]
    fn wrapping_does_not_break_words() {
        assert_eq!(
            wrap("trust it: prowess trust /a/very/long/path", 12),
            ["trust it:", "prowess", "trust", "/a/very/long/path"]
        );
        assert_eq!(wrap("", 12), Vec::<String>::new());
    }

    #[test]
    fn prose_breaks_long_words() {
        assert_eq!(wrap_prose("short 日本語の説明文 x", 8), ["short", "日本語の", "説明文", "x"]);
        assert_eq!(wrap_prose("abc", 1), ["a", "b", "c"]);
    }

    proptest! {
        #[test]
        fn truncated_text_fits(text in any::<String>(), columns in 0_usize..40) {
            let text = crate::output::clean(&text).into_owned();
            prop_assert!(width(&truncate(&text, columns)) <= columns);
        }

        #[test]
        fn wrapping_loses_no_word(text in "[a-z日 ]{0,60}", columns in 1_usize..20) {
            let words: Vec<_> = text.split_whitespace().collect();
            prop_assert_eq!(wrap(&text, columns).join(" "), words.join(" "));
        }
    }
}
