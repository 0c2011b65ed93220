//! A file as the rules see it: what kind it is, its lines, and which of them are prose and which are code.

use std::borrow::Cow;
use std::cell::OnceCell;

use prowess_format::Span;

use super::emphasis;

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

/// A text as a reader or an interpreter takes it: without NUL bytes, and Markdown without its marks of emphasis. Its lines
/// are looked for only when somebody asks.
pub(super) struct Text<'a> {
    pub(super) path: &'a str,
    pub(super) kind: Kind,
    pub(super) bytes: Cow<'a, [u8]>,
    /// The place of the first NUL byte that was left out.
    pub(super) nul: Option<usize>,
    /// The places in `bytes` in front of which a byte was left out, in order.
    removed: Vec<u32>,
    lines: OnceCell<Lines>,
}

struct Lines {
    starts: Vec<u32>,
    parts: Vec<Part>,
}

const SCRIPTS: &str = "\
    sh bash zsh fish ksh dash nu py pyw pyz js mjs cjs ts mts cts tsx jsx rb pl pm php phtml ps1 psm1 psd1 bat cmd vbs vbe \
    wsf jse hta lua tcl awk jl groovy kt kts scala dart ex exs clj coffee go rs swift applescript scpt r java cs csx fsx \
    command html htm";

/// Names of files that programs run although they have no ending.
const SCRIPT_NAMES: &str = "\
    makefile gnumakefile dockerfile containerfile justfile rakefile gemfile vagrantfile jenkinsfile .bashrc .zshrc \
    .zshenv .zprofile .profile .bash_profile .bash_login .envrc pre-commit post-checkout post-merge pre-push post-commit \
    commit-msg prepare-commit-msg";

/// What a file is by its name and its first bytes.
pub(super) fn kind(path: &str, bytes: &[u8]) -> Kind {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    match extension.as_str() {
        "md" | "mdx" | "markdown" | "mdc" => Kind::Markdown,
        extension if SCRIPTS.split_ascii_whitespace().any(|known| known == extension) => Kind::Script,
        _ if bytes.starts_with(b"#!") => Kind::Script,
        "txt" | "rst" | "adoc" => Kind::Plain,
        _ if SCRIPT_NAMES.split_ascii_whitespace().any(|known| name.eq_ignore_ascii_case(known)) => {
            Kind::Script
        }
        _ => Kind::Data,
    }
}

/// What a file says. Bytes with the mark of UTF-16 are two texts: what a program says that heeds the mark, and what one
/// reads that does not.
pub(super) fn texts<'a>(path: &'a str, bytes: &'a [u8]) -> impl Iterator<Item = Text<'a>> {
    let decoded = utf16(bytes);
    let marked = decoded.is_some();
    let mut raw = Text::new(path, Cow::Borrowed(bytes));
    // Every second byte of such a text is NUL.
    raw.nul = raw.nul.filter(|_| !marked);
    decoded.map(|decoded| Text::new(path, Cow::Owned(decoded))).into_iter().chain([raw])
}

impl<'a> Text<'a> {
    pub(super) fn new(path: &'a str, bytes: Cow<'a, [u8]>) -> Self {
        let (bytes, removed) = without_nul(bytes);
        let nul = removed.first().map(|first| *first as usize);
        let kind = kind(path, &bytes);
        let text = Self { path, kind, bytes, nul, removed, lines: OnceCell::new() };
        match kind {
            Kind::Markdown => text.without_emphasis(),
            Kind::Script | Kind::Plain | Kind::Data => text,
        }
    }

    /// Whether it holds no text that anybody reads.
    pub(super) fn is_binary(&self) -> bool {
        self.nul.is_some() && self.kind == Kind::Data
    }

    /// Leaves out the marks of emphasis of the prose: a phrase is the same phrase in bold.
    fn without_emphasis(mut self) -> Self {
        if memchr::memchr3(b'*', b'_', b'~', &self.bytes).is_none() {
            return self;
        }
        let lines = Lines::of(&self.bytes, self.kind);
        let mut marks = Vec::new();
        for (number, (start, part)) in lines.starts.iter().zip(&lines.parts).enumerate() {
            let end = lines.starts.get(number + 1).map_or(self.bytes.len(), |next| *next as usize);
            if let (Part::Prose, Some(line)) = (part, self.bytes.get(*start as usize..end)) {
                emphasis::marks(line, *start as usize, &mut marks);
            }
        }
        if marks.is_empty() {
            self.lines = OnceCell::from(lines);
            return self;
        }
        let mut kept = Vec::with_capacity(self.bytes.len());
        let mut from = 0;
        for mark in &marks {
            kept.extend_from_slice(self.bytes.get(from..*mark).unwrap_or_default());
            from = mark + 1;
        }
        kept.extend_from_slice(self.bytes.get(from..).unwrap_or_default());
        let shifted = |at: usize| at - marks.partition_point(|mark| *mark < at);
        let number = |at: usize| Span::new(at, at).start;
        let earlier = self.removed.iter().map(|at| shifted(*at as usize));
        let mut removed: Vec<_> =
            earlier.chain(marks.iter().map(|mark| shifted(*mark))).map(number).collect();
        removed.sort_unstable();
        let starts = lines.starts.iter().map(|start| number(shifted(*start as usize))).collect();
        self.nul = self.nul.map(shifted);
        self.lines = OnceCell::from(Lines { starts, parts: lines.parts });
        self.removed = removed;
        self.bytes = Cow::Owned(kept);
        self
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
        let left_out = |until: usize| self.removed.partition_point(|removed| (*removed as usize) < until);
        let characters = characters + left_out(at + 1) - left_out(start);
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
        let ends = memchr::memchr_iter(b'\n', bytes).map(|end| end + 1).chain([bytes.len()]);
        for (number, end) in ends.enumerate() {
            let line = bytes.get(at..end).unwrap_or_default();
            if line.is_empty() {
                break;
            }
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

/// Bytes without NUL, and the places in them where one was left out. What runs and what reads them does not see it.
fn without_nul(bytes: Cow<'_, [u8]>) -> (Cow<'_, [u8]>, Vec<u32>) {
    let Some(first) = memchr::memchr(0, &bytes) else { return (bytes, Vec::new()) };
    let mut kept = Vec::with_capacity(bytes.len());
    kept.extend_from_slice(bytes.get(..first).unwrap_or_default());
    let mut removed = Vec::new();
    for piece in bytes.get(first..).unwrap_or_default().split(|byte| *byte == 0).skip(1) {
        removed.push(Span::new(kept.len(), kept.len()).start);
        kept.extend_from_slice(piece);
    }
    (Cow::Owned(kept), removed)
}

/// UTF-16 with a byte-order mark becomes UTF-8: scripts for PowerShell are often written in it.
fn utf16(bytes: &[u8]) -> Option<Vec<u8>> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let units = bytes.get(2..).unwrap_or_default().as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Some(text.into_bytes())
}
