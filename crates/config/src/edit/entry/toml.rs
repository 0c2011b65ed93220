//! An entry as a table of TOML: `[section.name]`.

use crate::tree::{self, Entry, Kind, Tree};
use prowess_format::Value;

use super::super::meaning;
use super::super::text::{Splice, at_end, line_end, line_of, line_start, next_line, quoted, spliced};
use super::{EntryError, Found, is_without};

pub(super) fn find(text: &str, path: [&str; 2]) -> Result<Option<Found>, EntryError> {
    let tree = parse(text)?;
    let Some(entry) = entry(text, &tree, path)? else { return Ok(None) };
    Ok(Some(Found { value: meaning::of_tree(&entry.value), line: line_of(text, entry.span.start as usize) }))
}

pub(super) fn put(text: &str, path: [&str; 2], value: &Value) -> Result<String, EntryError> {
    let tree = parse(text)?;
    if entry(text, &tree, path)?.is_some() {
        return put(&take(text, path)?, path, value);
    }
    let [section, name] = path;
    let wanted = meaning::changed(meaning::of_tree(&tree), &path, |_| value.clone());
    let mut lines = vec![format!("[{}.{}]", key(section), key(name))];
    if !text.is_empty() {
        lines.insert(0, String::new());
    }
    lines.extend(fields(value).iter().map(|(name, value)| format!("{} = {}", key(name), inline(value))));
    let mut ways = vec![vec![at_end(text, &lines)]];
    let mut at = 0;
    if let Some(table) = tree.get(section) {
        at = table.span.start as usize;
        let open = table.value.span.start as usize;
        if text.as_bytes().get(open) == Some(&b'{') {
            let empty = matches!(&table.value.kind, Kind::Table(entries) if entries.is_empty());
            let comma = if empty { " " } else { "," };
            let entry = format!(" {} = {}{comma}", key(name), inline(value));
            ways.push(vec![Splice::insert(open + 1, entry)]);
        }
    }
    let is_right = |after: &String| {
        parse(after).is_ok_and(|tree| meaning::same(meaning::of_tree(&tree), wanted.clone()))
    };
    let mut afters = ways.into_iter().map(|way| spliced(text, way));
    afters.find(is_right).ok_or_else(|| EntryError::refused(text, at, BY_HAND))
}

const BY_HAND: &str =
    "it is written in a form that cannot be changed without touching the rest; change it by hand";

pub(super) fn take(text: &str, path: [&str; 2]) -> Result<String, EntryError> {
    let tree = parse(text)?;
    let Some(found) = entry(text, &tree, path)? else { return Ok(text.to_owned()) };
    let (before, value) = (meaning::of_tree(&tree), meaning::of_tree(&found.value));
    let (start, end) = (found.span.start as usize, found.value.span.end as usize);
    let mut ways = Vec::new();
    let blocks = blocks(text, &tree, path);
    if let Some(first) = blocks.first() {
        let above = text.get(..first.from).unwrap_or_default();
        // With the blank line before it, with the line break before that, and as it stands.
        let apart = above.strip_suffix('\n').map(|above| above.strip_suffix('\r').unwrap_or(above));
        let apart = apart.filter(|above| above.is_empty() || above.ends_with('\n'));
        let last_line = apart.map(|above| above.strip_suffix('\n').unwrap_or(above));
        let last_line = last_line.map(|above| above.strip_suffix('\r').unwrap_or(above));
        let rest = blocks.last().and_then(|last| text.get(last.to..)).unwrap_or_default();
        let follows = rest.is_empty() || rest.starts_with(['\n', '\r']);
        for from in [last_line, apart].into_iter().flatten().map(str::len).chain([first.from]) {
            let mut way = blocks.clone();
            if let Some(first) = way.first_mut() {
                first.from = from;
            }
            ways.push(way);
        }
        // What follows is not set off from nothing.
        if above.trim().is_empty() && rest.starts_with(['\n', '\r']) {
            let last = blocks.last().map_or(0, |last| last.to);
            ways.insert(0, vec![Splice::cut(first.from, next_line(text, last))]);
        }
        // Where something follows at once, the blank line keeps it apart from what is above.
        if !follows {
            ways.push(blocks.clone());
            ways.rotate_right(1);
        }
    } else {
        ways.push(vec![Splice::cut(line_start(text, start), next_line(text, end.max(start)))]);
    }
    let afters: Vec<_> = ways.into_iter().map(|way| spliced(text, way)).collect();
    let is_undone = |after: &&String| put(after, path, &value).is_ok_and(|again| again == text);
    let is_right = |after: &&String| {
        parse(after).is_ok_and(|tree| is_without(meaning::of_tree(&tree), &before, path))
            && (text.ends_with('\n') == after.ends_with('\n') || after.is_empty())
    };
    let after = afters.iter().find(is_undone).or_else(|| afters.iter().find(is_right));
    after.cloned().ok_or_else(|| EntryError::refused(text, start, BY_HAND))
}

