//! Edits one entry of a section, such as `mcpServers.prowess`, in JSON with comments, TOML and YAML.
//!
//! Invariants: every byte outside the entry stays; adding and removing an entry restores the original text; and
//! a text that cannot be parsed or safely changed is rejected with line and column.

mod toml;
mod yaml;

use prowess_format::{Location, Span, Value};

use super::jsonc;
use super::text::split_bom;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigFormat {
    /// JSON with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// An existing entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundEntry {
    /// Its value.
    pub value: Value,
    /// The line of its name, counted from 1.
    pub line: u32,
}

/// The reason why a text was not read or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditEntryError {
    /// It cannot be parsed.
    #[error("line {line}, column {column}: {message}")]
    Malformed {
        /// The line, counted from 1.
        line: u32,
        /// The column in characters, counted from 1.
        column: u32,
        /// The problem.
        message: String,
    },
    /// It can be parsed, but the change would affect more than intended.
    #[error("line {line}, column {column}: {reason}")]
    Unsafe {
        /// The line, counted from 1.
        line: u32,
        /// The column in characters, counted from 1.
        column: u32,
        /// The reason, and what to do instead.
        reason: String,
    },
}

impl EditEntryError {
    pub(super) fn malformed(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let Location { line, column, .. } = Location::from_span(text.as_bytes(), Span::new(offset, offset));
        Self::Malformed { line, column, message: message.into() }
    }

    pub(super) fn unsafe_change(text: &str, offset: usize, reason: impl Into<String>) -> Self {
        let Location { line, column, .. } = Location::from_span(text.as_bytes(), Span::new(offset, offset));
        Self::Unsafe { line, column, reason: reason.into() }
    }
}

/// Returns the entry at `path`: a section and a name in it.
///
/// ```
/// use prowess_config::edit::entry::{ConfigFormat, find};
///
/// let text = "{\n  // mine\n  \"servers\": {\"a\": {\"command\": \"x\"},},\n}";
/// assert_eq!(find(text, ConfigFormat::Json, ["servers", "a"]).unwrap().unwrap().line, 3);
/// assert_eq!(find(text, ConfigFormat::Json, ["servers", "b"]).unwrap(), None);
/// let error = find("{\n  \"servers\" {}\n}", ConfigFormat::Json, ["servers", "a"]).unwrap_err();
/// assert_eq!(error.to_string(), "line 2, column 13: expected colon after the string or word in object property");
/// ```
pub fn find(text: &str, format: ConfigFormat, path: [&str; 2]) -> Result<Option<FoundEntry>, EditEntryError> {
    let (_, text) = split_bom(text);
    match format {
        ConfigFormat::Json => jsonc::find(text, &path),
        ConfigFormat::Toml => toml::find(text, path),
        ConfigFormat::Yaml => yaml::find(text, path),
    }
}

/// Returns the text with `entry` at `path`, replacing an existing one.
///
/// ```
/// use prowess_format::Value;
/// use prowess_config::edit::entry::{ConfigFormat, put, remove};
///
/// let text = "{\n  \"servers\": {\n    \"a\": 1 // mine\n  }\n}\n";
/// let entry = Value::Text("x".into());
/// let after = put(text, ConfigFormat::Json, ["servers", "b"], &entry).unwrap();
/// assert_eq!(after, "{\n  \"servers\": {\n    \"a\": 1, // mine\n    \"b\": \"x\"\n  }\n}\n");
/// assert_eq!(remove(&after, ConfigFormat::Json, ["servers", "b"]).unwrap(), text);
/// ```
pub fn put(
    text: &str,
    format: ConfigFormat,
    path: [&str; 2],
    entry: &Value,
) -> Result<String, EditEntryError> {
    if find(text, format, path)?.is_some_and(|existing| existing.value == *entry) {
        return Ok(text.to_owned());
    }
    let (bom, text) = split_bom(text);
    let after = match format {
        ConfigFormat::Json => jsonc::put(text, &path, entry),
        ConfigFormat::Toml => toml::put(text, path, entry),
        ConfigFormat::Yaml => yaml::put(text, path, entry),
    };
    Ok(bom.to_owned() + &after?)
}

/// Returns the text without the entry at `path`. The text becomes empty if it contained nothing else.
pub fn remove(text: &str, format: ConfigFormat, path: [&str; 2]) -> Result<String, EditEntryError> {
    let (bom, text) = split_bom(text);
    let after = match format {
        ConfigFormat::Json => jsonc::remove(text, &path),
        ConfigFormat::Toml => toml::remove(text, path),
        ConfigFormat::Yaml => yaml::remove(text, path),
    };
    Ok(bom.to_owned() + &after?)
}

/// Returns a new document that contains only the entry.
pub fn new_document(format: ConfigFormat, path: [&str; 2], entry: &Value) -> Result<String, EditEntryError> {
    put("", format, path, entry)
}
