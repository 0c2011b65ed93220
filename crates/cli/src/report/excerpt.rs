//! Source lines of diagnostics and fixes, escaped and truncated for display.
//!
//! The file may have changed since it was checked. Lines are shown only if the location still matches the source.

use std::ops::Range;

use prowess_format::{Fix, Location, Span};

use super::text::{ELLIPSIS, escape_line, head, tail, truncate_middle, width};

/// The approximate maximum width of a line.
const LINE_COLUMNS: usize = 100;

/// The maximum width of the marked part.
const MARKED_COLUMNS: usize = 60;

/// The maximum width of a changed line.
const CHANGED_COLUMNS: usize = 80;

/// The maximum width of the context on each side of a change.
const AROUND_COLUMNS: usize = 40;

/// The maximum number of lines of a change.
const CHANGED_LINES: usize = 6;

/// A source line with a marked part.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The line number.
    pub line: usize,
    /// The escaped line, truncated around the marked part.
    pub text: String,
    /// The marked part of `text`.
    pub marked: Range<usize>,
    /// The last line of the span, if it covers several lines.
    pub ends_on: Option<u32>,
}

impl Excerpt {
    /// Returns the line of a location, or `None` if the source has changed.
    pub(super) fn new(source: &[u8], location: Location) -> Option<Self> {
        let range = current_range(source, location)?;
        let lines = line_range(source, range.start..range.start);
        let marked_end = range.end.clamp(range.start, lines.end);
        let [before, marked, after] = parts(source, &lines, &(range.start..marked_end))?;

        let room = LINE_COLUMNS - width(head(marked, MARKED_COLUMNS));
        let (left, right) = (width(tail(before, room)), width(head(after, room)));
        let left = left.min(room - right.min(room / 2));
        let mut text = truncate_before(before, left);
        let start = text.len();
        text.push_str(&truncate_middle(marked, MARKED_COLUMNS));
        let end = text.len();
        text.push_str(&truncate_after(after, room - left));

        let last = range.end.saturating_sub(1).max(range.start);
        let last = Location::from_span(source, Span::new(last, last)).line;
        let ends_on = (last > location.line).then_some(last);
        Some(Self { line: location.line as usize, text, marked: start..end, ends_on })
    }
}

/// The source lines that a fix changes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FixExcerpt {
    /// The first line number.
    pub line: usize,
    /// The escaped current lines.
    pub text: String,
    /// The part of `text` that is replaced.
    pub old: Range<usize>,
    /// The replacement.
    pub new: String,
}

impl FixExcerpt {
    /// Returns the change of a fix, or `None` if it is too long or has no visible effect.
    pub(super) fn new(source: &[u8], fix: &Fix) -> Option<Self> {
        let range = fix.span.range();
        let lines = line_range(source, range.clone());
        let [before, old, after] = parts(source, &lines, &range)?;
        let (old, new) = (changed_lines(old)?, changed_lines(fix.text.as_bytes())?);
        if old == new {
            return None;
        }
        let mut text = truncate_before(before, AROUND_COLUMNS);
        let start = text.len();
        text.push_str(&old);
        let end = text.len();
        text.push_str(&truncate_after(after, AROUND_COLUMNS));
        let line = Location::from_span(source, fix.span).line as usize;
        Some(Self { line, text, old: start..end, new })
    }
}

/// Returns the byte range of a location if its line and column still match the source.
pub(super) fn current_range(source: &[u8], location: Location) -> Option<Range<usize>> {
    let range = location.span.range();
    source.get(range.clone())?;
    (Location::from_span(source, location.span) == location).then_some(range)
}

/// Returns the range of the lines that overlap a range, without the last line break.
fn line_range(source: &[u8], range: Range<usize>) -> Range<usize> {
    let before = source.get(..range.start).unwrap_or(source);
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let rest = source.get(range.end..).unwrap_or_default();
    let end = rest.iter().position(|byte| *byte == b'\n').map_or(source.len(), |newline| range.end + newline);
    let carriage_return = end > range.end && source.get(end - 1) == Some(&b'\r');
    start..end - usize::from(carriage_return)
}

/// Splits lines into the parts before, in and after a range. Returns `None` if the range splits a character of valid
/// UTF-8 text.
fn parts<'s>(source: &'s [u8], lines: &Range<usize>, range: &Range<usize>) -> Option<[&'s [u8]; 3]> {
    let parts = [
        source.get(lines.start..range.start)?,
        source.get(range.clone())?,
        source.get(range.end..lines.end.max(range.end))?,
    ];
    let is_utf8 = std::str::from_utf8(source.get(lines.start..lines.end.max(range.end))?).is_ok();
    let splits_character = parts.iter().any(|part| std::str::from_utf8(part).is_err());
    (!(is_utf8 && splits_character)).then_some(parts)
}

fn truncate_before(before: &[u8], columns: usize) -> String {
    let shown = tail(before, columns);
    let cut = if shown.len() < before.len() { ELLIPSIS } else { "" };
    cut.to_owned() + &escape_line(shown)
}

fn truncate_after(after: &[u8], columns: usize) -> String {
    let shown = head(after, columns);
    let cut = if shown.len() < after.len() { ELLIPSIS } else { "" };
    escape_line(shown) + cut
}

/// Returns the truncated lines of one side of a change, or `None` if there are too many.
fn changed_lines(text: &[u8]) -> Option<String> {
    let lines = text.split(|byte| *byte == b'\n').take(CHANGED_LINES + 1);
    let lines: Vec<_> = lines
        .map(|line| truncate_middle(line.strip_suffix(b"\r").unwrap_or(line), CHANGED_COLUMNS))
        .collect();
    (lines.len() <= CHANGED_LINES).then(|| lines.join("\n"))
}
