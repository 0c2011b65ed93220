//! Edits an entry of a YAML mapping.

use prowess_format::Value;
use prowess_format::yaml::{self, Node, NodeKind, YamlBudget};

use super::super::EditError;
use super::super::semantics;
use super::super::text::{
    Splice, apply_splices, indent, insert_after_line, insert_at_end, line_of, line_start, next_line,
    quote_like,
};
use super::super::yaml::{begins_with, entry};
use super::super::yaml_block::{first_key, insert_into_flow, replace_null, root_indent, text_end};
use super::{EditEntryError, FoundEntry};

pub(super) fn find(text: &str, path: [&str; 2]) -> Result<Option<FoundEntry>, EditEntryError> {
    let Some(root) = parse(text)? else { return Ok(None) };
    let Some((key, value)) = find_nodes(text, &root, path)? else { return Ok(None) };
    Ok(Some(FoundEntry { value: value.value(), line: line_of(text, key.span.start as usize) }))
}

pub(super) fn put(text: &str, path: [&str; 2], value: &Value) -> Result<String, EditEntryError> {
    if find(text, path)?.is_some() {
        return put(&remove(text, path)?, path, value);
    }
    let root = parse(text)?;
    let before = root.as_ref().map_or(Value::Null, Node::value);
    let expected = semantics::with_change(before, &path, |_| value.clone());
    let (candidates, offset) = candidate_edits(text, root.as_ref(), path, value)?;
    let is_right = |after: &String| {
        parse(after).is_ok_and(|root| {
            semantics::is_same(root.map_or(Value::Null, |root| root.value()), expected.clone())
        })
    };
    let mut afters = candidates.into_iter().map(|edit| apply_splices(text, edit));
    afters.find(is_right).ok_or_else(|| EditEntryError::unsafe_change(text, offset, BY_HAND))
}

const BY_HAND: &str = "this cannot be changed without affecting something else, such as an anchor or an alias; edit \
                       the file by hand";

fn candidate_edits(
    text: &str,
    root: Option<&Node<'_>>,
    [section, name]: [&str; 2],
    value: &Value,
) -> Result<(Vec<Vec<Splice>>, usize), EditEntryError> {
    let flow = format!("{name}: {}", inline(value));
    let section_lines = |margin: &str| {
        let inner = lines(name, value, &format!("{margin}  "));
        [vec![format!("{margin}{section}:")], inner].concat()
    };
    let Some(root) = root.filter(|root| root.value() != Value::Null) else {
        return Ok((vec![vec![insert_at_end(text, &section_lines(""))]], 0));
    };
    let existing = entry(text, root, section).map_err(|error| with_column(text, error))?;
    let Some((key, map)) = existing else {
        let lines = section_lines(root_indent(text, root));
        let mut candidates = vec![
            vec![insert_after_line(text, text_end(text, root), &lines)],
            vec![insert_at_end(text, &lines)],
        ];
        candidates.extend(insert_into_flow(text, root, &format!("{section}: {{{flow}}}")));
        return Ok((candidates, root.span.start as usize));
    };
    let offset = key.span.start as usize;
    if map.value() == Value::Null {
        // On the same line, to distinguish a formerly empty section from a new one.
        let same_line = replace_null(text, key, map, &[], &format!("{{ {flow} }}"));
        return Ok((same_line.into_iter().skip(1).collect(), offset));
    }
    let NodeKind::Map(_) = &map.kind else {
        return Err(EditEntryError::unsafe_change(text, offset, format!("{section} must be a mapping")));
    };
    if let Some(edit) = insert_into_flow(text, map, &flow) {
        return Ok((vec![edit], offset));
    }
    let margin = first_key(map)
        .map_or_else(|| format!("{}  ", indent(text, offset)), |offset| indent(text, offset).to_owned());
    Ok((vec![vec![insert_after_line(text, text_end(text, map), &lines(name, value, &margin))]], offset))
}

