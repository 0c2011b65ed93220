//! PA501 to PA504: invisible characters.

use prowess_format::hidden;

use super::push_finding;
use crate::report::RawFinding;
use crate::text::SourceText;

/// The shortest run of variation selectors that no emoji contains.
const SELECTOR_RUN: usize = 3;

/// The letters of the flags that are written with tags: England, Scotland and Wales.
const FLAG_TAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

pub(super) fn check(text: &SourceText<'_>, findings: &mut Vec<RawFinding>) {
    // Most texts have no such character, which is detected without decoding them.
    if !hidden::may_contain_hidden(&text.bytes) {
        return;
    }
    if let Ok(valid) = std::str::from_utf8(&text.bytes) {
        return check_str(valid, 0, findings);
    }
    let mut base = 0;
    for chunk in text.bytes.utf8_chunks() {
        check_str(chunk.valid(), base, findings);
        base += chunk.valid().len() + chunk.invalid().len();
    }
}

fn check_str(text: &str, base: usize, findings: &mut Vec<RawFinding>) {
    let mut start = 0;
    while let Some((offset, c)) = text.get(start..).and_then(hidden::find_hidden) {
        start += offset;
        let rest = text.get(start..).unwrap_or_default();
        let run = rest.len() - rest.trim_start_matches(|next| is_same_kind(c, next)).len();
        let characters = rest.get(..run).unwrap_or_default();
        if let Some((id, note)) = classify(text, base, start, c, characters) {
            push_finding(findings, id, base + start, note);
        }
        start += run;
    }
}

fn classify(
    text: &str,
    base: usize,
    offset: usize,
    c: char,
    run: &str,
) -> Option<(&'static str, Option<String>)> {
    let previous = text.get(..offset).and_then(|preceding| preceding.chars().next_back());
    match c {
        // Only the first one is a byte-order mark.
        '\u{feff}' if base + offset == 0 && run.chars().count() == 1 => None,
        _ if is_tag(c) && previous == Some('🏴') && FLAG_TAGS.contains(&&*decode_flag(run)) => None,
        _ if is_tag(c) => Some(("PA501", Some(format!("decoded: {}", decode_tags(run))))),
        _ if is_selector(c) && run.chars().count() >= SELECTOR_RUN => {
            Some(("PA501", Some(format!("{} consecutive variation selectors", run.chars().count()))))
        }
        _ if is_selector(c) => None,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some(("PA502", None)),
        '\u{1b}' | '\u{9b}' => Some(("PA504", None)),
        c if hidden::is_hidden(c) => Some(("PA503", None)),
        // A form feed, a vertical tab, a stray NUL: unusual, but harmless.
        _ => None,
    }
}

/// Returns `true` if both characters are tags, both are selectors, or they are the same.
fn is_same_kind(first: char, next: char) -> bool {
    first == next || (is_tag(first) && is_tag(next)) || (is_selector(first) && is_selector(next))
}

/// Returns `true` for an invisible character that represents an ASCII character.
fn is_tag(c: char) -> bool {
    ('\u{e0000}'..='\u{e007f}').contains(&c)
}

/// Returns `true` for a variation selector.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Decodes the tags of a flag, without the one that ends it. Returns an empty text for any other run.
fn decode_flag(run: &str) -> String {
    run.strip_suffix('\u{e007f}').filter(|run| run.chars().count() == 5).map(decode_tags).unwrap_or_default()
}

/// Decodes the letters that tags represent.
fn decode_tags(run: &str) -> String {
    let letter =
        |c: char| char::from_u32(u32::from(c).wrapping_sub(0xE0000)).filter(|c| (' '..='~').contains(c));
    run.chars().filter_map(letter).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_byte_order_mark_is_ignored() {
        let count = |text: &str| {
            let mut findings = Vec::new();
            check(&SourceText::new("a.txt", text.as_bytes().into()), &mut findings);
            findings.len()
        };
        assert_eq!(count("\u{feff}text"), 0);
        assert_eq!(count("\u{feff}\u{feff}text"), 1);
        assert_eq!(count("te\u{feff}xt"), 1);
    }
}
