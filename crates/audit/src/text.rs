//! A file as the rules see it: its kind, its lines, and which of them are prose or code.

use std::borrow::Cow;
use std::cell::OnceCell;

use prowess_format::Span;

use super::emphasis;

/// The kind of text in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    /// Markdown: prose with code in it.
    Markdown,
    /// Code.
    Script,
    /// Plain text, such as `.txt`.
    Plain,
    /// Data and configuration.
    Data,
}

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Frontmatter,
    Prose,
    Code,
    Data,
}

/// A text as a reader or an interpreter sees it: without NUL bytes, and Markdown without emphasis marks. Its
/// lines are computed on demand.
pub(super) struct SourceText<'a> {
    pub(super) path: &'a str,
    pub(super) kind: TextKind,
    pub(super) bytes: Cow<'a, [u8]>,
    /// The offset of the first NUL byte that was removed.
    pub(super) nul: Option<usize>,
    /// The offsets in `bytes` in front of which a byte was removed, in order.
    removed: Vec<u32>,
    lines: OnceCell<LineTable>,
}

struct LineTable {
    starts: Vec<u32>,
    kinds: Vec<LineKind>,
}

const SCRIPTS: &str = "\
    sh bash zsh fish ksh dash nu py pyw pyz js mjs cjs ts mts cts tsx jsx rb pl pm php phtml ps1 psm1 psd1 bat cmd vbs vbe \
    wsf jse hta lua tcl awk jl groovy kt kts scala dart ex exs clj coffee go rs swift applescript scpt r java cs csx fsx \
    command html htm mk gradle nix";

/// Names of files without an extension that programs run.
const SCRIPT_NAMES: &str = "\
    makefile gnumakefile dockerfile containerfile justfile rakefile gemfile vagrantfile jenkinsfile .bashrc .zshrc \
    .zshenv .zprofile .profile .bash_profile .bash_login .envrc pre-commit post-checkout post-merge pre-push post-commit \
    commit-msg prepare-commit-msg";

/// Determines the kind of a file from its name and first bytes.
pub(super) fn text_kind(path: &str, bytes: &[u8]) -> TextKind {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    match extension.as_str() {
        "md" | "mdx" | "markdown" | "mdc" => TextKind::Markdown,
        extension if SCRIPTS.split_ascii_whitespace().any(|listed| listed == extension) => TextKind::Script,
        _ if bytes.starts_with(b"#!") => TextKind::Script,
        "txt" | "rst" | "adoc" => TextKind::Plain,
        _ if SCRIPT_NAMES.split_ascii_whitespace().any(|listed| name.eq_ignore_ascii_case(listed)) => {
            TextKind::Script
        }
        _ => TextKind::Data,
    }
}

/// Returns the texts in a file. Bytes with a UTF-16 byte-order mark are two texts, one for programs that
/// respect the mark and one for those that do not.
pub(super) fn decode_texts<'a>(path: &'a str, bytes: &'a [u8]) -> impl Iterator<Item = SourceText<'a>> {
    let decoded = decode_utf16(bytes);
    let has_bom = decoded.is_some();
    let mut raw = SourceText::new(path, Cow::Borrowed(bytes));
    // Every second byte of such a text is NUL.
    raw.nul = raw.nul.filter(|_| !has_bom);
    decoded.map(|decoded| SourceText::new(path, Cow::Owned(decoded))).into_iter().chain([raw])
}

impl<'a> SourceText<'a> {
    pub(super) fn new(path: &'a str, bytes: Cow<'a, [u8]>) -> Self {
        let (bytes, removed) = strip_nul(bytes);
        let nul = removed.first().map(|first| *first as usize);
        let kind = text_kind(path, &bytes);
        let text = Self { path, kind, bytes, nul, removed, lines: OnceCell::new() };
        match kind {
            TextKind::Markdown => text.without_emphasis(),
            TextKind::Script | TextKind::Plain | TextKind::Data => text,
        }
    }

    /// Returns `true` if the file is not readable text.
    pub(super) fn is_binary(&self) -> bool {
        self.nul.is_some() && self.kind == TextKind::Data
    }

