//! The list with checkboxes in which users choose among several skills of a source. The state is plain data; the terminal is
//! handled by the prompts.

use std::collections::BTreeSet;

use prowess_package::Candidate;

use crate::columns;
use crate::output::clean;

/// The number of rows that are shown at once.
const ROWS: usize = 10;

/// The number of lines for the description of the current skill.
const DESCRIPTION_LINES: usize = 2;

const HELP: &str = "type to search, space selects, → all, ← none, enter installs, esc cancels";

/// A key that the user pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PickerKey {
    Up,
    Down,
    All,
    None,
    Toggle,
    Enter,
    Cancel,
    Erase,
    Char(char),
}

/// What happens after a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PickerStep {
    Continue,
    /// The user chose these candidates.
    Chosen(Vec<usize>),
    Cancelled,
}

/// The state of the list.
pub(super) struct Picker {
    title: String,
    rows: Vec<PickerRow>,
    query: String,
    /// The position among the visible rows.
    cursor: usize,
    /// The indexes of the selected candidates.
    selected: BTreeSet<usize>,
    has_groups: bool,
    name_width: usize,
}

struct PickerRow {
    /// The index of the candidate.
    index: usize,
    /// The directory of the source that contains the skill.
    group: String,
    name: String,
    description: String,
    /// The texts in which a search looks, in lower case.
    searched: String,
}

impl Picker {
    pub(super) fn new(source: &str, candidates: &[Candidate]) -> Self {
        let mut rows: Vec<PickerRow> = candidates
            .iter()
            .enumerate()
            .map(|(index, candidate)| PickerRow::new(index, candidate))
            .collect();
        rows.sort_by(|a, b| a.group.cmp(&b.group).then(a.index.cmp(&b.index)));
        let has_groups = rows.windows(2).any(|pair| pair[0].group != pair[1].group);
        let name_width = rows.iter().map(|row| columns::width(&row.name)).max().unwrap_or(0).min(32);
        let title = format!("{} contains {} skills. Which skills?", clean(source), rows.len());
        let (query, selected) = (String::new(), BTreeSet::new());
        Self { title, rows, query, cursor: 0, selected, has_groups, name_width }
    }

    fn visible(&self) -> Vec<&PickerRow> {
        let query = self.query.to_lowercase();
        self.rows.iter().filter(|row| row.searched.contains(&query)).collect()
    }

    pub(super) fn press(&mut self, key: PickerKey) -> PickerStep {
        let visible: Vec<usize> = self.visible().iter().map(|row| row.index).collect();
        match key {
            PickerKey::Up => self.cursor = self.cursor.saturating_sub(1),
            PickerKey::Down => self.cursor = (self.cursor + 1).min(visible.len().saturating_sub(1)),
            PickerKey::All => self.selected.extend(visible),
            PickerKey::None => self.selected.retain(|index| !visible.contains(index)),
            PickerKey::Toggle => {
                if let Some(index) = visible.get(self.cursor)
                    && !self.selected.remove(index)
                {
                    self.selected.insert(*index);
                }
            }
            PickerKey::Enter => return PickerStep::Chosen(self.selected.iter().copied().collect()),
            PickerKey::Cancel => return PickerStep::Cancelled,
            PickerKey::Erase => {
                self.query.pop();
                self.cursor = 0;
            }
            PickerKey::Char(c) => {
                self.query.push(c);
                self.cursor = 0;
            }
        }
        PickerStep::Continue
    }

    /// Returns the lines to show on a terminal with this many columns.
    pub(super) fn lines(&self, width: usize) -> Vec<String> {
        let visible = self.visible();
        let mut lines = vec![self.title.clone(), format!("search: {}", clean(&self.query))];
        let first = self.cursor.saturating_sub(ROWS / 2).min(visible.len().saturating_sub(ROWS));
        let mut group = None;
        for (position, row) in visible.iter().enumerate().skip(first).take(ROWS) {
            if self.has_groups && group != Some(&row.group) {
                lines.push(format!("    {}", if row.group.is_empty() { "." } else { &row.group }));
                group = Some(&row.group);
            }
            let cursor = if position == self.cursor { ">" } else { " " };
            let mark = if self.selected.contains(&row.index) { "[x]" } else { "[ ]" };
            let name = columns::pad(&row.name, self.name_width);
            lines.push(format!("{cursor} {mark} {name}  {}", row.description));
        }
        match visible.len().saturating_sub(first + ROWS) {
            _ if visible.is_empty() => lines.push("  no skill matches".to_owned()),
            0 => {}
            hidden => lines.push(format!("      {hidden} more")),
        }
        // The description of the current skill, if its row has no room for it.
        let is_cut = |row: &&&PickerRow| self.name_width + 8 + columns::width(&row.description) > width;
        let current = visible.get(self.cursor).filter(is_cut);
        let description = current.map(|row| columns::wrap_prose(&row.description, width));
        lines.extend(description.into_iter().flatten().take(DESCRIPTION_LINES));
        lines.push(format!("{} selected; {HELP}", self.selected.len()));
        lines.into_iter().map(|line| columns::truncate(&line, width)).collect()
    }
}

impl PickerRow {
    fn new(index: usize, candidate: &Candidate) -> Self {
        let group = candidate.dir.rsplit_once('/').map(|(parent, _)| parent).unwrap_or_default();
        let searched = format!("{group} {} {}", candidate.name, candidate.description).to_lowercase();
        Self {
            index,
            group: clean(group).into_owned(),
            name: clean(&candidate.name).into_owned(),
            description: clean(&candidate.description).into_owned(),
            searched,
        }
    }
}

/// Returns the keys in the bytes that a terminal sent. A lone escape is the key Esc.
pub(super) fn parse_keys(bytes: &[u8]) -> Vec<PickerKey> {
    let mut keys = Vec::new();
    let text = String::from_utf8_lossy(bytes);
    let mut rest: &str = &text;
    while let Some(c) = rest.chars().next() {
        let sequences = [
            ("\u{1b}[A", PickerKey::Up),
            ("\u{1b}[B", PickerKey::Down),
            ("\u{1b}[C", PickerKey::All),
            ("\u{1b}[D", PickerKey::None),
            ("\u{1b}OA", PickerKey::Up),
            ("\u{1b}OB", PickerKey::Down),
            ("\u{1b}OC", PickerKey::All),
            ("\u{1b}OD", PickerKey::None),
        ];
        if let Some((sequence, key)) = sequences.iter().find(|(sequence, _)| rest.starts_with(sequence)) {
            keys.push(*key);
            rest = &rest[sequence.len()..];
            continue;
        }
        if rest.starts_with("\u{1b}[") {
            // Other keys, such as Page Up, end with a letter or a tilde.
            let end = rest.char_indices().skip(2).find(|(_, c)| c.is_ascii_alphabetic() || *c == '~');
            rest = end.map_or("", |(position, _)| &rest[position + 1..]);
            continue;
        }
        keys.extend(match c {
            '\r' | '\n' => Some(PickerKey::Enter),
            ' ' => Some(PickerKey::Toggle),
            '\u{1b}' | '\u{4}' => Some(PickerKey::Cancel),
            '\u{7f}' | '\u{8}' => Some(PickerKey::Erase),
            c if c.is_control() => None,
            c => Some(PickerKey::Char(c)),
        });
        rest = &rest[c.len_utf8()..];
    }
    keys
}
