//! The files that a skill's body refers to, by links, bare paths and code spans, and the problems with these references.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use memchr::memmem;
use prowess_format::{Code, Diagnostic, Location, Severity, Span};

/// The maximum number of references of each kind that are checked in one body.
const REFERENCES_MAX: usize = 500;

/// The directories of a skill whose files are recognized without a link around them.
const DIRS: [&[u8]; 3] = [b"scripts", b"references", b"assets"];

/// The maximum number of components in a path: a directory of the skill and a file in it.
const DEPTH_MAX: usize = 2;

/// A place in a text that refers to a file of the skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReference<'s> {
    /// The bytes of the path.
    pub span: Span,
    /// The path as written.
    pub path: &'s str,
}

/// Returns the references of a `SKILL.md` whose body begins at byte `body`, sorted and without overlaps: relative links
/// outside of code, bare paths such as `scripts/run.py`, and code spans that consist of a path. The files may be
/// missing, and code spans may be about other files.
///
/// ```
/// use prowess::references::file_references;
///
/// let source = b"See [the guide](guide.md#top), run scripts/x.py, then read `notes.md`.";
/// let paths: Vec<_> = file_references(source, 0).iter().map(|reference| reference.path).collect();
/// assert_eq!(paths, ["guide.md", "scripts/x.py", "notes.md"]);
/// ```
pub fn file_references(source: &[u8], body: usize) -> Vec<FileReference<'_>> {
    let mut fences = FenceTracker::new(source, 0);
    let links = links(source).filter(|(_, path)| !is_placeholder(path));
    let links = links.filter(|(start, _)| !fences.is_open(*start) && !in_backticks(source, *start));
    let found = links.chain(bare_paths(source, body)).chain(code_spans(source, body));
    let mut references: Vec<_> = found
        .map(|(start, path)| FileReference { span: Span::new(start, start + path.len()), path })
        .collect();
    references.sort_by_key(|reference| (reference.span.start, std::cmp::Reverse(reference.span.end)));
    let mut end = 0;
    references.retain(|FileReference { span, .. }| {
        let is_new = span.start >= end && span.end > span.start;
        end = if is_new { span.end } else { end };
        is_new
    });
    references
}

/// Returns the path inside the skill that a reference names, without `.` components; `None` if it is empty, a pattern, or
/// outside the skill.
///
/// ```
/// use prowess::references::inner_path;
///
/// assert_eq!(inner_path("./references/a.md").unwrap().to_str(), Some("references/a.md"));
/// assert_eq!(inner_path("../secret"), None);
/// assert_eq!(inner_path("scripts/{name}.py"), None);
/// ```
pub fn inner_path(path: &str) -> Option<PathBuf> {
    if is_placeholder(path) || path.starts_with('/') || path.contains(['\\', '\0']) {
        return None;
    }
    let mut inner = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => inner.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!inner.as_os_str().is_empty()).then_some(inner)
}

/// Returns the spans in which a text names a path, with or without `./` before it. A path that is only a part of another
/// one does not count. The spans do not include the `./`.
pub fn mentions(text: &str, path: &str) -> Vec<Span> {
    let bytes = text.as_bytes();
    memmem::find_iter(bytes, path.as_bytes())
        .filter(|offset| !path.is_empty() && is_mention(bytes, *offset, path))
        .map(|offset| Span::new(offset, offset + path.len()))
        .collect()
}

/// Checks the files that a `SKILL.md` refers to: relative links outside of code, and bare paths such as
/// `scripts/run.py` in the body, which begins at byte `body`. `exists` returns whether a path inside the skill
/// exists.
pub(crate) fn check_references(
    source: &[u8],
    body: usize,
    exists: impl Fn(&Path) -> bool,
) -> Vec<Diagnostic> {
    let mut checker = ReferenceChecker { source, exists, checked: HashSet::new(), diagnostics: Vec::new() };
    checker.check_links();
    checker.check_bare_paths(body);
    checker
        .diagnostics
        .sort_by_key(|diagnostic| diagnostic.location.map_or(0, |location| location.span.start));
    checker.diagnostics
}

struct ReferenceChecker<'s, F> {
    source: &'s [u8],
    exists: F,
    /// The paths checked so far.
    checked: HashSet<&'s str>,
    diagnostics: Vec<Diagnostic>,
}

impl<'s, F: Fn(&Path) -> bool> ReferenceChecker<'s, F> {
    fn check_links(&mut self) {
        let mut fences = FenceTracker::new(self.source, 0);
        for (open, target) in links(self.source) {
            if let Some(problem) = self.problem(target)
                && !fences.is_open(open)
                && !in_backticks(self.source, open)
            {
                self.report(problem, target, open);
            }
        }
    }

