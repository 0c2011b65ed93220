//! One entry removed. Where it was added by [`put`], nothing of that is left.
//!
//! A removal is right if adding the entry again leads back to the text. Of all ways to cut, that one is taken; where
//! somebody wrote the entry in another way, the plainest.

use super::super::entry::{EntryError, without};
use super::super::meaning;
use super::super::text::{Splice, line_end, line_start, next_line, spliced};
use super::put::{begins_line, members, only, put, read};
use super::read::parse;
use super::{Member, Node};

/// The text without the entry at `path`; as it is where there is none.
pub(in super::super) fn take(text: &str, path: [&str; 2]) -> Result<String, EntryError> {
    let [section, name] = path;
    let Some(root) = read(text)? else { return Ok(text.to_owned()) };
    let outer = members(text, &root, "the configuration")?;
    let Some(at) = only(text, outer, section)? else { return Ok(text.to_owned()) };
    let inner = members(text, &at.value, section)?;
    let Some(entry) = only(text, inner, name)? else { return Ok(text.to_owned()) };
    let value = entry.value.value();

    let mut plain = cuts(text, &at.value, inner, entry);
    let (from, to) = (at.value.start + 1, at.value.close());
    let around =
        [text.get(from..entry.start), text.get(entry.comma.map_or(entry.end(), |comma| comma + 1)..to)];
    if inner.len() == 1 && around.iter().all(|gap| gap.is_some_and(|gap| gap.trim().is_empty())) {
        plain.insert(0, vec![Splice::cut(from, to)]);
    }
    let mut ways = plain.clone();
    if inner.len() == 1 {
        ways.extend(cuts(text, &root, outer, at));
    }
    if inner.len() == 1 && outer.len() == 1 {
        let before = text.get(..root.start).unwrap_or_default();
        let above = before.strip_suffix('\n').unwrap_or(before);
        for from in [0, root.start, above.len(), before.len() - ending(before)] {
            ways.push(vec![Splice::cut(from, text.len())]);
        }
    }
    let is_undone = |after: &String| put(after, path, &value).is_ok_and(|again| again == text);
    if let Some(after) = ways.into_iter().map(|way| spliced(text, way)).find(is_undone) {
        return Ok(after);
    }
    let wanted = without(root.value(), path);
    let is_right = |after: &String| matches!(parse(after), Ok(Some(root)) if meaning::same(root.value(), wanted.clone()));
    plain.into_iter().map(|way| spliced(text, way)).find(is_right).ok_or_else(|| {
        EntryError::refused(text, entry.start, "this cannot be removed without changing something else")
    })
}

/// Ways to remove a member of a map, the plainest first.
fn cuts(text: &str, map: &Node, members: &[Member], member: &Member) -> Vec<Vec<Splice>> {
    let at = members.iter().position(|other| other.start == member.start).unwrap_or(0);
    let before = at.checked_sub(1).and_then(|at| members.get(at));
    let end = member.comma.map_or(member.end(), |comma| comma + 1);
    let start = line_start(text, member.start);
    let own_line = begins_line(text, member.start) && start > map.start;
    // The comma before it is one too many where nothing follows.
    let comma = before.filter(|_| member.comma.is_none()).and_then(|before| before.comma);
    let comma = comma.map(|comma| Splice::cut(comma, comma + 1));
    let mut ways = Vec::new();
    let mut with_comma = |from: usize, to: usize| {
        let mut way: Vec<_> = comma.iter().filter(|comma| comma.to <= from).cloned().collect();
        way.push(Splice::cut(from, to));
        ways.push(way);
    };
    if own_line {
        let over = line_end(text, end);
        if over < map.close() && text.get(end..over).is_some_and(|rest| rest.trim().is_empty()) {
            with_comma(start, next_line(text, end));
        }
        // A carriage return alone ends no line, and may stand before a line break of ours.
        for above in [start - ending(text.get(..start).unwrap_or_default()), start - 1] {
            with_comma(above, end);
            if next_line(text, end) <= map.close() {
                with_comma(above, next_line(text, end));
            }
        }
    }
    match (before, member.comma, members.get(at + 1)) {
        (_, Some(_), Some(next)) => with_comma(member.start, next.start),
        (Some(before), None, None) => ways.push(vec![Splice::cut(before.end(), member.end())]),
        (Some(before), Some(_), None) => {
            with_comma(before.comma.map_or(before.end(), |comma| comma + 1), end)
        }
        _ => with_comma(member.start, end),
    }
    ways.push(comma.into_iter().chain([Splice::cut(member.start, end)]).collect());
    ways
}

/// How long the line break is that a text ends in.
fn ending(text: &str) -> usize {
    text.len() - text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text)).len()
}
