//! Problems as GitHub workflow commands, which become annotations of a pull request.

use std::io::{self, Write};
use std::path::Path;

use prowess::check::PassedOverSkill;
use prowess_format::hidden::escape_for_display;

use super::problem::{Problem, ProblemLevel, passed_over_text};
use super::uri;

/// Writes a command for each problem and for each skill that was not read, with paths relative to `base` if possible.
pub(crate) fn write<'a>(
    out: &mut dyn Write,
    problems: impl IntoIterator<Item = Problem<'a>>,
    passed_over: &[PassedOverSkill],
    base: &Path,
) -> io::Result<()> {
    for problem in problems {
        writeln!(out, "{}", command(&problem, base))?;
    }
    for skill in passed_over {
        let file = file_property(&skill.path, base);
        writeln!(out, "::notice file={file},title=skipped::{}", passed_over_text(skill))?;
    }
    Ok(())
}

fn command(problem: &Problem<'_>, base: &Path) -> String {
    let command = match problem.level {
        ProblemLevel::Error => "error",
        ProblemLevel::Warning => "warning",
        ProblemLevel::Note => "notice",
    };
    let file = file_property(problem.path, base);
    let position =
        problem.position.map_or_else(String::new, |(line, column)| format!(",line={line},col={column}"));
    let title = escape_property(problem.code);
    format!("::{command} file={file}{position},title={title}::{}", escape_message(&problem.text))
}

fn file_property(path: &Path, base: &Path) -> String {
    escape_property(&escape_for_display(&uri::relative_path(path, base)))
}

/// Escapes the message of a command, so that it cannot start a new line.
fn escape_message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command, so that it can neither start a new line nor end the property.
fn escape_property(text: &str) -> String {
    escape_message(text).replace(':', "%3A").replace(',', "%2C")
}
