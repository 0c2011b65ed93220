//! One entry added or replaced, and every other byte kept.

use prowess_format::Value;

use super::super::entry::EntryError;
use super::super::meaning;
use super::super::text::{Splice, at_end, indent, line_break, line_start, spliced};
use super::read::parse;
use super::write::{Layout, Style, document, map_of, member, value};
use super::{Kind, Member, Node};

/// The text with `entry` at `path`: a section and a name in it. What is there already is replaced.
pub(in super::super) fn put(text: &str, path: [&str; 2], entry: &Value) -> Result<String, EntryError> {
    let root = read(text)?;
    let before = root.as_ref().map_or(Value::Null, Node::value);
    let wanted = meaning::changed(before, &path, |_| entry.clone());
    let (splices, at) = change(text, root.as_ref(), path, entry)?;
    let after = spliced(text, splices);
    match parse(&after) {
        Ok(Some(root)) if meaning::same(root.value(), wanted) => Ok(after),
        _ => Err(EntryError::refused(text, at, "this cannot be changed without changing something else")),
    }
}

pub(super) fn read(text: &str) -> Result<Option<Node>, EntryError> {
    parse(text).map_err(|broken| EntryError::malformed(text, broken.at, broken.message))
}

fn change(
    text: &str,
    root: Option<&Node>,
    path: [&str; 2],
    entry: &Value,
) -> Result<(Vec<Splice>, usize), EntryError> {
    let [section, name] = path;
    let Some(root) = root else {
        let lines: Vec<String> = document(path, entry).split('\n').map(str::to_owned).collect();
        return Ok((vec![at_end(text, &lines)], 0));
    };
    let members = members(text, root, "the configuration")?;
    let style = style(text, root, members);
    let Some(found) = only(text, members, section)? else {
        let deeper = style.deeper();
        let with = |outer: Layout, inner: Layout| {
            let entry = member(name, &value(entry, inner, &deeper.deeper()));
            member(section, &map_of(&entry, outer, &deeper))
        };
        let splices = match shape(text, root, members) {
            Shape::Empty => {
                let Style { unit, ends, indent } = &style;
                let section = with(Layout::Lines, Layout::Tight);
                vec![Splice::insert(root.close(), format!("{ends}{indent}{unit}{section}{ends}"))]
            }
            Shape::EmptyLines => on_last_line(text, root, &with(Layout::Spaced, Layout::Tight), &style),
            Shape::Lines(last) => after(text, last, &with(Layout::Lines, Layout::Lines), &deeper),
            Shape::Line(last) => beside(last, &with(Layout::Spaced, Layout::Tight)),
        };
        return Ok((splices, root.start));
    };
    let map = &found.value;
    let inner = self::members(text, map, section)?;
    let style = Style { indent: indent(text, found.start).to_owned(), ..style };
    if let Some(there) = only(text, inner, name)? {
        let old = text.get(there.value.start..there.end()).unwrap_or_default();
        let layout = if old.contains('\n') { Layout::Lines } else { Layout::Tight };
        let style = Style { indent: indent(text, there.start).to_owned(), ..style };
        let with = value(entry, layout, &style);
        return Ok((vec![Splice { from: there.value.start, to: there.end(), with }], there.start));
    }
    let style = match inner.first() {
        Some(first) if begins_line(text, first.start) => {
            Style { indent: indent(text, first.start).to_owned(), ..style }
        }
        _ => style.deeper(),
    };
    let with = |layout: Layout| member(name, &value(entry, layout, &style));
    let outer = Style { indent: indent(text, found.start).to_owned(), ..style.clone() };
    let splices = match shape(text, map, inner) {
        Shape::Empty => vec![Splice::insert(map.close(), with(Layout::Tight))],
        Shape::EmptyLines => on_last_line(text, map, &with(Layout::Spaced), &outer),
        Shape::Lines(last) => after(text, last, &with(Layout::Lines), &style),
        Shape::Line(last) => beside(last, &with(Layout::Tight)),
    };
    Ok((splices, found.start))
}

