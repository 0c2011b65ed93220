//! An entry of a mapping in YAML.

use prowess_format::Value;
use prowess_format::yaml::{self, Budget, Kind, Node};

use super::super::EditError;
use super::super::block::{first_key, instead_of_nothing, into_flow, last, root_indent};
use super::super::meaning;
use super::super::text::{
    Splice, after_line, at_end, indent, line_of, line_start, next_line, quoted_like, spliced,
};
use super::super::yaml::{begins_with, entry};
use super::{EntryError, Found};

pub(super) fn find(text: &str, path: [&str; 2]) -> Result<Option<Found>, EntryError> {
    let Some(root) = parse(text)? else { return Ok(None) };
    let Some((key, value)) = reach(text, &root, path)? else { return Ok(None) };
    Ok(Some(Found { value: value.value(), line: line_of(text, key.span.start as usize) }))
}

pub(super) fn put(text: &str, path: [&str; 2], value: &Value) -> Result<String, EntryError> {
    if find(text, path)?.is_some() {
        return put(&take(text, path)?, path, value);
    }
    let root = parse(text)?;
    let before = root.as_ref().map_or(Value::Null, Node::value);
    let wanted = meaning::changed(before, &path, |_| value.clone());
    let (ways, at) = ways(text, root.as_ref(), path, value)?;
    let is_right = |after: &String| {
        parse(after)
            .is_ok_and(|root| meaning::same(root.map_or(Value::Null, |root| root.value()), wanted.clone()))
    };
    let mut afters = ways.into_iter().map(|way| spliced(text, way));
    afters.find(is_right).ok_or_else(|| EntryError::refused(text, at, BY_HAND))
}

const BY_HAND: &str = "this cannot be changed without changing something else, as where an anchor or an alias is; \
                       change it by hand";

fn ways(
    text: &str,
    root: Option<&Node<'_>>,
    [section, name]: [&str; 2],
    value: &Value,
) -> Result<(Vec<Vec<Splice>>, usize), EntryError> {
    let flow = format!("{name}: {}", inline(value));
    let under = |blanks: &str| {
        let inner = lines(name, value, &format!("{blanks}  "));
        [vec![format!("{blanks}{section}:")], inner].concat()
    };
    let Some(root) = root.filter(|root| root.value() != Value::Null) else {
        return Ok((vec![vec![at_end(text, &under(""))]], 0));
    };
    let found = entry(text, root, section).map_err(|error| placed(text, error))?;
    let Some((key, map)) = found else {
        let lines = under(root_indent(text, root));
        let mut ways = vec![vec![after_line(text, last(text, root), &lines)], vec![at_end(text, &lines)]];
        ways.extend(into_flow(text, root, &format!("{section}: {{{flow}}}")));
        return Ok((ways, root.span.start as usize));
    };
    let at = key.span.start as usize;
    if map.value() == Value::Null {
        // On the same line, so that a section that was not there can be told from one that was empty.
        let beside = instead_of_nothing(text, key, map, &[], &format!("{{ {flow} }}"));
        return Ok((beside.into_iter().skip(1).collect(), at));
    }
    let Kind::Map(_) = &map.kind else {
        return Err(EntryError::refused(text, at, format!("{section} takes a mapping")));
    };
    if let Some(way) = into_flow(text, map, &flow) {
        return Ok((vec![way], at));
    }
    let blanks =
        first_key(map).map_or_else(|| format!("{}  ", indent(text, at)), |at| indent(text, at).to_owned());
    Ok((vec![vec![after_line(text, last(text, map), &lines(name, value, &blanks))]], at))
}

