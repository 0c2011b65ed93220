//! Lists of texts in TOML.

use crate::tree::{self, Entry, Kind, Tree};
use prowess_format::{Span, Value};

use super::list::Found;
use super::text::{
    Splice, after_line, at_end, indent, line_break, line_of, line_start, quoted, quoted_like, spliced,
};
use super::{EditError, brackets, meaning};

/// The texts of the list at `path`, each with its line.
pub(super) fn find(text: &str, path: [&str; 2]) -> Result<Vec<Found>, EditError> {
    let tree = parse(text)?;
    let Some((_, list)) = entry(&tree, path) else { return Ok(Vec::new()) };
    Ok(items(text, list)?.into_iter().map(|(text, _, line)| Found { text, line }).collect())
}

/// Adds a text to the list at `path`, which is made where it is missing.
pub(super) fn add(text: &str, path: [&str; 2], item: &str) -> Result<String, EditError> {
    let tree = parse(text)?;
    let [section, key] = path;
    let wanted = meaning::pushed(meaning::of_tree(&tree), &path, Value::Text(item.into()));
    if let Some((_, list)) = entry(&tree, path) {
        let items = items(text, list)?;
        let spans: Vec<_> = items.iter().map(|(_, span, _)| *span).collect();
        let beside = spans.last().and_then(|last| text.get(last.range()));
        let splices = brackets::add(text, list.span, &spans, &toml_text(item, beside));
        return first_right(text, vec![splices], &wanted, list.span.start as usize);
    }
    let (ways, at) = ways_in(text, &tree, section, &format!("{key} = [{}]", quoted(item)));
    first_right(text, ways, &wanted, at)
}

/// The ways to put a line into a section, the best first, and where the section is.
pub(super) fn ways_in(text: &str, tree: &Tree, section: &str, line: &str) -> (Vec<Vec<Splice>>, usize) {
    let mut ways = Vec::new();
    let place = tree.get(section).map(|table| table.span.start as usize);
    if let (Some(at), Some(table)) = (place, tree.get(section)) {
        let value = table.value.span.start as usize;
        let begins = text.get(line_start(text, at)..).unwrap_or_default().trim_start();
        if begins.starts_with('[') {
            ways.push(vec![after_line(text, at, &[format!("{}{line}", indent(text, at))])]);
        } else if text.as_bytes().get(value) == Some(&b'{') && value > at {
            let empty = matches!(&table.value.kind, Kind::Table(entries) if entries.is_empty());
            let comma = if empty { " " } else { "," };
            ways.push(vec![Splice::insert(value + 1, format!(" {line}{comma}"))]);
        } else {
            let dotted = format!("{}{section}.{line}", indent(text, at));
            // Its value may go on for some lines; before it there is always a place.
            let before = format!("{dotted}{}", line_break(text, at));
            ways.push(vec![after_line(text, at, &[dotted])]);
            ways.push(vec![Splice::insert(line_start(text, at), before)]);
        }
    }
    let mut lines = vec![format!("[{section}]"), line.to_owned()];
    if !text.trim().is_empty() {
        lines.insert(0, String::new());
    }
    ways.push(vec![at_end(text, &lines)]);
    (ways, place.unwrap_or(0))
}

/// Removes a text from the list at `path`, however often it stands there. A list that becomes empty stays.
pub(super) fn remove(text: &str, path: [&str; 2], item: &str) -> Result<String, EditError> {
    let mut text = text.to_owned();
    loop {
        let tree = parse(&text)?;
        let Some((_, list)) = entry(&tree, path) else { return Ok(text) };
        let items = items(&text, list)?;
        let Some(which) = items.iter().position(|(found, ..)| found == item) else { return Ok(text) };
        let wanted = meaning::taken(meaning::of_tree(&tree), &path, which);
        let spans: Vec<_> = items.iter().map(|(_, span, _)| *span).collect();
        let splices = brackets::remove(&text, list.span, &spans, which);
        text = first_right(&text, vec![splices], &wanted, list.span.start as usize)?;
    }
}

/// The first way that leads to what is wanted and to nothing else.
pub(super) fn first_right(
    text: &str,
    ways: Vec<Vec<Splice>>,
    wanted: &Value,
    at: usize,
) -> Result<String, EditError> {
    for way in ways {
        let after = spliced(text, way);
        if parse(&after).is_ok_and(|tree| meaning::same(meaning::of_tree(&tree), wanted.clone())) {
            return Ok(after);
        }
    }
    let why = "it is written in a form that cannot be changed without touching the rest; change it by hand";
    Err(EditError::Refused { line: line_of(text, at), why: why.to_owned() })
}

pub(super) fn parse(text: &str) -> Result<Tree, EditError> {
    let malformed = match tree::toml(text, &[]) {
        Ok(Some(tree)) => return Ok(tree),
        Ok(None) => None,
        Err(malformed) => malformed.into_iter().next(),
    };
    let (at, message) = malformed.map_or((0, String::new()), |malformed| {
        (malformed.span.map_or(0, |span| span.start as usize), malformed.message)
    });
    Err(EditError::Malformed { line: line_of(text, at), message })
}

fn entry<'t>(tree: &'t Tree, [section, key]: [&str; 2]) -> Option<(&'t Entry, &'t Tree)> {
    let entry = tree.get(section)?.value.get(key)?;
    Some((entry, &entry.value))
}

fn items(text: &str, list: &Tree) -> Result<Vec<(String, Span, u32)>, EditError> {
    let refused = |tree: &Tree| EditError::Refused {
        line: line_of(text, tree.span.start as usize),
        why: "this is no list of texts".to_owned(),
    };
    let Kind::List(items) = &list.kind else { return Err(refused(list)) };
    items
        .iter()
        .map(|item| match &item.kind {
            Kind::Text(found) => Ok((found.clone(), item.span, line_of(text, item.span.start as usize))),
            _ => Err(refused(item)),
        })
        .collect()
}

/// TOML has no words without quotes.
fn toml_text(item: &str, beside: Option<&str>) -> String {
    quoted_like(
        item,
        beside.filter(|beside| beside.starts_with('\'') && !beside.starts_with("'''")).or(Some("\"")),
    )
}
