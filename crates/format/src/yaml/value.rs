//! What nodes stand for under the core schema of YAML 1.2.

use super::{Kind, Node, Style};

/// A YAML value, in the order it was written. Numbers keep their text: `1.0` stays `1.0`.
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
    /// A mapping; a key that is a list or a mapping itself is written as `[…]` or `{…}`.
    Map(Vec<(Box<str>, Value)>),
}

impl Value {
    pub(super) fn of(node: &Node<'_>) -> Self {
        match &node.kind {
            Kind::Scalar(text, Style::Text) => Self::Text(text.as_ref().into()),
            Kind::Scalar(text, Style::Plain) => Self::plain(text),
            Kind::List(items) => Self::List(items.iter().map(Self::of).collect()),
            Kind::Map(entries) => {
                Self::Map(entries.iter().map(|(key, value)| (key_text(key), Self::of(value))).collect())
            }
        }
    }

    /// What an unquoted word means.
    ///
    /// ```
    /// use prowess_format::Value;
    ///
    /// assert_eq!(Value::plain("true"), Value::Bool(true));
    /// assert_eq!(Value::plain("1.0"), Value::Number("1.0".into()));
    /// assert_eq!(Value::plain("yes"), Value::Text("yes".into()));
    /// ```
    pub fn plain(text: &str) -> Self {
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
        Kind::Scalar(text, _) => text.as_ref().into(),
        // Written out, keys within keys would grow without bound.
        Kind::List(_) => "[…]".into(),
        Kind::Map(_) => "{…}".into(),
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
    // Rust also reads `inf` and `nan`, which are words here; a number begins with a digit or a point and a digit.
    let begins = unsigned.strip_prefix('.').unwrap_or(unsigned).starts_with(|c: char| c.is_ascii_digit());
    begins && unsigned.parse::<f64>().is_ok()
}