    /// Removes the emphasis marks of the prose: a phrase is the same phrase in bold.
    fn without_emphasis(mut self) -> Self {
        if memchr::memchr3(b'*', b'_', b'~', &self.bytes).is_none() {
            return self;
        }
        let lines = LineTable::new(&self.bytes, self.kind);
        let mut marks = Vec::new();
        for (number, (start, kind)) in lines.starts.iter().zip(&lines.kinds).enumerate() {
            let end = lines.starts.get(number + 1).map_or(self.bytes.len(), |next| *next as usize);
            if let (LineKind::Prose, Some(line)) = (kind, self.bytes.get(*start as usize..end)) {
                emphasis::emphasis_marks(line, *start as usize, &mut marks);
            }
        }
        if marks.is_empty() {
            self.lines = OnceCell::from(lines);
            return self;
        }
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut from = 0;
        for mark in &marks {
            bytes.extend_from_slice(self.bytes.get(from..*mark).unwrap_or_default());
            from = mark + 1;
        }
        bytes.extend_from_slice(self.bytes.get(from..).unwrap_or_default());
        let shifted = |offset: usize| offset - marks.partition_point(|mark| *mark < offset);
        let number = |offset: usize| Span::new(offset, offset).start;
        let earlier = self.removed.iter().map(|offset| shifted(*offset as usize));
        let mut removed: Vec<_> =
            earlier.chain(marks.iter().map(|mark| shifted(*mark))).map(number).collect();
        removed.sort_unstable();
        let starts = lines.starts.iter().map(|start| number(shifted(*start as usize))).collect();
        self.nul = self.nul.map(shifted);
        self.lines = OnceCell::from(LineTable { starts, kinds: lines.kinds });
        self.removed = removed;
        self.bytes = Cow::Owned(bytes);
        self
    }

    fn lines(&self) -> &LineTable {
        self.lines.get_or_init(|| LineTable::new(&self.bytes, self.kind))
    }

    /// Returns the number of lines.
    pub(super) fn line_count(&self) -> usize {
        self.lines().starts.len()
    }

    /// Returns the line of a byte offset, from 0.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        self.lines().starts.partition_point(|start| *start as usize <= offset).saturating_sub(1)
    }

    /// Returns the kind of a line.
    pub(super) fn line_kind(&self, line: usize) -> LineKind {
        self.lines().kinds.get(line).copied().unwrap_or(LineKind::Data)
    }

    /// Returns the start of a line and its bytes without the line break.
    pub(super) fn line(&self, line: usize) -> (usize, &[u8]) {
        let starts = &self.lines().starts;
        let start = starts.get(line).map_or(self.bytes.len(), |start| *start as usize);
        let end = starts.get(line + 1).map_or(self.bytes.len(), |next| *next as usize);
        (start, self.bytes.get(start..end).unwrap_or_default().trim_ascii_end())
    }

    /// Returns the line and column of a byte offset, both from 1, the column in characters.
    pub(super) fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.line_of(offset);
        let (start, _) = self.line(line);
        let before = self.bytes.get(start..offset).unwrap_or_default();
        let characters = before.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count();
        let removed_before = |end: usize| self.removed.partition_point(|removed| (*removed as usize) < end);
        let characters = characters + removed_before(offset + 1) - removed_before(start);
        let number = |n: usize| Span::new(n, n).start;
        (number(line + 1), number(characters + 1))
    }

    /// Returns the bytes around an offset that belong together: its line and the lines that continue it, up to
    /// a limit.
    pub(super) fn window(&self, offset: usize) -> (usize, &[u8]) {
        const LINES: usize = 6;
        const BEFORE: usize = 1_024;
        const AFTER: usize = 4_096;
        let line = self.line_of(offset);
        let is_prose = self.line_kind(line) == LineKind::Prose;
        let continues_below = |line_number: usize| {
            let (_, text) = self.line(line_number);
            match is_prose {
                // The lines of a paragraph belong together.
                true => {
                    self.line_kind(line_number + 1) == LineKind::Prose
                        && !text.is_empty()
                        && !self.line(line_number + 1).1.is_empty()
                }
                false => continues(text) || self.line(line_number + 1).1.trim_ascii_start().starts_with(b"|"),
            }
        };
        let reach = if is_prose { 2 } else { LINES };
        let first = (line.saturating_sub(reach)..line)
            .rev()
            .take_while(|line_number| continues_below(*line_number))
            .last()
            .unwrap_or(line);
        let last = (line..(line + reach).min(self.line_count().saturating_sub(1)))
            .take_while(|line_number| continues_below(*line_number))
            .last()
            .map_or(line, |line_number| line_number + 1);
        let (start, _) = self.line(first);
        let (end, text) = self.line(last);
        let (start, end) = (start.max(offset.saturating_sub(BEFORE)), (end + text.len()).min(offset + AFTER));
        (start, self.bytes.get(start..end).unwrap_or_default())
    }
}

/// Returns `true` if the next line continues this one. A file made executable is usually run on the next line.
fn continues(line: &[u8]) -> bool {
    let ends: [&[u8]; 5] = [b"\\", b"|", b"&&", b"(", b"-----"];
    ends.iter().any(|end| line.ends_with(end)) || line.trim_ascii_start().starts_with(b"chmod ")
}

