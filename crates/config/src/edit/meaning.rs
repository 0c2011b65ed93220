//! What a text means, and what it should mean after a change.

use crate::tree::{Kind, Tree};
use prowess_format::Value;

/// A TOML tree as a value. Numbers and dates stay apart from texts that look the same.
pub(super) fn of_tree(tree: &Tree) -> Value {
    match &tree.kind {
        Kind::Null => Value::Null,
        Kind::Truth(truth) => Value::Bool(*truth),
        Kind::Whole(number) => Value::Number(number.to_string().into()),
        Kind::Fraction(text) | Kind::Date(text) => Value::Number(text.as_str().into()),
        Kind::Text(text) => Value::Text(text.as_str().into()),
        Kind::List(items) => Value::List(items.iter().map(of_tree).collect()),
        Kind::Table(entries) => Value::Map(
            entries.iter().map(|entry| (entry.key.as_str().into(), of_tree(&entry.value))).collect(),
        ),
    }
}

/// Whether two values are the same, whatever the order of keys. Keys that stand twice keep their order.
pub(super) fn same(one: Value, other: Value) -> bool {
    sorted(one) == sorted(other)
}

fn sorted(value: Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.into_iter().map(sorted).collect()),
        Value::Map(entries) => {
            let mut entries: Vec<_> = entries.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Map(entries)
        }
        value => value,
    }
}

/// The value with what stands at a path of keys changed; what is missing on the way, or nothing, becomes a map.
pub(super) fn changed(value: Value, path: &[&str], change: impl FnOnce(Value) -> Value) -> Value {
    let Some((first, rest)) = path.split_first() else { return change(value) };
    let mut entries = match value {
        Value::Map(entries) => entries,
        Value::Null => Vec::new(),
        other => return other,
    };
    match entries.iter_mut().find(|(key, _)| key.as_ref() == *first) {
        Some((_, inner)) => *inner = changed(std::mem::replace(inner, Value::Null), rest, change),
        None => entries.push(((*first).into(), changed(Value::Null, rest, change))),
    }
    Value::Map(entries)
}

/// The list at a path with one item more.
pub(super) fn pushed(value: Value, path: &[&str], item: Value) -> Value {
    changed(value, path, |list| match list {
        Value::List(mut items) => {
            items.push(item);
            Value::List(items)
        }
        _ => Value::List(vec![item]),
    })
}

/// The list at a path without one item.
pub(super) fn taken(value: Value, path: &[&str], which: usize) -> Value {
    item_changed(value, path, which, |_| None)
}

/// The list at a path with one item changed, or without it.
pub(super) fn item_changed(
    value: Value,
    path: &[&str],
    which: usize,
    change: impl FnOnce(Value) -> Option<Value>,
) -> Value {
    changed(value, path, |list| match list {
        Value::List(mut items) if which < items.len() => {
            let item = items.remove(which);
            if let Some(item) = change(item) {
                items.insert(which, item);
            }
            Value::List(items)
        }
        other => other,
    })
}

/// Whether a text means what it meant without the entry at a path. Whether an empty section is left or none does not
/// matter.
pub(super) fn is_without(after: Value, before: &Value, path: &[&str]) -> bool {
    let Some((name, sections)) = path.split_last() else { return false };
    let is_empty = |value: &Value| *value == Value::Null || *value == Value::Map(Vec::new());
    let bare = |value: Value| {
        let without = dropped(value, sections, |key, _| key == *name);
        match sections.split_last() {
            Some((section, above)) => {
                dropped(without, above, |key, value| key == *section && is_empty(value))
            }
            None => without,
        }
    };
    !contains(&after, path) && same(bare(after), bare(before.clone()))
}

fn dropped(value: Value, path: &[&str], drop: impl Fn(&str, &Value) -> bool) -> Value {
    changed(value, path, |map| match map {
        Value::Map(mut entries) => {
            entries.retain(|(key, value)| !drop(key, value));
            Value::Map(entries)
        }
        Value::Null => Value::Map(Vec::new()),
        other => other,
    })
}

fn contains(value: &Value, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    let Value::Map(entries) = value else { return false };
    entries.iter().any(|(key, value)| key.as_ref() == *first && contains(value, rest))
}
