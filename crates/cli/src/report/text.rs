//! Escapes, truncates and measures untrusted text.

use prowess_format::Diagnostic;
use prowess_format::hidden::{self, is_control, is_hidden};

/// Replaces truncated text.
pub(super) const ELLIPSIS: &str = "...";

/// The maximum number of lines of a help text.
const HELP_LINES: usize = 12;

/// The maximum width of a message or of a line of a help text.
const MESSAGE_COLUMNS: usize = 500;

/// Escapes a line: hidden and control characters become `\u{…}`, invalid bytes `\x…`.
///
/// Tabs are kept, because the renderer expands them and places the marker accordingly.
pub(super) fn escape_line(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for (index, part) in chunk.valid().split('\t').enumerate() {
            if index > 0 {
                out.push('\t');
            }
            out.push_str(&hidden::escape_for_display(part));
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// Escapes a message and truncates it if it is too long.
pub(super) fn escape_message(text: &str) -> String {
    let prefix = text.get(..head(text.as_bytes(), MESSAGE_COLUMNS).len()).unwrap_or(text);
    let cut = if prefix.len() < text.len() { ELLIPSIS } else { "" };
    hidden::escape_for_display(prefix).into_owned() + cut
}

/// Escapes a help text, which may have several lines.
pub(super) fn escape_help(text: &str) -> String {
    let mut lines = text.lines();
    let mut shown: Vec<_> = lines.by_ref().take(HELP_LINES).map(escape_message).collect();
    if lines.next().is_some() {
        shown.push(ELLIPSIS.to_owned());
    }
    shown.join("\n")
}

/// Returns message and help as one text, for formats without a field for help.
pub(super) fn message_and_help(diagnostic: &Diagnostic) -> String {
    let message = escape_message(&diagnostic.message);
    match &diagnostic.help {
        Some(text) => format!("{message}\nhelp: {}", escape_help(text)),
        None => message,
    }
}

/// Returns the longest prefix that fits into a width.
pub(super) fn head(bytes: &[u8], columns: usize) -> &[u8] {
    // A character has at most four bytes and at least one column, so longer lines need not be measured.
    let candidate = bytes.get(..columns.saturating_mul(4)).unwrap_or(bytes);
    bytes.get(..fitting(cells(candidate), columns)).unwrap_or_default()
}

/// Returns the longest suffix that fits into a width.
pub(super) fn tail(bytes: &[u8], columns: usize) -> &[u8] {
    let from = bytes.len().saturating_sub(columns.saturating_mul(4));
    let candidate = bytes.get(from..).unwrap_or_default();
    // Skip the rest of a character that was split.
    let is_continuation = |byte: &&u8| from > 0 && **byte & 0b1100_0000 == 0b1000_0000;
    let candidate =
        candidate.get(candidate.iter().take(3).take_while(is_continuation).count()..).unwrap_or_default();
    let backwards: Vec<_> = cells(candidate).collect();
    let fitting_bytes = fitting(backwards.into_iter().rev(), columns);
    bytes.get(bytes.len() - fitting_bytes..).unwrap_or_default()
}

/// Escapes a text and removes its middle if it is too wide.
pub(super) fn truncate_middle(bytes: &[u8], columns: usize) -> String {
    if head(bytes, columns).len() == bytes.len() {
        return escape_line(bytes);
    }
    let ends = columns / 3;
    escape_line(head(bytes, columns - ends)) + ELLIPSIS + &escape_line(tail(bytes, ends))
}

/// Returns the width of a short text.
pub(super) fn width(bytes: &[u8]) -> usize {
    cells(bytes).map(|cell| cell.columns).sum()
}

/// A character or an invalid byte.
struct Cell {
    bytes: usize,
    columns: usize,
}

fn cells(bytes: &[u8]) -> impl Iterator<Item = Cell> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let characters = chunk.valid().chars().map(|c| Cell { bytes: c.len_utf8(), columns: char_width(c) });
        characters.chain(chunk.invalid().iter().map(|_| Cell { bytes: 1, columns: 4 }))
    })
}

/// Returns an upper bound for the width of an escaped character.
fn char_width(c: char) -> usize {
    match c {
        '\t' => 4,
        c if is_hidden(c) || is_control(c) => c.escape_unicode().len(),
        '\u{1100}'.. => 2,
        _ => 1,
    }
}

/// Returns the number of bytes of the leading cells that fit into a width.
fn fitting(cells: impl Iterator<Item = Cell>, columns: usize) -> usize {
    let mut remaining = columns;
    let mut bytes = 0;
    for cell in cells {
        match remaining.checked_sub(cell.columns) {
            Some(width_left) => remaining = width_left,
            None => break,
        }
        bytes += cell.bytes;
    }
    bytes
}
