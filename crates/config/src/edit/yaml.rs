//! Lists in YAML, in blocks and in brackets.

use prowess_format::yaml::{self, Budget, Kind, Node};
use prowess_format::{Span, Value};

use super::block::{self, Item};
use super::list::Found;
use super::text::{Splice, line_of, quoted_like, spliced};
use super::{EditError, brackets, meaning};

/// The texts of the list at `path`, each with its line.
pub(super) fn find(text: &str, path: [&str; 2]) -> Result<Vec<Found>, EditError> {
    let root = parse(text)?;
    let Some(list) = List::find(text, root.as_ref(), path)? else { return Ok(Vec::new()) };
    list.items
        .iter()
        .map(|item| match item.value() {
            Value::Text(found) => {
                Ok(Found { text: found.into(), line: line_of(text, item.span.start as usize) })
            }
            _ => Err(refused(text, item.span, "this is no list of texts")),
        })
        .collect()
}

/// Adds a text to the list at `path`, which is made where it is missing.
pub(super) fn add(text: &str, path: [&str; 2], item: &str) -> Result<String, EditError> {
    let root = parse(text)?;
    let list = List::find(text, root.as_ref(), path)?;
    let beside = list.as_ref().and_then(|list| text.get(list.items.last()?.span.range()));
    let written = quoted_like(item, beside);
    let item = Item { lines: vec![written.clone()], flow: written, value: Value::Text(item.into()) };
    push(text, path, &item)
}

/// Removes a text from the list at `path`, however often it stands there.
pub(super) fn remove(text: &str, path: [&str; 2], item: &str) -> Result<String, EditError> {
    let mut text = text.to_owned();
    while let Some(which) = find(&text, path)?.iter().position(|found| found.text == item) {
        text = take(&text, path, which)?;
    }
    Ok(text)
}

/// Adds an item to the list at `path`.
pub(super) fn push(text: &str, path: [&str; 2], item: &Item) -> Result<String, EditError> {
    let root = parse(text)?;
    let before = root.as_ref().map_or(Value::Null, Node::value);
    let wanted = meaning::pushed(before, &path, item.value.clone());
    let (ways, at) = match List::find(text, root.as_ref(), path)? {
        Some(list) => {
            let at = list.key.span;
            let ways = match list.is_flow(text) {
                true => vec![brackets::add(text, list.node.span, &list.spans(), &item.flow)],
                false => block::add(text, list.key, list.node, list.items, item),
            };
            (ways, at)
        }
        None => block::make(text, root.as_ref(), path, item)?,
    };
    first_right(text, ways, &wanted, at)
}

/// Removes an item of the list at `path`.
pub(super) fn take(text: &str, path: [&str; 2], which: usize) -> Result<String, EditError> {
    let root = parse(text)?;
    let Some(list) = List::find(text, root.as_ref(), path)? else { return Ok(text.to_owned()) };
    let wanted = meaning::taken(root.as_ref().map_or(Value::Null, Node::value), &path, which);
    let way = match list.is_flow(text) {
        true => brackets::remove(text, list.node.span, &list.spans(), which),
        false => block::remove(text, list.key, list.items, which),
    };
    first_right(text, vec![way], &wanted, list.key.span)
}

/// A list that is there.
pub(super) struct List<'n, 's> {
    pub(super) key: &'n Node<'s>,
    pub(super) node: &'n Node<'s>,
    pub(super) items: &'n [Node<'s>],
}

impl<'n, 's> List<'n, 's> {
    /// The list at a path; `None` where it, or what it would stand in, is missing or nothing.
    pub(super) fn find(
        text: &str,
        root: Option<&'n Node<'s>>,
        path: [&str; 2],
    ) -> Result<Option<Self>, EditError> {
        let mut found: Option<(&Node<'_>, &Node<'_>)> = None;
        let Some(mut node) = root else { return Ok(None) };
        for key in path {
            match entry(text, node, key)? {
                Some((key, inner)) => {
                    found = Some((key, inner));
                    node = inner;
                }
                None => return Ok(None),
            }
        }
        match found {
            Some((key, node)) => match &node.kind {
                Kind::List(items) => Ok(Some(Self { key, node, items })),
                Kind::Scalar(..) if node.value() == Value::Null => Ok(None),
                _ => Err(refused(text, key.span, "this takes a list")),
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

/// The entry of a key in a mapping. Nothing is a mapping without any.
pub(super) fn entry<'n, 's>(
    text: &str,
    node: &'n Node<'s>,
    key: &str,
) -> Result<Option<(&'n Node<'s>, &'n Node<'s>)>, EditError> {
    let Kind::Map(entries) = &node.kind else {
        return match node.value() {
            Value::Null => Ok(None),
            _ => Err(refused(text, node.span, "this takes a mapping")),
        };
    };
    let mut same =
        entries.iter().filter(|(found, _)| matches!(&found.kind, Kind::Scalar(text, _) if text == key));
    let Some((found, value)) = same.next() else { return Ok(None) };
    if let Some((twice, _)) = same.next() {
        return Err(refused(text, twice.span, &format!("{key} stands twice; delete one of them")));
    }
    if begins_with(text, value.span, b'*') {
        let why =
            format!("{key} is an alias: what it stands for would change wherever it is used; write it out");
        return Err(refused(text, found.span, &why));
    }
    Ok(Some((found, value)))
}

pub(super) fn begins_with(text: &str, span: Span, byte: u8) -> bool {
    text.as_bytes().get(span.start as usize) == Some(&byte)
}

pub(super) fn refused(text: &str, span: Span, why: &str) -> EditError {
    EditError::Refused { line: line_of(text, span.start as usize), why: why.to_owned() }
}

pub(super) fn parse(text: &str) -> Result<Option<Node<'_>>, EditError> {
    yaml::parse(text, Budget::DEFAULT).map_err(|error| EditError::Malformed {
        line: line_of(text, error.offset()),
        message: error.to_string(),
    })
}

/// The first way that leads to what is wanted and to nothing else.
pub(super) fn first_right(
    text: &str,
    ways: Vec<Vec<Splice>>,
    wanted: &Value,
    at: Span,
) -> Result<String, EditError> {
    for way in ways {
        let after = spliced(text, way);
        let right = parse(&after)
            .is_ok_and(|root| meaning::same(root.map_or(Value::Null, |node| node.value()), wanted.clone()));
        if right {
            return Ok(after);
        }
    }
    let why = "this cannot be changed without changing something else, as where an anchor or an alias is; \
               change it by hand";
    Err(refused(text, at, why))
}
