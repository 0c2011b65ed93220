//! Values to text.

use prowess_format::{Value, hidden};

/// How an entry is laid out.
///
/// Which layout is chosen depends on what was there before, and no two beginnings lead to the same text: that is how
/// whoever removes the entry knows what to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// A key a line.
    Lines,
    /// `{"a": 1}`
    Tight,
    /// `{ "a": 1 }`
    Spaced,
}

/// How far lines are indented, and how they end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Style<'t> {
    /// The blanks of the line that the value begins on.
    pub(super) indent: String,
    /// One level more.
    pub(super) unit: &'t str,
    pub(super) ends: &'static str,
}

impl Style<'_> {
    /// One level deeper.
    pub(super) fn deeper(&self) -> Self {
        Self { indent: format!("{}{}", self.indent, self.unit), ..self.clone() }
    }
}

/// A key and a value that was written already.
pub(super) fn member(key: &str, value: &str) -> String {
    format!("{}: {value}", quoted(key))
}

/// A map of one member that was written already.
pub(super) fn map_of(member: &str, layout: Layout, style: &Style<'_>) -> String {
    match layout {
        Layout::Lines => {
            let Style { indent, unit, ends } = style;
            format!("{{{ends}{indent}{unit}{member}{ends}{indent}}}")
        }
        Layout::Tight => format!("{{{member}}}"),
        Layout::Spaced => format!("{{ {member} }}"),
    }
}

/// A value. Lists stand on one line.
pub(super) fn value(value: &Value, layout: Layout, style: &Style<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => quoted(text),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(|item| self::value(item, Layout::Tight, style)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Map(entries) => {
            let inner = if layout == Layout::Spaced { Layout::Tight } else { layout };
            let deeper = style.deeper();
            let members: Vec<_> =
                entries.iter().map(|(key, entry)| member(key, &self::value(entry, inner, &deeper))).collect();
            let between = match layout {
                Layout::Lines => format!(",{}{}", style.ends, deeper.indent),
                Layout::Tight | Layout::Spaced => ", ".to_owned(),
            };
            map_of(&members.join(&between), layout, style)
        }
    }
}

/// A whole text with one entry, as in a file that had nothing.
pub(super) fn document([section, name]: [&str; 2], entry: &Value) -> String {
    let style = Style { indent: String::new(), unit: "  ", ends: "\n" };
    let (inner, innermost) = (style.deeper(), style.deeper().deeper());
    let entry = member(name, &value(entry, Layout::Lines, &innermost));
    let section = member(section, &map_of(&entry, Layout::Lines, &inner));
    map_of(&section, Layout::Lines, &style)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\r' => quoted += "\\r",
            c if hidden::first(c.encode_utf8(&mut [0; 4])).is_some() => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    quoted += &format!("\\u{unit:04x}");
                }
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
