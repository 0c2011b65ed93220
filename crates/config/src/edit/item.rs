//! Edits items of a list in JSON with comments, such as the hooks in `hooks.UserPromptSubmit`.
//!
//! Invariants: every byte outside the item stays, except a comma before it; removing an item that [`append`] added
//! restores the original text; and a text that cannot be parsed or safely changed is rejected with line and column.

use jsonc_parser::ast;
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::cst::{CstNode, CstRootNode};
use prowess_format::Value;

use super::entry::EditEntryError;
use super::json_format::{lines, one_line, quote};
use super::jsonc::{self, OPTIONS, UNSAFE};
use super::semantics;
use super::text::{
    Splice, apply_splices, indent, line_break, line_end, line_of, line_start, next_line, split_bom,
};

/// One step of the path to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// The member of an object with this name.
    Key(&'a str),
    /// The item of a list at this index.
    Index(usize),
}

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListItem {
    /// Its value.
    pub value: Value,
    /// Its first line, counted from 1.
    pub line: u32,
}

/// Returns the items of the list at `path`: one or two names. A missing list has none.
///
/// ```
/// use prowess_config::edit::item::find;
///
/// let items = find("{\n  \"hooks\": {\n    \"Stop\": [1]\n  }\n}", &["hooks", "Stop"]).unwrap();
/// assert_eq!((items.len(), items[0].line), (1, 3));
/// assert_eq!(find("{}", &["hooks", "Stop"]).unwrap(), []);
/// ```
pub fn find(text: &str, path: &[&str]) -> Result<Vec<ListItem>, EditEntryError> {
    let (_, text) = split_bom(text);
    let Some(list) = list(text, path)? else { return Ok(Vec::new()) };
    let Some(root) = jsonc::read(text)? else { return Ok(Vec::new()) };
    let nodes = node_at(&root, &list).and_then(ast::Value::as_array).map_or(&[][..], |list| &list.elements);
    Ok(nodes
        .iter()
        .map(|node| ListItem { value: jsonc::value(node), line: line_of(text, node.start()) })
        .collect())
}

/// Returns `true` if the object at the top level has a member of this name.
pub fn contains(text: &str, name: &str) -> Result<bool, EditEntryError> {
    let (_, text) = split_bom(text);
    Ok(jsonc::find(text, &[name])?.is_some())
}

/// Returns the text with `item` as the last item of the list at `path`: one or two names. A missing list is created.
///
/// ```
/// use prowess_format::Value;
/// use prowess_config::edit::item::{Step, append, remove};
///
/// let text = "{\n  \"hooks\": {\n    \"Stop\": [\n      1 // mine\n    ]\n  }\n}\n";
/// let after = append(text, &["hooks", "Stop"], &Value::Text("x".into())).unwrap();
/// assert_eq!(after, "{\n  \"hooks\": {\n    \"Stop\": [\n      1, // mine\n      \"x\"\n    ]\n  }\n}\n");
/// assert_eq!(remove(&after, &[Step::Key("hooks"), Step::Key("Stop")], 1).unwrap(), text);
/// ```
pub fn append(text: &str, path: &[&str], item: &Value) -> Result<String, EditEntryError> {
    let (bom, text) = split_bom(text);
    let after = match list(text, path)? {
        None => jsonc::put(text, path, &Value::List(vec![item.clone()]))?,
        Some(list) => append_to(text, &list, item)?,
    };
    Ok(bom.to_owned() + &after)
}

