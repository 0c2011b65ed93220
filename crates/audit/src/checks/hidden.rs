//! PA501 to PA504: invisible characters.

use prowess_format::hidden;

use super::push_finding;
use crate::report::RawFinding;
use crate::text::SourceText;

/// The number of consecutive variation selectors that emoji never have.
const SELECTOR_RUN: usize = 3;

/// The letters of the flags that are written with tags: England, Scotland and Wales.
const FLAG_TAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

pub(super) fn check(text: &SourceText<'_>, raw: &mut Vec<RawFinding>) {
    // Most texts have no such character, which is detected without decoding them.
    if !hidden::may_contain_hidden(&text.bytes) {
        return;
    }
    if let Ok(valid) = std::str::from_utf8(&text.bytes) {
        return check_valid(valid, 0, raw);
    }
    let mut base = 0;
    for chunk in text.bytes.utf8_chunks() {
        check_valid(chunk.valid(), base, raw);
        base += chunk.valid().len() + chunk.invalid().len();
    }
}

fn check_valid(text: &str, base: usize, raw: &mut Vec<RawFinding>) {
    let mut start = 0;
    while let Some((offset, c)) = text.get(start..).and_then(hidden::find_hidden) {
        start += offset;
        let rest = text.get(start..).unwrap_or_default();
        let run = rest.len() - rest.trim_start_matches(|next| is_same_kind(c, next)).len();
        let run = run.max(c.len_utf8());
        let characters = rest.get(..run).unwrap_or_default();
        if let Some((id, note)) = classify(text, base, start, c, characters) {
            push_finding(raw, id, base + start, note);
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
        '\u{feff}' if base + offset == 0 => None,
        '\u{e0000}'..='\u{e007f}' if previous == Some('🏴') && FLAG_TAGS.contains(&&*decode_flag(run)) => {
            None
        }
        '\u{e0000}'..='\u{e007f}' => Some(("PA501", Some(format!("decoded: {}", decode_tags(run))))),
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' if run.chars().count() >= SELECTOR_RUN => {
            Some(("PA501", Some(format!("{} consecutive variation selectors", run.chars().count()))))
        }
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => None,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some(("PA502", None)),
        '\u{1b}' | '\u{9b}' => Some(("PA504", None)),
        c if hidden::is_hidden(c) => Some(("PA503", None)),
        // A form feed, a vertical tab, a stray NUL: unusual, but harmless.
        _ => None,
    }
}

/// Returns `true` if both characters are tags, both are selectors, or they are the same.
fn is_same_kind(first: char, next: char) -> bool {
    match first {
        '\u{e0000}'..='\u{e007f}' => ('\u{e0000}'..='\u{e007f}').contains(&next),
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            ('\u{fe00}'..='\u{fe0f}').contains(&next) || ('\u{e0100}'..='\u{e01ef}').contains(&next)
        }
        first => first == next,
    }
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
