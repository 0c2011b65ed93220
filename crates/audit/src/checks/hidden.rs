//! PA501 to PA504: characters that nobody sees.

use prowess_format::hidden;

use super::push;
use crate::text::Text;
use crate::wording::Raw;

/// So many variation selectors in a row are no longer emoji.
const RUN: usize = 3;

pub(super) fn check(text: &Text<'_>, raw: &mut Vec<Raw>) {
    // Most texts have no such character, and that is seen without decoding them.
    if !hidden::is_suspect(&text.bytes) {
        return;
    }
    if let Ok(whole) = std::str::from_utf8(&text.bytes) {
        return valid(whole, 0, raw);
    }
    let mut base = 0;
    for chunk in text.bytes.utf8_chunks() {
        valid(chunk.valid(), base, raw);
        base += chunk.valid().len() + chunk.invalid().len();
    }
}

fn valid(text: &str, base: usize, raw: &mut Vec<Raw>) {
    let mut at = 0;
    while let Some((offset, c)) = text.get(at..).and_then(hidden::first) {
        at += offset;
        let rest = text.get(at..).unwrap_or_default();
        let run = rest.len() - rest.trim_start_matches(|other| of_a_kind(c, other)).len();
        let run = run.max(c.len_utf8());
        let shown = rest.get(..run).unwrap_or_default();
        if let Some((id, note)) = judge(text, base, at, c, shown) {
            push(raw, id, base + at, note);
        }
        at += run;
    }
}

fn judge(text: &str, base: usize, at: usize, c: char, run: &str) -> Option<(&'static str, Option<String>)> {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    match c {
        '\u{feff}' if base + at == 0 => None,
        // The flags of England, Scotland and Wales are written with tags.
        '\u{e0000}'..='\u{e007f}' if before == Some('🏴') => None,
        '\u{e0000}'..='\u{e007f}' => Some(("PA501", Some(format!("it says: {}", spelt(run))))),
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' if run.chars().count() >= RUN => {
            Some(("PA501", Some(format!("{} variation selectors in a row", run.chars().count()))))
        }
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => None,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some(("PA502", None)),
        '\u{1b}' | '\u{9b}' => Some(("PA504", None)),
        c if hidden::is_hidden(c) => Some(("PA503", None)),
        // A form feed, a vertical tab, a stray NUL: odd, and harmless.
        _ => None,
    }
}

/// Tags go with tags, selectors with selectors.
fn of_a_kind(first: char, other: char) -> bool {
    match first {
        '\u{e0000}'..='\u{e007f}' => ('\u{e0000}'..='\u{e007f}').contains(&other),
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            ('\u{fe00}'..='\u{fe0f}').contains(&other) || ('\u{e0100}'..='\u{e01ef}').contains(&other)
        }
        first => first == other,
    }
}

/// The letters that tags stand for.
fn spelt(run: &str) -> String {
    let letter =
        |c: char| char::from_u32(u32::from(c).wrapping_sub(0xE0000)).filter(|c| (' '..='~').contains(c));
    run.chars().filter_map(letter).take(100).collect()
}