/// Returns the text without the item at `index` of the list at `path`. Also removes the list and what contains it if
/// [`append`] would create the same text again.
pub fn remove(text: &str, path: &[Step<'_>], index: usize) -> Result<String, EditEntryError> {
    let (bom, text) = split_bom(text);
    let before = jsonc::parse_value(text)?;
    let root = jsonc::read(text)?;
    let node = root.as_ref().and_then(|root| node_at(root, path)).and_then(ast::Value::as_array);
    let Some((list, node)) = node.and_then(|list| Some((list, list.elements.get(index)?))) else {
        return Ok(bom.to_owned() + text);
    };
    let (offset, item) = (node.start(), jsonc::value(node));
    let names: Option<Vec<&str>> = path.iter().map(Step::name).collect();
    let restores = |after: &String| match &names {
        Some(names) => append(after, names, &item).is_ok_and(|again| again == text),
        None => append_to(after, path, &item).is_ok_and(|again| again == text),
    };
    if let Some(names) = names.as_deref().filter(|_| list.elements.len() == 1)
        && let Ok(after) = jsonc::remove(text, names)
        && restores(&after)
    {
        return Ok(bom.to_owned() + &after);
    }
    let expected = without_item(before, path, index);
    let is_right = |after: &String| {
        jsonc::parse_value(after).is_ok_and(|after| semantics::is_same(after, expected.clone()))
    };
    let spliced: Vec<String> = removals(text, list, index)
        .into_iter()
        .map(|splices| apply_splices(text, splices))
        .filter(is_right)
        .collect();
    let is_one_line = text.get(list.start()..list.end()).is_some_and(|list| !list.contains('\n'));
    // The parser knows which comments belong to an item, and keeps a space on one line.
    let parsed = || remove_node(text, path, index).filter(is_right).filter(|_| !is_one_line);
    let restored = spliced.iter().find(|after| restores(after)).cloned();
    let after = restored.or_else(parsed).or_else(|| spliced.into_iter().next());
    let after = after.ok_or_else(|| EditEntryError::unsafe_change(text, offset, UNSAFE))?;
    Ok(bom.to_owned() + &after)
}

/// Returns the text with another string at `path`.
pub fn set_text(text: &str, path: &[Step<'_>], new: &str) -> Result<String, EditEntryError> {
    let (bom, text) = split_bom(text);
    let root = jsonc::read(text)?;
    let node = root.as_ref().and_then(|root| node_at(root, path));
    let Some(range) = node.and_then(ast::Value::as_string_lit).map(Ranged::range) else {
        return Err(EditEntryError::unsafe_change(text, 0, "the value is not a string"));
    };
    let splice = Splice { from: range.start, to: range.end, with: quote(new) };
    Ok(bom.to_owned() + &apply_splices(text, vec![splice]))
}

impl<'a> Step<'a> {
    fn name(&self) -> Option<&'a str> {
        match self {
            Self::Key(name) => Some(name),
            Self::Index(_) => None,
        }
    }
}

/// Returns the path of an existing list, or `None` if it does not exist.
fn list<'p>(text: &str, path: &[&'p str]) -> Result<Option<Vec<Step<'p>>>, EditEntryError> {
    let Some(found) = jsonc::find(text, path)? else { return Ok(None) };
    match found.value {
        Value::List(_) => Ok(Some(path.iter().map(|name| Step::Key(name)).collect())),
        _ => {
            let start = text.split_inclusive('\n').take(found.line as usize - 1).map(str::len).sum();
            let name = path.last().copied().unwrap_or_default();
            Err(EditEntryError::unsafe_change(text, start, format!("{name} must be a list")))
        }
    }
}