    fn check_bare_paths(&mut self, body: usize) {
        let mut fences = FenceTracker::new(self.source, body);
        for (start, path) in bare_paths(self.source, body) {
            let Some(problem) = self.problem(path) else { continue };
            let fenced = fences.is_open(start);
            // In a command, the path may belong to the user's project, unless the skill has such a directory.
            let dir = path.split('/').next().unwrap_or_default();
            if !fenced || (problem == ReferenceProblem::Missing && (self.exists)(Path::new(dir))) {
                self.report(problem, path, start);
            }
        }
    }

    /// Returns the problem with a path; `None` if there is none or the path was checked before.
    fn problem(&mut self, path: &'s str) -> Option<ReferenceProblem> {
        if is_placeholder(path) || !self.checked.insert(path) {
            return None;
        }
        let path = Path::new(path);
        let mut depth = 0;
        for part in path.components() {
            match part {
                Component::Normal(_) => depth += 1,
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Some(ReferenceProblem::Outside);
                }
            }
        }
        match (self.exists)(path) {
            false => Some(ReferenceProblem::Missing),
            true => (depth > DEPTH_MAX).then_some(ReferenceProblem::Deep),
        }
    }

    fn report(&mut self, problem: ReferenceProblem, path: &str, start: usize) {
        let location = Location::from_span(self.source, Span::new(start, start + path.len()));
        let diagnostic = match problem {
            ReferenceProblem::Missing => {
                let message = format!("the body refers to {path}, which does not exist");
                Diagnostic::warning(Code::MissingReference, message).help("add the file, or fix the path")
            }
            ReferenceProblem::Outside => {
                let message = format!("the body refers to {path}, which is outside the skill's directory");
                Diagnostic::warning(Code::ReferenceForm, message)
                    .help("copy the file into the skill and refer to it relative to SKILL.md, for example references/guide.md")
            }
            ReferenceProblem::Deep => {
                let message = format!("the body refers to {path}, which is more than one directory deep");
                Diagnostic::new(Code::ReferenceForm, Severity::Info, message)
                    .help("move the file up, for example into references/")
            }
        };
        self.diagnostics.push(diagnostic.at(location));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReferenceProblem {
    /// The file does not exist.
    Missing,
    /// The path is absolute or contains `..`.
    Outside,
    /// The file is deeper than the specification recommends.
    Deep,
}

/// Returns `true` for an empty path, an address, or a pattern that stands for other paths.
fn is_placeholder(path: &str) -> bool {
    path.is_empty()
        || path.contains([':', '{', '<', '$', '*', '%'])
        || path.contains("...")
        || path.starts_with("//")
}

/// Returns the targets of links, without fragments and queries, and their offsets.
fn links(source: &[u8]) -> impl Iterator<Item = (usize, &str)> {
    memmem::find_iter(source, b"](").take(REFERENCES_MAX).filter_map(move |bracket| {
        let open = bracket + 2;
        let rest = &source[open..];
        let end = rest.iter().position(|byte| matches!(byte, b')' | b' ' | b'"' | b'\n'))?;
        let target = std::str::from_utf8(&rest[..end]).ok()?;
        Some((open, target.split(['#', '?']).next().unwrap_or_default()))
    })
}

/// Returns the bare paths of a body and their offsets.
fn bare_paths(source: &[u8], body: usize) -> impl Iterator<Item = (usize, &str)> {
    let text = source.get(body..).unwrap_or_default();
    let slashes = memchr::memchr_iter(b'/', text).map(move |offset| body + offset);
    slashes.filter_map(move |slash| bare_path(source, slash)).take(REFERENCES_MAX)
}

/// Returns the code spans of a body that consist of a path with an extension, and their offsets.
fn code_spans(source: &[u8], body: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut fences = FenceTracker::new(source, body);
    let text = source.get(body..).unwrap_or_default();
    let is_path = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/');
    let spans = memchr::memchr_iter(b'`', text).filter_map(move |offset| {
        let start = body + offset + 1;
        let rest = source.get(start..)?;
        let length = rest.iter().position(|byte| !is_path(*byte))?;
        let path = std::str::from_utf8(&rest[..length]).ok().filter(|_| rest[length] == b'`')?;
        let name = path.rsplit('/').next().unwrap_or_default();
        let has_extension =
            name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty());
        (has_extension && !is_placeholder(path)).then_some((start, path))
    });
    spans
        .take(REFERENCES_MAX)
        .filter(move |(start, _)| !fences.is_open(*start) && in_backticks(source, *start))
}

