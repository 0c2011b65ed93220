//! Edits TOML using `toml_edit`. The result is parsed again before it is accepted.

use crate::tree::{self, ConfigTree, TreeEntry, TreeKind};
use prowess_format::{Span, Value};
use toml_edit::{DocumentMut, Item, Key, Table};

use super::list::FoundItem;
use super::text::{apply_splices, line_break, line_of, quote, quote_like};
use super::{EditError, brackets, semantics};

pub(super) const BY_HAND: &str =
    "it cannot be changed without affecting something else; edit the file by hand";

/// Returns the text after `edit`, which returns the comments to keep from what it removed. `None` if the edit
/// is not possible, or if `is_right` rejects the resulting value.
///
/// Only lines that the edit changed are replaced, so that all others keep every byte, including line endings.
pub(super) fn apply_edit(
    text: &str,
    edit: impl FnOnce(&mut DocumentMut) -> Option<String>,
    is_right: impl FnOnce(Value) -> bool,
) -> Option<String> {
    let mut document: DocumentMut = text.replace("\r\n", "\n").parse().ok()?;
    let before = document.to_string();
    let kept_comments = edit(&mut document)?;
    let after = document.to_string();

    let (before, after): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let ending = line_break(text, 0);
    let is_whole = text.is_empty() || text.ends_with('\n');
    let text_lines = if is_whole { text.to_owned() } else { format!("{text}{ending}") };
    let lines: Vec<_> = text_lines.split_inclusive('\n').collect();
    if !lines.iter().map(|line| line.trim_end_matches(['\r', '\n'])).eq(before.iter().copied()) {
        return None;
    }
    let is_same = |(a, b): &(&&str, &&str)| a == b;
    let common_prefix = before.iter().zip(&after).take_while(is_same).count();
    let rest = before.iter().skip(common_prefix).rev().zip(after.iter().skip(common_prefix).rev());
    let common_suffix = rest.take_while(is_same).count();
    let changed = kept_comments
        .lines()
        .chain(after.iter().copied().take(after.len() - common_suffix).skip(common_prefix));
    let mut result = lines.iter().copied().take(common_prefix).collect::<String>();
    result.extend(changed.flat_map(|line| [line, ending]));
    result.extend(lines.iter().copied().skip(lines.len() - common_suffix));
    if !is_whole && result.ends_with(ending) {
        result.truncate(result.len() - ending.len());
    }
    if !text.starts_with(['\r', '\n']) {
        result.drain(..result.len() - result.trim_start_matches(['\r', '\n']).len());
    }
    is_right(semantics::value_of_tree(&parse(&result).ok()?)).then_some(result)
}

/// Sets a value at `path`: a section and a key in it, or only a key. Replaces an existing value in place.
pub(super) fn put(document: &mut DocumentMut, path: &[&str], value: &Value) -> Option<String> {
    let mut value: toml_edit::Value = inline(value).parse().ok()?;
    value.decor_mut().clear();
    let (name, sections) = path.split_last()?;
    if let [section] = sections
        && !document.contains_key(section)
    {
        let table = last_table(document, Table::new());
        document.insert(section, Item::Table(table));
    }
    let prefix = match sections.is_empty() {
        true if document.is_empty() => take_trailing(document),
        true => take_heading(document),
        false => String::new(),
    };
    let mut holder = document.as_item_mut();
    for section in sections {
        holder = holder.get_mut(section)?;
    }
    let is_inline = holder.is_inline_table();
    let table = holder.as_table_like_mut()?;
    if let Some(old) = table.get_mut(name).and_then(Item::as_value_mut) {
        *value.decor_mut() = old.decor().clone();
        *old = value;
        return Some(String::new());
    }
    if let Some(last) =
        table.iter_mut().last().and_then(|(_, last)| last.as_value_mut()).filter(|_| is_inline)
    {
        let suffix = last.decor().suffix().and_then(|suffix| suffix.as_str()).unwrap_or_default();
        if suffix.trim().is_empty() {
            last.decor_mut().set_suffix("");
        }
    }
    let mut key = key(name);
    if !prefix.is_empty() {
        key.leaf_decor_mut().set_prefix(prefix);
    }
    table.entry_format(&key).or_insert(Item::Value(value));
    Some(String::new())
}

