//! One entry of one section: `mcpServers.prowess` and its like, in JSON with comments, TOML and YAML.
//!
//! What must always hold: every byte outside the entry stays; what was added and is removed again leaves no trace; a
//! text that cannot be read, or cannot be changed safely, is refused with line and column.

mod toml;
mod yaml;

use prowess_format::{Place, Span, Value};

use super::jsonc;
use super::text::without_mark;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON; comments and commas at the end are understood.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// An entry that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it says.
    pub value: Value,
    /// The line of its name, counted from 1.
    pub line: u32,
}

/// Why a text was not read or not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// It is broken.
    #[error("line {line}, column {column}: {message}")]
    Malformed {
        /// The line, counted from 1.
        line: u32,
        /// The column in characters, counted from 1.
        column: u32,
        /// What is wrong.
        message: String,
    },
    /// It can be read, but the change would touch more than it should.
    #[error("line {line}, column {column}: {why}")]
    Refused {
        /// The line, counted from 1.
        line: u32,
        /// The column in characters, counted from 1.
        column: u32,
        /// Why, and what to do instead.
        why: String,
    },
}

impl EntryError {
    pub(super) fn malformed(text: &str, at: usize, message: impl Into<String>) -> Self {
        let Place { line, column, .. } = Place::of(text.as_bytes(), Span::new(at, at));
        Self::Malformed { line, column, message: message.into() }
    }

    pub(super) fn refused(text: &str, at: usize, why: impl Into<String>) -> Self {
        let Place { line, column, .. } = Place::of(text.as_bytes(), Span::new(at, at));
        Self::Refused { line, column, why: why.into() }
    }
}

/// The entry at `path`: a section and a name in it.
///
/// ```
/// use prowess_config::edit::entry::{Form, find};
///
/// let text = "{\n  // mine\n  \"servers\": {\"a\": {\"command\": \"x\"},},\n}";
/// assert_eq!(find(text, Form::Json, ["servers", "a"]).unwrap().unwrap().line, 3);
/// assert_eq!(find(text, Form::Json, ["servers", "b"]).unwrap(), None);
/// let error = find("{\n  \"servers\" {}\n}", Form::Json, ["servers", "a"]).unwrap_err();
/// assert_eq!(error.to_string(), "line 2, column 13: expected colon after the string or word in object property");
/// ```
pub fn find(text: &str, form: Form, path: [&str; 2]) -> Result<Option<Found>, EntryError> {
    let (_, text) = without_mark(text);
    match form {
        Form::Json => jsonc::find(text, path),
        Form::Toml => toml::find(text, path),
        Form::Yaml => yaml::find(text, path),
    }
}

/// The text with `entry` at `path`, in place of what is there.
///
/// ```
/// use prowess_format::Value;
/// use prowess_config::edit::entry::{Form, put, take};
///
/// let text = "{\n  \"servers\": {\n    \"a\": 1 // mine\n  }\n}\n";
/// let entry = Value::Text("x".into());
/// let after = put(text, Form::Json, ["servers", "b"], &entry).unwrap();
/// assert_eq!(after, "{\n  \"servers\": {\n    \"a\": 1, // mine\n    \"b\": \"x\"\n  }\n}\n");
/// assert_eq!(take(&after, Form::Json, ["servers", "b"]).unwrap(), text);
/// ```
pub fn put(text: &str, form: Form, path: [&str; 2], entry: &Value) -> Result<String, EntryError> {
    if find(text, form, path)?.is_some_and(|found| found.value == *entry) {
        return Ok(text.to_owned());
    }
    let (mark, text) = without_mark(text);
    let after = match form {
        Form::Json => jsonc::put(text, path, entry),
        Form::Toml => toml::put(text, path, entry),
        Form::Yaml => yaml::put(text, path, entry),
    };
    Ok(mark.to_owned() + &after?)
}

/// The text without the entry at `path`. A text that was nothing but that entry becomes empty.
pub fn take(text: &str, form: Form, path: [&str; 2]) -> Result<String, EntryError> {
    let (mark, text) = without_mark(text);
    let after = match form {
        Form::Json => jsonc::take(text, path),
        Form::Toml => toml::take(text, path),
        Form::Yaml => yaml::take(text, path),
    };
    Ok(mark.to_owned() + &after?)
}

/// A document as it is written into a file that has nothing.
pub fn document(form: Form, path: [&str; 2], entry: &Value) -> Result<String, EntryError> {
    put("", form, path, entry)
}
