//! Edits of TOML: `toml_edit` makes the change, and the result is read again before it counts.

use crate::tree::{self, Entry, Kind, Tree};
use prowess_format::{Span, Value};
use toml_edit::{DocumentMut, Item, Key, Table};

use super::list::Found;
use super::text::{line_break, line_of, quoted, quoted_like, spliced};
use super::{EditError, brackets, meaning};

pub(super) const BY_HAND: &str =
    "it is written in a form that cannot be changed without touching the rest; change it by hand";

/// The text after `edit`, which returns the comments to keep in place of what it removed. `None` where the edit is not
/// possible, or `is_right` does not accept what the text means afterwards.
///
/// Only the lines that the edit changed are replaced, so that all others keep every byte, line ending included.
pub(super) fn edited(
    text: &str,
    edit: impl FnOnce(&mut DocumentMut) -> Option<String>,
    is_right: impl FnOnce(Value) -> bool,
) -> Option<String> {
    let mut document: DocumentMut = text.replace("\r\n", "\n").parse().ok()?;
    let before = document.to_string();
    let kept = edit(&mut document)?;
    let after = document.to_string();

    let (before, after): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let ending = line_break(text, 0);
    let is_whole = text.is_empty() || text.ends_with('\n');
    let text_lines = if is_whole { text.to_owned() } else { format!("{text}{ending}") };
    let lines: Vec<_> = text_lines.split_inclusive('\n').collect();
    if !lines.iter().map(|line| line.trim_end_matches(['\r', '\n'])).eq(before.iter().copied()) {
        return None;
    }
    let is_same = |(one, other): &(&&str, &&str)| one == other;
    let first = before.iter().zip(&after).take_while(is_same).count();
    let rest = before.iter().skip(first).rev().zip(after.iter().skip(first).rev());
    let last = rest.take_while(is_same).count();
    let changed = kept.lines().chain(after.iter().copied().take(after.len() - last).skip(first));
    let mut result = lines.iter().copied().take(first).collect::<String>();
    result.extend(changed.flat_map(|line| [line, ending]));
    result.extend(lines.iter().copied().skip(lines.len() - last));
    if !is_whole && result.ends_with(ending) {
        result.truncate(result.len() - ending.len());
    }
    if !text.starts_with(['\r', '\n']) {
        result.drain(..result.len() - result.trim_start_matches(['\r', '\n']).len());
    }
    is_right(meaning::of_tree(&parse(&result).ok()?)).then_some(result)
}

/// Puts a value at `path`: a section and a key in it, or a key alone. What is there is replaced in its place.
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
        true if document.is_empty() => without_trailing(document),
        true => heading(document),
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

/// Takes the comments at the top of a document that begins with a table: those with a blank line below them are about the
/// whole file, and stay above what is written next.
fn heading(document: &mut DocumentMut) -> String {
    let first = document.iter_mut().next().and_then(|(_, item)| item.as_table_mut().map(Table::decor_mut));
    let Some(decor) = first else { return String::new() };
    let above = decor.prefix().and_then(|above| above.as_str()).unwrap_or_default().to_owned();
    let Some(end) = above.rfind("\n\n") else { return String::new() };
    let (heading, rest) = above.split_at(end + 2);
    let (heading, rest) = (heading.to_owned(), rest.to_owned());
    decor.set_prefix(rest);
    heading
}

/// Removes what is at `path`, and returns the comments above it.
pub(super) fn remove_entry(document: &mut DocumentMut, path: &[&str]) -> Option<String> {
    let (name, sections) = path.split_last()?;
    let mut holder = document.as_item_mut();
    for section in sections {
        holder = holder.get_mut(section)?;
    }
    let table = holder.as_table_like_mut()?;
    let above = table.key(name)?.leaf_decor().clone();
    let text = |decor: &toml_edit::Decor| decor.prefix().and_then(|above| above.as_str()).map(str::to_owned);
    Some(match table.remove(name)? {
        Item::Table(table) if !table.is_dotted() => {
            let above = text(table.decor()).unwrap_or_default();
            above.strip_suffix('\n').map(str::to_owned).unwrap_or(above)
        }
        _ => text(&above).filter(|above| above.contains('#')).unwrap_or_default(),
    })
}

/// A table that is written after everything else in the document.
pub(super) fn last_table(document: &mut DocumentMut, mut table: Table) -> Table {
    let is_first = document.is_empty();
    let above = without_trailing(document);
    let apart = if is_first && above.is_empty() { "" } else { "\n" };
    table.decor_mut().set_prefix(above + apart);
    table.set_position(Some(isize::MAX));
    table
}

/// Takes the comments and blank lines from the end of the document.
fn without_trailing(document: &mut DocumentMut) -> String {
    let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    if trailing.is_empty() || trailing.ends_with('\n') { trailing } else { trailing + "\n" }
}

