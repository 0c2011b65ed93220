//! Edits lists in brackets, which TOML and YAML write alike.

use prowess_format::Span;

use super::text::{Splice, indent, line_break, line_end, line_start, next_line};

/// Adds an item after the last one, on its own line if the last one has one.
pub(super) fn add(text: &str, list: Span, items: &[Span], item: &str) -> Vec<Splice> {
    let (inside, close) = (list.start as usize + 1, (list.end as usize).saturating_sub(1));
    let Some(last) = items.last().map(|last| last.range()) else {
        let blank = text.get(inside..close).unwrap_or_default();
        if blank.trim_matches([' ', '\t']).is_empty() {
            return vec![Splice { from: inside, to: close, with: item.to_owned() }];
        }
        // The brackets are on separate lines, possibly with comments in between.
        let (start, line_ending) = (line_start(text, close), line_break(text, inside));
        let first = next_line(text, inside);
        let item_indent =
            if first < start { indent(text, first).to_owned() } else { format!("{}  ", indent(text, close)) };
        return vec![Splice::insert(start, format!("{item_indent}{item},{line_ending}"))];
    };
    let comma = comma(text, last.end, close);
    let is_multiline = text.get(last.end..close).is_some_and(|gap| gap.contains('\n'));
    match (is_multiline, comma) {
        (false, Some(comma)) => vec![Splice::insert(comma + 1, format!(" {item},"))],
        (false, None) => vec![Splice::insert(last.end, format!(", {item}"))],
        (true, comma) => {
            let line_end_offset = line_end(text, comma.unwrap_or(last.end));
            let line = format!("{}{}{item}", line_break(text, last.start), indent(text, last.start));
            match comma {
                Some(_) => vec![Splice::insert(line_end_offset, line + ",")],
                None => vec![Splice::insert(last.end, ","), Splice::insert(line_end_offset, line)],
            }
        }
    }
}

/// Removes an item, with its line if it has its own.
pub(super) fn remove(text: &str, list: Span, items: &[Span], index: usize) -> Vec<Splice> {
    let (inside, close) = (list.start as usize + 1, (list.end as usize).saturating_sub(1));
    let Some(item) = items.get(index).map(|item| item.range()) else { return Vec::new() };
    let previous_end = index
        .checked_sub(1)
        .and_then(|previous_index| items.get(previous_index))
        .map(|previous| previous.range().end);
    let next = items.get(index + 1).map(|next| next.range().start);
    let end = comma(text, item.end, next.unwrap_or(close)).map_or(item.end, |comma| comma + 1);
    let gap = |from: usize, to: usize| text.get(from..to).unwrap_or_default();

    let (start, line_end_offset) = (line_start(text, item.start), line_end(text, end));
    let begins_line = gap(start, item.start).trim().is_empty();
    let trailing = gap(end, line_end_offset).trim_start();
    if begins_line
        && start >= inside
        && line_end_offset < close
        && (trailing.is_empty() || trailing.starts_with('#'))
    {
        return vec![Splice::cut(start, next_line(text, end))];
    }
    match (previous_end, next) {
        (_, Some(next)) if !gap(end, next).contains(['\n', '#']) => vec![Splice::cut(item.start, next)],
        (Some(previous_end), None) if !gap(previous_end, item.start).contains('#') => {
            vec![Splice::cut(previous_end, item.end)]
        }
        (None, None) if (gap(inside, item.start).to_owned() + gap(end, close)).trim().is_empty() => {
            vec![Splice::cut(inside, close)]
        }
        _ => {
            let blanks = gap(end, line_end_offset).len() - trailing.len();
            vec![Splice::cut(item.start, end + blanks)]
        }
    }
}

/// Returns the position of the comma between two positions, ignoring comments.
fn comma(text: &str, from: usize, to: usize) -> Option<usize> {
    let mut comment = false;
    let gap = text.get(from..to)?;
    gap.bytes().enumerate().find_map(|(offset, byte)| {
        match byte {
            b'#' => comment = true,
            b'\n' => comment = false,
            b',' if !comment => return Some(from + offset),
            _ => {}
        }
        None
    })
}
