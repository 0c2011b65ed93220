//! Sets or removes one value of a TOML file, `key` or `section.key`.

use crate::tree::{ConfigTree, TreeEntry};
use prowess_format::Value;

use super::text::split_bom;
use super::toml::{BY_HAND, apply_edit, parse_for_edit, put, remove_entry, unsafe_change};
use super::{EditError, semantics};

/// Returns the text with this value at `path`: a section and a key in it, or only a key. `None` removes it.
///
/// ```
/// use prowess_format::Value;
/// use prowess_config::edit::setting::set;
///
/// let text = "# mine\n[chat]\nmodel = 'a' # cheap\n";
/// let after = set(text, &["chat", "model"], Some(&Value::Text("b".into()))).unwrap();
/// assert_eq!(after, "# mine\n[chat]\nmodel = \"b\" # cheap\n");
/// assert_eq!(set(&after, &["chat", "model"], None).unwrap(), "# mine\n[chat]\n");
/// ```
pub fn set(text: &str, path: &[&str], value: Option<&Value>) -> Result<String, EditError> {
    let (bom, text) = split_bom(text);
    let tree = parse_for_edit(text)?;
    let (existing, before) = (entry(&tree, path), semantics::value_of_tree(&tree));
    let after = match (existing, value) {
        (None, None) => Some(text.to_owned()),
        (_, Some(value)) => {
            let expected = semantics::with_change(before, path, |_| value.clone());
            apply_edit(
                text,
                |document| put(document, path, value),
                |after| semantics::is_same(after, expected),
            )
        }
        (Some(_), None) => {
            let is_right = |after| semantics::is_without(after, &before, path);
            apply_edit(text, |document| remove_entry(document, path), is_right)
        }
    };
    let offset = existing.map_or(0, |entry| entry.span.start as usize);
    Ok(bom.to_owned() + &after.ok_or_else(|| unsafe_change(text, offset, BY_HAND))?)
}

/// Parses a value as TOML; `None` if it is not exactly one value.
///
/// ```
/// use prowess_format::Value;
/// use prowess_config::edit::setting::parse_value;
///
/// assert_eq!(parse_value("true"), Some(Value::Bool(true)));
/// assert_eq!(parse_value("[\"a\"]"), Some(Value::List(vec![Value::Text("a".into())])));
/// assert_eq!(parse_value("json"), None);
/// assert_eq!(parse_value("1\nrun.scripts = 2"), None);
/// ```
pub fn parse_value(text: &str) -> Option<Value> {
    let tree = parse_for_edit(&format!("value = {text}")).ok()?;
    match semantics::value_of_tree(&tree) {
        Value::Map(mut entries) if entries.len() == 1 => entries.pop().map(|(_, value)| value),
        _ => None,
    }
}

fn entry<'t>(tree: &'t ConfigTree, path: &[&str]) -> Option<&'t TreeEntry> {
    let (first, rest) = path.split_first()?;
    let entry = tree.get(first)?;
    if rest.is_empty() { Some(entry) } else { self::entry(&entry.value, rest) }
}
