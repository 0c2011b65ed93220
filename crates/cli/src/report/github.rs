//! Diagnostics as GitHub workflow commands, which become annotations of a pull request.

use std::io::{self, Write};
use std::path::Path;

use prowess_format::hidden::escape_for_display;
use prowess_format::{Diagnostic, Severity};

use super::{FileReport, text, uri};

/// Writes a command for each diagnostic of a file, with its path relative to `base` if possible.
pub(crate) fn write(out: &mut dyn Write, report: &FileReport<'_>, base: &Path) -> io::Result<()> {
    let file = escape_property(&escape_for_display(&uri::relative_path(report.path, base)));
    for diagnostic in report.diagnostics {
        writeln!(out, "{}", command(&file, diagnostic))?;
    }
    report.other_files.iter().try_for_each(|file| write(out, &report.for_other_file(file), base))
}

fn command(file: &str, diagnostic: &Diagnostic) -> String {
    let command = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let location = diagnostic
        .location
        .map_or_else(String::new, |location| format!(",line={},col={}", location.line, location.column));
    let title = escape_property(diagnostic.code.as_str());
    let message = escape_message(&text::message_and_help(diagnostic));
    format!("::{command} file={file}{location},title={title}::{message}")
}

/// Escapes the message of a command, so that it cannot start a new line.
fn escape_message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command, so that it can neither start a new line nor end the property.
fn escape_property(text: &str) -> String {
    escape_message(text).replace(':', "%3A").replace(',', "%2C")
}
