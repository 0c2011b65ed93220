//! YAML values under the core schema of YAML 1.2.

use super::{Node, NodeKind, Quoting};

/// A YAML value. Mappings keep their order, and numbers their text: `1.0` stays `1.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(Box<str>),
    /// Text.
    Text(Box<str>),
    /// A list.
    List(Vec<Value>),
    /// A mapping; a key that is itself a list or a mapping is written as `[…]` or `{…}`.
    Map(Vec<(Box<str>, Value)>),
}

impl Value {
    pub(super) fn from_node(node: &Node<'_>) -> Self {
        match &node.kind {
            NodeKind::Scalar(text, Quoting::Quoted) => Self::Text(text.as_ref().into()),
            NodeKind::Scalar(text, Quoting::Plain) => Self::from_plain(text),
            NodeKind::List(items) => Self::List(items.iter().map(Self::from_node).collect()),
            NodeKind::Map(entries) => Self::Map(
                entries.iter().map(|(key, value)| (key_text(key), Self::from_node(value))).collect(),
            ),
        }
    }

    /// Returns the value of an unquoted scalar.
    ///
    /// ```
    /// use prowess_format::Value;
    ///
    /// assert_eq!(Value::from_plain("true"), Value::Bool(true));
    /// assert_eq!(Value::from_plain("1.0"), Value::Number("1.0".into()));
    /// assert_eq!(Value::from_plain("yes"), Value::Text("yes".into()));
    /// ```
    pub fn from_plain(text: &str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Self::Null,
            "true" | "True" | "TRUE" => Self::Bool(true),
            "false" | "False" | "FALSE" => Self::Bool(false),
            number if is_number(number) => Self::Number(number.into()),
            text => Self::Text(text.into()),
        }
    }
}

fn key_text(key: &Node<'_>) -> Box<str> {
    match &key.kind {
        NodeKind::Scalar(text, _) => text.as_ref().into(),
        // Written out in full, nested keys would grow without bound.
        NodeKind::List(_) => "[…]".into(),
        NodeKind::Map(_) => "{…}".into(),
    }
}

fn is_number(text: &str) -> bool {
    let digits = |text: &str, radix| !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
    if let Some(hex) = text.strip_prefix("0x") {
        return digits(hex, 16);
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return digits(octal, 8);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    // Rust also parses `inf` and `nan`, which are text in YAML; a number starts with a digit, or a point and a
    // digit.
    let starts_like_number =
        unsigned.strip_prefix('.').unwrap_or(unsigned).starts_with(|c: char| c.is_ascii_digit());
    starts_like_number && unsigned.parse::<f64>().is_ok()
}
