//! Sanitizes and escapes text from skills, so that it cannot break out of its element.

use std::borrow::Cow;

use prowess_format::hidden;

/// Joins a text into one line without control and hidden characters, and shortens it to `max` characters.
///
/// ```
/// use prowess::catalog::escape::one_line;
///
/// assert_eq!(one_line("a\n\tb\u{202e}c\x1b[31m", 20), "a bc[31m");
/// assert_eq!(one_line("much too long", 6), "much …");
/// ```
pub fn one_line(text: &str, max: usize) -> Cow<'_, str> {
    let is_line = text.split(' ').all(|word| !word.is_empty() && !word.contains(char::is_whitespace));
    if is_line && hidden::find_hidden(text).is_none() {
        return shorten(text.into(), max);
    }
    let mut line = String::with_capacity(text.len().min(max * 4));
    for word in text.split_whitespace().map(hidden::remove_hidden).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    shorten(line.into(), max)
}

/// Shortens a text to `max` characters including an ellipsis, at a word boundary if one is near.
pub fn shorten(text: Cow<'_, str>, max: usize) -> Cow<'_, str> {
    // The number of characters never exceeds the number of bytes.
    if text.len() <= max || text.chars().count() <= max {
        return text;
    }
    let max_chars = max.saturating_sub(1);
    let end = text.char_indices().nth(max_chars).map_or(text.len(), |(offset, _)| offset);
    let cut = &text[..end];
    let word = cut.rfind(' ').filter(|offset| *offset * 4 >= cut.len() * 3);
    let mut short = match word {
        Some(offset) => cut[..=offset].to_owned(),
        None => cut.to_owned(),
    };
    short.push('…');
    short.into()
}

/// Escapes text for an XML element or attribute.
///
/// ```
/// assert_eq!(prowess::catalog::escape::escape_xml("</skill> & \"x\""), "&lt;/skill&gt; &amp; &quot;x&quot;");
/// ```
pub fn escape_xml(text: &str) -> Cow<'_, str> {
    replace(text, |c| match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\'' => Some("&apos;"),
        _ => None,
    })
}

/// Escapes text of any origin for an XML document: hidden characters and those that XML does not allow become `\u{…}`, and
/// carriage returns become references.
///
/// ```
/// use prowess::catalog::escape::escape_xml_visibly;
///
/// assert_eq!(escape_xml_visibly("<a>\u{1b}\u{ffff}\r"), "&lt;a&gt;\\u{1b}\\u{ffff}&#13;");
/// ```
pub fn escape_xml_visibly(text: &str) -> String {
    let visible = hidden::escape_lines_for_display(text);
    let escaped = escape_xml(&visible);
    replace(&escaped, |c| match c {
        '\u{fffe}' => Some("\\u{fffe}"),
        '\u{ffff}' => Some("\\u{ffff}"),
        '\r' => Some("&#13;"),
        _ => None,
    })
    .into_owned()
}

/// Escapes text for Markdown, so that it contains no code, links or markup.
///
/// ```
/// assert_eq!(prowess::catalog::escape::escape_markdown("```sh [a](b) <b>"), "\\`\\`\\`sh \\[a\\](b) \\<b>");
/// ```
pub fn escape_markdown(text: &str) -> Cow<'_, str> {
    replace(text, |c| match c {
        '`' => Some("\\`"),
        '[' => Some("\\["),
        ']' => Some("\\]"),
        '<' => Some("\\<"),
        '\\' => Some("\\\\"),
        _ => None,
    })
}

fn replace(text: &str, with: impl Fn(char) -> Option<&'static str>) -> Cow<'_, str> {
    // All replaced characters are ASCII.
    if !text.bytes().any(|byte| with(char::from(byte)).is_some()) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match with(c) {
            Some(replacement) => out.push_str(replacement),
            None => out.push(c),
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_is_one_line_and_bounded(text in any::<String>(), max in 1usize..80) {
            let line = one_line(&text, max);
            prop_assert!(line.chars().count() <= max);
            prop_assert!(!line.contains(['\n', '\r', '\t']));
            prop_assert_eq!(hidden::find_hidden(&line), None);
        }

        #[test]
        fn a_line_stays_as_it_is(text in "[a \n\u{a0}\u{200d}\u{200c}\u{202e}👩🔧ی]{0,12}") {
            let line = one_line(&text, 80);
            prop_assert_eq!(line.trim(), line.as_ref());
            prop_assert_eq!(one_line(&line, 80), line.as_ref());
        }

        #[test]
        fn escaped_xml_has_no_markup_and_can_be_unescaped(text in any::<String>()) {
            let escaped = escape_xml(&text);
            prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
            let back = escaped.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
            prop_assert_eq!(back.replace("&amp;", "&"), text);
        }
    }
}
