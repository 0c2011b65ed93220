//! Files that a body refers to by a Markdown link and that are not there.

use std::path::{Component, Path};

use prowess_format::{Code, Diagnostic, Place, Span};

/// The most links that are looked at in one body.
const LINKS_MAX: usize = 500;

/// Says which relative links of a `SKILL.md` lead nowhere. Links in code are examples and not looked at.
pub(crate) fn missing(source: &[u8], exists: impl Fn(&Path) -> bool) -> Vec<Diagnostic> {
    let Ok(text) = std::str::from_utf8(source) else { return Vec::new() };
    let mut said = Vec::new();
    let mut fenced = false;
    let mut start = 0;
    let mut links = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && line.contains("](") {
            for (at, target) in targets(line) {
                links += 1;
                if links > LINKS_MAX {
                    return said;
                }
                if let Some(path) = relative(target).filter(|path| !exists(path)) {
                    let span = Span::new(start + at, start + at + target.len());
                    let message = format!("the body refers to {}, which is not there", path.display());
                    let diagnostic = Diagnostic::warning(Code::MissingReference, message);
                    said.push(diagnostic.at(Place::of(source, span)).help("add the file, or mend the link"));
                }
            }
        }
        start += line.len();
    }
    said
}

/// The targets of `[text](target)` in a line, with where they stand. Inline code is passed over.
fn targets(line: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = line.get(at..).and_then(|rest| rest.find("](")) {
        let open = at + offset + 2;
        let Some(length) = line[open..].find([')', ' ', '"', '\n']) else { break };
        let in_code = line[..open].matches('`').count() % 2 == 1;
        if !in_code {
            found.push((open, &line[open..open + length]));
        }
        at = open + length;
    }
    found
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