/// Takes the comments at the top of a document that begins with a table. Comments followed by a blank line are
/// about the whole file and stay at the top.
fn take_heading(document: &mut DocumentMut) -> String {
    let first = document.iter_mut().next().and_then(|(_, item)| item.as_table_mut().map(Table::decor_mut));
    let Some(decor) = first else { return String::new() };
    let comments = decor.prefix().and_then(|comments| comments.as_str()).unwrap_or_default().to_owned();
    let Some(end) = comments.rfind("\n\n") else { return String::new() };
    let (heading, rest) = comments.split_at(end + 2);
    let (heading, rest) = (heading.to_owned(), rest.to_owned());
    decor.set_prefix(rest);
    heading
}

/// Removes the entry at `path`, and returns the comments above it.
pub(super) fn remove_entry(document: &mut DocumentMut, path: &[&str]) -> Option<String> {
    let (name, sections) = path.split_last()?;
    let mut holder = document.as_item_mut();
    for section in sections {
        holder = holder.get_mut(section)?;
    }
    let table = holder.as_table_like_mut()?;
    let comments = table.key(name)?.leaf_decor().clone();
    let text =
        |decor: &toml_edit::Decor| decor.prefix().and_then(|comments| comments.as_str()).map(str::to_owned);
    Some(match table.remove(name)? {
        Item::Table(table) if !table.is_dotted() => {
            let comments = text(table.decor()).unwrap_or_default();
            comments.strip_suffix('\n').map(str::to_owned).unwrap_or(comments)
        }
        _ => text(&comments).filter(|comments| comments.contains('#')).unwrap_or_default(),
    })
}

/// Positions a table after everything else in the document.
pub(super) fn last_table(document: &mut DocumentMut, mut table: Table) -> Table {
    let is_first = document.is_empty();
    let comments = take_trailing(document);
    let separator = if is_first && comments.is_empty() { "" } else { "\n" };
    table.decor_mut().set_prefix(comments + separator);
    table.set_position(Some(isize::MAX));
    table
}

/// Takes the comments and blank lines from the end of the document.
fn take_trailing(document: &mut DocumentMut) -> String {
    let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    if trailing.is_empty() || trailing.ends_with('\n') { trailing } else { trailing + "\n" }
}

pub(super) fn key(text: &str) -> Key {
    written_key(text).parse().unwrap_or_else(|_| Key::new(text))
}

pub(super) fn written_key(text: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !text.is_empty() && text.chars().all(is_bare) { text.to_owned() } else { quote(text) }
}

