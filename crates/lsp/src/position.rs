//! Positions of the protocol: a line, and a column in UTF-8, UTF-16 or UTF-32 code units.

use gen_lsp_types::{Position, PositionEncodingKind, Range};
use prowess_format::Span;

/// The unit of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PositionEncoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which every client supports.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl PositionEncoding {
    /// Chooses among the encodings that a client offers. UTF-8 needs no conversion and is preferred.
    pub fn choose(offered: &[PositionEncodingKind]) -> Self {
        if offered.contains(&PositionEncodingKind::UTF8) { Self::Utf8 } else { Self::Utf16 }
    }

    /// Returns its name in the protocol.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// The offsets at which the lines of a text start. A line ends with `\n`, `\r\n` or `\r`.
///
/// ```
/// use gen_lsp_types::Position;
/// use prowess_lsp::position::{LineIndex, PositionEncoding};
///
/// let text = "one\n𝄞 zwei";
/// let lines = LineIndex::new(text);
/// let position = Position { line: 1, character: 2 };
/// assert_eq!(lines.offset(text, position, PositionEncoding::Utf16), 8);
/// assert_eq!(lines.position(text, 8, PositionEncoding::Utf16), position);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Collects the line starts of a text.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                starts.push(at + 1);
            }
        }
        Self { starts }
    }

    /// Returns the number of lines.
    pub fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// Returns the range of a line without its end. Lines are counted from 0; one beyond the last is empty.
    pub fn line(&self, text: &str, line: usize) -> std::ops::Range<usize> {
        let Some(start) = self.starts.get(line).copied() else { return text.len()..text.len() };
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        let content = text.get(start..end).unwrap_or_default();
        start..start + content.trim_end_matches(['\n', '\r']).len()
    }

    /// Returns the line that contains a byte offset, counted from 0.
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Returns the byte offset of a position. A column beyond the end of its line is the end of the line, and one inside
    /// of a character is its beginning.
    pub fn offset(&self, text: &str, position: Position, encoding: PositionEncoding) -> usize {
        let line = self.line(text, position.line as usize);
        let mut column = 0;
        for (at, c) in text.get(line.clone()).unwrap_or_default().char_indices() {
            column += encoding.width(c);
            if column > position.character as usize {
                return line.start + at;
            }
        }
        line.end
    }

    /// Returns the position of a byte offset. An offset inside of a character is moved to its beginning.
    pub fn position(&self, text: &str, offset: usize, encoding: PositionEncoding) -> Position {
        let offset = text.floor_char_boundary(offset.min(text.len()));
        let line = self.line_of(offset);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let before = text.get(start..offset).unwrap_or_default();
        // An end of line has no columns inside of it.
        let before = before.trim_end_matches(['\n', '\r']);
        let column: usize = match encoding {
            PositionEncoding::Utf8 => before.len(),
            _ if before.is_ascii() => before.len(),
            encoding => before.chars().map(|c| encoding.width(c)).sum(),
        };
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Position { line: number(line), character: number(column) }
    }

    /// Returns the range of a span.
    pub fn range(&self, text: &str, span: Span, encoding: PositionEncoding) -> Range {
        Range {
            start: self.position(text, span.start as usize, encoding),
            end: self.position(text, span.end as usize, encoding),
        }
    }

    /// Returns the byte offsets of a range. A range that ends before it starts is empty.
    pub fn span(&self, text: &str, range: Range, encoding: PositionEncoding) -> std::ops::Range<usize> {
        let start = self.offset(text, range.start, encoding);
        start..self.offset(text, range.end, encoding).max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_are_counted_in_the_encoding() {
        let text = "aä€𝄞z";
        let lines = LineIndex::new(text);
        let columns = |encoding| {
            let offsets = text.char_indices().map(|(offset, _)| offset).chain([text.len()]);
            offsets.map(|offset| lines.position(text, offset, encoding).character).collect::<Vec<_>>()
        };
        assert_eq!(columns(PositionEncoding::Utf8), [0, 1, 3, 6, 10, 11]);
        assert_eq!(columns(PositionEncoding::Utf16), [0, 1, 2, 3, 5, 6]);
        assert_eq!(columns(PositionEncoding::Utf32), [0, 1, 2, 3, 4, 5]);
        // Half of a surrogate pair is the beginning of the character.
        assert_eq!(lines.offset(text, at(0, 4), PositionEncoding::Utf16), 6);
    }

    #[test]
    fn positions_beyond_a_line_or_the_text_are_moved() {
        let text = "ab\r\nc\rd\n";
        let lines = LineIndex::new(text);
        let offset = |line, character| lines.offset(text, at(line, character), PositionEncoding::Utf16);
        assert_eq!(
            [offset(0, 99), offset(1, 99), offset(2, 0), offset(3, 9), offset(99, 9)],
            [2, 5, 6, 8, 8]
        );
        assert_eq!(lines.line_count(), 4);
        // Between \r and \n is still the end of the first line.
        assert_eq!(lines.position(text, 3, PositionEncoding::Utf16), at(0, 2));
    }

    proptest! {
        #[test]
        fn offsets_survive_a_round_trip(text in "[aä€𝄞\n\r]{0,40}", offset in 0usize..120) {
            let lines = LineIndex::new(&text);
            let offset = text.floor_char_boundary(offset.min(text.len()));
            let between = text.as_bytes().get(offset) == Some(&b'\n') && offset > 0 && text.as_bytes()[offset - 1] == b'\r';
            prop_assume!(!between);
            for encoding in [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32] {
                let position = lines.position(&text, offset, encoding);
                prop_assert_eq!(lines.offset(&text, position, encoding), offset);
            }
        }
    }
}
