//! Commands and files that some clients insert into the instructions: `` !`command` `` and `@path`.
//!
//! A command runs only in the sandbox, and only for a skill whose scripts the user allowed; otherwise it stays text. Of a
//! skill, only its own files are attached.

use std::ops::Range;

use prowess_format::{Code, Diagnostic, Location, Severity, Span};

use crate::references::{FenceTracker, in_backticks};

/// The maximum number of reports about one body.
const REPORTS_MAX: usize = 20;

/// Reports the commands and files in the body of a `SKILL.md`, which begins at byte `body`.
pub(crate) fn check_inline_references(source: &[u8], body: usize) -> Vec<Diagnostic> {
    let commands = inline_commands(source, body).map(|span| {
        let message = "the command is not run and stays text, unless the user allowed the skill's scripts";
        let diagnostic = Diagnostic::warning(Code::InlineReference, message);
        let help = "Claude Code runs it before the model reads the skill; here, it runs in the sandbox, without the project's files";
        diagnostic.at(Location::from_span(source, span)).help(help)
    });
    let files = inline_files(source, body).map(|span| {
        let message = "the file is attached only if it belongs to the skill";
        let diagnostic = Diagnostic::new(Code::InlineReference, Severity::Info, message);
        let help = "Claude Code attaches files of the project; here, tell the model to read the file";
        diagnostic.at(Location::from_span(source, span)).help(help)
    });
    commands.take(REPORTS_MAX).chain(files.take(REPORTS_MAX)).collect()
}

/// A command in the instructions, written as `` !`command` ``.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InlineCommand<'b> {
    /// Its place in the body, with the backticks.
    pub(crate) range: Range<usize>,
    /// The command.
    pub(crate) text: &'b str,
}

/// Returns the commands of a body, in order.
pub(crate) fn commands(body: &str) -> impl Iterator<Item = InlineCommand<'_>> {
    inline_commands(body.as_bytes(), 0).filter_map(move |span| {
        let range = span.start as usize..span.end as usize;
        let text = body.get(range.start + 2..range.end - 1)?;
        Some(InlineCommand { range, text })
    })
}

/// Returns the paths of a body that are written as `@path`, in order.
pub(crate) fn files(body: &str) -> impl Iterator<Item = &str> {
    inline_files(body.as_bytes(), 0).filter_map(|span| body.get(span.start as usize + 1..span.end as usize))
}

/// Returns the spans of `` !`command` `` at the beginning of a word, outside of code.
fn inline_commands(source: &[u8], body: usize) -> impl Iterator<Item = Span> {
    let mut fences = FenceTracker::new(source, body);
    let text = source.get(body..).unwrap_or_default();
    memchr::memmem::find_iter(text, b"!`").filter_map(move |offset| {
        let start = body + offset;
        let command = source.get(start + 2..)?;
        let length = command.iter().position(|byte| matches!(byte, b'`' | b'\n'))?;
        let is_command = length > 0 && command[length] == b'`' && begins_word(source, start, body);
        let is_text = is_command && !fences.is_open(start) && !in_backticks(source, start);
        is_text.then(|| Span::new(start, start + 2 + length + 1))
    })
}

/// Returns the spans of `@path` at the beginning of a word, outside of code. Only paths with an extension or a
/// leading `./`, `../`, `~/` or `/` count, because `@name` is usually a person or a package.
fn inline_files(source: &[u8], body: usize) -> impl Iterator<Item = Span> {
    let mut fences = FenceTracker::new(source, body);
    let text = source.get(body..).unwrap_or_default();
    memchr::memchr_iter(b'@', text).filter_map(move |offset| {
        let start = body + offset;
        let is_path =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'~');
        let length = source.get(start + 1..)?.iter().take_while(|byte| is_path(byte)).count();
        let path = source.get(start + 1..start + 1 + length)?;
        let path = path.strip_suffix(b".").unwrap_or(path);
        let is_file = begins_word(source, start, body) && names_file(path);
        let is_text = is_file && !fences.is_open(start) && !in_backticks(source, start);
        is_text.then(|| Span::new(start, start + 1 + path.len()))
    })
}

fn begins_word(source: &[u8], start: usize, body: usize) -> bool {
    start == body || source.get(start - 1).is_some_and(u8::is_ascii_whitespace)
}

fn names_file(path: &[u8]) -> bool {
    let prefixes = [&b"./"[..], b"../", b"~/", b"/"];
    if let Some(rest) = prefixes.iter().find_map(|prefix| path.strip_prefix(*prefix)) {
        return !rest.is_empty();
    }
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let Some(dot) = memchr::memrchr(b'.', name) else { return false };
    let extension = &name[dot + 1..];
    dot > 0 && (1..=5).contains(&extension.len()) && extension.iter().all(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: &str) -> Vec<String> {
        check_inline_references(body.as_bytes(), 0)
            .iter()
            .map(|diagnostic| {
                let span = diagnostic.location.unwrap().span;
                format!("{}: {}", diagnostic.severity, &body[span.start as usize..span.end as usize])
            })
            .collect()
    }

    #[test]
    fn commands_and_files_are_found_outside_of_code() {
        let body = "!`git status` and !`git log`\nCMD=!`no` `!`no`` !``\n```\n!`no`\n@no.md\n```\n\
                    See @src/a.rs, @./b, @README.md. Not me@x.de, @user, @scope/pkg, `@c.md`, FILE=@d.md.";
        assert_eq!(
            found(body),
            [
                "warning: !`git status`",
                "warning: !`git log`",
                "info: @src/a.rs",
                "info: @./b",
                "info: @README.md"
            ]
        );
        let texts = |body| commands(body).map(|command| command.text).collect::<Vec<_>>();
        assert_eq!((texts("a !`b c` !`d`"), texts("wow! `b`")), (vec!["b c", "d"], vec![]));
    }
}
