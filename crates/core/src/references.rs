//! The files that a body refers to, by links and by bare paths: those that are there, and what is wrong with the others.

use std::collections::HashSet;
use std::path::{Component, Path};

use memchr::memmem;
use prowess_format::{Code, Diagnostic, Place, Severity, Span};

/// The most references of each kind that are looked at in one body.
const REFERENCES_MAX: usize = 500;

/// The folders of a skill whose files are also recognised without a link around them.
const FOLDERS: [&[u8]; 3] = [b"scripts", b"references", b"assets"];

/// The most names in a path: a folder of the skill and a file in it.
const DEPTH_MAX: usize = 2;

/// Checks the files that a `SKILL.md` refers to: by relative links outside of code, and by bare paths such as
/// `scripts/run.py` in its body, which begins at `body`. `exists` says whether a path inside the skill is there.
pub(crate) fn check(source: &[u8], body: usize, exists: impl Fn(&Path) -> bool) -> Vec<Diagnostic> {
    let mut checker = Checker { source, exists, seen: HashSet::new(), said: Vec::new() };
    checker.links();
    checker.bare_paths(body);
    checker.said.sort_by_key(|said| said.at.map_or(0, |at| at.span.start));
    checker.said
}

struct Checker<'s, F> {
    source: &'s [u8],
    exists: F,
    /// The paths that were looked up.
    seen: HashSet<&'s str>,
    said: Vec<Diagnostic>,
}

impl<'s, F: Fn(&Path) -> bool> Checker<'s, F> {
    fn links(&mut self) {
        let mut fences = Fences::new(self.source, 0);
        for open in memmem::find_iter(self.source, b"](").take(REFERENCES_MAX).map(|at| at + 2) {
            let rest = &self.source[open..];
            let end = rest.iter().position(|byte| matches!(byte, b')' | b' ' | b'"' | b'\n'));
            let Some(target) = end.and_then(|end| std::str::from_utf8(&rest[..end]).ok()) else { continue };
            let target = target.split(['#', '?']).next().unwrap_or_default();
            if let Some(problem) = self.problem(target)
                && !fences.is_open(open)
                && !in_backticks(self.source, open)
            {
                self.say(problem, target, open);
            }
        }
    }

    fn bare_paths(&mut self, body: usize) {
        let mut fences = Fences::new(self.source, body);
        let text = self.source.get(body..).unwrap_or_default();
        let slashes = memchr::memchr_iter(b'/', text).map(|at| body + at);
        let found = slashes.filter_map(|slash| bare_path(self.source, slash)).take(REFERENCES_MAX);
        for (start, path) in found {
            let Some(problem) = self.problem(path) else { continue };
            let fenced = fences.is_open(start);
            // In a command, the path may be one of the user's project, unless the skill has such a folder.
            let folder = path.split('/').next().unwrap_or_default();
            if !fenced || (problem == Problem::Missing && (self.exists)(Path::new(folder))) {
                self.say(problem, path, start);
            }
        }
    }

    /// What is wrong with a path that was not looked up before.
    fn problem(&mut self, path: &'s str) -> Option<Problem> {
        let placeholder = path.contains([':', '{', '<', '$', '*', '%']) || path.contains("...");
        if path.is_empty() || placeholder || path.starts_with("//") || !self.seen.insert(path) {
            return None;
        }
        let path = Path::new(path);
        let mut depth = 0;
        for part in path.components() {
            match part {
                Component::Normal(_) => depth += 1,
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Some(Problem::Outside);
                }
            }
        }
        match (self.exists)(path) {
            false => Some(Problem::Missing),
            true => (depth > DEPTH_MAX).then_some(Problem::Deep),
        }
    }

    fn say(&mut self, problem: Problem, path: &str, start: usize) {
        let place = Place::of(self.source, Span::new(start, start + path.len()));
        let diagnostic = match problem {
            Problem::Missing => {
                let message = format!("the body refers to {path}, which is not there");
                Diagnostic::warning(Code::MissingReference, message).help("add the file, or fix the path")
            }
            Problem::Outside => {
                let message = format!("the body refers to {path}, which is outside of the skill's folder");
                Diagnostic::warning(Code::ReferenceForm, message)
                    .help("copy the file into the skill and name it relative to SKILL.md, such as references/guide.md")
            }
            Problem::Deep => {
                let message = format!("the body refers to {path}, which is more than one folder deep");
                Diagnostic::new(Code::ReferenceForm, Severity::Info, message)
                    .help("move the file up, such as into references/")
            }
        };
        self.said.push(diagnostic.at(place));
    }
}

/// What is wrong with a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    /// There is no such file.
    Missing,
    /// The path is absolute or has `..`.
    Outside,
    /// The file is deeper than the specification recommends.
    Deep,
}

/// The path around a slash, if it begins with one of [`FOLDERS`], or `../` before one, and ends with a file name that
/// has an extension.
fn bare_path(source: &[u8], slash: usize) -> Option<(usize, &str)> {
    let before = source.get(..slash)?;
    let folder = FOLDERS.iter().find(|folder| before.ends_with(folder))?;
    let mut start = slash - folder.len();
    for prefix in [&b"./"[..], b"../"] {
        while source[..start].ends_with(prefix) && !source[..start].ends_with(b"...") {
            start -= prefix.len();
        }
    }
    // The dot of `../`, where `./` was taken off first.
    if source[..start].ends_with(b".") && source[start..].starts_with(b"./") {
        start -= 1;
    }
    let is_path = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/');
    let joined = |byte: u8| {
        is_path(byte) || byte >= 0x80 || matches!(byte, b'}' | b'>' | b'$' | b'~' | b'\\' | b'@' | b'%')
    };
    if source[..start].last().is_some_and(|byte| joined(*byte)) {
        return None;
    }
    let rest = &source[slash + 1..];
    let length = rest.iter().position(|byte| !is_path(*byte)).unwrap_or(rest.len());
    // What goes on with a placeholder is a pattern.
    if rest
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

/// Whether code fences are open, asked of places in the order of the file.
struct Fences<'s> {
    source: &'s [u8],
    line: usize,
    open: bool,
}