pub(super) fn take(text: &str, path: [&str; 2]) -> Result<String, EntryError> {
    let Some(root) = parse(text)? else { return Ok(text.to_owned()) };
    let Some((key, value)) = reach(text, &root, path)? else { return Ok(text.to_owned()) };
    let at = key.span.start as usize;
    let found = entry(text, &root, path[0]).map_err(|error| placed(text, error))?;
    let Some((section, map)) = found else { return Ok(text.to_owned()) };
    let Kind::Map(entries) = &map.kind else { return Ok(text.to_owned()) };
    let (end, colon) = (last(text, value).max(key.span.end as usize), after_colon(text, section));
    let mut ways = Vec::new();
    if begins_with(text, map.span, b'{') {
        let which = entries.iter().position(|(other, _)| other.span == key.span).unwrap_or(0);
        let next = entries.get(which + 1).map(|(next, _)| next.span.start as usize);
        let before = which.checked_sub(1).and_then(|at| entries.get(at)).map(|(_, value)| last(text, value));
        if entries.len() == 1 {
            ways.push(vec![Splice::cut(colon, map.span.end as usize)]);
            // It is put first, so that something follows, or nothing at all.
            let outer = if let Kind::Map(outer) = &root.kind { outer.as_slice() } else { &[] };
            let next = outer.get(1).map_or(map.span.end, |(next, _)| next.span.start);
            ways.push(vec![Splice::cut(section.span.start as usize, next as usize)]);
        }
        match (next, before) {
            (Some(next), _) => ways.push(vec![Splice::cut(at, next)]),
            (None, Some(before)) => ways.push(vec![Splice::cut(before, end)]),
            (None, None) => ways.push(vec![Splice::cut(at, end)]),
        }
    } else {
        if entries.len() == 1 {
            ways.push(vec![Splice::cut(0, text.len())]);
            ways.push(vec![lines_cut(text, section.span.start as usize, end)]);
            ways.push(vec![Splice::insert(colon, " {}"), lines_cut(text, at, end)]);
        }
        ways.push(vec![lines_cut(text, at, end)]);
    }
    let (before, is) = (root.value(), value.value());
    let afters: Vec<_> = ways.into_iter().map(|way| spliced(text, way)).collect();
    let is_undone = |after: &&String| put(after, path, &is).is_ok_and(|again| again == text);
    let is_right = |after: &&String| {
        let means = |root: Option<Node<'_>>| root.map_or(Value::Null, |root| root.value());
        // What is not ours alone is not thrown away.
        !after.is_empty() && parse(after).is_ok_and(|root| meaning::is_without(means(root), &before, &path))
    };
    let after = afters.iter().find(is_undone).or_else(|| afters.iter().rev().skip(1).find(is_right));
    let after = after.or_else(|| afters.iter().find(is_right));
    after.cloned().ok_or_else(|| EntryError::refused(text, at, BY_HAND))
}

/// The lines from one byte to another. The last line of a text without a line end takes the one before it along.
fn lines_cut(text: &str, from: usize, to: usize) -> Splice {
    let (from, to) = (line_start(text, from), next_line(text, to));
    let from = match text.get(from..to).is_some_and(|lines| lines.ends_with('\n')) {
        true => from,
        false => text.get(..from).map_or(from, |above| above.trim_end_matches(['\r', '\n']).len()),
    };
    Splice::cut(from, to)
}

fn after_colon(text: &str, key: &Node<'_>) -> usize {
    let end = key.span.end as usize;
    end + text.get(end..).and_then(|rest| rest.find(':')).map_or(0, |colon| colon + 1)
}

fn reach<'n, 's>(
    text: &str,
    root: &'n Node<'s>,
    [section, name]: [&str; 2],
) -> Result<Option<(&'n Node<'s>, &'n Node<'s>)>, EntryError> {
    let outer = entry(text, root, section).map_err(|error| placed(text, error))?;
    let Some((_, map)) = outer else { return Ok(None) };
    entry(text, map, name).map_err(|error| placed(text, error))
}

fn parse(text: &str) -> Result<Option<Node<'_>>, EntryError> {
    yaml::parse(text, Budget::DEFAULT)
        .map_err(|error| EntryError::malformed(text, error.offset(), error.to_string()))
}

/// The same with a column: that of the line's first word.
fn placed(text: &str, error: EditError) -> EntryError {
    let (EditError::Malformed { line, message: why } | EditError::Refused { line, why }) = error else {
        return EntryError::refused(text, 0, error.to_string());
    };
    let start = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
    let column = 1 + start.chars().take_while(|c| c.is_whitespace()).count();
    EntryError::Refused { line, column: u32::try_from(column).unwrap_or(1), why }
}

/// A key and its value, in a block.
fn lines(key: &str, value: &Value, blanks: &str) -> Vec<String> {
    let deeper = format!("{blanks}  ");
    let below = match value {
        Value::Map(entries) if !entries.is_empty() => {
            entries.iter().flat_map(|(key, value)| lines(key, value, &deeper)).collect()
        }
        Value::List(items) if !items.is_empty() => {
            items.iter().map(|item| format!("{deeper}- {}", inline(item))).collect()
        }
        value => return vec![format!("{blanks}{}: {}", word(key), inline(value))],
    };
    [vec![format!("{blanks}{}:", word(key))], below].concat()
}

/// On one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => word(text),
        Value::List(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{}: {}", word(key), inline(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

fn word(text: &str) -> String {
    quoted_like(text, Some("a"))
}
