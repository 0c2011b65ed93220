//! The few lines of a file that a diagnostic is about, ready to be shown.
//!
//! The file may have changed since it was checked. What no longer stands where it stood is not shown at all.

use std::ops::Range;

use prowess_format::{Fix, Place, Span};

use super::text::{CUT, head, middle, shown, tail, width};

/// About how many columns of a line are shown.
const LINE_COLUMNS: usize = 100;

/// How many of them at most are marked.
const MARKED_COLUMNS: usize = 60;

/// How many columns of each changed line are shown.
const CHANGED_COLUMNS: usize = 80;

/// How many columns are shown on either side of a change.
const AROUND_COLUMNS: usize = 40;

/// The most lines of a change that are shown.
const CHANGED_LINES: usize = 6;

/// A line with its marked part.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The number of the line.
    pub line: usize,
    /// The line as it may be shown, cut around the mark.
    pub text: String,
    /// What is marked in `text`.
    pub marked: Range<usize>,
    /// The last line of what is meant, where that is a later one.
    pub ends_on: Option<u32>,
}

impl Excerpt {
    /// The line a place points to, if the source still has it there.
    pub(super) fn new(source: &[u8], place: Place) -> Option<Self> {
        let range = still_there(source, place)?;
        let lines = lines_around(source, range.start..range.start);
        let marked_end = range.end.clamp(range.start, lines.end);
        let [before, marked, after] = parts(source, &lines, &(range.start..marked_end))?;

        let room = LINE_COLUMNS - width(head(marked, MARKED_COLUMNS));
        let (left, right) = (width(tail(before, room)), width(head(after, room)));
        let left = left.min(room - right.min(room / 2));
        let mut text = before_cut(before, left);
        let start = text.len();
        text.push_str(&middle(marked, MARKED_COLUMNS));
        let end = text.len();
        text.push_str(&after_cut(after, room - left));

        let last = range.end.saturating_sub(1).max(range.start);
        let last = Place::of(source, Span::new(last, last)).line;
        let ends_on = (last > place.line).then_some(last);
        Some(Self { line: place.line as usize, text, marked: start..end, ends_on })
    }
}

/// The lines that a fix changes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The number of the first line.
    pub line: usize,
    /// The lines as they are, as they may be shown.
    pub text: String,
    /// What goes away, in `text`.
    pub old: Range<usize>,
    /// What comes instead.
    pub new: String,
}

impl Change {
    /// What a fix does to the source; `None` where that is too much to show, or nothing that is seen.
    pub(super) fn new(source: &[u8], fix: &Fix) -> Option<Self> {
        let range = fix.span.range();
        let lines = lines_around(source, range.clone());
        let [before, old, after] = parts(source, &lines, &range)?;
        let (old, new) = (changed(old)?, changed(fix.text.as_bytes())?);
        if old == new {
            return None;
        }
        let mut text = before_cut(before, AROUND_COLUMNS);
        let start = text.len();
        text.push_str(&old);
        let end = text.len();
        text.push_str(&after_cut(after, AROUND_COLUMNS));
        let line = Place::of(source, fix.span).line as usize;
        Some(Self { line, text, old: start..end, new })
    }
}

/// The bytes of a place, if line and column still agree with them.
pub(super) fn still_there(source: &[u8], place: Place) -> Option<Range<usize>> {
    let range = place.span.range();
    source.get(range.clone())?;
    (Place::of(source, place.span) == place).then_some(range)
}

/// The whole lines that a range touches, without the last line break.
fn lines_around(source: &[u8], range: Range<usize>) -> Range<usize> {
    let before = source.get(..range.start).unwrap_or(source);
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let rest = source.get(range.end..).unwrap_or_default();
    let end = rest.iter().position(|byte| *byte == b'\n').map_or(source.len(), |at| range.end + at);
    let carriage_return = end > range.end && source.get(end - 1) == Some(&b'\r');
    start..end - usize::from(carriage_return)
}

/// What stands before, in and after a range; `None` if it cuts through a character of readable text.
fn parts<'s>(source: &'s [u8], lines: &Range<usize>, range: &Range<usize>) -> Option<[&'s [u8]; 3]> {
    let parts = [
        source.get(lines.start..range.start)?,
        source.get(range.clone())?,
        source.get(range.end..lines.end.max(range.end))?,
    ];
    let whole = std::str::from_utf8(source.get(lines.start..lines.end.max(range.end))?).is_ok();
    let cut_through = parts.iter().any(|part| std::str::from_utf8(part).is_err());
    (!(whole && cut_through)).then_some(parts)
}

fn before_cut(before: &[u8], columns: usize) -> String {
    let kept = tail(before, columns);
    let cut = if kept.len() < before.len() { CUT } else { "" };
    cut.to_owned() + &shown(kept)
}

fn after_cut(after: &[u8], columns: usize) -> String {
    let kept = head(after, columns);
    let cut = if kept.len() < after.len() { CUT } else { "" };
    shown(kept) + cut
}

/// The lines of one side of a change, each of them short.
fn changed(text: &[u8]) -> Option<String> {
    let lines = text.split(|byte| *byte == b'\n').take(CHANGED_LINES + 1);
    let lines: Vec<_> =
        lines.map(|line| middle(line.strip_suffix(b"\r").unwrap_or(line), CHANGED_COLUMNS)).collect();
    (lines.len() <= CHANGED_LINES).then(|| lines.join("\n"))
}
