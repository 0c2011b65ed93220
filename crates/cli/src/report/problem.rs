//! Problems of checks and audits, as formats for other tools show them.

use std::path::Path;

use prowess::check::{PassedOverReason, PassedOverSkill};
use prowess_format::{Diagnostic, Severity};

use super::{FileReport, text};

/// How serious a problem is, in the levels that other tools know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProblemLevel {
    Note,
    Warning,
    Error,
}

impl From<Severity> for ProblemLevel {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Info => Self::Note,
            Severity::Warning => Self::Warning,
            Severity::Error => Self::Error,
        }
    }
}

/// A diagnostic or a finding.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pub(crate) level: ProblemLevel,
    /// The severity in the words of the command.
    pub(crate) severity: &'a str,
    /// The code of the diagnostic or the rule.
    pub(crate) code: &'a str,
    pub(crate) path: &'a Path,
    /// The line and the column, unless it concerns the whole file.
    pub(crate) position: Option<(u32, u32)>,
    /// The escaped message, and the help.
    pub(crate) text: String,
}

/// A skill and its problems.
#[derive(Debug)]
pub(crate) struct SkillProblems<'a> {
    /// Its `SKILL.md` or its directory.
    pub(crate) path: &'a Path,
    pub(crate) problems: Vec<Problem<'a>>,
    /// The least level that makes the command fail.
    pub(crate) fails_from: ProblemLevel,
}

impl<'a> FileReport<'a> {
    /// Returns all diagnostics of the skill.
    pub(crate) fn problems(&self) -> Vec<Problem<'a>> {
        let own = self.diagnostics.iter().map(|diagnostic| problem(self.path, diagnostic));
        let others = self.other_files.iter().map(|file| problem(&file.path, &file.diagnostic));
        own.chain(others).collect()
    }
}

fn problem<'a>(path: &'a Path, diagnostic: &'a Diagnostic) -> Problem<'a> {
    Problem {
        level: diagnostic.severity.into(),
        severity: diagnostic.severity.as_str(),
        code: diagnostic.code.as_str(),
        path,
        position: diagnostic.location.map(|location| (location.line, location.column)),
        text: text::message_and_help(diagnostic),
    }
}

/// Says why a `SKILL.md` was not read.
pub(crate) fn passed_over_text(skill: &PassedOverSkill) -> &'static str {
    match skill.reason {
        PassedOverReason::Dependency => "skipped: it is in a directory of dependencies",
        PassedOverReason::Symlink => "skipped: it is behind a symlink to a directory",
        PassedOverReason::Nested => "skipped: it is inside another skill",
    }
}
