//! Lines of a text, and cutting and inserting in it.

use prowess_format::{Place, Span};

/// Bytes to replace, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) with: String,
}

impl Splice {
    pub(super) fn insert(at: usize, with: impl Into<String>) -> Self {
        Self { from: at, to: at, with: with.into() }
    }

    pub(super) fn cut(from: usize, to: usize) -> Self {
        Self { from, to, with: String::new() }
    }
}

/// The text with all splices made. They do not overlap.
pub(super) fn spliced(text: &str, mut splices: Vec<Splice>) -> String {
    // What is inserted where a cut begins comes first.
    splices.sort_by_key(|splice| (splice.from, splice.to));
    let mut after = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for Splice { from, to, with } in splices {
        after += text.get(at..from).unwrap_or_default();
        after += &with;
        at = to;
    }
    after + text.get(at..).unwrap_or_default()
}

/// Where the line of this byte begins.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

/// Where the line of this byte ends, before its line end.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let end = text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |found| at + found);
    if end > at && text.as_bytes().get(end - 1) == Some(&b'\r') && end < text.len() { end - 1 } else { end }
}

/// Where the next line begins.
pub(super) fn next_line(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |found| at + found + 1)
}

/// The blanks that the line of this byte begins with.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let line = text.get(line_start(text, at)..).unwrap_or_default();
    let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..blanks).unwrap_or_default()
}

/// How lines end around here: as this one does, else as the first does.
pub(super) fn line_break(text: &str, at: usize) -> &'static str {
    let own = text.get(at..).and_then(|rest| rest.find('\n')).map(|found| at + found);
    match own.or_else(|| text.find('\n')) {
        Some(end) if end > 0 && text.as_bytes().get(end - 1) == Some(&b'\r') => "\r\n",
        _ => "\n",
    }
}

/// Lines put after the line of this byte. Whether the text ends in a line break stays as it is.
pub(super) fn after_line(text: &str, at: usize, lines: &[String]) -> Splice {
    let end = line_end(text, at);
    let ends = line_break(text, at);
    Splice::insert(end, lines.iter().map(|line| format!("{ends}{line}")).collect::<String>())
}

/// Lines put at the end. Whether the text ends in a line break stays as it is; an empty one gets one.
pub(super) fn at_end(text: &str, lines: &[String]) -> Splice {
    let ends = line_break(text, text.len());
    let joined = lines.join(ends);
    match text {
        "" => Splice::insert(0, joined + "\n"),
        text if text.ends_with('\n') => Splice::insert(text.len(), joined + ends),
        text => Splice::insert(text.len(), format!("{ends}{joined}")),
    }
}

/// The line of a byte, counted from 1.
pub(super) fn line_of(text: &str, at: usize) -> u32 {
    Place::of(text.as_bytes(), Span::new(at, at)).line
}

/// Apart from a byte-order mark, which stays in front.
pub(super) fn without_mark(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest))
}

/// In double quotes, as both TOML and YAML read them.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\r' => quoted += "\\r",
            c if prowess_format::hidden::first(c.encode_utf8(&mut [0; 4])).is_some() => match u32::from(c) {
                code @ ..=0xffff => quoted += &format!("\\u{code:04x}"),
                code => quoted += &format!("\\U{code:08x}"),
            },
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// In the quotes of the text that stands beside it, where those can hold it.
pub(super) fn quoted_like(text: &str, beside: Option<&str>) -> String {
    let plain_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let simple = !text.contains(['\'', '\n', '\r', '\\']) && prowess_format::hidden::first(text).is_none();
    match beside.and_then(|beside| beside.chars().next()) {
        Some('\'') if simple => format!("'{text}'"),
        Some(c)
            if c != '"'
                && c != '\''
                && text.starts_with(|c: char| c.is_ascii_alphanumeric())
                && text.chars().all(plain_word)
                && matches!(prowess_format::Value::plain(text), prowess_format::Value::Text(_)) =>
        {
            text.to_owned()
        }
        _ => quoted(text),
    }
}
