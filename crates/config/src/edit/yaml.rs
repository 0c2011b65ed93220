//! Edits YAML lists, in blocks and in brackets.

use prowess_format::yaml::{self, Node, NodeKind, YamlBudget};
use prowess_format::{Span, Value};

use super::list::FoundItem;
use super::text::{Splice, apply_splices, line_of, quote_like};
use super::yaml_block::{self, NewListItem};
use super::{EditError, brackets, semantics};

/// Returns the items of the list at `path` with their lines.
pub(super) fn find(text: &str, path: [&str; 2]) -> Result<Vec<FoundItem>, EditError> {
    let root = parse(text)?;
    let Some(list) = YamlList::find(text, root.as_ref(), path)? else { return Ok(Vec::new()) };
    list.items
        .iter()
        .map(|item| match item.value() {
            Value::Text(existing) => {
                Ok(FoundItem { text: existing.into(), line: line_of(text, item.span.start as usize) })
            }
            _ => Err(unsafe_change(text, item.span, "this is not a list of strings")),
        })
        .collect()
}

/// Adds an item to the list at `path`, which is created if it does not exist.
pub(super) fn add(text: &str, path: [&str; 2], item: &str) -> Result<String, EditError> {
    let root = parse(text)?;
    let list = YamlList::find(text, root.as_ref(), path)?;
    let neighbour = list.as_ref().and_then(|list| text.get(list.items.last()?.span.range()));
    let quoted = quote_like(item, neighbour);
    let item = NewListItem { lines: vec![quoted.clone()], flow: quoted, value: Value::Text(item.into()) };
    push(text, path, &item)
}

/// Removes all occurrences of an item from the list at `path`.
pub(super) fn remove(text: &str, path: [&str; 2], item: &str) -> Result<String, EditError> {
    let mut text = text.to_owned();
    while let Some(index) = find(&text, path)?.iter().position(|existing| existing.text == item) {
        text = remove_at(&text, path, index)?;
    }
    Ok(text)
}

/// Adds an item to the list at `path`.
pub(super) fn push(text: &str, path: [&str; 2], item: &NewListItem) -> Result<String, EditError> {
    let root = parse(text)?;
    let before = root.as_ref().map_or(Value::Null, Node::value);
    let expected = semantics::with_item(before, &path, item.value.clone());
    let (candidates, span) = match YamlList::find(text, root.as_ref(), path)? {
        Some(list) => {
            let span = list.key.span;
            let candidates = match list.is_flow(text) {
                true => vec![brackets::add(text, list.node.span, &list.spans(), &item.flow)],
                false => yaml_block::add(text, list.key, list.node, list.items, item),
            };
            (candidates, span)
        }
        None => yaml_block::create(text, root.as_ref(), path, item)?,
    };
    apply_first_valid(text, candidates, &expected, span)
}

/// Removes an item of the list at `path`.
pub(super) fn remove_at(text: &str, path: [&str; 2], index: usize) -> Result<String, EditError> {
    let root = parse(text)?;
    let Some(list) = YamlList::find(text, root.as_ref(), path)? else { return Ok(text.to_owned()) };
    let expected = semantics::without_item(root.as_ref().map_or(Value::Null, Node::value), &path, index);
    let edit = match list.is_flow(text) {
        true => brackets::remove(text, list.node.span, &list.spans(), index),
        false => yaml_block::remove(text, list.key, list.items, index),
    };
    apply_first_valid(text, vec![edit], &expected, list.key.span)
}

/// An existing list.
pub(super) struct YamlList<'n, 's> {
    pub(super) key: &'n Node<'s>,
    pub(super) node: &'n Node<'s>,
    pub(super) items: &'n [Node<'s>],
}

impl<'n, 's> YamlList<'n, 's> {
    /// Returns the list at a path; `None` if it, or a mapping on the way, is missing or null.
    pub(super) fn find(
        text: &str,
        root: Option<&'n Node<'s>>,
        path: [&str; 2],
    ) -> Result<Option<Self>, EditError> {
        let mut existing: Option<(&Node<'_>, &Node<'_>)> = None;
        let Some(mut node) = root else { return Ok(None) };
        for key in path {
            match entry(text, node, key)? {
                Some((key, inner)) => {
                    existing = Some((key, inner));
                    node = inner;
                }
                None => return Ok(None),
            }
        }
        match existing {
            Some((key, node)) => match &node.kind {
                NodeKind::List(items) => Ok(Some(Self { key, node, items })),
                NodeKind::Scalar(..) if node.value() == Value::Null => Ok(None),
                _ => Err(unsafe_change(text, key.span, "this must be a list")),
            },
            None => Ok(None),
        }
    }

    pub(super) fn is_flow(&self, text: &str) -> bool {
        begins_with(text, self.node.span, b'[')
    }

    fn spans(&self) -> Vec<Span> {
        self.items.iter().map(|item| item.span).collect()
    }
}

/// Returns the entry of a key in a mapping. Null counts as an empty mapping.
pub(super) fn entry<'n, 's>(
    text: &str,
    node: &'n Node<'s>,
    key: &str,
) -> Result<Option<(&'n Node<'s>, &'n Node<'s>)>, EditError> {
    let NodeKind::Map(entries) = &node.kind else {
        return match node.value() {
            Value::Null => Ok(None),
            _ => Err(unsafe_change(text, node.span, "this must be a mapping")),
        };
    };
    let mut matching = entries
        .iter()
        .filter(|(entry_key, _)| matches!(&entry_key.kind, NodeKind::Scalar(text, _) if text == key));
    let Some((entry_key, value)) = matching.next() else { return Ok(None) };
    if let Some((duplicate, _)) = matching.next() {
        return Err(unsafe_change(text, duplicate.span, &format!("duplicate key {key}; delete one of them")));
    }
    if begins_with(text, value.span, b'*') {
        let reason = format!(
            "{key} is a YAML alias, and changing it would affect other uses; replace it with its value"
        );
        return Err(unsafe_change(text, entry_key.span, &reason));
    }
    Ok(Some((entry_key, value)))
}

pub(super) fn begins_with(text: &str, span: Span, byte: u8) -> bool {
    text.as_bytes().get(span.start as usize) == Some(&byte)
}

pub(super) fn unsafe_change(text: &str, span: Span, reason: &str) -> EditError {
    EditError::Unsafe { line: line_of(text, span.start as usize), reason: reason.to_owned() }
}

pub(super) fn parse(text: &str) -> Result<Option<Node<'_>>, EditError> {
    yaml::parse(text, YamlBudget::DEFAULT).map_err(|error| EditError::Malformed {
        line: line_of(text, error.offset()),
        message: error.to_string(),
    })
}

/// Applies the first candidate that results in the wanted value and nothing else.
pub(super) fn apply_first_valid(
    text: &str,
    candidates: Vec<Vec<Splice>>,
    expected: &Value,
    span: Span,
) -> Result<String, EditError> {
    for edit in candidates {
        let after = apply_splices(text, edit);
        let is_valid = parse(&after).is_ok_and(|root| {
            semantics::is_same(root.map_or(Value::Null, |node| node.value()), expected.clone())
        });
        if is_valid {
            return Ok(after);
        }
    }
    let reason = "this cannot be changed without affecting something else, such as an anchor or an alias; edit the file \
               by hand";
    Err(unsafe_change(text, span, reason))
}
