//! Helpers for lines of a text, and for cutting and inserting.

use prowess_format::{Location, Span};

/// A replacement of a range of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) with: String,
}

impl Splice {
    pub(super) fn insert(offset: usize, with: impl Into<String>) -> Self {
        Self { from: offset, to: offset, with: with.into() }
    }

    pub(super) fn cut(from: usize, to: usize) -> Self {
        Self { from, to, with: String::new() }
    }
}

/// Applies all splices, which must not overlap.
pub(super) fn apply_splices(text: &str, mut splices: Vec<Splice>) -> String {
    // An insertion at the start of a cut comes first.
    splices.sort_by_key(|splice| (splice.from, splice.to));
    let mut after = String::with_capacity(text.len() + 64);
    let mut copied_until = 0;
    for Splice { from, to, with } in splices {
        after += text.get(copied_until..from).unwrap_or_default();
        after += &with;
        copied_until = to;
    }
    after + text.get(copied_until..).unwrap_or_default()
}

/// Returns the start of the line of this byte.
pub(super) fn line_start(text: &str, offset: usize) -> usize {
    text.get(..offset).and_then(|before| before.rfind('\n')).map_or(0, |offset| offset + 1)
}

/// Returns the end of the line of this byte, before its line ending.
pub(super) fn line_end(text: &str, offset: usize) -> usize {
    let end = text
        .get(offset..)
        .and_then(|rest| rest.find('\n'))
        .map_or(text.len(), |line_feed| offset + line_feed);
    if end > offset && text.as_bytes().get(end - 1) == Some(&b'\r') && end < text.len() {
        end - 1
    } else {
        end
    }
}

/// Returns the start of the next line.
pub(super) fn next_line(text: &str, offset: usize) -> usize {
    text.get(offset..).and_then(|rest| rest.find('\n')).map_or(text.len(), |line_feed| offset + line_feed + 1)
}

/// Returns the indentation of the line of this byte.
pub(super) fn indent(text: &str, offset: usize) -> &str {
    let line = text.get(line_start(text, offset)..).unwrap_or_default();
    let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..blanks).unwrap_or_default()
}

/// Returns the line ending of this line, or else of the first line.
pub(super) fn line_break(text: &str, offset: usize) -> &'static str {
    let own_end = text.get(offset..).and_then(|rest| rest.find('\n')).map(|line_feed| offset + line_feed);
    match own_end.or_else(|| text.find('\n')) {
        Some(end) if end > 0 && text.as_bytes().get(end - 1) == Some(&b'\r') => "\r\n",
        _ => "\n",
    }
}

/// Inserts lines after the line of this byte. Keeps whether the text ends with a line ending.
pub(super) fn insert_after_line(text: &str, offset: usize, lines: &[String]) -> Splice {
    let end = line_end(text, offset);
    let line_ending = line_break(text, offset);
    Splice::insert(end, lines.iter().map(|line| format!("{line_ending}{line}")).collect::<String>())
}

/// Inserts lines at the end. Keeps whether the text ends with a line ending; an empty text gets one.
pub(super) fn insert_at_end(text: &str, lines: &[String]) -> Splice {
    let line_ending = line_break(text, text.len());
    let joined = lines.join(line_ending);
    match text {
        "" => Splice::insert(0, joined + "\n"),
        text if text.ends_with('\n') => Splice::insert(text.len(), joined + line_ending),
        text => Splice::insert(text.len(), format!("{line_ending}{joined}")),
    }
}

/// Returns the line number of a byte, counted from 1.
pub(super) fn line_of(text: &str, offset: usize) -> u32 {
    Location::from_span(text.as_bytes(), Span::new(offset, offset)).line
}

/// Splits off a byte-order mark.
pub(super) fn split_bom(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest))
}

/// Quotes a text with double quotes, valid in both TOML and YAML.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\r' => quoted += "\\r",
            c if prowess_format::hidden::find_hidden(c.encode_utf8(&mut [0; 4])).is_some() => {
                match u32::from(c) {
                    code @ ..=0xffff => quoted += &format!("\\u{code:04x}"),
                    code => quoted += &format!("\\U{code:08x}"),
                }
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Quotes a text in the style of an adjacent one, if possible.
pub(super) fn quote_like(text: &str, neighbour: Option<&str>) -> String {
    let plain_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let simple =
        !text.contains(['\'', '\n', '\r', '\\']) && prowess_format::hidden::find_hidden(text).is_none();
    match neighbour.and_then(|neighbour| neighbour.chars().next()) {
        Some('\'') if simple => format!("'{text}'"),
        Some(c)
            if c != '"'
                && c != '\''
                && text.starts_with(|c: char| c.is_ascii_alphanumeric())
                && text.chars().all(plain_word)
                && matches!(prowess_format::Value::from_plain(text), prowess_format::Value::Text(_)) =>
        {
            text.to_owned()
        }
        _ => quote(text),
    }
}
