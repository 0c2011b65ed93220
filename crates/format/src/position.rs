//! Byte spans and line positions.

use std::ops::Range;

/// A range of bytes in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Creates a span from two offsets. Sources are capped far below 4 GiB, so the offsets never saturate.
    pub fn new(start: usize, end: usize) -> Self {
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { start: clip(start), end: clip(end.max(start)) }
    }

    /// Returns the span as a range of `usize`, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the span moved right by `offset` bytes.
    #[must_use]
    pub fn shifted(self, offset: usize) -> Self {
        Self::new(self.start as usize + offset, self.end as usize + offset)
    }
}

/// The offsets at which the lines of a text start.
///
/// ```
/// use prowess_format::LineMap;
///
/// let text = "one\nzwei\n";
/// let lines = LineMap::new(text.as_bytes());
/// assert_eq!(lines.position(text.as_bytes(), 6), (2, 3));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineMap {
    starts: Vec<u32>,
}

impl LineMap {
    /// Collects the line starts of `source`.
    pub fn new(source: &[u8]) -> Self {
        let breaks = source.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts = std::iter::once(0)
            .chain(breaks.map(|(line_break, _)| Span::new(line_break + 1, line_break + 1).start))
            .collect();
        Self { starts }
    }

    /// Returns the number of lines; a text without a line break has one.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Always `false`: every text has at least one line.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the line and column (in characters) of a byte offset, both counted from 1.
    pub fn position(&self, source: &[u8], offset: usize) -> (u32, u32) {
        let offset = offset.min(source.len());
        let line = self.starts.partition_point(|start| *start as usize <= offset).max(1);
        let start = self.starts.get(line - 1).map_or(0, |start| *start as usize);
        (Span::new(line, line).start, column(source, start, offset))
    }
}

/// Returns the line and column of one offset without building a [`LineMap`].
pub(crate) fn position(source: &[u8], offset: usize) -> (u32, u32) {
    let before = source.get(..offset.min(source.len())).unwrap_or(source);
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |line_break| line_break + 1);
    (Span::new(line, line).start, column(source, start, before.len()))
}

fn column(source: &[u8], start: usize, offset: usize) -> u32 {
    let line = source.get(start..offset).unwrap_or_default();
    // Bytes that do not continue a character are counted; the byte-order mark has no width.
    let line = if start == 0 { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
    let characters = line.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count();
    Span::new(characters + 1, characters + 1).start
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn line_map_and_single_lookup_agree(text in "[aä\n\r]{0,40}", at in 0usize..60) {
            let source = text.as_bytes();
            prop_assert_eq!(LineMap::new(source).position(source, at), position(source, at));
        }
    }
}
