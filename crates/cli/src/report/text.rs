//! What may be shown of a text, and how wide it is.

use prowess_format::Diagnostic;
use prowess_format::hidden::{self, is_control, is_hidden};

/// What stands for what was cut.
pub(super) const CUT: &str = "...";

/// The most lines of a help that are shown.
const HELP_LINES: usize = 12;

/// The most columns of a message, or of one line of a help, that are shown.
const MESSAGE_COLUMNS: usize = 500;

/// One line as it may be shown: hidden and control characters as `\u{…}`, bytes that are no text as `\x…`.
///
/// Tabs stay, because the renderer gives each four columns and places the marker accordingly.
pub(super) fn shown(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for (index, part) in chunk.valid().split('\t').enumerate() {
            if index > 0 {
                out.push('\t');
            }
            out.push_str(&hidden::shown(part));
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// A sentence on one line, cut where it is endless.
pub(super) fn sentence(text: &str) -> String {
    let kept = text.get(..head(text.as_bytes(), MESSAGE_COLUMNS).len()).unwrap_or(text);
    let cut = if kept.len() < text.len() { CUT } else { "" };
    hidden::shown(kept).into_owned() + cut
}

/// A help, which may have several lines.
pub(super) fn help(text: &str) -> String {
    let mut lines = text.lines();
    let mut kept: Vec<_> = lines.by_ref().take(HELP_LINES).map(sentence).collect();
    if lines.next().is_some() {
        kept.push(CUT.to_owned());
    }
    kept.join("\n")
}

/// Message and help as one text, for the formats that have no field for help.
pub(super) fn message_and_help(diagnostic: &Diagnostic) -> String {
    let message = sentence(&diagnostic.message);
    match &diagnostic.help {
        Some(text) => format!("{message}\nhelp: {}", help(text)),
        None => message,
    }
}

/// The longest beginning that fits into so many columns.
pub(super) fn head(bytes: &[u8], columns: usize) -> &[u8] {
    // No character has more than four bytes or less than one column here, so that nobody measures a megabyte.
    let near = bytes.get(..columns.saturating_mul(4)).unwrap_or(bytes);
    bytes.get(..fitting(cells(near), columns)).unwrap_or_default()
}

/// The longest end that fits into so many columns.
pub(super) fn tail(bytes: &[u8], columns: usize) -> &[u8] {
    let from = bytes.len().saturating_sub(columns.saturating_mul(4));
    let near = bytes.get(from..).unwrap_or_default();
    // What is left of a character that was cut through does not count.
    let left_over = |byte: &&u8| from > 0 && **byte & 0b1100_0000 == 0b1000_0000;
    let near = near.get(near.iter().take(3).take_while(left_over).count()..).unwrap_or_default();
    let backwards: Vec<_> = cells(near).collect();
    let kept = fitting(backwards.into_iter().rev(), columns);
    bytes.get(bytes.len() - kept..).unwrap_or_default()
}

/// The text as it may be shown, without its middle where it is too wide.
pub(super) fn middle(bytes: &[u8], columns: usize) -> String {
    if head(bytes, columns).len() == bytes.len() {
        return shown(bytes);
    }
    let ends = columns / 3;
    shown(head(bytes, columns - ends)) + CUT + &shown(tail(bytes, ends))
}

/// How many columns a short text takes.
pub(super) fn width(bytes: &[u8]) -> usize {
    cells(bytes).map(|cell| cell.columns).sum()
}

/// A character or a stray byte.
struct Cell {
    bytes: usize,
    columns: usize,
}

fn cells(bytes: &[u8]) -> impl Iterator<Item = Cell> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let characters = chunk.valid().chars().map(|c| Cell { bytes: c.len_utf8(), columns: columns_of(c) });
        characters.chain(chunk.invalid().iter().map(|_| Cell { bytes: 1, columns: 4 }))
    })
}

/// How many columns a character takes once it is shown: a guess on the safe side, to know where to cut.
fn columns_of(c: char) -> usize {
    match c {
        '\t' => 4,
        c if is_hidden(c) || is_control(c) => c.escape_unicode().len(),
        '\u{1100}'.. => 2,
        _ => 1,
    }
}

/// How many bytes of the cells fit, from the first one on.
fn fitting(cells: impl Iterator<Item = Cell>, columns: usize) -> usize {
    let mut left = columns;
    let mut bytes = 0;
    for cell in cells {
        match left.checked_sub(cell.columns) {
            Some(rest) => left = rest,
            None => break,
        }
        bytes += cell.bytes;
    }
    bytes
}
