//! An entry as a table of TOML: `[section.name]`.

use crate::tree::{Entry, Kind, Tree};
use prowess_format::Value;
use toml_edit::{DocumentMut, Item, Table};

use super::super::meaning;
use super::super::text::line_of;
use super::super::toml::{self, BY_HAND, edited, inline, key, last_table, remove_entry, written_key};
use super::{EntryError, Found};

pub(super) fn find(text: &str, path: [&str; 2]) -> Result<Option<Found>, EntryError> {
    let tree = parse(text)?;
    let Some(entry) = entry(text, &tree, path)? else { return Ok(None) };
    Ok(Some(Found { value: meaning::of_tree(&entry.value), line: line_of(text, entry.span.start as usize) }))
}

pub(super) fn put(text: &str, path: [&str; 2], value: &Value) -> Result<String, EntryError> {
    let tree = parse(text)?;
    let at = tree.get(path[0]).map_or(0, |section| section.span.start as usize);
    let wanted = meaning::changed(meaning::of_tree(&tree), &path, |_| value.clone());
    edited(text, |document| put_table(document, path, value), |after| meaning::same(after, wanted))
        .ok_or_else(|| EntryError::refused(text, at, BY_HAND))
}

pub(super) fn take(text: &str, path: [&str; 2]) -> Result<String, EntryError> {
    let tree = parse(text)?;
    let Some(found) = entry(text, &tree, path)? else { return Ok(text.to_owned()) };
    let before = meaning::of_tree(&tree);
    let is_right = |after| meaning::is_without(after, &before, &path);
    edited(text, |document| remove_entry(document, &path), is_right)
        .ok_or_else(|| EntryError::refused(text, found.span.start as usize, BY_HAND))
}

/// Puts a table with its own header where one is possible, else a value in the section.
fn put_table(document: &mut DocumentMut, [section, name]: [&str; 2], value: &Value) -> Option<String> {
    let is_headed =
        |item: Option<&Item>| item.is_none_or(|item| item.as_table().is_some_and(|table| !table.is_dotted()));
    let there = document.get(section).and_then(|section| section.get(name));
    let Value::Map(fields) = value else { return toml::put(document, &[section, name], value) };
    if !is_headed(document.get(section)) || !is_headed(there) {
        return toml::put(document, &[section, name], value);
    }
    let fields = fields.iter().map(|(name, value)| format!("{} = {}\n", written_key(name), inline(value)));
    let mut table: Table = fields.collect::<String>().parse::<DocumentMut>().ok()?.as_table().clone();
    match there.and_then(Item::as_table) {
        Some(there) => {
            *table.decor_mut() = there.decor().clone();
            table.set_position(there.position());
        }
        None => table = last_table(document, table),
    }
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let holder = document.entry(section).or_insert(Item::Table(implicit)).as_table_mut()?;
    holder.insert_formatted(&key(name), Item::Table(table));
    Some(String::new())
}

fn parse(text: &str) -> Result<Tree, EntryError> {
    toml::parse(text).map_err(|(at, message)| EntryError::malformed(text, at, message))
}

fn entry<'t>(
    text: &str,
    tree: &'t Tree,
    [section, name]: [&str; 2],
) -> Result<Option<&'t Entry>, EntryError> {
    let Some(outer) = tree.get(section) else { return Ok(None) };
    match &outer.value.kind {
        Kind::Table(_) => Ok(outer.value.get(name)),
        _ => Err(EntryError::refused(text, outer.span.start as usize, format!("{section} takes a table"))),
    }
}
