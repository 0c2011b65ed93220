//! Edits JSON with comments using `jsonc-parser`. The result is parsed again before it is accepted.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::cst::{CstInputValue, CstNode, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use prowess_format::{Value, hidden};

use super::entry::{EditEntryError, FoundEntry};
use super::semantics;
use super::text::{Splice, apply_splices, line_of};

pub(super) const UNSAFE: &str =
    "this cannot be changed without affecting something else; edit the file by hand";

/// JSON as editors write it: with comments and trailing commas, but no other extensions.
pub(super) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn find(text: &str, path: &[&str]) -> Result<Option<FoundEntry>, EditEntryError> {
    let Some(root) = read(text)? else { return Ok(None) };
    let (mut node, mut object_name) = (&root, "the configuration");
    let mut line = 1;
    for name in path {
        let Some(member) = member(text, node, name, object_name)? else { return Ok(None) };
        (node, object_name, line) = (&member.value, name, line_of(text, member.start()));
    }
    Ok(Some(FoundEntry { value: value(node), line }))
}

/// Returns the text with `entry` at `path`: a name, or a section and a name in it. Replaces an existing entry in place.
pub(super) fn put(text: &str, path: &[&str], entry: &Value) -> Result<String, EditEntryError> {
    let expected = semantics::with_change(parse_value(text)?, path, |_| entry.clone());
    let after = try_insert(text, path, entry);
    after
        .filter(|after| parse_value(after).is_ok_and(|after| semantics::is_same(after, expected)))
        .ok_or_else(|| {
            let offset = text.len() - text.trim_start().len();
            EditEntryError::unsafe_change(text, offset, UNSAFE)
        })
}

/// Returns the text without the entry at `path`. Also removes a section, or the whole text, if [`put`] would
/// create the same text again.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String, EditEntryError> {
    let Some(existing) = find(text, path)? else { return Ok(text.to_owned()) };
    let before = parse_value(text)?;
    let is_right =
        |after: &String| parse_value(after).is_ok_and(|after| semantics::is_without(after, &before, path));
    let is_undone = |after: &String| put(after, path, &existing.value).is_ok_and(|restored| restored == text);
    let candidates = (0..path.len()).filter_map(|end| try_remove(text, path.get(..end)?));
    let undone = candidates.filter(is_right).find(is_undone);
    let after = undone.or_else(|| try_remove(text, path).filter(is_right));
    after.ok_or_else(|| EditEntryError::unsafe_change(text, 0, UNSAFE))
}

fn try_insert(text: &str, path: &[&str], entry: &Value) -> Option<String> {
    let (section, name) = match path {
        [name] => (None, name),
        [section, name] => (Some(*section), name),
        _ => return None,
    };
    let root = CstRootNode::parse(text, &OPTIONS).ok()?;
    let existing = root.object_value();
    let object = root.object_value_or_create()?;
    let is_one_line = !object.properties().is_empty() && !object.to_string().contains('\n');
    let is_empty = match section.and_then(|section| object.get(section)) {
        Some(section) => section.object_value()?.properties().is_empty(),
        None => existing.is_some() && object.properties().is_empty(),
    };
    let inner = match section {
        Some(section) => object.object_value_or_create(section)?,
        None => object.clone(),
    };
    match inner.get(name) {
        Some(existing) => existing.set_value(input(entry)),
        None => drop(inner.append(name, input(entry))),
    }
    let member = inner.get(name)?;
    escape_hidden(&member.clone().into());
    if is_one_line {
        let parsed = read(text).ok()??;
        let map = parsed.as_object()?;
        let (map, member) = match section.map(|section| (section, map.get(section))) {
            None => (map, member),
            Some((_, Some(section))) => (section.value.as_object()?, member),
            Some((section, None)) => (map, object.get(section)?),
        };
        let member = on_one_line(&member.to_string());
        let splice = match (map.get(name), map.properties.last()) {
            (Some(existing), _) => Splice { from: existing.start(), to: existing.end(), with: member },
            (None, Some(last)) => Splice::insert(last.end(), format!(", {member}")),
            (None, None) => Splice::insert(map.start() + 1, member),
        };
        return Some(apply_splices(text, vec![splice]));
    }
    let (after, member) = (root.to_string(), member.to_string());
    // An entry in a formerly empty object is on one line, to distinguish it from a new object.
    Some(if is_empty { after.replacen(&member, &on_one_line(&member), 1) } else { after })
}

