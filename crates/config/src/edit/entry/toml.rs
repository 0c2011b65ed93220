//! Edits an entry that is a TOML table: `[section.name]`.

use crate::tree::{ConfigTree, TreeEntry, TreeKind};
use prowess_format::Value;
use toml_edit::{DocumentMut, Item, Table};

use super::super::semantics;
use super::super::text::line_of;
use super::super::toml::{self, BY_HAND, apply_edit, inline, key, last_table, remove_entry, written_key};
use super::{EditEntryError, FoundEntry};

pub(super) fn find(text: &str, path: [&str; 2]) -> Result<Option<FoundEntry>, EditEntryError> {
    let tree = parse(text)?;
    let Some(entry) = entry(text, &tree, path)? else { return Ok(None) };
    Ok(Some(FoundEntry {
        value: semantics::value_of_tree(&entry.value),
        line: line_of(text, entry.span.start as usize),
    }))
}

pub(super) fn put(text: &str, path: [&str; 2], value: &Value) -> Result<String, EditEntryError> {
    let tree = parse(text)?;
    let offset = tree.get(path[0]).map_or(0, |section| section.span.start as usize);
    let expected = semantics::with_change(semantics::value_of_tree(&tree), &path, |_| value.clone());
    apply_edit(text, |document| put_table(document, path, value), |after| semantics::is_same(after, expected))
        .ok_or_else(|| EditEntryError::unsafe_change(text, offset, BY_HAND))
}

pub(super) fn remove(text: &str, path: [&str; 2]) -> Result<String, EditEntryError> {
    let tree = parse(text)?;
    let Some(existing) = entry(text, &tree, path)? else { return Ok(text.to_owned()) };
    let before = semantics::value_of_tree(&tree);
    let is_right = |after| semantics::is_without(after, &before, &path);
    apply_edit(text, |document| remove_entry(document, &path), is_right)
        .ok_or_else(|| EditEntryError::unsafe_change(text, existing.span.start as usize, BY_HAND))
}

/// Inserts a table with its own header if possible, otherwise a value in the section.
fn put_table(document: &mut DocumentMut, [section, name]: [&str; 2], value: &Value) -> Option<String> {
    let may_have_header =
        |item: Option<&Item>| item.is_none_or(|item| item.as_table().is_some_and(|table| !table.is_dotted()));
    let existing = document.get(section).and_then(|section| section.get(name));
    let Value::Map(fields) = value else { return toml::put(document, &[section, name], value) };
    if !may_have_header(document.get(section)) || !may_have_header(existing) {
        return toml::put(document, &[section, name], value);
    }
    let fields = fields.iter().map(|(name, value)| format!("{} = {}\n", written_key(name), inline(value)));
    let mut table: Table = fields.collect::<String>().parse::<DocumentMut>().ok()?.as_table().clone();
    match existing.and_then(Item::as_table) {
        Some(existing) => {
            *table.decor_mut() = existing.decor().clone();
            table.set_position(existing.position());
        }
        None => table = last_table(document, table),
    }
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let holder = document.entry(section).or_insert(Item::Table(implicit)).as_table_mut()?;
    holder.insert_formatted(&key(name), Item::Table(table));
    Some(String::new())
}

fn parse(text: &str) -> Result<ConfigTree, EditEntryError> {
    toml::parse(text).map_err(|(offset, message)| EditEntryError::malformed(text, offset, message))
}

fn entry<'t>(
    text: &str,
    tree: &'t ConfigTree,
    [section, name]: [&str; 2],
) -> Result<Option<&'t TreeEntry>, EditEntryError> {
    let Some(outer) = tree.get(section) else { return Ok(None) };
    match &outer.value.kind {
        TreeKind::Table(_) => Ok(outer.value.get(name)),
        _ => Err(EditEntryError::unsafe_change(
            text,
            outer.span.start as usize,
            format!("{section} must be a table"),
        )),
    }
}
