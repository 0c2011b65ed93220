//! Printers for diagnostics: one for people, three for programs.
//!
//! Text from skills is untrusted. Whatever the format, control characters, escape sequences and hidden Unicode
//! leave here escaped, never raw.
//!
//! | module | subject |
//! |---|---|
//! | [`human`] | the offending line with a marker, for people |
//! | [`json`] | `check --format json`, and the diagnostics inside `list --json` |
//! | [`sarif`] | SARIF 2.1.0, for code scanning |
//! | [`github`] | workflow commands, for annotations in a pull request |
//! | [`excerpt`] | the few lines of a file that a diagnostic is about |
//! | [`text`] | what may be shown of a text, and how wide it is |
//! | [`uri`] | paths as other programs want them |

mod excerpt;
pub(crate) mod github;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod sarif;
mod text;
pub(crate) mod uri;

#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::path::Path;

use prowess::Located;
use prowess_format::{Diagnostic, Severity};
use serde::Serialize;

pub(crate) use human::Colour;
pub(crate) use prowess_tools::shapes::DiagnosticJson;

/// What was found out about one skill's file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileReport<'a> {
    /// The file, or the folder where there is no file.
    pub path: &'a Path,
    /// The skill's name, where it could be read.
    pub name: Option<&'a str>,
    /// Whether it loads under the rules in force.
    pub valid: bool,
    /// All there is to say about it.
    pub diagnostics: &'a [Diagnostic],
    /// What there is to say about other files of the skill, each in its place.
    pub beside: &'a [Located],
}

impl<'a> FileReport<'a> {
    /// The same about another file of the skill.
    fn of_other(&self, other: &'a Located) -> Self {
        let diagnostics = std::slice::from_ref(&other.diagnostic);
        Self { path: &other.path, diagnostics, beside: &[], ..*self }
    }

    /// Everything that is said.
    fn all(&self) -> impl Iterator<Item = &'a Diagnostic> {
        self.diagnostics.iter().chain(self.beside.iter().map(|other| &other.diagnostic))
    }
}

/// The figures of a whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Summary {
    /// How many skills were looked at.
    pub checked: usize,
    /// How many of them load.
    pub valid: usize,
    /// How many errors there are in all.
    pub errors: usize,
    /// How many warnings there are in all.
    pub warnings: usize,
}

impl Summary {
    /// Counts the reports.
    pub(crate) fn of(reports: &[FileReport<'_>]) -> Self {
        let mut summary = Self::default();
        for report in reports {
            summary.checked += 1;
            summary.valid += usize::from(report.valid);
            for diagnostic in report.all() {
                match diagnostic.severity {
                    Severity::Error => summary.errors += 1,
                    Severity::Warning => summary.warnings += 1,
                    Severity::Info => {}
                }
            }
        }
        summary
    }
}

/// Reads a file again to show lines of it; the caller bounds how much is read.
pub(crate) type Sources<'s> = dyn Fn(&Path) -> Option<Vec<u8>> + 's;

/// Prints diagnostics of one file for people, with its path as it is given.
pub(crate) fn human(
    out: &mut dyn Write,
    path: &Path,
    diagnostics: &[Diagnostic],
    sources: &Sources<'_>,
    colour: Colour,
) -> io::Result<()> {
    let report = FileReport { path, name: None, valid: false, diagnostics, beside: &[] };
    human::write(out, &report, sources, Path::new(""), colour)
}

/// The bytes of a report's file, if any of its diagnostics points into it.
fn source_of(report: &FileReport<'_>, sources: &Sources<'_>) -> Option<Vec<u8>> {
    let pointed = report.diagnostics.iter().any(|diagnostic| diagnostic.at.is_some());
    if pointed { sources(report.path) } else { None }
}

/// So many of something.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
