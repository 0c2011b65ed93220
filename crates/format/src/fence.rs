//! Where the frontmatter begins and ends: lines of exactly `---`.

use std::ops::Range;

/// The largest frontmatter that is read, in bytes.
pub const FRONTMATTER_MAX: usize = 64 * 1024;

/// How far into a file the frontmatter may begin, in bytes.
pub const PREAMBLE_MAX: usize = 4 * 1024;

const FENCE: &[u8] = b"---";

/// Whether the bytes are the whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// They are all there is.
    Whole,
    /// More follows.
    Prefix,
}

/// What stood before the frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing, or a byte-order mark.
    Nothing,
    /// Blank lines only.
    Blank,
    /// Text.
    Text,
    /// The opening of a code fence.
    CodeFence,
}

/// What the fences enclose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fences {
    /// What stood before them.
    pub before: Before,
    /// The opening line.
    pub open: Range<usize>,
    /// The YAML between them.
    pub yaml: Range<usize>,
    /// The first byte of the body.
    pub body: usize,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Split {
    /// Both fences.
    Found(Fences),
    /// Nothing that could be frontmatter.
    Missing,
    /// An opening line and no closing one.
    Unclosed {
        /// The opening line.
        open: Range<usize>,
    },
    /// More frontmatter than is read.
    TooLong {
        /// The opening line.
        open: Range<usize>,
    },
    /// The answer lies beyond these bytes.
    NeedMore,
}

/// Finds the fences.
///
/// ```
/// use prowess_format::fence::{split, Extent, Split};
///
/// let source = b"---\nname: a\n---\nBody --- with dashes\n";
/// let Split::Found(fences) = split(source, Extent::Whole) else { panic!() };
/// assert_eq!(&source[fences.yaml], b"name: a\n");
/// assert_eq!(&source[fences.body..], b"Body --- with dashes\n");
/// ```
pub fn split(source: &[u8], extent: Extent) -> Split {
    let start = if source.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let mut before = Before::Nothing;
    for line in Lines::new(source, start) {
        if line.text.start > PREAMBLE_MAX {
            return Split::Missing;
        }
        let text = &source[line.text.clone()];
        if is_fence(text) {
            if !line.complete && extent == Extent::Prefix {
                return Split::NeedMore;
            }
            return match close(source, &line, before, extent) {
                // A ruler in running text is not the end of the search, but it is not frontmatter either.
                Split::Unclosed { .. } | Split::TooLong { .. } if before == Before::Text => Split::Missing,
                Split::Found(fences)
                    if before == Before::Text && !looks_like_manifest(&source[fences.yaml.clone()]) =>
                {
                    Split::Missing
                }
                split => split,
            };
        }
        before = match (before, text.trim_ascii()) {
            (Before::Nothing, b"") => Before::Blank,
            (before, b"") => before,
            (Before::Nothing | Before::Blank, text) if is_code_fence(text) => {
                if let Some(split) = bare_code_fence(source, &line, extent) {
                    return split;
                }
                Before::CodeFence
            }
            _ => Before::Text,
        };
    }
    match extent {
        // The last line may still become a fence.
        Extent::Prefix if source.len() <= PREAMBLE_MAX + FENCE.len() => Split::NeedMore,
        Extent::Prefix | Extent::Whole => Split::Missing,
    }
}

fn close(source: &[u8], open: &Line, before: Before, extent: Extent) -> Split {
    let yaml = open.next;
    for line in Lines::new(source, yaml) {
        if line.text.start - yaml > FRONTMATTER_MAX {
            return Split::TooLong { open: open.text.clone() };
        }
        if is_fence(&source[line.text.clone()]) {
            if !line.complete && extent == Extent::Prefix {
                return Split::NeedMore;
            }
            let body =
                if before == Before::CodeFence { after_code_fence(source, line.next) } else { line.next };
            return Split::Found(Fences {
                before,
                open: open.text.clone(),
                yaml: yaml..line.text.start,
                body,
            });
        }
    }
    match extent {
        Extent::Prefix if source.len() - yaml <= FRONTMATTER_MAX => Split::NeedMore,
        _ if source.len() - yaml > FRONTMATTER_MAX => Split::TooLong { open: open.text.clone() },
        Extent::Prefix | Extent::Whole => Split::Unclosed { open: open.text.clone() },
    }
}

/// A code block that holds the fields without any `---`.
fn bare_code_fence(source: &[u8], open: &Line, extent: Extent) -> Option<Split> {
    let mut lines = Lines::new(source, open.next).peekable();
    if lines.peek().is_none_or(|line| is_fence(&source[line.text.clone()])) {
        return None;
    }
    for line in lines {
        if line.text.start - open.next > FRONTMATTER_MAX {
            return None;
        }
        if is_code_fence(&source[line.text.clone()]) {
            let yaml = open.next..line.text.start;
            if !looks_like_manifest(&source[yaml.clone()]) {
                return None;
            }
            let fences = Fences { before: Before::CodeFence, open: open.text.clone(), yaml, body: line.next };
            return Some(Split::Found(fences));
        }
        if is_fence(&source[line.text.clone()]) {
            return None;
        }
    }
    (extent == Extent::Prefix).then_some(Split::NeedMore)
}

/// Where the code fence that held the frontmatter is closed right after it, the body begins behind that line.
fn after_code_fence(source: &[u8], from: usize) -> usize {
    match Lines::new(source, from).find(|line| !source[line.text.clone()].trim_ascii().is_empty()) {
        Some(line) if is_code_fence(&source[line.text.clone()]) => line.next,
        _ => from,
    }
}

fn is_fence(line: &[u8]) -> bool {
    line.trim_ascii_end() == FENCE
}

fn is_code_fence(line: &[u8]) -> bool {
    line.starts_with(b"```") || line.starts_with(b"~~~")
}

fn looks_like_manifest(yaml: &[u8]) -> bool {
    yaml.split(|byte| *byte == b'\n')
        .any(|line| line.starts_with(b"name:") || line.starts_with(b"description:"))
}

/// One line: its text without the break, and where the next one starts.
struct Line {
    text: Range<usize>,
    next: usize,
    complete: bool,
}

struct Lines<'a> {
    source: &'a [u8],
    at: usize,
}

impl<'a> Lines<'a> {
    fn new(source: &'a [u8], at: usize) -> Self {
        Self { source, at }
    }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let rest = self.source.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (length, complete) = match memchr::memchr(b'\n', rest) {
            Some(at) => (at, true),
            None => (rest.len(), false),
        };
        let next = self.at + length + usize::from(complete);
        let line = Line { text: self.at..self.at + length, next, complete };
        self.at = next;
        Some(line)
    }
}

#[cfg(test)]
mod tests;