/// Returns the path around a slash if it begins with one of [`DIRS`], or with `../` before one, and ends
/// with a file name that has an extension.
fn bare_path(source: &[u8], slash: usize) -> Option<(usize, &str)> {
    let before = source.get(..slash)?;
    let dir = DIRS.iter().find(|dir| before.ends_with(dir))?;
    let mut start = slash - dir.len();
    for prefix in [&b"./"[..], b"../"] {
        while source[..start].ends_with(prefix) && !source[..start].ends_with(b"...") {
            start -= prefix.len();
        }
    }
    // Include the first dot of `../` if only its `./` was consumed.
    if source[..start].ends_with(b".") && source[start..].starts_with(b"./") {
        start -= 1;
    }
    let is_path = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/');
    let continues_path = |byte: u8| {
        is_path(byte) || byte >= 0x80 || matches!(byte, b'}' | b'>' | b'$' | b'~' | b'\\' | b'@' | b'%')
    };
    if source[..start].last().is_some_and(|byte| continues_path(*byte)) {
        return None;
    }
    let tail = &source[slash + 1..];
    let length = tail.iter().position(|byte| !is_path(*byte)).unwrap_or(tail.len());
    // A path that continues with a placeholder is a pattern.
    if tail
        .get(length)
        .is_some_and(|byte| matches!(byte, b'{' | b'<' | b'$' | b'*' | b'[' | b'%') || *byte >= 0x80)
    {
        return None;
    }
    let path = std::str::from_utf8(&source[start..slash + 1 + length]).ok()?.trim_end_matches(['.', '/']);
    let (_, name) = path.rsplit_once('/')?;
    let extension = name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty());
    extension.then_some((start, path))
}

/// Tracks whether a code fence is open. Offsets must be queried in ascending order.
pub(crate) struct FenceTracker<'s> {
    source: &'s [u8],
    line: usize,
    open: bool,
}

impl<'s> FenceTracker<'s> {
    pub(crate) fn new(source: &'s [u8], start: usize) -> Self {
        Self { source, line: start, open: false }
    }

    pub(crate) fn is_open(&mut self, offset: usize) -> bool {
        while let Some(end) = self
            .source
            .get(self.line..offset)
            .and_then(|text| memchr::memchr(b'\n', text))
            .map(|end| self.line + end)
        {
            let line = self.source[self.line..end].trim_ascii_start();
            self.open ^= line.starts_with(b"```") || line.starts_with(b"~~~");
            self.line = end + 1;
        }
        self.open
    }
}

/// Returns `true` if an offset is between backticks on its line.
pub(crate) fn in_backticks(source: &[u8], offset: usize) -> bool {
    let before = &source[..offset];
    let line = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    before[line..].iter().filter(|byte| **byte == b'`').count() % 2 == 1
}

/// Returns the paths that a body mentions, in the order of their first mention. A path that is only a prefix or
/// suffix of another one does not count.
pub(crate) fn mentioned_paths<'p>(body: &str, paths: impl IntoIterator<Item = &'p str>) -> Vec<&'p str> {
    let bytes = body.as_bytes();
    let first_mention = |path: &str| {
        memmem::find_iter(bytes, path.as_bytes()).find(|offset| is_mention(bytes, *offset, path))
    };
    let mut mentions: Vec<_> =
        paths.into_iter().filter_map(|path| Some((first_mention(path)?, path))).collect();
    mentions.sort_unstable();
    mentions.into_iter().map(|(_, path)| path).collect()
}