pub(super) fn key(text: &str) -> Key {
    written_key(text).parse().unwrap_or_else(|_| Key::new(text))
}

pub(super) fn written_key(text: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !text.is_empty() && text.chars().all(is_bare) { text.to_owned() } else { quoted(text) }
}

/// A value on one line.
pub(super) fn inline(value: &Value) -> String {
    match value {
        // TOML has no null; what we write has none.
        Value::Null => "\"\"".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => quoted(text),
        Value::List(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Map(entries) => {
            let entries =
                entries.iter().map(|(key, value)| format!("{} = {}", written_key(key), inline(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// What a text means; else where it is broken, and how.
pub(super) fn parse(text: &str) -> Result<Tree, (usize, String)> {
    let malformed = match tree::toml(text, &[]) {
        Ok(Some(tree)) => return Ok(tree),
        Ok(None) => None,
        Err(malformed) => malformed.into_iter().next(),
    };
    Err(malformed.map_or((0, String::new()), |malformed| {
        (malformed.span.map_or(0, |span| span.start as usize), malformed.message)
    }))
}

pub(super) fn read(text: &str) -> Result<Tree, EditError> {
    parse(text).map_err(|(at, message)| EditError::Malformed { line: line_of(text, at), message })
}

pub(super) fn refused(text: &str, at: usize, why: &str) -> EditError {
    EditError::Refused { line: line_of(text, at), why: why.to_owned() }
}

/// The texts of the list at `path`, each with its line.
pub(super) fn find(text: &str, path: [&str; 2]) -> Result<Vec<Found>, EditError> {
    let tree = read(text)?;
    let Some((_, list)) = entry(&tree, path) else { return Ok(Vec::new()) };
    let found =
        |(found, span): (String, Span)| Found { text: found, line: line_of(text, span.start as usize) };
    Ok(items(text, list)?.into_iter().map(found).collect())
}

/// Adds a text to the list at `path`, which is made where it is missing.
pub(super) fn add(text: &str, path: [&str; 2], item: &str) -> Result<String, EditError> {
    let tree = read(text)?;
    let wanted = meaning::pushed(meaning::of_tree(&tree), &path, Value::Text(item.into()));
    let Some((_, list)) = entry(&tree, path) else {
        let list = Value::List(vec![Value::Text(item.into())]);
        let at = tree.get(path[0]).map_or(0, |section| section.span.start as usize);
        return edited(text, |document| put(document, &path, &list), |after| meaning::same(after, wanted))
            .ok_or_else(|| refused(text, at, BY_HAND));
    };
    let spans: Vec<_> = items(text, list)?.into_iter().map(|(_, span)| span).collect();
    // TOML has no words without quotes.
    let beside = spans.last().and_then(|last| text.get(last.range()));
    let beside = beside.filter(|beside| beside.starts_with('\'') && !beside.starts_with("'''"));
    let item = quoted_like(item, beside.or(Some("\"")));
    checked(text, spliced(text, brackets::add(text, list.span, &spans, &item)), wanted, list.span)
}

/// Removes a text from the list at `path`, however often it is in it. A list that becomes empty stays.
pub(super) fn remove(text: &str, path: [&str; 2], item: &str) -> Result<String, EditError> {
    let mut text = text.to_owned();
    loop {
        let tree = read(&text)?;
        let Some((_, list)) = entry(&tree, path) else { return Ok(text) };
        let items = items(&text, list)?;
        let Some(which) = items.iter().position(|(found, _)| found == item) else { return Ok(text) };
        let wanted = meaning::taken(meaning::of_tree(&tree), &path, which);
        let spans: Vec<_> = items.iter().map(|(_, span)| *span).collect();
        let after = spliced(&text, brackets::remove(&text, list.span, &spans, which));
        text = checked(&text, after, wanted, list.span)?;
    }
}

fn checked(text: &str, after: String, wanted: Value, at: Span) -> Result<String, EditError> {
    match parse(&after) {
        Ok(tree) if meaning::same(meaning::of_tree(&tree), wanted) => Ok(after),
        _ => Err(refused(text, at.start as usize, BY_HAND)),
    }
}

fn entry<'t>(tree: &'t Tree, [section, key]: [&str; 2]) -> Option<(&'t Entry, &'t Tree)> {
    let entry = tree.get(section)?.value.get(key)?;
    Some((entry, &entry.value))
}

fn items(text: &str, list: &Tree) -> Result<Vec<(String, Span)>, EditError> {
    let refused = |tree: &Tree| refused(text, tree.span.start as usize, "this is no list of texts");
    let Kind::List(items) = &list.kind else { return Err(refused(list)) };
    let item = |item: &Tree| match &item.kind {
        Kind::Text(found) => Ok((found.clone(), item.span)),
        _ => Err(refused(item)),
    };
    items.iter().map(item).collect()
}