/// Formats a value on one line.
pub(super) fn inline(value: &Value) -> String {
    match value {
        // TOML has no null, and no written value contains one.
        Value::Null => "\"\"".to_owned(),
        Value::Bool(boolean) => boolean.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => quote(text),
        Value::List(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Map(entries) => {
            let entries =
                entries.iter().map(|(key, value)| format!("{} = {}", written_key(key), inline(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Parses a text. The error has the position and the message.
pub(super) fn parse(text: &str) -> Result<ConfigTree, (usize, String)> {
    let malformed = match tree::parse_toml(text, &[]) {
        Ok(Some(tree)) => return Ok(tree),
        Ok(None) => None,
        Err(malformed) => malformed.into_iter().next(),
    };
    Err(malformed.map_or((0, String::new()), |malformed| {
        (malformed.span.map_or(0, |span| span.start as usize), malformed.message)
    }))
}

pub(super) fn parse_for_edit(text: &str) -> Result<ConfigTree, EditError> {
    parse(text).map_err(|(offset, message)| EditError::Malformed { line: line_of(text, offset), message })
}

pub(super) fn unsafe_change(text: &str, offset: usize, reason: &str) -> EditError {
    EditError::Unsafe { line: line_of(text, offset), reason: reason.to_owned() }
}

/// Returns the items of the list at `path` with their lines.
pub(super) fn find(text: &str, path: [&str; 2]) -> Result<Vec<FoundItem>, EditError> {
    let tree = parse_for_edit(text)?;
    let Some((_, list)) = entry(&tree, path) else { return Ok(Vec::new()) };
    let found_item =
        |(item, span): (String, Span)| FoundItem { text: item, line: line_of(text, span.start as usize) };
    Ok(items(text, list)?.into_iter().map(found_item).collect())
}

/// Adds an item to the list at `path`, which is created if it does not exist.
pub(super) fn add(text: &str, path: [&str; 2], item: &str) -> Result<String, EditError> {
    let tree = parse_for_edit(text)?;
    let expected = semantics::with_item(semantics::value_of_tree(&tree), &path, Value::Text(item.into()));
    let Some((_, list)) = entry(&tree, path) else {
        let list = Value::List(vec![Value::Text(item.into())]);
        let offset = tree.get(path[0]).map_or(0, |section| section.span.start as usize);
        return apply_edit(
            text,
            |document| put(document, &path, &list),
            |after| semantics::is_same(after, expected),
        )
        .ok_or_else(|| unsafe_change(text, offset, BY_HAND));
    };
    let spans: Vec<_> = items(text, list)?.into_iter().map(|(_, span)| span).collect();
    // TOML has no unquoted strings.
    let neighbour = spans.last().and_then(|last| text.get(last.range()));
    let neighbour =
        neighbour.filter(|neighbour| neighbour.starts_with('\'') && !neighbour.starts_with("'''"));
    let item = quote_like(item, neighbour.or(Some("\"")));
    checked(text, apply_splices(text, brackets::add(text, list.span, &spans, &item)), expected, list.span)
}

/// Removes all occurrences of an item from the list at `path`. A list that becomes empty stays.
pub(super) fn remove(text: &str, path: [&str; 2], item: &str) -> Result<String, EditError> {
    let mut text = text.to_owned();
    loop {
        let tree = parse_for_edit(&text)?;
        let Some((_, list)) = entry(&tree, path) else { return Ok(text) };
        let items = items(&text, list)?;
        let Some(index) = items.iter().position(|(existing, _)| existing == item) else { return Ok(text) };
        let expected = semantics::without_item(semantics::value_of_tree(&tree), &path, index);
        let spans: Vec<_> = items.iter().map(|(_, span)| *span).collect();
        let after = apply_splices(&text, brackets::remove(&text, list.span, &spans, index));
        text = checked(&text, after, expected, list.span)?;
    }
}

fn checked(text: &str, after: String, expected: Value, span: Span) -> Result<String, EditError> {
    match parse(&after) {
        Ok(tree) if semantics::is_same(semantics::value_of_tree(&tree), expected) => Ok(after),
        _ => Err(unsafe_change(text, span.start as usize, BY_HAND)),
    }
}

fn entry<'t>(tree: &'t ConfigTree, [section, key]: [&str; 2]) -> Option<(&'t TreeEntry, &'t ConfigTree)> {
    let entry = tree.get(section)?.value.get(key)?;
    Some((entry, &entry.value))
}

fn items(text: &str, list: &ConfigTree) -> Result<Vec<(String, Span)>, EditError> {
    let rejected =
        |tree: &ConfigTree| unsafe_change(text, tree.span.start as usize, "this is not a list of strings");
    let TreeKind::List(items) = &list.kind else { return Err(rejected(list)) };
    let item = |item: &ConfigTree| match &item.kind {
        TreeKind::Text(text) => Ok((text.clone(), item.span)),
        _ => Err(rejected(item)),
    };
    items.iter().map(item).collect()
}