pub(super) fn on_one_line(text: &str) -> String {
    text.lines().map(str::trim).fold(String::new(), |line, next| {
        let is_apart = !line.is_empty() && !line.ends_with(['{', '[']) && !next.starts_with(['}', ']']);
        line + if is_apart { " " } else { "" } + next
    })
}

fn try_remove(text: &str, path: &[&str]) -> Option<String> {
    let root = CstRootNode::parse(text, &OPTIONS).ok()?;
    let mut object = root.object_value()?;
    let Some((name, sections)) = path.split_last() else {
        object.remove();
        return Some(root.to_string());
    };
    for section in sections {
        object = object.object_value(section)?;
    }
    object.get(name)?.remove();
    Some(root.to_string())
}

/// Escapes invisible characters.
fn escape_hidden(node: &CstNode) {
    if let Some(literal) = node.as_string_lit() {
        let escaped = |c: char| match hidden::find_hidden(c.encode_utf8(&mut [0; 4])) {
            Some(_) => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
            None => c.to_string(),
        };
        literal.set_raw_value(literal.raw_value().chars().map(escaped).collect());
    }
    node.children().iter().for_each(escape_hidden);
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(boolean) => CstInputValue::Bool(*boolean),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::Text(text) => CstInputValue::String(text.to_string()),
        Value::List(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Map(entries) => CstInputValue::Object(
            entries.iter().map(|(key, value)| (key.to_string(), input(value))).collect(),
        ),
    }
}

pub(super) fn read(text: &str) -> Result<Option<ast::Value<'_>>, EditEntryError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| {
        let message = hidden::escape_for_display(&error.kind().to_string()).into_owned();
        let mut letters = message.chars();
        let first = letters.next().map(|first| first.to_ascii_lowercase());
        EditEntryError::malformed(
            text,
            error.range().start,
            first.into_iter().chain(letters).collect::<String>(),
        )
    })?;
    Ok(parsed.value)
}

pub(super) fn parse_value(text: &str) -> Result<Value, EditEntryError> {
    Ok(read(text)?.as_ref().map_or(Value::Null, value))
}

pub(super) fn value(node: &ast::Value<'_>) -> Value {
    match node {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(boolean) => Value::Bool(boolean.value),
        ast::Value::NumberLit(number) => Value::Number(number.value.into()),
        ast::Value::StringLit(text) => Value::Text(text.value.as_ref().into()),
        ast::Value::Array(list) => Value::List(list.elements.iter().map(value).collect()),
        ast::Value::Object(map) => {
            let entry = |member: &ast::ObjectProp<'_>| (member.name.as_str().into(), value(&member.value));
            Value::Map(map.properties.iter().map(entry).collect())
        }
    }
}

/// Returns the only member of this name.
pub(super) fn member<'n, 't>(
    text: &str,
    node: &'n ast::Value<'t>,
    name: &str,
    object_name: &str,
) -> Result<Option<&'n ast::ObjectProp<'t>>, EditEntryError> {
    let Some(map) = node.as_object() else {
        return Err(EditEntryError::unsafe_change(
            text,
            node.start(),
            format!("{object_name} must be an object"),
        ));
    };
    let mut matching = map.properties.iter().filter(|member| member.name.as_str() == name);
    let first = matching.next();
    match matching.next() {
        Some(duplicate) => {
            let reason = format!("duplicate key {name}; delete one of them");
            Err(EditEntryError::unsafe_change(text, duplicate.start(), reason))
        }
        None => Ok(first),
    }
}
