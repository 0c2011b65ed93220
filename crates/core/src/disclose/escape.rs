//! Text from skills, made safe for where it goes. Nothing a skill says can leave its element.

use std::borrow::Cow;

use prowess_format::hidden;

/// One line, without control and hidden characters, at most so many characters long.
///
/// ```
/// use prowess::disclose::escape::one_line;
///
/// assert_eq!(one_line("a\n\tb\u{202e}c\x1b[31m", 20), "a bc[31m");
/// assert_eq!(one_line("much too long", 6), "much …");
/// ```
pub fn one_line(text: &str, max: usize) -> Cow<'_, str> {
    let plain = hidden::first(text).is_none() && !text.contains(['\n', '\r', '\t']) && !text.contains("  ");
    if plain && text.len() <= max {
        return text.into();
    }
    let mut line = String::with_capacity(text.len().min(max * 4));
    for word in text.split_whitespace() {
        let visible = word.chars().filter(|c| !hidden::is_hidden(*c) && !hidden::is_control(*c));
        let start = line.len();
        if start > 0 {
            line.push(' ');
        }
        let before = line.len();
        line.extend(visible);
        if line.len() == before {
            line.truncate(start);
        }
    }
    shorten(line.into(), max)
}

/// At most so many characters, with a sign where it was cut; between words where that does not cost much.
pub fn shorten(text: Cow<'_, str>, max: usize) -> Cow<'_, str> {
    // A text of so many bytes has no more characters than that.
    if text.len() <= max || text.chars().count() <= max {
        return text;
    }
    let kept = max.saturating_sub(1);
    let end = text.char_indices().nth(kept).map_or(text.len(), |(at, _)| at);
    let cut = &text[..end];
    let word = cut.rfind(' ').filter(|at| *at * 4 >= cut.len() * 3);
    let mut short = match word {
        Some(at) => cut[..=at].to_owned(),
        None => cut.to_owned(),
    };
    short.push('…');
    short.into()
}

/// For text inside an XML element or attribute.
///
/// ```
/// assert_eq!(prowess::disclose::escape::xml("</skill> & \"x\""), "&lt;/skill&gt; &amp; &quot;x&quot;");
/// ```
pub fn xml(text: &str) -> Cow<'_, str> {
    replace(text, |c| match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\'' => Some("&apos;"),
        _ => None,
    })
}

/// For running text in Markdown: no code, no links, no markup.
///
/// ```
/// assert_eq!(prowess::disclose::escape::markdown("```sh [a](b) <b>"), "\\`\\`\\`sh \\[a\\](b) \\<b>");
/// ```
pub fn markdown(text: &str) -> Cow<'_, str> {
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
    // All that is ever replaced is ASCII.
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
            prop_assert!(line.chars().all(|c| !hidden::is_control(c) && !hidden::is_hidden(c)));
        }

        #[test]
        fn xml_has_no_markup_left_and_leads_back(text in any::<String>()) {
            let escaped = xml(&text);
            prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
            let back = escaped.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
            prop_assert_eq!(back.replace("&amp;", "&"), text);
        }
    }
}
