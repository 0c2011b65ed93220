//! The lines that a change removes and adds. Unchanged lines are not shown: they may contain secrets.

/// The longest line that is shown in full, in characters.
const FULL_LINE_MAX: usize = 200;

/// The context around a change in a longer line, in characters.
const CONTEXT_CHARS: usize = 24;

/// One line of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffLine {
    /// A removed line.
    Removed(String),
    /// An added line.
    Added(String),
}

/// The changes to a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigDiff {
    /// The first line that is shown, counted from 1.
    pub line: usize,
    /// Whether the line before it only gains or loses a comma.
    pub changes_comma: bool,
    /// The lines, removed before added.
    pub lines: Vec<DiffLine>,
}

impl ConfigDiff {
    /// Compares two texts.
    ///
    /// ```
    /// use prowess_package::connect::{ConfigDiff, DiffLine};
    ///
    /// let diff = ConfigDiff::between("a\nb // secret\nc\n", "a\nb, // secret\nx\nc\n");
    /// assert_eq!((diff.line, diff.changes_comma), (3, true));
    /// assert_eq!(diff.lines, [DiffLine::Added("x".into())]);
    /// ```
    pub fn between(before: &str, after: &str) -> Self {
        let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
        let prefix = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let common_max = old.len().min(new.len()) - prefix;
        let suffix = old
            .iter()
            .rev()
            .zip(new.iter().rev())
            .take_while(|(old, new)| old == new)
            .count()
            .min(common_max);
        let removed = old.get(prefix..old.len() - suffix).unwrap_or_default();
        let added = new.get(prefix..new.len() - suffix).unwrap_or_default();
        let comma = match (removed, added) {
            ([removed, ..], [added, ..]) => {
                removed.len().max(added.len()) > 0 && differs_by_comma(removed, added)
            }
            _ => false,
        };
        let (removed, added) = match comma {
            true => (removed.get(1..).unwrap_or_default(), added.get(1..).unwrap_or_default()),
            false => (removed, added),
        };
        let lines = match (removed, added) {
            ([removed], [added]) => {
                let (removed, added) = changed_parts(removed, added);
                vec![DiffLine::Removed(removed), DiffLine::Added(added)]
            }
            _ => {
                let removed = removed.iter().map(|line| DiffLine::Removed(clip(line)));
                removed.chain(added.iter().map(|line| DiffLine::Added(clip(line)))).collect()
            }
        };
        Self { line: prefix + 1 + usize::from(comma), changes_comma: comma, lines }
    }
}

/// Returns `true` if the lines differ by exactly one comma.
fn differs_by_comma(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let common = short.bytes().zip(long.bytes()).take_while(|(short, long)| short == long).count();
    long.as_bytes().get(common) == Some(&b',') && short.get(common..) == long.get(common + 1..)
}

/// Returns two lines, or only their changed parts if they are long.
fn changed_parts(removed: &str, added: &str) -> (String, String) {
    let (old, new): (Vec<char>, Vec<char>) = (removed.chars().collect(), added.chars().collect());
    if old.len().max(new.len()) <= FULL_LINE_MAX {
        return (removed.to_owned(), added.to_owned());
    }
    let prefix = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let common_max = old.len().min(new.len()) - prefix;
    let suffix =
        old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count().min(common_max);
    let part = |line: &[char]| {
        let (from, to) =
            (prefix.saturating_sub(CONTEXT_CHARS), (line.len() - suffix + CONTEXT_CHARS).min(line.len()));
        let inner: String = line.get(from..to).unwrap_or_default().iter().collect();
        let (leading, trailing) = (if from > 0 { "…" } else { "" }, if to < line.len() { "…" } else { "" });
        format!("{leading}{inner}{trailing}")
    };
    (part(&old), part(&new))
}

fn clip(line: &str) -> String {
    match line.char_indices().nth(FULL_LINE_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}
