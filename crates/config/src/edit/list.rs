//! Edits lists of strings, such as `skills.disabled`.

use super::text::split_bom;
use super::{EditError, toml, yaml};

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListFormat {
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// An item of a list and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundItem {
    /// The item.
    pub text: String,
    /// Its line, counted from 1.
    pub line: u32,
}

/// Returns the items of the list at `path`: a section and a key in it. A missing list has none.
pub fn find(text: &str, format: ListFormat, path: [&str; 2]) -> Result<Vec<FoundItem>, EditError> {
    let (_, text) = split_bom(text);
    match format {
        ListFormat::Toml => toml::find(text, path),
        ListFormat::Yaml => yaml::find(text, path),
    }
}

/// Returns the text with `item` in the list at `path`, which is created if it does not exist. Does nothing if
/// it already contains the item.
///
/// ```
/// use prowess_config::edit::list::{ListFormat, add, remove};
///
/// let text = "[skills]\ndisabled = [\n  'pdf', # slow\n]\n";
/// let after = add(text, ListFormat::Toml, ["skills", "disabled"], "gh").unwrap();
/// assert_eq!(after, "[skills]\ndisabled = [\n  'pdf', # slow\n  'gh',\n]\n");
/// assert_eq!(remove(&after, ListFormat::Toml, ["skills", "disabled"], "gh").unwrap(), text);
/// ```
pub fn add(text: &str, format: ListFormat, path: [&str; 2], item: &str) -> Result<String, EditError> {
    if find(text, format, path)?.iter().any(|existing| existing.text == item) {
        return Ok(text.to_owned());
    }
    let (bom, text) = split_bom(text);
    let after = match format {
        ListFormat::Toml => toml::add(text, path, item),
        ListFormat::Yaml => yaml::add(text, path, item),
    };
    Ok(bom.to_owned() + &after?)
}

/// Returns the text without any occurrence of `item` in the list at `path`. A list that becomes empty stays.
pub fn remove(text: &str, format: ListFormat, path: [&str; 2], item: &str) -> Result<String, EditError> {
    let (bom, text) = split_bom(text);
    let after = match format {
        ListFormat::Toml => toml::remove(text, path, item),
        ListFormat::Yaml => yaml::remove(text, path, item),
    };
    Ok(bom.to_owned() + &after?)
}
