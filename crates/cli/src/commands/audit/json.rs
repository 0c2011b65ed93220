//! The audit for programs.

use std::io;
use std::path::PathBuf;

use prowess_package::audit::{self, Finding, RULES, rules};
use serde_json::{Value, json};

use super::{Audited, Summary};
use crate::output::Output;

pub(super) fn write(
    output: &mut Output,
    audited: &[Audited],
    summary: &Summary,
    passed_over: &[PathBuf],
) -> io::Result<()> {
    let skills: Vec<_> = audited.iter().map(skill).collect();
    let mut answer = json!({"schema": 1, "rules": RULES, "skills": skills, "summary": summary});
    if !passed_over.is_empty() {
        let paths: Vec<_> = passed_over.iter().map(|path| path.to_string_lossy()).collect();
        answer["passed_over"] = json!(paths);
    }
    output.answer(&answer)
}

fn skill(skill: &Audited) -> Value {
    let findings: Vec<_> = skill.verdict.findings.iter().map(finding).collect();
    json!({
        "path": skill.folder.to_string_lossy(),
        "name": skill.name,
        "verdict": skill.verdict.as_str(),
        "findings": findings,
    })
}

fn finding(finding: &Finding) -> Value {
    let place = |number: u32| (number > 0).then_some(number);
    json!({
        "rule": finding.rule,
        "family": finding.family.as_str(),
        "severity": finding.severity.as_str(),
        "path": finding.path,
        "line": place(finding.line),
        "column": place(finding.column),
        "message": finding.message,
        "excerpt": finding.excerpt,
        "help": finding.help,
        "suppressed": finding.suppressed,
    })
}

/// All rules.
pub(super) fn all_rules(output: &mut Output) -> io::Result<()> {
    let rule = |rule: &audit::Rule| {
        json!({
            "id": rule.id,
            "family": rule.family.as_str(),
            "severity": rule.severity.as_str(),
            "title": rule.title,
            "why": rule.why,
            "help": rule.help,
        })
    };
    let list: Vec<_> = rules().map(rule).collect();
    output.answer(&json!({"schema": 1, "rules": RULES, "list": list}))
}
