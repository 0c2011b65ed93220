//! A file as the rules see it: what kind it is, its lines, and which of them are prose and which are code.

use std::borrow::Cow;
use std::cell::OnceCell;

use prowess_format::Span;

/// What kind of text a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Markdown: prose with code in it.
    Markdown,
    /// Code as a whole.
    Script,
    /// Text that is read, such as `.txt`.
    Plain,
    /// Data and configuration.
    Data,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Frontmatter,
    Prose,
    Code,
    Data,
}

/// A text with its lines, which are looked for only when somebody asks.
pub(super) struct Text<'a> {
    pub(super) path: &'a str,
    pub(super) kind: Kind,
    pub(super) bytes: Cow<'a, [u8]>,
    lines: OnceCell<Lines>,
}

struct Lines {
    starts: Vec<u32>,
    parts: Vec<Part>,
}

const SCRIPTS: &str = "\
    sh bash zsh fish py pyw js mjs cjs ts tsx jsx rb pl php ps1 psm1 bat cmd vbs lua go rs swift applescript \
    scpt r java kts command html";

/// What a file is by its name and its first bytes.
pub(super) fn kind(path: &str, bytes: &[u8]) -> Kind {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    match extension.as_str() {
        "md" | "mdx" | "markdown" | "mdc" => Kind::Markdown,
        extension if SCRIPTS.split(' ').any(|known| known == extension) => Kind::Script,
        _ if bytes.starts_with(b"#!") => Kind::Script,
        "txt" | "rst" | "adoc" => Kind::Plain,
        _ if matches!(name, "Makefile" | "Dockerfile" | "justfile" | "Justfile" | "Rakefile") => Kind::Script,
        _ => Kind::Data,
    }
}

impl<'a> Text<'a> {
    pub(super) fn new(path: &'a str, bytes: &'a [u8]) -> Self {
        let bytes = utf8(bytes);
        Self { path, kind: kind(path, &bytes), bytes, lines: OnceCell::new() }
    }

    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::of(&self.bytes, self.kind))
    }

    /// How many lines there are.
    pub(super) fn count(&self) -> usize {
        self.lines().starts.len()
    }

    /// The line that a byte is on, from 0.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.lines().starts.partition_point(|start| *start as usize <= at).saturating_sub(1)
    }

    /// What a line is.
    pub(super) fn part(&self, line: usize) -> Part {
        self.lines().parts.get(line).copied().unwrap_or(Part::Data)
    }

    /// The bytes of a line, without its end, and where it begins.
    pub(super) fn line(&self, line: usize) -> (usize, &[u8]) {
        let starts = &self.lines().starts;
        let start = starts.get(line).map_or(self.bytes.len(), |start| *start as usize);
        let end = starts.get(line + 1).map_or(self.bytes.len(), |next| *next as usize);
        (start, self.bytes.get(start..end).unwrap_or_default().trim_ascii_end())
    }

    /// Line and column of a byte, both from 1, the column in characters.
    pub(super) fn place(&self, at: usize) -> (u32, u32) {
        let line = self.line_of(at);
        let (start, _) = self.line(line);
        let before = self.bytes.get(start..at).unwrap_or_default();
        let characters = before.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count();
        let number = |n: usize| Span::new(n, n).start;
        (number(line + 1), number(characters + 1))
    }

    /// The bytes around a place that belong together: its line, with those that it goes on in, but not without end.
    pub(super) fn window(&self, at: usize) -> (usize, &[u8]) {
        const LINES: usize = 6;
        const BEFORE: usize = 1_024;
        const AFTER: usize = 4_096;
        let line = self.line_of(at);
        let prose = self.part(line) == Part::Prose;
        let joined = |upper: usize| {
            let (_, text) = self.line(upper);
            match prose {
                // A paragraph is read as one.
                true => {
                    self.part(upper + 1) == Part::Prose
                        && !text.is_empty()
                        && !self.line(upper + 1).1.is_empty()
                }
                false => goes_on(text) || self.line(upper + 1).1.trim_ascii_start().starts_with(b"|"),
            }
        };
        let reach = if prose { 2 } else { LINES };
        let first = (line.saturating_sub(reach)..line)
            .rev()
            .take_while(|upper| joined(*upper))
            .last()
            .unwrap_or(line);
        let last = (line..(line + reach).min(self.count().saturating_sub(1)))
            .take_while(|upper| joined(*upper))
            .last()
            .map_or(line, |upper| upper + 1);
        let (start, _) = self.line(first);
        let (end, text) = self.line(last);
        let (start, end) = (start.max(at.saturating_sub(BEFORE)), (end + text.len()).min(at + AFTER));
        (start, self.bytes.get(start..end).unwrap_or_default())
    }
}

/// Whether the next line belongs to this one. What was made executable is mostly run in the next line.
fn goes_on(line: &[u8]) -> bool {
    let ends: [&[u8]; 5] = [b"\\", b"|", b"&&", b"(", b"-----"];
    ends.iter().any(|end| line.ends_with(end)) || line.trim_ascii_start().starts_with(b"chmod ")
}

impl Lines {
    fn of(bytes: &[u8], kind: Kind) -> Self {
        let mut lines = Self { starts: Vec::new(), parts: Vec::new() };
        let mut fence: Option<(u8, usize)> = None;
        let mut frontmatter = false;
        let mut at = 0;
        for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let text = line.trim_ascii();
            let part = match kind {
                Kind::Script => Part::Code,
                Kind::Data => Part::Data,
                Kind::Plain => Part::Prose,
                Kind::Markdown if number == 0 && text == b"---" => {
                    frontmatter = true;
                    Part::Frontmatter
                }
                Kind::Markdown if frontmatter => {
                    frontmatter = text != b"---" && text != b"...";
                    Part::Frontmatter
                }
                Kind::Markdown => markdown(line, text, &mut fence),
            };
            lines.starts.push(Span::new(at, at).start);
            lines.parts.push(part);
            at += line.len();
        }
        lines
    }
}

/// What a line of Markdown is, outside of the frontmatter.
fn markdown(line: &[u8], text: &[u8], fence: &mut Option<(u8, usize)>) -> Part {
    let mark = text.first().copied().unwrap_or_default();
    let run = text.iter().take_while(|byte| **byte == mark).count();
    let is_fence = matches!(mark, b'`' | b'~') && run >= 3;
    match *fence {
        Some((open, width)) => {
            if is_fence && mark == open && run >= width && run == text.len() {
                *fence = None;
            }
            Part::Code
        }
        None if is_fence => {
            *fence = Some((mark, run));
            Part::Code
        }
        None if line.starts_with(b"    ") && !text.is_empty() => Part::Code,
        None => Part::Prose,
    }
}

/// UTF-16 with a byte-order mark becomes UTF-8: scripts for PowerShell are often written in it.
fn utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return Cow::Borrowed(bytes),
    };
    let units = bytes.get(2..).unwrap_or_default().as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Cow::Owned(text.into_bytes())
}
