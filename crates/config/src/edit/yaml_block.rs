//! Finds the lines of YAML blocks.

use prowess_format::yaml::{Node, NodeKind};
use prowess_format::{Span, Value};

use super::EditError;
use super::text::{Splice, indent, insert_after_line, insert_at_end, line_start, next_line};
use super::yaml::{begins_with, entry};

/// Several candidates for a change; the first valid one is used.
pub(super) type CandidateEdits = Vec<Vec<Splice>>;

pub(super) struct NewListItem {
    /// Its lines in a block, without the dash.
    pub(super) lines: Vec<String>,
    /// Its text in brackets.
    pub(super) flow: String,
    pub(super) value: Value,
}

impl NewListItem {
    fn block(&self, dash: &str) -> Vec<String> {
        let lines = self.lines.iter().enumerate();
        lines.map(|(index, line)| format!("{dash}{}{line}", if index == 0 { "- " } else { "  " })).collect()
    }
}

/// Adds an item to a list that has items.
pub(super) fn add(
    text: &str,
    key: &Node<'_>,
    list: &Node<'_>,
    items: &[Node<'_>],
    item: &NewListItem,
) -> CandidateEdits {
    let dash = items.first().and_then(|first| dash(text, first)).map(|offset| {
        let start = line_start(text, offset);
        text.get(start..offset).unwrap_or_default()
    });
    let dash = match dash {
        Some(margin) if margin.trim().is_empty() => margin.to_owned(),
        _ => format!("{}  ", indent(text, key.span.start as usize)),
    };
    let end = text_end(text, list).max(key.span.end as usize);
    vec![vec![insert_after_line(text, end, &item.block(&dash))]]
}

/// Removes an item with its lines. A list that becomes empty is written as `[]`.
pub(super) fn remove(text: &str, key: &Node<'_>, items: &[Node<'_>], index: usize) -> Vec<Splice> {
    let Some(item) = items.get(index) else { return Vec::new() };
    let Some(dash) = dash(text, item) else { return Vec::new() };
    let (from, to) = (line_start(text, dash), next_line(text, text_end(text, item)));
    // If the last line has no line ending, remove the preceding one.
    let from = match text.get(from..to).is_some_and(|lines| lines.ends_with('\n')) {
        true => from,
        false => text.get(..from).map_or(from, |before| before.trim_end_matches(['\r', '\n']).len()),
    };
    let mut splices = vec![Splice::cut(from, to)];
    if items.len() == 1 {
        let colon = text.get(key.span.end as usize..).and_then(|rest| rest.find(':'));
        let offset = key.span.end as usize + colon.map_or(0, |colon| colon + 1);
        splices.push(Splice::insert(offset, " []"));
    }
    splices
}

/// Creates a list with one item at a path whose value is missing or null.
pub(super) fn create(
    text: &str,
    root: Option<&Node<'_>>,
    [section, key]: [&str; 2],
    item: &NewListItem,
) -> Result<(CandidateEdits, Span), EditError> {
    let Some(root) = root.filter(|root| root.value() != Value::Null) else {
        let lines = [vec![format!("{section}:")], list_lines("  ", "  ", key, item)].concat();
        return Ok((vec![vec![insert_at_end(text, &lines)]], Span::default()));
    };
    let Some((holder, map)) = entry(text, root, section)? else {
        let outer = root_indent(text, root);
        let inner = format!("{outer}  ");
        let lines = [vec![format!("{outer}{section}:")], list_lines(&inner, "  ", key, item)].concat();
        let flow = format!("{section}: {{{key}: [{}]}}", item.flow);
        let mut candidates = vec![
            vec![insert_after_line(text, text_end(text, root), &lines)],
            vec![insert_at_end(text, &lines)],
        ];
        candidates.extend(insert_into_flow(text, root, &flow));
        return Ok((candidates, root.span));
    };
    let outer = indent(text, holder.span.start as usize).to_owned();
    if let Some((existing_key, null)) = entry(text, map, key)? {
        let lines = list_lines(indent(text, existing_key.span.start as usize), step(text, map), key, item);
        let (below, flow) = (lines.get(1..).unwrap_or_default(), format!("[{}]", item.flow));
        return Ok((replace_null(text, existing_key, null, below, &flow), existing_key.span));
    }
    if map.value() == Value::Null {
        let lines = list_lines(&format!("{outer}  "), "  ", key, item);
        let flow = format!("{{{key}: [{}]}}", item.flow);
        return Ok((replace_null(text, holder, map, &lines, &flow), holder.span));
    }
    let inner = first_key(map).map_or(format!("{outer}  "), |first| indent(text, first).to_owned());
    let lines = list_lines(&inner, step(text, map), key, item);
    let mut candidates = vec![vec![insert_after_line(text, text_end(text, map), &lines)]];
    candidates.push(vec![insert_after_line(text, holder.span.end as usize, &lines)]);
    candidates.extend(insert_into_flow(text, map, &format!("{key}: [{}]", item.flow)));
    Ok((candidates, holder.span))
}

