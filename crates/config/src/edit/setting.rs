//! One setting of a TOML file, `key` or `section.key`: replaced, added or removed.

use crate::tree::{Entry, Tree};
use prowess_format::Value;

use super::text::without_mark;
use super::toml::{BY_HAND, edited, put, read, refused, remove_entry};
use super::{EditError, meaning};

/// The text with this value at `path`: a section and a key in it, or a key alone. `None` removes it.
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
    let (mark, text) = without_mark(text);
    let tree = read(text)?;
    let (found, before) = (entry(&tree, path), meaning::of_tree(&tree));
    let after = match (found, value) {
        (None, None) => Some(text.to_owned()),
        (_, Some(value)) => {
            let wanted = meaning::changed(before, path, |_| value.clone());
            edited(text, |document| put(document, path, value), |after| meaning::same(after, wanted))
        }
        (Some(_), None) => {
            let is_right = |after| meaning::is_without(after, &before, path);
            edited(text, |document| remove_entry(document, path), is_right)
        }
    };
    let at = found.map_or(0, |entry| entry.span.start as usize);
    Ok(mark.to_owned() + &after.ok_or_else(|| refused(text, at, BY_HAND))?)
}

fn entry<'t>(tree: &'t Tree, path: &[&str]) -> Option<&'t Entry> {
    let (first, rest) = path.split_first()?;
    let entry = tree.get(first)?;
    if rest.is_empty() { Some(entry) } else { self::entry(&entry.value, rest) }
}
