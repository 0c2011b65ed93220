//! Finding the frontmatter, which is enclosed by lines of exactly `---`.

use std::ops::Range;

/// The maximum size of the frontmatter, in bytes.
pub const FRONTMATTER_MAX: usize = 64 * 1024;

/// The maximum offset at which the frontmatter may start, in bytes.
pub const PREAMBLE_MAX: usize = 4 * 1024;

const FENCE: &[u8] = b"---";

/// Whether the given bytes are the whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The bytes are the whole file.
    Whole,
    /// More bytes follow.
    Prefix,
}

/// What precedes the frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeadingContent {
    /// Nothing, or a byte-order mark.
    Nothing,
    /// Blank lines only.
    Blank,
    /// Text.
    Text,
    /// The opening of a code fence.
    CodeFence,
}

/// The positions of the fences and of what they enclose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fences {
    /// What precedes the opening fence.
    pub leading: LeadingContent,
    /// The opening line.
    pub open: Range<usize>,
    /// The YAML between the fences.
    pub yaml: Range<usize>,
    /// The offset of the first byte of the body.
    pub body: usize,
}

/// The result of [`find_fences`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FenceSearch {
    /// Both fences were found.
    Found(Fences),
    /// There is no frontmatter.
    Missing,
    /// There is an opening line, but no closing one.
    Unclosed {
        /// The opening line.
        open: Range<usize>,
    },
    /// The frontmatter is longer than [`FRONTMATTER_MAX`].
    TooLong {
        /// The opening line.
        open: Range<usize>,
    },
    /// More bytes are needed to decide.
    NeedMore,
}

/// Finds the fences around the frontmatter.
///
/// ```
/// use prowess_format::fence::{find_fences, Extent, FenceSearch};
///
/// let source = b"---\nname: a\n---\nBody --- with dashes\n";
/// let FenceSearch::Found(fences) = find_fences(source, Extent::Whole) else { panic!() };
/// assert_eq!(&source[fences.yaml], b"name: a\n");
/// assert_eq!(&source[fences.body..], b"Body --- with dashes\n");
/// ```
pub fn find_fences(source: &[u8], extent: Extent) -> FenceSearch {
    let start = if source.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let mut leading = LeadingContent::Nothing;
    for line in Lines::new(source, start) {
        if line.text.start > PREAMBLE_MAX {
            return FenceSearch::Missing;
        }
        let text = &source[line.text.clone()];
        if is_fence(text) {
            if !line.complete && extent == Extent::Prefix {
                return FenceSearch::NeedMore;
            }
            return match find_closing_fence(source, &line, leading, extent) {
                // A horizontal rule in running text is not frontmatter.
                FenceSearch::Unclosed { .. } | FenceSearch::TooLong { .. }
                    if leading == LeadingContent::Text =>
                {
                    FenceSearch::Missing
                }
                FenceSearch::Found(fences)
                    if leading == LeadingContent::Text
                        && !looks_like_manifest(&source[fences.yaml.clone()]) =>
                {
                    FenceSearch::Missing
                }
                split => split,
            };
        }
        leading = match (leading, text.trim_ascii()) {
            (LeadingContent::Nothing, b"") => LeadingContent::Blank,
            (leading, b"") => leading,
            (LeadingContent::Nothing | LeadingContent::Blank, text) if is_code_fence(text) => {
                if let Some(split) = find_in_code_block(source, &line, extent) {
                    return split;
                }
                LeadingContent::CodeFence
            }
            _ => LeadingContent::Text,
        };
    }
    match extent {
        // The last line may be the beginning of a fence.
        Extent::Prefix if source.len() <= PREAMBLE_MAX + FENCE.len() => FenceSearch::NeedMore,
        Extent::Prefix | Extent::Whole => FenceSearch::Missing,
    }
}

fn find_closing_fence(source: &[u8], open: &Line, leading: LeadingContent, extent: Extent) -> FenceSearch {
    let yaml = open.next;
    for line in Lines::new(source, yaml) {
        if line.text.start - yaml > FRONTMATTER_MAX {
            return FenceSearch::TooLong { open: open.text.clone() };
        }
        if is_fence(&source[line.text.clone()]) {
            if !line.complete && extent == Extent::Prefix {
                return FenceSearch::NeedMore;
            }
            let body = if leading == LeadingContent::CodeFence {
                skip_closing_code_fence(source, line.next)
            } else {
                line.next
            };
            return FenceSearch::Found(Fences {
                leading,
                open: open.text.clone(),
                yaml: yaml..line.text.start,
                body,
            });
        }
    }
    match extent {
        Extent::Prefix if source.len() - yaml <= FRONTMATTER_MAX => FenceSearch::NeedMore,
        _ if source.len() - yaml > FRONTMATTER_MAX => FenceSearch::TooLong { open: open.text.clone() },
        Extent::Prefix | Extent::Whole => FenceSearch::Unclosed { open: open.text.clone() },
    }
}

/// Finds frontmatter in a code block that contains the fields without any `---`.
fn find_in_code_block(source: &[u8], open: &Line, extent: Extent) -> Option<FenceSearch> {
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
            let fences =
                Fences { leading: LeadingContent::CodeFence, open: open.text.clone(), yaml, body: line.next };
            return Some(FenceSearch::Found(fences));
        }
        if is_fence(&source[line.text.clone()]) {
            return None;
        }
    }
    (extent == Extent::Prefix).then_some(FenceSearch::NeedMore)
}

/// Returns the start of the body after a code fence that encloses only the frontmatter.
fn skip_closing_code_fence(source: &[u8], from: usize) -> usize {
    match Lines::new(source, from).find(|line| !source[line.text.clone()].trim_ascii().is_empty()) {
        Some(line) if is_code_fence(&source[line.text.clone()]) => line.next,
        _ => from,
    }
}

fn is_fence(line: &[u8]) -> bool {
    line.trim_ascii_end() == FENCE
}

pub(crate) fn is_code_fence(line: &[u8]) -> bool {
    line.starts_with(b"```") || line.starts_with(b"~~~")
}

fn looks_like_manifest(yaml: &[u8]) -> bool {
    yaml.split(|byte| *byte == b'\n')
        .any(|line| line.starts_with(b"name:") || line.starts_with(b"description:"))
}

/// A line: its text without the line break, and the offset of the next line.
struct Line {
    text: Range<usize>,
    next: usize,
    complete: bool,
}

struct Lines<'a> {
    source: &'a [u8],
    offset: usize,
}

impl<'a> Lines<'a> {
    fn new(source: &'a [u8], offset: usize) -> Self {
        Self { source, offset }
    }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let rest = self.source.get(self.offset..).filter(|rest| !rest.is_empty())?;
        let (length, complete) = match memchr::memchr(b'\n', rest) {
            Some(line_break) => (line_break, true),
            None => (rest.len(), false),
        };
        let next = self.offset + length + usize::from(complete);
        let line = Line { text: self.offset..self.offset + length, next, complete };
        self.offset = next;
        Some(line)
    }
}

#[cfg(test)]
mod tests;