pub(super) fn remove(text: &str, path: [&str; 2]) -> Result<String, EditEntryError> {
    let Some(root) = parse(text)? else { return Ok(text.to_owned()) };
    let Some((key, value)) = find_nodes(text, &root, path)? else { return Ok(text.to_owned()) };
    let offset = key.span.start as usize;
    let existing = entry(text, &root, path[0]).map_err(|error| with_column(text, error))?;
    let Some((section, map)) = existing else { return Ok(text.to_owned()) };
    let NodeKind::Map(entries) = &map.kind else { return Ok(text.to_owned()) };
    let (end, colon) = (text_end(text, value).max(key.span.end as usize), after_colon(text, section));
    let mut candidates = Vec::new();
    if begins_with(text, map.span, b'{') {
        let index = entries.iter().position(|(entry_key, _)| entry_key.span == key.span).unwrap_or(0);
        let next = entries.get(index + 1).map(|(next, _)| next.span.start as usize);
        let previous_end = index
            .checked_sub(1)
            .and_then(|offset| entries.get(offset))
            .map(|(_, value)| text_end(text, value));
        if entries.len() == 1 {
            candidates.push(vec![Splice::cut(colon, map.span.end as usize)]);
            // Entries are inserted first, so the next section follows, if there is one.
            let outer = if let NodeKind::Map(outer) = &root.kind { outer.as_slice() } else { &[] };
            let next = outer.get(1).map_or(map.span.end, |(next, _)| next.span.start);
            candidates.push(vec![Splice::cut(section.span.start as usize, next as usize)]);
        }
        match (next, previous_end) {
            (Some(next), _) => candidates.push(vec![Splice::cut(offset, next)]),
            (None, Some(previous_end)) => candidates.push(vec![Splice::cut(previous_end, end)]),
            (None, None) => candidates.push(vec![Splice::cut(offset, end)]),
        }
    } else {
        if entries.len() == 1 {
            candidates.push(vec![Splice::cut(0, text.len())]);
            candidates.push(vec![cut_lines(text, section.span.start as usize, end)]);
            candidates.push(vec![Splice::insert(colon, " {}"), cut_lines(text, offset, end)]);
        }
        candidates.push(vec![cut_lines(text, offset, end)]);
    }
    let (before, removed_value) = (root.value(), value.value());
    let afters: Vec<_> = candidates.into_iter().map(|edit| apply_splices(text, edit)).collect();
    let is_undone = |after: &&String| put(after, path, &removed_value).is_ok_and(|restored| restored == text);
    let is_right = |after: &&String| {
        let value_or_null = |root: Option<Node<'_>>| root.map_or(Value::Null, |root| root.value());
        // Do not delete content that was not added by us.
        !after.is_empty()
            && parse(after).is_ok_and(|root| semantics::is_without(value_or_null(root), &before, &path))
    };
    let after = afters.iter().find(is_undone).or_else(|| afters.iter().rev().skip(1).find(is_right));
    let after = after.or_else(|| afters.iter().find(is_right));
    after.cloned().ok_or_else(|| EditEntryError::unsafe_change(text, offset, BY_HAND))
}

/// Cuts whole lines. If the last line has no line ending, the preceding one is removed, too.
fn cut_lines(text: &str, from: usize, to: usize) -> Splice {
    let (from, to) = (line_start(text, from), next_line(text, to));
    let from = match text.get(from..to).is_some_and(|lines| lines.ends_with('\n')) {
        true => from,
        false => text.get(..from).map_or(from, |preceding| preceding.trim_end_matches(['\r', '\n']).len()),
    };
    Splice::cut(from, to)
}

fn after_colon(text: &str, key: &Node<'_>) -> usize {
    let end = key.span.end as usize;
    end + text.get(end..).and_then(|rest| rest.find(':')).map_or(0, |colon| colon + 1)
}

fn find_nodes<'n, 's>(
    text: &str,
    root: &'n Node<'s>,
    [section, name]: [&str; 2],
) -> Result<Option<(&'n Node<'s>, &'n Node<'s>)>, EditEntryError> {
    let outer = entry(text, root, section).map_err(|error| with_column(text, error))?;
    let Some((_, map)) = outer else { return Ok(None) };
    entry(text, map, name).map_err(|error| with_column(text, error))
}

fn parse(text: &str) -> Result<Option<Node<'_>>, EditEntryError> {
    yaml::parse(text, YamlBudget::DEFAULT)
        .map_err(|error| EditEntryError::malformed(text, error.offset(), error.to_string()))
}

/// Adds a column to an error: that of the first word of its line.
fn with_column(text: &str, error: EditError) -> EditEntryError {
    let (EditError::Malformed { line, message: reason } | EditError::Unsafe { line, reason }) = error else {
        return EditEntryError::unsafe_change(text, 0, error.to_string());
    };
    let start = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
    let column = 1 + start.chars().take_while(|c| c.is_whitespace()).count();
    EditEntryError::Unsafe { line, column: u32::try_from(column).unwrap_or(1), reason }
}

/// Formats a key and its value as a block.
fn lines(key: &str, value: &Value, margin: &str) -> Vec<String> {
    let deeper = format!("{margin}  ");
    let inner = match value {
        Value::Map(entries) if !entries.is_empty() => {
            entries.iter().flat_map(|(key, value)| lines(key, value, &deeper)).collect()
        }
        Value::List(items) if !items.is_empty() => {
            items.iter().map(|item| format!("{deeper}- {}", inline(item))).collect()
        }
        value => return vec![format!("{margin}{}: {}", quote_word(key), inline(value))],
    };
    [vec![format!("{margin}{}:", quote_word(key))], inner].concat()
}

/// Formats a value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(boolean) => boolean.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => quote_word(text),
        Value::List(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let entries =
                entries.iter().map(|(key, value)| format!("{}: {}", quote_word(key), inline(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

fn quote_word(text: &str) -> String {
    quote_like(text, Some("a"))
}
