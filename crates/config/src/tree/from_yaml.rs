//! YAML to the tree.

use std::collections::HashSet;

use prowess_format::Span;
use prowess_format::yaml::{self, Budget, Node};

use super::{DEPTH_MAX, Entry, Kind, Malformed, Tree, clipped};

const BUDGET: Budget = Budget { depth: DEPTH_MAX, ..Budget::DEFAULT };

/// Reads YAML, of which only the mapping at `path` is wanted. `None` where it is not there.
pub fn yaml(text: &str, path: &[&str]) -> Result<Option<Tree>, Vec<Malformed>> {
    let root = yaml::parse(text, BUDGET).map_err(|error| {
        let at = error.offset();
        vec![Malformed::at(Span::new(at, at), error.to_string())]
    })?;
    let Some(mut node) = root.as_ref() else { return Ok(None) };
    if path.is_empty() {
        only_document(text, node)?;
    }
    for key in path {
        let yaml::Kind::Map(entries) = &node.kind else { return Ok(None) };
        let mut same = entries.iter().filter(|(found, _)| key_text(found) == Some(key));
        let Some((_, inner)) = same.next() else { return Ok(None) };
        if let Some((twice, _)) = same.next() {
            return Err(vec![stands_twice(twice.span, key)]);
        }
        node = inner;
    }
    let mut malformed = Vec::new();
    let tree = tree(node, &mut malformed);
    if malformed.is_empty() { Ok(Some(tree)) } else { Err(malformed) }
}

/// The nesting is bounded by the budget.
fn tree(node: &Node<'_>, malformed: &mut Vec<Malformed>) -> Tree {
    let kind = match &node.kind {
        yaml::Kind::Scalar(..) => Kind::plain(&node.value()),
        yaml::Kind::List(items) => Kind::List(items.iter().map(|item| tree(item, malformed)).collect()),
        yaml::Kind::Map(nodes) => {
            let mut seen = HashSet::with_capacity(nodes.len());
            let mut entries = Vec::with_capacity(nodes.len());
            for (key, value) in nodes {
                match key_text(key) {
                    None => {
                        malformed.push(Malformed::at(key.span, format!("a key is {}, not text", key.noun())))
                    }
                    Some(text) if !seen.insert(text) => malformed.push(stands_twice(key.span, text)),
                    Some(text) => {
                        let value = tree(value, malformed);
                        entries.push(Entry { key: text.to_owned(), span: key.span, value });
                    }
                }
            }
            Kind::Table(entries)
        }
    };
    Tree { span: node.span, kind }
}

/// Only the first document of a file is read; what follows would disappear without a word.
fn only_document(text: &str, root: &Node<'_>) -> Result<(), Vec<Malformed>> {
    let mut at = root.span.end as usize;
    for line in text.get(at..).unwrap_or_default().split_inclusive('\n') {
        let begins_line = at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n');
        if begins_line && (line.trim_end() == "---" || line.starts_with("--- ")) {
            let message = "a second document begins here, and only one is read";
            return Err(vec![Malformed::at(Span::new(at, at + 3), message)]);
        }
        at += line.len();
    }
    Ok(())
}

/// Last among equals would be a guess; TOML refuses such a file, too.
fn stands_twice(span: Span, key: &str) -> Malformed {
    Malformed::at(span, format!("{} stands twice", clipped(key)))
}

fn key_text<'n>(key: &'n Node<'_>) -> Option<&'n str> {
    match &key.kind {
        yaml::Kind::Scalar(text, _) => Some(text),
        yaml::Kind::List(_) | yaml::Kind::Map(_) => None,
    }
}