/// The tables of an entry, its own and those inside it, with all their lines.
fn blocks(text: &str, tree: &Tree, path: [&str; 2]) -> Vec<Splice> {
    let mut values = Vec::new();
    leaves(tree, &mut values);
    let is_inside = |at: usize| values.iter().any(|(from, to)| *from < at && at < *to);
    let mut headers = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let line = text.get(at..line_end(text, at)).unwrap_or_default();
        if line.trim_start().starts_with('[') && !is_inside(at) {
            headers.push((at, is_of(line, path)));
        }
        at = next_line(text, at);
    }
    let ends = headers.iter().skip(1).map(|(at, _)| *at).chain([text.len()]);
    let ours = headers.iter().zip(ends).filter(|((_, ours), _)| *ours);
    ours.map(|((from, _), end)| {
        // Comments below the last value belong to what follows.
        let last = values.iter().filter(|(at, _)| from < at && *at < end).map(|(_, to)| *to).max();
        Splice::cut(*from, next_line(text, last.unwrap_or(*from)))
    })
    .collect()
}

/// Whether a header is that of the entry or of a table inside it.
fn is_of(header: &str, [section, name]: [&str; 2]) -> bool {
    tree::toml(header, &[section, name]).is_ok_and(|table| table.is_some())
}

/// Where all values stand that are written out.
fn leaves(tree: &Tree, found: &mut Vec<(usize, usize)>) {
    match &tree.kind {
        Kind::Table(entries) => entries.iter().for_each(|entry| {
            leaves(&entry.value, found);
            // An empty inline table has no leaves, but it has a place.
            if matches!(&entry.value.kind, Kind::Table(inner) if inner.is_empty()) {
                found.push((entry.span.start as usize, entry.span.end as usize));
            }
        }),
        Kind::List(items) if items.iter().any(|item| matches!(item.kind, Kind::Table(_))) => {
            items.iter().for_each(|item| leaves(item, found));
            found.push((tree.span.start as usize, tree.span.start as usize));
        }
        _ => found.push((tree.span.start as usize, tree.span.end as usize)),
    }
}

fn parse(text: &str) -> Result<Tree, EntryError> {
    let malformed = match tree::toml(text, &[]) {
        Ok(Some(tree)) => return Ok(tree),
        Ok(None) => None,
        Err(malformed) => malformed.into_iter().next(),
    };
    let (at, message) = malformed.map_or((0, String::new()), |malformed| {
        (malformed.span.map_or(0, |span| span.start as usize), malformed.message)
    });
    Err(EntryError::malformed(text, at, message))
}

fn entry<'t>(
    text: &str,
    tree: &'t Tree,
    [section, name]: [&str; 2],
) -> Result<Option<&'t Entry>, EntryError> {
    let Some(outer) = tree.get(section) else { return Ok(None) };
    match &outer.value.kind {
        Kind::Table(_) => Ok(outer.value.get(name)),
        _ => Err(EntryError::refused(text, outer.span.start as usize, format!("{section} takes a table"))),
    }
}

fn fields(value: &Value) -> &[(Box<str>, Value)] {
    if let Value::Map(entries) = value { entries } else { &[] }
}

fn key(text: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !text.is_empty() && text.chars().all(bare) { text.to_owned() } else { quoted(text) }
}

fn inline(value: &Value) -> String {
    match value {
        // TOML has no null; an entry of ours has none.
        Value::Null => "\"\"".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => quoted(text),
        Value::List(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(name, value)| format!("{} = {}", key(name), inline(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}
