//! The lines that a change takes away and brings. Lines around them are not shown: they may hold secrets.

/// The longest line that is shown whole, in characters.
const WHOLE_MAX: usize = 200;

/// How much of a longer line is shown around what changes.
const AROUND: usize = 24;

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// It goes.
    Gone(String),
    /// It comes.
    New(String),
}

/// What changes, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The first line that is shown, counted from 1.
    pub line: usize,
    /// Whether the line before that one gets a comma, or loses it, and nothing else.
    pub comma: bool,
    /// The lines, those that go before those that come.
    pub lines: Vec<Line>,
}

impl Difference {
    /// The difference between two texts.
    ///
    /// ```
    /// use prowess_package::connect::{Difference, Line};
    ///
    /// let difference = Difference::of("a\nb // secret\nc\n", "a\nb, // secret\nx\nc\n");
    /// assert_eq!((difference.line, difference.comma), (3, true));
    /// assert_eq!(difference.lines, [Line::New("x".into())]);
    /// ```
    pub fn of(before: &str, after: &str) -> Self {
        let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
        let first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let most = old.len().min(new.len()) - first;
        let last =
            old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count().min(most);
        let gone = old.get(first..old.len() - last).unwrap_or_default();
        let come = new.get(first..new.len() - last).unwrap_or_default();
        let comma = match (gone, come) {
            ([gone, ..], [come, ..]) => gone.len().max(come.len()) > 0 && differs_by_comma(gone, come),
            _ => false,
        };
        let (gone, come) = match comma {
            true => (gone.get(1..).unwrap_or_default(), come.get(1..).unwrap_or_default()),
            false => (gone, come),
        };
        let lines = match (gone, come) {
            ([gone], [come]) => {
                let (gone, come) = around(gone, come);
                vec![Line::Gone(gone), Line::New(come)]
            }
            _ => {
                let gone = gone.iter().map(|line| Line::Gone(clipped(line)));
                gone.chain(come.iter().map(|line| Line::New(clipped(line)))).collect()
            }
        };
        Self { line: first + 1 + usize::from(comma), comma, lines }
    }
}

/// Whether one line is the other with a comma more.
fn differs_by_comma(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let same = short.bytes().zip(long.bytes()).take_while(|(short, long)| short == long).count();
    long.as_bytes().get(same) == Some(&b',') && short.get(same..) == long.get(same + 1..)
}

/// Two lines, or what differs in them where they are long.
fn around(gone: &str, come: &str) -> (String, String) {
    let (old, new): (Vec<char>, Vec<char>) = (gone.chars().collect(), come.chars().collect());
    if old.len().max(new.len()) <= WHOLE_MAX {
        return (gone.to_owned(), come.to_owned());
    }
    let first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - first;
    let last = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count().min(most);
    let part = |line: &[char]| {
        let (from, to) = (first.saturating_sub(AROUND), (line.len() - last + AROUND).min(line.len()));
        let inner: String = line.get(from..to).unwrap_or_default().iter().collect();
        let (before, after) = (if from > 0 { "…" } else { "" }, if to < line.len() { "…" } else { "" });
        format!("{before}{inner}{after}")
    };
    (part(&old), part(&new))
}

fn clipped(line: &str) -> String {
    match line.char_indices().nth(WHOLE_MAX) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}
