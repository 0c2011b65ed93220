//! The audit as JSON.

use std::io;
use std::path::PathBuf;

use prowess_package::audit::{self, Finding, RULES_VERSION, rules};
use serde_json::{Value, json};

use super::{AuditSummary, AuditedSkill};
use crate::output::Output;

pub(super) fn write(
    output: &mut Output,
    audited: &[AuditedSkill],
    summary: &AuditSummary,
    skipped: &[PathBuf],
) -> io::Result<()> {
    let skills: Vec<_> = audited.iter().map(skill).collect();
    let mut value = json!({"schema": 1, "rules": RULES_VERSION, "skills": skills, "summary": summary});
    if !skipped.is_empty() {
        let paths: Vec<_> = skipped.iter().map(|path| path.to_string_lossy()).collect();
        value["passed_over"] = json!(paths);
    }
    output.write_json(&value)
}

fn skill(skill: &AuditedSkill) -> Value {
    let findings: Vec<_> = skill.verdict.findings.iter().map(finding).collect();
    json!({
        "path": skill.dir.to_string_lossy(),
        "name": skill.name,
        "verdict": skill.verdict.as_str(),
        "findings": findings,
    })
}

fn finding(finding: &Finding) -> Value {
    let non_zero = |number: u32| (number > 0).then_some(number);
    json!({
        "rule": finding.rule,
        "family": finding.family.as_str(),
        "severity": finding.severity.as_str(),
        "path": finding.path,
        "line": non_zero(finding.line),
        "column": non_zero(finding.column),
        "message": finding.message,
        "excerpt": finding.excerpt,
        "help": finding.help,
        "suppressed": finding.suppressed,
    })
}

pub(super) fn write_rules(output: &mut Output) -> io::Result<()> {
    let rule = |rule: &audit::Rule| {
        json!({
            "id": rule.id,
            "family": rule.family.as_str(),
            "severity": rule.severity.as_str(),
            "title": rule.title,
            "why": rule.reason,
            "help": rule.help,
        })
    };
    let list: Vec<_> = rules().map(rule).collect();
    output.write_json(&json!({"schema": 1, "rules": RULES_VERSION, "list": list}))
}