/// Returns `true` if the path at an offset is not a part of another path.
fn is_mention(bytes: &[u8], offset: usize, path: &str) -> bool {
    let continues_path = |byte: Option<&u8>| {
        byte.is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-') || *byte >= 0x80
        })
    };
    let before = &bytes[..offset];
    let before = before.strip_suffix(b"./").unwrap_or(before);
    let after = bytes.get(offset + path.len()..).unwrap_or_default();
    // A dot after a path ends a sentence or begins another extension.
    let after = match after {
        [b'.', rest @ ..] => rest,
        after => after,
    };
    !continues_path(before.last()) && !before.ends_with(b".") && !continues_path(after.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentioned_paths_are_returned_in_order() {
        let body =
            "See `b/x.md`, [a](./a.md) and (a.md). Not c.md.bak, nor ../d.md, nor sub/e.md, nor f.mdx.";
        let paths = ["a.md", "b/x.md", "c.md", "d.md", "e.md", "f.md", "x.md"];
        assert_eq!(mentioned_paths(body, paths), ["b/x.md", "a.md"]);
        assert_eq!(mentioned_paths("Read g.md.", ["g.md"]), ["g.md"]);
    }

    #[test]
    fn references_are_found_in_order_and_without_overlaps() {
        let source = "---\nx: `no.md`\n---\nSee [scripts/a.py](scripts/a.py#l) and `references/b.md`, `c.md`, `{d}.md`, `pip`.\n\
            ```\nscripts/e.py `f.md` [g](g.md)\n```\n[h](https://x.y/h.md) `i.md\n";
        let body = source.find("See").unwrap();
        let paths: Vec<_> = file_references(source.as_bytes(), body)
            .iter()
            .inspect(|reference| assert_eq!(&source[reference.span.range()], reference.path))
            .map(|reference| reference.path)
            .collect();
        assert_eq!(paths, ["scripts/a.py", "scripts/a.py", "references/b.md", "c.md", "scripts/e.py"]);
    }

    #[test]
    fn mentions_are_whole_paths() {
        let text = "a.md ./a.md xa.md a.mdx b/a.md (a.md) ../a.md `a.md`.";
        let starts: Vec<_> = mentions(text, "a.md").iter().map(|span| span.start).collect();
        assert_eq!(starts, [0, 7, 32, 47]);
        assert_eq!(mentions("text", ""), []);
    }

    #[test]
    fn inner_paths_stay_inside() {
        for outside in ["", "/a", "..", "a/../../b", "//host", "https://x", "a\\b", "$HOME/a", "*.md", "."] {
            assert_eq!(inner_path(outside), None, "{outside}");
        }
        assert_eq!(inner_path("./a/./b.md"), Some(PathBuf::from("a/b.md")));
    }

    fn check_source(source: &str, existing: &[&str]) -> Vec<String> {
        let body = source.find("Body").unwrap_or_default();
        let diagnostics = check_references(source.as_bytes(), body, |path| {
            existing.iter().any(|file| path == Path::new(file))
        });
        diagnostics
            .iter()
            .map(|found| format!("{} {found}", found.location.map_or(0, |at| at.line)))
            .collect()
    }

    #[test]
    fn links_outside_code_are_checked() {
        let source = "Body\nSee [a](references/a.md#top), [b](b.md) and [site](https://x.y/z).\n\
            `[c](c.md)` and ![d](assets/d.png \"t\")\n```\n[e](e.md)\n```\n[h](#h) [i]({{x}}) [j](//host/x)\n";
        insta::assert_snapshot!(check_source(source, &["b.md"]).join("\n"), @r"
        2 warning[SK063]: the body refers to references/a.md, which does not exist
        3 warning[SK063]: the body refers to assets/d.png, which does not exist
        ");
    }

    #[test]
    fn links_to_outside_the_skill_and_deep_links_are_reported() {
        let source = "Body\n[f](../f.md) [g](/g.md) [h](references/deep/h.md) [i](a/../../i.md)\n";
        insta::assert_snapshot!(check_source(source, &["references/deep/h.md"]).join("\n"), @r"
        2 warning[SK066]: the body refers to ../f.md, which is outside the skill's directory
        2 warning[SK066]: the body refers to /g.md, which is outside the skill's directory
        2 info[SK066]: the body refers to references/deep/h.md, which is more than one directory deep
        2 warning[SK066]: the body refers to a/../../i.md, which is outside the skill's directory
        ");
    }

    #[test]
    fn bare_paths_are_checked() {
        let source = "assets/frontmatter.md\nBody\nRun `scripts/x.py`, then scripts/y.py. Read ./references/z.md.\n\
            `../scripts/up.py` and `references/a/b.md`\n";
        insta::assert_snapshot!(check_source(source, &["scripts/y.py", "references/a/b.md"]).join("\n"), @r"
        3 warning[SK063]: the body refers to scripts/x.py, which does not exist
        3 warning[SK063]: the body refers to ./references/z.md, which does not exist
        4 warning[SK066]: the body refers to ../scripts/up.py, which is outside the skill's directory
        4 info[SK066]: the body refers to references/a/b.md, which is more than one directory deep
        ");
    }

    #[test]
    fn text_that_is_not_a_path_of_the_skill_is_ignored() {
        let source = "Body\nscripts/ and scripts/name, my-scripts/x.py, /srv/scripts/x.py, {baseDir}/scripts/x.py, \
            $HOME/scripts/x.py, scripts/<name>.py, scripts/*.py, https://x.y/assets/z.png, scripts/{a,b}.py, \
            .../scripts/x.py\n";
        assert_eq!(check_source(source, &[]), Vec::<String>::new());
    }

    #[test]
    fn paths_in_commands_are_checked_if_the_skill_has_the_directory() {
        let source = "Body\n```sh\npython scripts/x.py\npython scripts/x.py\n```\n";
        assert_eq!(check_source(source, &[]), Vec::<String>::new());
        let diagnostics = check_source(source, &["scripts"]);
        assert_eq!(diagnostics, ["3 warning[SK063]: the body refers to scripts/x.py, which does not exist"]);
    }
}
