//! Lists of texts: `skills.disabled` and its like.

use super::text::without_mark;
use super::{EditError, toml, yaml};

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// A text of a list, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The text.
    pub text: String,
    /// Its line, counted from 1.
    pub line: u32,
}

/// The texts of the list `path`: a section and a key in it. A list that is not there has none.
pub fn find(text: &str, form: Form, path: [&str; 2]) -> Result<Vec<Found>, EditError> {
    let (_, text) = without_mark(text);
    match form {
        Form::Toml => toml::find(text, path),
        Form::Yaml => yaml::find(text, path),
    }
}

/// The text with `item` in the list `path`, which is made where it is not there. One that is in it already changes
/// nothing.
///
/// ```
/// use prowess_config::edit::list::{Form, add, remove};
///
/// let text = "[skills]\ndisabled = [\n  'pdf', # slow\n]\n";
/// let after = add(text, Form::Toml, ["skills", "disabled"], "gh").unwrap();
/// assert_eq!(after, "[skills]\ndisabled = [\n  'pdf', # slow\n  'gh',\n]\n");
/// assert_eq!(remove(&after, Form::Toml, ["skills", "disabled"], "gh").unwrap(), text);
/// ```
pub fn add(text: &str, form: Form, path: [&str; 2], item: &str) -> Result<String, EditError> {
    if find(text, form, path)?.iter().any(|found| found.text == item) {
        return Ok(text.to_owned());
    }
    let (mark, text) = without_mark(text);
    let after = match form {
        Form::Toml => toml::add(text, path, item),
        Form::Yaml => yaml::add(text, path, item),
    };
    Ok(mark.to_owned() + &after?)
}

/// The text without `item` in the list `path`, however often it stands there. A list that becomes empty stays, as an
/// empty one.
pub fn remove(text: &str, form: Form, path: [&str; 2], item: &str) -> Result<String, EditError> {
    let (mark, text) = without_mark(text);
    let after = match form {
        Form::Toml => toml::remove(text, path, item),
        Form::Yaml => yaml::remove(text, path, item),
    };
    Ok(mark.to_owned() + &after?)
}