impl LineTable {
    fn new(bytes: &[u8], kind: TextKind) -> Self {
        let mut lines = Self { starts: Vec::new(), kinds: Vec::new() };
        let mut fence: Option<(u8, usize)> = None;
        let mut frontmatter = false;
        let is_end = |line: &[u8]| matches!(line.trim_ascii(), b"---" | b"...");
        let mut start = 0;
        let ends = memchr::memchr_iter(b'\n', bytes).map(|end| end + 1).chain([bytes.len()]);
        for (number, end) in ends.enumerate() {
            let line = bytes.get(start..end).unwrap_or_default();
            if line.is_empty() {
                break;
            }
            let text = line.trim_ascii();
            let line_kind = match kind {
                TextKind::Script => LineKind::Code,
                TextKind::Data => LineKind::Data,
                TextKind::Plain => LineKind::Prose,
                TextKind::Markdown
                    if number == 0
                        && text == b"---"
                        && bytes.split(|byte| *byte == b'\n').skip(1).any(is_end) =>
                {
                    frontmatter = true;
                    LineKind::Frontmatter
                }
                TextKind::Markdown if frontmatter => {
                    frontmatter = !is_end(text);
                    LineKind::Frontmatter
                }
                TextKind::Markdown => markdown_line_kind(line, text, &mut fence),
            };
            lines.starts.push(Span::new(start, start).start);
            lines.kinds.push(line_kind);
            start += line.len();
        }
        lines
    }
}

/// Returns a line without the marks of quotations and list items in front of a fence.
fn without_markers(text: &[u8]) -> &[u8] {
    let mut rest = text;
    loop {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest = match rest.get(digits..).unwrap_or_default() {
            [b'>' | b'-' | b'*' | b'+', after @ ..] if digits == 0 => after.trim_ascii_start(),
            [b'.' | b')', after @ ..] if digits > 0 => after.trim_ascii_start(),
            _ => break,
        };
    }
    if rest.starts_with(b"```") || rest.starts_with(b"~~~") { rest } else { text }
}

/// Determines the kind of a Markdown line outside the frontmatter.
fn markdown_line_kind(line: &[u8], text: &[u8], fence: &mut Option<(u8, usize)>) -> LineKind {
    let text = without_markers(text);
    let mark = text.first().copied().unwrap_or_default();
    let run = text.iter().take_while(|byte| **byte == mark).count();
    // The words after the opening backticks contain none; otherwise it is a code span.
    let has_backticks = mark == b'`' && text.iter().skip(run).any(|byte| *byte == b'`');
    let is_fence = matches!(mark, b'`' | b'~') && run >= 3 && !has_backticks;
    match *fence {
        Some((open, width)) => {
            if is_fence && mark == open && run >= width && run == text.len() {
                *fence = None;
            }
            LineKind::Code
        }
        None if is_fence => {
            *fence = Some((mark, run));
            LineKind::Code
        }
        None if (line.starts_with(b"    ") || line.starts_with(b"\t")) && !text.is_empty() => LineKind::Code,
        None => LineKind::Prose,
    }
}

/// Replaces the backslash of continued lines by a space.
pub(super) fn join_lines(window: &[u8]) -> Cow<'_, [u8]> {
    let mut joined = Cow::Borrowed(window);
    for offset in memchr::memmem::find_iter(window, b"\\\n") {
        joined.to_mut()[offset] = b' ';
    }
    joined
}

/// Removes NUL bytes, which interpreters and readers do not see. Returns the offsets at which they were.
fn strip_nul(bytes: Cow<'_, [u8]>) -> (Cow<'_, [u8]>, Vec<u32>) {
    let Some(first) = memchr::memchr(0, &bytes) else { return (bytes, Vec::new()) };
    let mut stripped = Vec::with_capacity(bytes.len());
    stripped.extend_from_slice(bytes.get(..first).unwrap_or_default());
    let mut removed = Vec::new();
    for piece in bytes.get(first..).unwrap_or_default().split(|byte| *byte == 0).skip(1) {
        removed.push(Span::new(stripped.len(), stripped.len()).start);
        stripped.extend_from_slice(piece);
    }
    (Cow::Owned(stripped), removed)
}

/// Decodes UTF-16 with a byte-order mark, as often used for PowerShell scripts.
fn decode_utf16(bytes: &[u8]) -> Option<Vec<u8>> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let units = bytes.get(2..).unwrap_or_default().as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Some(text.into_bytes())
}
