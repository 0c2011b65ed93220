//! The audit in the formats of CI systems.

use std::io;
use std::path::{Path, PathBuf};

use prowess::check::PassedOverSkill;
use prowess_package::audit::{Finding, FindingSeverity};

use super::AuditedSkill;
use crate::output::{Output, clean};
use crate::report::problem::{Problem, ProblemLevel, SkillProblems};
use crate::report::{github, junit};

/// Writes the findings as GitHub workflow commands.
pub(super) fn write_github(
    output: &mut Output,
    audited: &[AuditedSkill],
    passed_over: &[PassedOverSkill],
    base: &Path,
) -> io::Result<()> {
    let located = locate(audited);
    let problems = located.iter().flat_map(|(_, findings)| {
        findings.iter().map(|(path, finding)| problem(path, finding, level(finding.severity)))
    });
    github::write(output.out(), problems, passed_over, base)
}

/// Writes the findings as JUnit XML. Findings of at least `threshold` are failures.
pub(super) fn write_junit(
    output: &mut Output,
    audited: &[AuditedSkill],
    passed_over: &[PassedOverSkill],
    threshold: FindingSeverity,
    base: &Path,
) -> io::Result<()> {
    let located = locate(audited);
    // The levels of other tools are coarser than the severities.
    let fails = |finding: &Finding| match finding.severity >= threshold {
        true => ProblemLevel::Error,
        false => ProblemLevel::Note,
    };
    let cases: Vec<_> = located
        .iter()
        .map(|(dir, findings)| SkillProblems {
            path: dir,
            problems: findings.iter().map(|(path, finding)| problem(path, finding, fails(finding))).collect(),
            fails_from: ProblemLevel::Error,
        })
        .collect();
    junit::write(output.out(), "audit", &cases, passed_over, base)
}

/// Returns the findings that are not suppressed, with the paths of their files.
fn locate(audited: &[AuditedSkill]) -> Vec<(&Path, Vec<(PathBuf, &Finding)>)> {
    audited
        .iter()
        .map(|skill| {
            let located =
                skill.verdict.unsuppressed().map(|finding| (skill.dir.join(&finding.path), finding));
            (skill.dir.as_path(), located.collect())
        })
        .collect()
}

fn problem<'a>(path: &'a Path, finding: &'a Finding, level: ProblemLevel) -> Problem<'a> {
    Problem {
        level,
        severity: finding.severity.as_str(),
        code: finding.rule,
        path,
        position: (finding.line > 0).then_some((finding.line, finding.column)),
        text: format!("{}\nhelp: {}", clean(&finding.message), finding.help),
    }
}

fn level(severity: FindingSeverity) -> ProblemLevel {
    match severity {
        FindingSeverity::Low => ProblemLevel::Note,
        FindingSeverity::Medium => ProblemLevel::Warning,
        FindingSeverity::High | FindingSeverity::Critical => ProblemLevel::Error,
    }
}
