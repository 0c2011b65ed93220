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
    let mut left = LINKS_MAX;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && line.contains("](") {
            for Link { at, column, target } in links(line).take(left) {
                left -= 1;
                if let Some(path) = relative(target).filter(|path| !exists(path)) {
                    let span = Span::new(start + at, start + at + target.len());
                    let message = format!("the body refers to {}, which is not there", path.display());
                    let diagnostic = Diagnostic::warning(Code::MissingReference, message);
                    let place = Place { line: number, column, span };
                    said.push(diagnostic.at(place).help("add the file, or mend the link"));
                }
            }
        }
        start += line.len();
    }
    said
}

/// `[text](target)` in a line.
struct Link<'a> {
    /// The byte of the line that the target begins at.
    at: usize,
    /// The same in characters, from 1.
    column: u32,
    target: &'a str,
}

/// The links of a line. Inline code is passed over. No part of the line is looked at twice: it may be the whole file.
fn links(line: &str) -> impl Iterator<Item = Link<'_>> {
    let mut at = 0;
    let mut column = 1;
    let mut in_code = false;
    let next = move || {
        loop {
            let rest = line.get(at..)?;
            let passed = rest.get(..rest.find("](")? + 2)?;
            let rest = rest.get(passed.len()..)?;
            let target = rest.get(..rest.find([')', ' ', '"', '\n'])?)?;
            in_code ^= passed.matches('`').count() % 2 == 1;
            column += characters(passed);
            at += passed.len();
            let link = Link { at, column, target };
            let code = in_code;
            in_code ^= target.matches('`').count() % 2 == 1;
            column += characters(target);
            at += target.len();
            if !code {
                return Some(link);
            }
        }
    };
    std::iter::from_fn(next)
}

fn characters(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
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
