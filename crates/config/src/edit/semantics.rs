//! The values of a text, and the expected values after a change.

use crate::tree::{ConfigTree, TreeKind};
use prowess_format::Value;

/// Converts a TOML tree to a value. Numbers and dates stay distinct from strings with the same text.
pub(super) fn value_of_tree(tree: &ConfigTree) -> Value {
    match &tree.kind {
        TreeKind::Null => Value::Null,
        TreeKind::Bool(boolean) => Value::Bool(*boolean),
        TreeKind::Integer(number) => Value::Number(number.to_string().into()),
        TreeKind::Fraction(text) | TreeKind::Date(text) => Value::Number(text.as_str().into()),
        TreeKind::Text(text) => Value::Text(text.as_str().into()),
        TreeKind::List(items) => Value::List(items.iter().map(value_of_tree).collect()),
        TreeKind::Table(entries) => Value::Map(
            entries.iter().map(|entry| (entry.key.as_str().into(), value_of_tree(&entry.value))).collect(),
        ),
    }
}

/// Returns `true` if two values are equal, regardless of the order of keys. Duplicate keys keep their order.
pub(super) fn is_same(a: Value, b: Value) -> bool {
    sorted(a) == sorted(b)
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

/// Returns the value with a change at a path of keys. Missing or null maps on the way are created.
pub(super) fn with_change(value: Value, path: &[&str], change: impl FnOnce(Value) -> Value) -> Value {
    let Some((first, rest)) = path.split_first() else { return change(value) };
    let mut entries = match value {
        Value::Map(entries) => entries,
        Value::Null => Vec::new(),
        other => return other,
    };
    match entries.iter_mut().find(|(key, _)| key.as_ref() == *first) {
        Some((_, inner)) => *inner = with_change(std::mem::replace(inner, Value::Null), rest, change),
        None => entries.push(((*first).into(), with_change(Value::Null, rest, change))),
    }
    Value::Map(entries)
}

/// Returns the value with one more item in the list at a path.
pub(super) fn with_item(value: Value, path: &[&str], item: Value) -> Value {
    with_change(value, path, |list| match list {
        Value::List(mut items) => {
            items.push(item);
            Value::List(items)
        }
        _ => Value::List(vec![item]),
    })
}

/// Returns the value without one item of the list at a path.
pub(super) fn without_item(value: Value, path: &[&str], index: usize) -> Value {
    with_item_change(value, path, index, |_| None)
}

/// Returns the value with one item of the list at a path changed or removed.
pub(super) fn with_item_change(
    value: Value,
    path: &[&str],
    index: usize,
    change: impl FnOnce(Value) -> Option<Value>,
) -> Value {
    with_change(value, path, |list| match list {
        Value::List(mut items) if index < items.len() => {
            let item = items.remove(index);
            if let Some(item) = change(item) {
                items.insert(index, item);
            }
            Value::List(items)
        }
        other => other,
    })
}

/// Returns `true` if a text equals the earlier one without the entry at a path. An empty section may be left or
/// not.
pub(super) fn is_without(after: Value, before: &Value, path: &[&str]) -> bool {
    let Some((name, sections)) = path.split_last() else { return false };
    let is_empty = |value: &Value| *value == Value::Null || *value == Value::Map(Vec::new());
    let normalized = |value: Value| {
        let without = without_entries(value, sections, |key, _| key == *name);
        match sections.split_last() {
            Some((section, outer_sections)) => {
                without_entries(without, outer_sections, |key, value| key == *section && is_empty(value))
            }
            None => without,
        }
    };
    !contains(&after, path) && is_same(normalized(after), normalized(before.clone()))
}

fn without_entries(value: Value, path: &[&str], drop: impl Fn(&str, &Value) -> bool) -> Value {
    with_change(value, path, |map| match map {
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
