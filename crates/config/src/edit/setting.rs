//! One setting of a TOML file, `key` or `section.key`: put in the place of what is there, added, or taken away.

use crate::tree::{Entry, Tree};
use prowess_format::Value;

use super::text::{Splice, line_break, line_start, next_line, without_mark};
use super::toml::{first_right, parse, ways_in};
use super::{EditError, meaning};

/// The text with this value at `path`: a section and a key in it, or a key alone. None takes it away.
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
    let tree = parse(text)?;
    let after = match (entry(&tree, path), value) {
        (None, None) => Ok(text.to_owned()),
        (Some(entry), Some(value)) => replace(text, &tree, path, entry, value),
        (Some(entry), None) => take(text, &tree, path, entry),
        (None, Some(value)) => add(text, &tree, path, value),
    };
    Ok(mark.to_owned() + &after?)
}

fn entry<'t>(tree: &'t Tree, path: &[&str]) -> Option<&'t Entry> {
    let (first, rest) = path.split_first()?;
    let entry = tree.get(first)?;
    if rest.is_empty() { Some(entry) } else { self::entry(&entry.value, rest) }
}

fn replace(
    text: &str,
    tree: &Tree,
    path: &[&str],
    entry: &Entry,
    value: &Value,
) -> Result<String, EditError> {
    let wanted = meaning::changed(meaning::of_tree(tree), path, |_| value.clone());
    let (from, to) = (entry.value.span.start as usize, entry.value.span.end as usize);
    let way = vec![Splice::cut(from, to), Splice::insert(to, inline(value))];
    first_right(text, vec![way], &wanted, from)
}

fn add(text: &str, tree: &Tree, path: &[&str], value: &Value) -> Result<String, EditError> {
    let wanted = meaning::changed(meaning::of_tree(tree), path, |_| value.clone());
    let line = |key: &str| format!("{key} = {}", inline(value));
    match path {
        [section, key] => {
            let (ways, at) = ways_in(text, tree, section, &line(key));
            first_right(text, ways, &wanted, at)
        }
        [key] => {
            // What stands in no section stands before the first of them.
            let first = text.lines().scan(0, |at, line| {
                let start = *at;
                *at += line.len() + 1;
                Some((start, line))
            });
            let header = first.filter(|(_, line)| line.trim_start().starts_with('[')).map(|(at, _)| at);
            let line = format!("{}{}", line(key), line_break(text, 0));
            let ends_line = text.is_empty() || text.ends_with('\n');
            let at_end = if ends_line { line.clone() } else { format!("{}{line}", line_break(text, 0)) };
            let places = header.chain([0]).map(|at| (at, line.clone())).chain([(text.len(), at_end)]);
            let ways = places.map(|(at, line)| vec![Splice::insert(at.min(text.len()), line)]);
            first_right(text, ways.collect(), &wanted, 0)
        }
        _ => Ok(text.to_owned()),
    }
}

fn take(text: &str, tree: &Tree, path: &[&str], entry: &Entry) -> Result<String, EditError> {
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let wanted = meaning::changed(meaning::of_tree(tree), above, |section| match section {
        Value::Map(mut entries) => {
            entries.retain(|(key, _)| key.as_ref() != *last);
            Value::Map(entries)
        }
        other => other,
    });
    let (from, to) = (entry.span.start as usize, entry.value.span.end as usize);
    let line = Splice::cut(line_start(text, from), next_line(text, to));
    first_right(text, vec![vec![line]], &wanted, from)
}

/// A value as TOML has it on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => super::text::quoted(text),
        Value::List(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| format!("{} = {}", super::text::quoted(key), inline(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}
