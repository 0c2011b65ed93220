//! Diagnostics as GitHub's workflow commands, which become annotations of a pull request.

use std::io::{self, Write};
use std::path::Path;

use prowess_format::hidden::shown;
use prowess_format::{Diagnostic, Severity};

use super::{FileReport, text, uri};

/// Prints a command for every diagnostic of a file, with its path relative to `base` where it lies below it.
pub(crate) fn write(out: &mut dyn Write, report: &FileReport<'_>, base: &Path) -> io::Result<()> {
    let file = property(&shown(&uri::slashed(report.path, base)));
    for diagnostic in report.diagnostics {
        writeln!(out, "{}", command(&file, diagnostic))?;
    }
    report.beside.iter().try_for_each(|other| write(out, &report.of_other(other), base))
}

fn command(file: &str, diagnostic: &Diagnostic) -> String {
    let command = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let place = diagnostic.at.map_or_else(String::new, |at| format!(",line={},col={}", at.line, at.column));
    let title = property(diagnostic.code.as_str());
    let message = data(&text::message_and_help(diagnostic));
    format!("::{command} file={file}{place},title={title}::{message}")
}

/// The message of a command: nothing in it may begin a new line.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command: nothing in it may end the property either.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
