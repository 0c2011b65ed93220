//! Writes the problems that checks and audits find, in five formats.
//!
//! Text from skills is untrusted: every format escapes control characters, escape sequences and hidden Unicode.
//!
//! | module | subject |
//! |---|---|
//! | [`human`] | human-readable text with marked source lines |
//! | [`json`] | `check --format json`, and the diagnostics inside `list --json` |
//! | [`sarif`] | SARIF 2.1.0, for code scanning |
//! | [`github`] | workflow commands, for annotations in a pull request |
//! | [`junit`] | JUnit XML, for CI systems |
//! | [`problem`] | problems of checks and audits, for the formats of other tools |
//! | [`help_uri`] | links to the documentation |
//! | [`excerpt`] | source lines of a diagnostic |
//! | [`text`] | escaping and measuring text |
//! | [`uri`] | relative paths and URI references |

mod excerpt;
pub(crate) mod github;
pub(crate) mod help_uri;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod problem;
pub(crate) mod sarif;
mod text;
pub(crate) mod uri;

#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::path::Path;

use prowess::FileDiagnostic;
use prowess_format::{Diagnostic, Severity};
use serde::Serialize;

pub(crate) use human::ColorMode;
pub(crate) use prowess_tools::json::DiagnosticJson;

/// The diagnostics of a skill.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileReport<'a> {
    /// Its `SKILL.md`, or its directory if there is none.
    pub path: &'a Path,
    /// Its name, if it could be read.
    pub name: Option<&'a str>,
    /// Whether it loads under the current rules.
    pub valid: bool,
    /// The diagnostics of `path`.
    pub diagnostics: &'a [Diagnostic],
    /// The diagnostics of other files of the skill.
    pub other_files: &'a [FileDiagnostic],
}

impl<'a> FileReport<'a> {
    /// Returns the report for another file of the skill.
    fn for_other_file(&self, file: &'a FileDiagnostic) -> Self {
        let diagnostics = std::slice::from_ref(&file.diagnostic);
        Self { path: &file.path, diagnostics, other_files: &[], ..*self }
    }

    /// Returns the diagnostics of all files.
    pub(crate) fn all_diagnostics(&self) -> impl Iterator<Item = &'a Diagnostic> {
        self.diagnostics.iter().chain(self.other_files.iter().map(|file| &file.diagnostic))
    }
}

/// The totals of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct CheckSummary {
    /// The number of checked skills.
    pub checked: usize,
    /// The number of valid skills.
    pub valid: usize,
    /// The number of errors.
    pub errors: usize,
    /// The number of warnings.
    pub warnings: usize,
    /// The number of problems that were fixed.
    #[serde(skip_serializing_if = "is_zero")]
    pub fixed: usize,
    /// The number of diagnostics that are ignored.
    #[serde(skip_serializing_if = "is_zero")]
    pub ignored: usize,
    /// The number of diagnostics in the baseline.
    #[serde(skip_serializing_if = "is_zero")]
    pub known: usize,
    /// The number of checked files of plugins and marketplaces, other than skills.
    #[serde(skip_serializing_if = "is_zero")]
    pub plugin_files: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl CheckSummary {
    /// Counts the reports.
    pub(crate) fn from_reports(reports: &[FileReport<'_>]) -> Self {
        let mut summary = Self::default();
        for report in reports {
            summary.checked += 1;
            summary.valid += usize::from(report.valid);
            summary.count_problems(report);
        }
        summary
    }

    /// Adds the reports on files of plugins.
    pub(crate) fn with_plugin_files(mut self, files: &[FileReport<'_>]) -> Self {
        self.plugin_files = files.len();
        files.iter().for_each(|report| self.count_problems(report));
        self
    }

    fn count_problems(&mut self, report: &FileReport<'_>) {
        for diagnostic in report.all_diagnostics() {
            match diagnostic.severity {
                Severity::Error => self.errors += 1,
                Severity::Warning => self.warnings += 1,
                Severity::Info => {}
            }
        }
    }
}

/// A function that reads a file again to show its lines. It limits the number of bytes.
pub(crate) type SourceReader<'s> = dyn Fn(&Path) -> Option<Vec<u8>> + 's;

/// Writes the diagnostics of a file as human-readable text, with its path unchanged.
pub(crate) fn write_human(
    out: &mut dyn Write,
    path: &Path,
    diagnostics: &[Diagnostic],
    sources: &SourceReader<'_>,
    colour: ColorMode,
) -> io::Result<()> {
    let report = FileReport { path, name: None, valid: false, diagnostics, other_files: &[] };
    human::write(out, &report, sources, Path::new(""), colour)
}

/// Reads the file of a report if any of its diagnostics has a location.
fn read_report_source(report: &FileReport<'_>, sources: &SourceReader<'_>) -> Option<Vec<u8>> {
    let has_location = report.diagnostics.iter().any(|diagnostic| diagnostic.location.is_some());
    if has_location { sources(report.path) } else { None }
}

/// Returns a number with a noun in singular or plural.
pub(crate) fn pluralize(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
