//! What is shown of the place of a finding: one clean line, not too long, with secrets masked.

use prowess_format::hidden;

use super::text::Text;
use super::wording::Raw;

/// The most bytes of a line that are shown.
const WIDTH: usize = 160;

/// The line of a finding. Of a secret only its beginning is left, which tells what kind it is.
pub(super) fn excerpt(text: &Text<'_>, raw: &Raw) -> String {
    let (start, line) = text.line(text.line_of(raw.at));
    let end = start + line.len();
    let from = if line.len() <= WIDTH { start } else { raw.at.saturating_sub(WIDTH / 4).max(start) };
    let until = end.min(from + WIDTH);
    let mut shown = String::new();
    if from > start {
        shown.push('…');
    }
    match raw.key {
        Some((key, key_end)) if key < until => {
            let kept = (key + 4).min(key_end);
            shown.push_str(&clean(text, from, kept));
            shown.push('…');
            shown.push_str(&clean(text, key_end.min(until), until));
        }
        _ => shown.push_str(&clean(text, from, until)),
    }
    if until < end {
        shown.push('…');
    }
    shown.trim().to_owned()
}

fn clean(text: &Text<'_>, from: usize, until: usize) -> String {
    let bytes = text.bytes.get(from..until.max(from)).unwrap_or_default();
    let lossy = String::from_utf8_lossy(bytes);
    // A character that was cut through is left out.
    hidden::shown(lossy.trim_matches(char::REPLACEMENT_CHARACTER)).into_owned()
}
