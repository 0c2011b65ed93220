//! Converts YAML to the tree.

use std::collections::HashSet;

use prowess_format::Span;
use prowess_format::yaml::{self, Node, YamlBudget};

use super::{ConfigSyntaxError, ConfigTree, DEPTH_MAX, TreeEntry, TreeKind, clip_for_display};

const BUDGET: YamlBudget = YamlBudget { depth: DEPTH_MAX, ..YamlBudget::DEFAULT };

/// Parses YAML and returns the value at `path`; `None` if a key is missing or a parent is not a mapping.
pub fn parse_yaml(text: &str, path: &[&str]) -> Result<Option<ConfigTree>, Vec<ConfigSyntaxError>> {
    let root = yaml::parse(text, BUDGET).map_err(|error| {
        let offset = error.offset();
        vec![ConfigSyntaxError::at(Span::new(offset, offset), error.to_string())]
    })?;
    let Some(mut node) = root.as_ref() else { return Ok(None) };
    if path.is_empty() {
        reject_second_document(text, node)?;
    }
    for key in path {
        let yaml::NodeKind::Map(entries) = &node.kind else { return Ok(None) };
        let mut matching = entries.iter().filter(|(entry_key, _)| key_text(entry_key) == Some(key));
        let Some((_, inner)) = matching.next() else { return Ok(None) };
        if let Some((duplicate, _)) = matching.next() {
            return Err(vec![duplicate_key(duplicate.span, key)]);
        }
        node = inner;
    }
    let mut errors = Vec::new();
    let tree = tree(node, &mut errors);
    if errors.is_empty() { Ok(Some(tree)) } else { Err(errors) }
}

/// Converts a node. The budget limits the nesting.
fn tree(node: &Node<'_>, errors: &mut Vec<ConfigSyntaxError>) -> ConfigTree {
    let kind = match &node.kind {
        yaml::NodeKind::Scalar(..) => TreeKind::plain(&node.value()),
        yaml::NodeKind::List(items) => TreeKind::List(items.iter().map(|item| tree(item, errors)).collect()),
        yaml::NodeKind::Map(nodes) => {
            let mut keys = HashSet::with_capacity(nodes.len());
            let mut entries = Vec::with_capacity(nodes.len());
            for (key, value) in nodes {
                match key_text(key) {
                    None => errors.push(ConfigSyntaxError::at(
                        key.span,
                        format!("a key is {}, not text", key.describe()),
                    )),
                    Some(text) if !keys.insert(text) => errors.push(duplicate_key(key.span, text)),
                    Some(text) => {
                        let value = tree(value, errors);
                        entries.push(TreeEntry { key: text.to_owned(), span: key.span, value });
                    }
                }
            }
            TreeKind::Table(entries)
        }
    };
    ConfigTree { span: node.span, kind }
}

/// Rejects a second document, which would be silently ignored.
fn reject_second_document(text: &str, root: &Node<'_>) -> Result<(), Vec<ConfigSyntaxError>> {
    let mut offset = root.span.end as usize;
    for line in text.get(offset..).unwrap_or_default().split_inclusive('\n') {
        let begins_line = offset == 0 || text.as_bytes().get(offset - 1) == Some(&b'\n');
        if begins_line && (line.trim_end() == "---" || line.starts_with("--- ")) {
            let message = "only one document is allowed";
            return Err(vec![ConfigSyntaxError::at(Span::new(offset, offset + 3), message)]);
        }
        offset += line.len();
    }
    Ok(())
}

/// Using the last duplicate would be a guess; TOML rejects such a file, too.
fn duplicate_key(span: Span, key: &str) -> ConfigSyntaxError {
    ConfigSyntaxError::at(span, format!("duplicate key {}", clip_for_display(key)))
}

fn key_text<'n>(key: &'n Node<'_>) -> Option<&'n str> {
    match &key.kind {
        yaml::NodeKind::Scalar(text, _) => Some(text),
        yaml::NodeKind::List(_) | yaml::NodeKind::Map(_) => None,
    }
}