/// Returns the lines of a key and a list with one item, with the dash indented by `step`.
fn list_lines(margin: &str, step: &str, key: &str, item: &NewListItem) -> Vec<String> {
    [vec![format!("{margin}{key}:")], item.block(&format!("{margin}{step}"))].concat()
}

/// Replaces a null value by lines below the key, or by `flow` next to it.
pub(super) fn replace_null(
    text: &str,
    key: &Node<'_>,
    null_node: &Node<'_>,
    lines: &[String],
    flow: &str,
) -> CandidateEdits {
    let end = key.span.end as usize;
    let colon = text.get(end..).and_then(|rest| rest.find(':')).map_or(end, |colon| end + colon + 1);
    let null = null_node.span.range();
    let null = match text.get(null.clone()) {
        Some("") | None => None,
        Some(_) => Some(Splice::cut(colon.min(null.start), null.end)),
    };
    let below_key = null.iter().cloned().chain([insert_after_line(text, colon, lines)]).collect();
    let same_line = match null {
        Some(cut) => vec![Splice { with: format!(" {flow}"), ..cut }],
        None => vec![Splice::insert(colon, format!(" {flow}"))],
    };
    vec![below_key, same_line]
}

/// Inserts an entry into a mapping in braces.
pub(super) fn insert_into_flow(text: &str, map: &Node<'_>, entry: &str) -> Option<Vec<Splice>> {
    let NodeKind::Map(entries) = &map.kind else { return None };
    let inside = map.span.start as usize + 1;
    begins_with(text, map.span, b'{').then(|| {
        let comma = if entries.is_empty() { "" } else { ", " };
        vec![Splice::insert(inside, format!("{entry}{comma}"))]
    })
}

/// Inserts an entry after the last one of a mapping, in its style.
pub(super) fn insert_into_map(text: &str, map: &Node<'_>, entry: &str) -> CandidateEdits {
    if let Some(edit) = insert_into_flow(text, map, entry) {
        return vec![edit];
    }
    // The first key of an item follows a dash, which counts as indentation.
    let margin: String = first_key(map).map_or(String::new(), |first| {
        let before = text.get(line_start(text, first)..first).unwrap_or_default();
        before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect()
    });
    vec![vec![insert_after_line(text, text_end(text, map), &[format!("{margin}{entry}")])]]
}

pub(super) fn first_key(map: &Node<'_>) -> Option<usize> {
    match &map.kind {
        NodeKind::Map(entries) => entries.first().map(|(key, _)| key.span.start as usize),
        _ => None,
    }
}

pub(super) fn root_indent<'t>(text: &'t str, root: &Node<'_>) -> &'t str {
    first_key(root).map_or("", |first| indent(text, first))
}

/// Returns the indentation of lists below their keys in this mapping.
fn step<'t>(text: &'t str, map: &Node<'_>) -> &'t str {
    let NodeKind::Map(entries) = &map.kind else { return "  " };
    let steps = entries.iter().filter_map(|(key, value)| {
        let NodeKind::List(items) = &value.kind else { return None };
        let dash = dash(text, items.first()?).filter(|_| !begins_with(text, value.span, b'['))?;
        let margin = text.get(line_start(text, dash)..dash).filter(|margin| margin.trim().is_empty())?;
        margin.strip_prefix(indent(text, key.span.start as usize))
    });
    steps.into_iter().next().unwrap_or("  ")
}

/// Returns the position of an item's dash.
fn dash(text: &str, item: &Node<'_>) -> Option<usize> {
    let before = text.get(..item.span.start as usize)?.trim_end_matches([' ', '\t']);
    before.ends_with('-').then(|| before.len() - 1)
}

/// Returns the end of the last text in a node.
pub(super) fn text_end(text: &str, node: &Node<'_>) -> usize {
    let end = match &node.kind {
        NodeKind::List(items) if !is_closed(text, node) => {
            items.iter().map(|item| text_end(text, item)).max()
        }
        NodeKind::Map(entries) if !is_closed(text, node) => {
            entries.iter().map(|(key, value)| text_end(text, value).max(text_end(text, key))).max()
        }
        // A null value may have any position.
        NodeKind::Scalar(..) if text.get(node.span.range()).is_none_or(str::is_empty) => None,
        _ => Some(node.span.end as usize),
    };
    let end = end.unwrap_or(0).min(text.len());
    text.get(..end).map_or(end, |before| before.trim_end().len())
}

/// Returns `true` if a node has an explicit end; so does an alias.
fn is_closed(text: &str, node: &Node<'_>) -> bool {
    [b'[', b'{', b'*'].into_iter().any(|byte| begins_with(text, node.span, byte))
}