impl<'s> Fences<'s> {
    fn new(source: &'s [u8], start: usize) -> Self {
        Self { source, line: start, open: false }
    }

    fn is_open(&mut self, at: usize) -> bool {
        while let Some(end) = self
            .source
            .get(self.line..at)
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

/// Whether a place is between backticks of its line.
fn in_backticks(source: &[u8], at: usize) -> bool {
    let before = &source[..at];
    let line = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    before[line..].iter().filter(|byte| **byte == b'`').count() % 2 == 1
}

/// Which of these paths stand in a body, in the order in which they are first named. A path that is only the end or the
/// beginning of another does not count.
pub(crate) fn named<'p>(body: &str, paths: impl IntoIterator<Item = &'p str>) -> Vec<&'p str> {
    let belongs = |byte: Option<&u8>| {
        byte.is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-') || *byte >= 0x80
        })
    };
    let bytes = body.as_bytes();
    let first = |path: &str| {
        memmem::find_iter(bytes, path.as_bytes()).find(|at| {
            let before = &bytes[..*at];
            let before = before.strip_suffix(b"./").unwrap_or(before);
            let after = bytes.get(at + path.len()..).unwrap_or_default();
            // A dot after a path ends a sentence, or goes on with another ending.
            let after = match after {
                [b'.', rest @ ..] => rest,
                after => after,
            };
            !belongs(before.last()) && !before.ends_with(b".") && !belongs(after.first())
        })
    };
    let mut found: Vec<_> = paths.into_iter().filter_map(|path| Some((first(path)?, path))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_are_named() {
        let body =
            "See `b/x.md`, [a](./a.md) and (a.md). Not c.md.bak, nor ../d.md, nor sub/e.md, nor f.mdx.";
        let paths = ["a.md", "b/x.md", "c.md", "d.md", "e.md", "f.md", "x.md"];
        assert_eq!(named(body, paths), ["b/x.md", "a.md"]);
        assert_eq!(named("Read g.md.", ["g.md"]), ["g.md"]);
    }

    fn told(source: &str, there: &[&str]) -> Vec<String> {
        let body = source.find("Body").unwrap_or_default();
        let said = check(source.as_bytes(), body, |path| there.iter().any(|known| path == Path::new(known)));
        said.iter().map(|said| format!("{} {said}", said.at.map_or(0, |at| at.line))).collect()
    }

    #[test]
    fn links_outside_code_are_looked_up() {
        let source = "Body\nSee [a](references/a.md#top), [b](b.md) and [site](https://x.y/z).\n\
            `[c](c.md)` and ![d](assets/d.png \"t\")\n```\n[e](e.md)\n```\n[h](#h) [i]({{x}}) [j](//host/x)\n";
        insta::assert_snapshot!(told(source, &["b.md"]).join("\n"), @r"
        2 warning[SK063]: the body refers to references/a.md, which is not there
        3 warning[SK063]: the body refers to assets/d.png, which is not there
        ");
    }

    #[test]
    fn links_out_of_the_skill_and_deep_ones_are_named() {
        let source = "Body\n[f](../f.md) [g](/g.md) [h](references/deep/h.md) [i](a/../../i.md)\n";
        insta::assert_snapshot!(told(source, &["references/deep/h.md"]).join("\n"), @r"
        2 warning[SK066]: the body refers to ../f.md, which is outside of the skill's folder
        2 warning[SK066]: the body refers to /g.md, which is outside of the skill's folder
        2 info[SK066]: the body refers to references/deep/h.md, which is more than one folder deep
        2 warning[SK066]: the body refers to a/../../i.md, which is outside of the skill's folder
        ");
    }

    #[test]
    fn bare_paths_are_looked_up() {
        let source = "assets/frontmatter.md\nBody\nRun `scripts/x.py`, then scripts/y.py. Read ./references/z.md.\n\
            `../scripts/up.py` and `references/a/b.md`\n";
        insta::assert_snapshot!(told(source, &["scripts/y.py", "references/a/b.md"]).join("\n"), @r"
        3 warning[SK063]: the body refers to scripts/x.py, which is not there
        3 warning[SK063]: the body refers to ./references/z.md, which is not there
        4 warning[SK066]: the body refers to ../scripts/up.py, which is outside of the skill's folder
        4 info[SK066]: the body refers to references/a/b.md, which is more than one folder deep
        ");
    }

    #[test]
    fn what_is_no_path_of_the_skill_is_left_alone() {
        let source = "Body\nscripts/ and scripts/name, my-scripts/x.py, /srv/scripts/x.py, {baseDir}/scripts/x.py, \
            $HOME/scripts/x.py, scripts/<name>.py, scripts/*.py, https://x.y/assets/z.png, scripts/{a,b}.py, \
            .../scripts/x.py\n";
        assert_eq!(told(source, &[]), Vec::<String>::new());
    }

    #[test]
    fn paths_in_commands_count_where_the_skill_has_the_folder() {
        let source = "Body\n```sh\npython scripts/x.py\npython scripts/x.py\n```\n";
        assert_eq!(told(source, &[]), Vec::<String>::new());
        let said = told(source, &["scripts"]);
        assert_eq!(said, ["3 warning[SK063]: the body refers to scripts/x.py, which is not there"]);
    }
}