fn node_at<'n, 't>(root: &'n ast::Value<'t>, path: &[Step<'_>]) -> Option<&'n ast::Value<'t>> {
    path.iter().try_fold(root, |node, step| match step {
        Step::Key(name) => node
            .as_object()?
            .properties
            .iter()
            .find(|member| member.name.as_str() == *name)
            .map(|member| &member.value),
        Step::Index(index) => node.as_array()?.elements.get(*index),
    })
}

/// Returns the value with one item of the list at a path removed.
fn without_item(value: Value, path: &[Step<'_>], index: usize) -> Value {
    change_list(value, path, &mut |items| {
        if index < items.len() {
            items.remove(index);
        }
    })
}

fn change_list(value: Value, path: &[Step<'_>], change: &mut dyn FnMut(&mut Vec<Value>)) -> Value {
    match (value, path.split_first()) {
        (Value::List(mut items), None) => {
            change(&mut items);
            Value::List(items)
        }
        (Value::Map(mut entries), Some((Step::Key(name), rest))) => {
            if let Some((_, inner)) = entries.iter_mut().find(|(key, _)| key.as_ref() == *name) {
                *inner = change_list(std::mem::replace(inner, Value::Null), rest, change);
            }
            Value::Map(entries)
        }
        (Value::List(mut items), Some((Step::Index(index), rest))) => {
            if let Some(inner) = items.get_mut(*index) {
                *inner = change_list(std::mem::replace(inner, Value::Null), rest, change);
            }
            Value::List(items)
        }
        (value, _) => value,
    }
}

/// Appends an item to an existing list.
fn append_to(text: &str, path: &[Step<'_>], item: &Value) -> Result<String, EditEntryError> {
    let expected = change_list(jsonc::parse_value(text)?, path, &mut |items| items.push(item.clone()));
    let root = jsonc::read(text)?;
    let list = root.as_ref().and_then(|root| node_at(root, path)).and_then(ast::Value::as_array);
    let is_right = |after: &String| {
        jsonc::parse_value(after).is_ok_and(|after| semantics::is_same(after, expected.clone()))
    };
    let candidates = list.map(|list| additions(text, list, item)).unwrap_or_default();
    let mut afters = candidates.into_iter().map(|splices| apply_splices(text, splices));
    afters.find(is_right).ok_or_else(|| {
        let offset = list.map_or(0, Ranged::start);
        EditEntryError::unsafe_change(text, offset, UNSAFE)
    })
}

/// Returns the edits that add an item, the preferred one first.
fn additions(text: &str, list: &ast::Array<'_>, item: &Value) -> Vec<Vec<Splice>> {
    let one_line = one_line(item);
    let Some(last) = list.elements.last().map(Ranged::range) else {
        // The space distinguishes a formerly empty list from a new one.
        return vec![vec![Splice::insert(list.start() + 1, format!(" {one_line}"))]];
    };
    let close = list.end() - 1;
    let comma = find_comma(text, last.end, close);
    let inline = match comma {
        Some(comma) => vec![Splice::insert(comma + 1, format!(" {one_line},"))],
        None => vec![Splice::insert(last.end, format!(", {one_line}"))],
    };
    let mut candidates = Vec::new();
    if text.get(last.end..close).is_some_and(|gap| gap.contains('\n')) {
        let margin = indent(text, last.start);
        let end = line_end(text, comma.unwrap_or(last.end));
        let lines = lines(item, margin, unit(margin, indent(text, close)), line_break(text, last.start));
        let line = format!("{}{margin}{lines}", line_break(text, last.start));
        candidates.push(match comma {
            Some(_) => vec![Splice::insert(end, line + ",")],
            None => vec![Splice::insert(last.end, ","), Splice::insert(end, line)],
        });
    }
    candidates.push(inline);
    candidates
}

/// Returns the edits that remove an item, the inverse ones of [`additions`] first.
fn removals(text: &str, list: &ast::Array<'_>, index: usize) -> Vec<Vec<Splice>> {
    let Some(Range { start, end }) = list.elements.get(index).map(Ranged::range) else { return Vec::new() };
    let previous = index.checked_sub(1).and_then(|index| list.elements.get(index)).map(Ranged::end);
    let next = list.elements.get(index + 1).map(Ranged::start);
    let comma_after = find_comma(text, end, next.unwrap_or(list.end() - 1));
    let end_with_comma = comma_after.map_or(end, |comma| comma + 1);
    let comma_before = previous.and_then(|previous| find_comma(text, previous, start));
    let own_lines = text.get(line_start(text, start)..start).is_some_and(|gap| gap.trim().is_empty());
    let mut candidates = Vec::new();
    if own_lines {
        let from = line_start(text, start).saturating_sub(
            if text.get(..line_start(text, start)).is_some_and(|before| before.ends_with("\r\n")) {
                2
            } else {
                1
            },
        );
        let cut = Splice::cut(from, end_with_comma);
        match (next, comma_before) {
            (None, Some(comma)) if comma_after.is_none() => {
                candidates.push(vec![Splice::cut(comma, comma + 1), cut])
            }
            _ => candidates.push(vec![cut]),
        }
        let rest = text.get(end_with_comma..line_end(text, end_with_comma)).unwrap_or_default();
        if rest.trim().is_empty() && next.is_some() {
            candidates.push(vec![Splice::cut(line_start(text, start), next_line(text, end_with_comma))]);
        }
    }
    match (previous, next) {
        (Some(previous), None) if comma_after.is_none() => candidates.push(vec![Splice::cut(previous, end)]),
        (Some(_), None) => {
            candidates.push(vec![Splice::cut(comma_before.map_or(start, |comma| comma + 1), end_with_comma)])
        }
        (_, Some(next)) => candidates.push(vec![Splice::cut(start, next)]),
        (None, None) => candidates.push(vec![Splice::cut(list.start() + 1, end_with_comma)]),
    }
    candidates
}

/// Removes an item with the parser's own rules for the space around it.
fn remove_node(text: &str, path: &[Step<'_>], index: usize) -> Option<String> {
    let root = CstRootNode::parse(text, &OPTIONS).ok()?;
    let last = Step::Index(index);
    let item = path.iter().chain([&last]).try_fold(root.value()?, |node: CstNode, step| match step {
        Step::Key(name) => node.as_object()?.get(name)?.value(),
        Step::Index(index) => node.as_array()?.elements().get(*index).cloned(),
    })?;
    item.remove();
    Some(root.to_string())
}

/// Returns the position of the comma between two positions, ignoring comments.
fn find_comma(text: &str, from: usize, to: usize) -> Option<usize> {
    let gap = text.get(from..to)?;
    let mut offset = 0;
    while let Some(rest) = gap.get(offset..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("//") {
            offset += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(comment) = rest.strip_prefix("/*") {
            offset += comment.find("*/").map_or(rest.len(), |end| end + 4);
        } else if rest.starts_with(',') {
            return Some(from + offset);
        } else {
            offset += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    None
}

/// Returns the indentation of one level, given that of an item and of the end of its list.
fn unit<'t>(item: &'t str, close: &str) -> &'t str {
    let unit = item.strip_prefix(close).unwrap_or_default();
    if unit.is_empty() { "  " } else { unit }
}
