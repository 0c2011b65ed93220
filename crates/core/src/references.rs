//! The files that a body refers to: those that are there, and links to those that are not.

use std::path::{Component, Path};

use memchr::memmem;
use prowess_format::{Code, Diagnostic, Place, Span};

/// The most links that are looked at in one body.
const LINKS_MAX: usize = 500;

/// Says which relative links of a `SKILL.md` lead nowhere. Links in code are examples and not looked at.
pub(crate) fn missing(source: &[u8], exists: impl Fn(&Path) -> bool) -> Vec<Diagnostic> {
    let mut said = Vec::new();
    for open in memmem::find_iter(source, b"](").take(LINKS_MAX).map(|at| at + 2) {
        let rest = &source[open..];
        let end = rest.iter().position(|byte| matches!(byte, b')' | b' ' | b'"' | b'\n'));
        let Some(target) = end.and_then(|end| std::str::from_utf8(&rest[..end]).ok()) else { continue };
        let Some(path) = relative(target).filter(|path| !exists(path)) else { continue };
        if !is_code(&source[..open]) {
            let message = format!("the body refers to {}, which is not there", path.display());
            let diagnostic = Diagnostic::warning(Code::MissingReference, message);
            let place = Place::of(source, Span::new(open, open + target.len()));
            said.push(diagnostic.at(place).help("add the file, or mend the link"));
        }
    }
    said
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

/// Whether what follows this text stands in a code block or between backticks. Asked only for links that lead nowhere,
/// of which there are few.
fn is_code(before: &[u8]) -> bool {
    let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (above, line) = before.split_at(line);
    let is_fence = |line: &&[u8]| {
        line.trim_ascii_start().starts_with(b"```") || line.trim_ascii_start().starts_with(b"~~~")
    };
    let fences = above.split(|byte| *byte == b'\n').filter(is_fence).count();
    let ticks = line.iter().filter(|byte| **byte == b'`').count();
    fences % 2 == 1 || ticks % 2 == 1
}

/// The target as a path inside the skill, if it is one.
fn relative(target: &str) -> Option<&Path> {
    let path = target.split(['#', '?']).next()?;
    let outside = path.is_empty()
        || path.contains(':')
        || path.contains(['{', '<', '$', '*', '%'])
        || path.contains("...");
    let path = Path::new(path);
    let inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    (!outside && inside).then_some(path)
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

    #[test]
    fn only_relative_links_outside_code_count() {
        let source = "See [a](references/a.md#top), [b](b.md) and [site](https://x.y/z).\n\
            `[c](c.md)` and ![d](assets/d.png \"t\")\n```\n[e](e.md)\n```\n[f](../f.md) [g](/g) [h](#h) [i]({{x}})\n";
        let said = missing(source.as_bytes(), |path| path == Path::new("b.md"));
        let said: Vec<_> = said
            .iter()
            .map(|said| (said.at.unwrap().line, said.at.unwrap().column, said.message.as_str()))
            .collect();
        assert_eq!(
            said,
            [
                (1, 9, "the body refers to references/a.md, which is not there"),
                (2, 22, "the body refers to assets/d.png, which is not there"),
            ]
        );
    }
}
