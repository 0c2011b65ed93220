//! TOML and YAML as one tree whose nodes have locations.

mod from_toml;
mod from_yaml;

use prowess_format::{Span, Value, hidden};

pub use from_toml::parse_toml;
pub use from_yaml::parse_yaml;

/// The maximum nesting of a configuration.
const DEPTH_MAX: usize = 32;

/// The maximum number of characters of a value in a message.
const SHOWN_MAX: usize = 60;

/// A value and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigTree {
    pub span: Span,
    pub kind: TreeKind,
}

/// The type and contents of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeKind {
    /// Null, which only YAML has.
    Null,
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Integer(i128),
    /// A fraction, an infinity or a very large integer, as written.
    Fraction(String),
    /// A string.
    Text(String),
    /// A date or time, which only TOML has.
    Date(String),
    /// A list.
    List(Vec<ConfigTree>),
    /// A table.
    Table(Vec<TreeEntry>),
}

/// A key and its value. Keys in a table are unique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    pub key: String,
    pub span: Span,
    pub value: ConfigTree,
}

/// A syntax error and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigSyntaxError {
    pub span: Option<Span>,
    pub message: String,
}

impl ConfigSyntaxError {
    fn at(span: Span, message: impl Into<String>) -> Self {
        Self { span: Some(span), message: message.into() }
    }

    fn too_deep(span: Span) -> Self {
        Self::at(span, format!("nested more than {DEPTH_MAX} levels deep"))
    }
}

impl ConfigTree {
    /// Parses text like an unquoted YAML scalar, for environment variables.
    pub fn from_plain(text: &str) -> Self {
        Self { span: Span::default(), kind: TreeKind::plain(&Value::from_plain(text)) }
    }

    /// Returns the entry of a key.
    pub fn get(&self, key: &str) -> Option<&TreeEntry> {
        match &self.kind {
            TreeKind::Table(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// Returns the value for a message.
    pub fn describe(&self) -> String {
        match &self.kind {
            TreeKind::Null => "nothing".to_owned(),
            TreeKind::Bool(boolean) => boolean.to_string(),
            TreeKind::Integer(number) => number.to_string(),
            TreeKind::Fraction(text) | TreeKind::Date(text) => clip_for_display(text),
            TreeKind::Text(text) => format!("\"{}\"", clip_for_display(text)),
            TreeKind::List(_) => "a list".to_owned(),
            TreeKind::Table(_) => "a table".to_owned(),
        }
    }
}

impl TreeKind {
    fn plain(value: &Value) -> Self {
        match value {
            Value::Bool(boolean) => Self::Bool(*boolean),
            Value::Number(number) => {
                parse_integer(number).map_or_else(|| Self::Fraction(number.to_string()), Self::Integer)
            }
            Value::Text(text) => Self::Text(text.to_string()),
            Value::Null | Value::List(_) | Value::Map(_) => Self::Null,
        }
    }
}

/// Parses an integer in YAML syntax.
fn parse_integer(text: &str) -> Option<i128> {
    match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(hex), _) => i128::from_str_radix(hex, 16).ok(),
        (_, Some(octal)) => i128::from_str_radix(octal, 8).ok(),
        _ => text.parse().ok(),
    }
}

/// Makes untrusted text safe for a message: visible, on one line and shortened.
pub fn clip_for_display(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", hidden::escape_for_display(text.get(..end).unwrap_or_default())),
        None => hidden::escape_for_display(text).into_owned(),
    }
}
