//! TOML and YAML to one tree whose nodes know their place.

mod from_toml;
mod from_yaml;

use prowess_format::{Span, Value, hidden};

pub use from_toml::toml;
pub use from_yaml::yaml;

/// The deepest nesting of a configuration.
const DEPTH_MAX: usize = 32;

/// The most characters of a value that a message repeats.
const SHOWN_MAX: usize = 60;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    pub span: Span,
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Nothing, which only YAML can say.
    Null,
    /// True or false.
    Truth(bool),
    /// A whole number.
    Whole(i128),
    /// A fraction, an infinity or a whole number without bounds, as it is written.
    Fraction(String),
    /// Text.
    Text(String),
    /// A date or a time, which only TOML can say.
    Date(String),
    /// A list.
    List(Vec<Tree>),
    /// A table.
    Table(Vec<Entry>),
}

/// A key and its value; no key stands twice in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub key: String,
    pub span: Span,
    pub value: Tree,
}

/// Why a text is no configuration, and where it was noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    pub span: Option<Span>,
    pub message: String,
}

impl Malformed {
    fn at(span: Span, message: impl Into<String>) -> Self {
        Self { span: Some(span), message: message.into() }
    }

    fn too_deep(span: Span) -> Self {
        Self::at(span, format!("the nesting goes beyond the limit of {DEPTH_MAX}"))
    }
}

impl Tree {
    /// A text without a file, read like an unquoted word of YAML: a variable's value.
    pub fn word(text: &str) -> Self {
        Self { span: Span::default(), kind: Kind::plain(&Value::plain(text)) }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        match &self.kind {
            Kind::Table(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// The value as a message repeats it.
    pub fn shown(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".to_owned(),
            Kind::Truth(truth) => truth.to_string(),
            Kind::Whole(number) => number.to_string(),
            Kind::Fraction(text) | Kind::Date(text) => clipped(text),
            Kind::Text(text) => format!("\"{}\"", clipped(text)),
            Kind::List(_) => "a list".to_owned(),
            Kind::Table(_) => "a table".to_owned(),
        }
    }
}

impl Kind {
    fn plain(value: &Value) -> Self {
        match value {
            Value::Bool(truth) => Self::Truth(*truth),
            Value::Number(number) => {
                whole(number).map_or_else(|| Self::Fraction(number.to_string()), Self::Whole)
            }
            Value::Text(text) => Self::Text(text.to_string()),
            Value::Null | Value::List(_) | Value::Map(_) => Self::Null,
        }
    }
}

/// A whole number as YAML writes it.
fn whole(text: &str) -> Option<i128> {
    match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(hex), _) => i128::from_str_radix(hex, 16).ok(),
        (_, Some(octal)) => i128::from_str_radix(octal, 8).ok(),
        _ => text.parse().ok(),
    }
}

/// A foreign text as a message may repeat it: visible, on one line, not too long.
pub fn clipped(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((at, _)) => format!("{}…", hidden::shown(text.get(..at).unwrap_or_default())),
        None => hidden::shown(text).into_owned(),
    }
}