/// How a map is written.
enum Shape<'n> {
    /// Nothing in it, on one line.
    Empty,
    /// Nothing in it, on several.
    EmptyLines,
    /// A line ends after its last member.
    Lines(&'n Member),
    /// Its brace closes on the line of its last member.
    Line(&'n Member),
}

fn shape<'n>(text: &str, map: &Node, members: &'n [Member]) -> Shape<'n> {
    let from = members.last().map_or(map.start, Member::end);
    let ends = text.get(from..map.close()).is_some_and(|gap| gap.contains('\n'));
    match (members.last(), ends) {
        (None, false) => Shape::Empty,
        (None, true) => Shape::EmptyLines,
        (Some(last), true) => Shape::Lines(last),
        (Some(last), false) => Shape::Line(last),
    }
}

/// On a line of its own before the closing brace, or before the brace where a comment is in the way.
fn on_last_line(text: &str, map: &Node, member: &str, outer: &Style<'_>) -> Vec<Splice> {
    let (close, start) = (map.close(), line_start(text, map.close()));
    match begins_line(text, close) && start > map.start {
        true => vec![Splice::insert(start, format!("{}{member}{}", outer.deeper().indent, outer.ends))],
        false => vec![Splice::insert(close, member)],
    }
}

/// On a line of its own after the last member, and whatever is said beside that.
fn after(text: &str, last: &Member, member: &str, style: &Style<'_>) -> Vec<Splice> {
    let line = format!("{}{}{member}", style.ends, style.indent);
    match last.comma {
        Some(comma) => vec![Splice::insert(beside_line(text, comma + 1), line + ",")],
        None => vec![
            Splice { from: last.end(), to: last.end(), with: ",".to_owned() },
            Splice::insert(beside_line(text, last.end()), line),
        ],
    }
}

/// On the line of the last member.
fn beside(last: &Member, member: &str) -> Vec<Splice> {
    match last.comma {
        Some(comma) => vec![Splice::insert(comma + 1, format!(" {member},"))],
        None => vec![Splice::insert(last.end(), format!(", {member}"))],
    }
}

/// Where the comments end that stand beside something, on its line.
fn beside_line(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let inner = rest.get(blanks..).unwrap_or_default();
        if inner.starts_with("//") || inner.starts_with('\n') || inner.starts_with("\r\n") {
            return super::super::text::line_end(text, at);
        }
        let comment = inner.strip_prefix("/*").and_then(|inner| inner.find("*/")).map(|end| end + 4);
        match comment.filter(|end| inner.get(..*end).is_some_and(|comment| !comment.contains('\n'))) {
            Some(end) => at += blanks + end,
            None => return at,
        }
    }
}

pub(super) fn begins_line(text: &str, at: usize) -> bool {
    text.get(line_start(text, at)..at).is_some_and(|before| before.trim_matches([' ', '\t']).is_empty())
}

/// As the root is written.
fn style<'t>(text: &'t str, root: &Node, members: &[Member]) -> Style<'t> {
    let outer = indent(text, root.start);
    let first = members.iter().find(|first| begins_line(text, first.start));
    let unit = first.and_then(|first| indent(text, first.start).strip_prefix(outer));
    let unit = unit.filter(|unit| !unit.is_empty()).unwrap_or("  ");
    let outer = if begins_line(text, root.start) { outer } else { "" };
    Style { indent: outer.to_owned(), unit, ends: line_break(text, root.start) }
}

pub(super) fn members<'n>(text: &str, node: &'n Node, called: &str) -> Result<&'n [Member], EntryError> {
    match &node.kind {
        Kind::Map(members) => Ok(members),
        _ => Err(EntryError::refused(text, node.start, format!("{called} takes an object, {{…}}"))),
    }
}

/// The one member of this name.
pub(super) fn only<'n>(
    text: &str,
    members: &'n [Member],
    key: &str,
) -> Result<Option<&'n Member>, EntryError> {
    let mut same = members.iter().filter(|member| member.key == key);
    let found = same.next();
    match same.next() {
        Some(twice) => {
            Err(EntryError::refused(text, twice.start, format!("{key} stands twice; delete one of them")))
        }
        None => Ok(found),
    }
}
