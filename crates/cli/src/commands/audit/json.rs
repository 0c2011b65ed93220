//! The audit as JSON.

use std::io;

use prowess_package::audit::{self, Finding, RULES_VERSION, rules};
use serde_json::{Value, json};

use super::{AuditSummary, AuditedSkill};
use crate::commands::passed_over::PassedOver;
use crate::output::Output;

pub(super) fn write(
    output: &mut Output,
    audited: &[AuditedSkill],
    summary: &AuditSummary,
    passed_over: &PassedOver,
    baseline: Option<Value>,
) -> io::Result<()> {
    let skills: Vec<_> = audited.iter().map(skill).collect();
    let mut value = json!({"schema": 1, "rules": RULES_VERSION, "skills": skills, "summary": summary});
    let lists = [("passed_over", passed_over.dirs_json()), ("passed_over_skills", passed_over.skills_json())];
    for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        value[key] = json!(list);
    }
    if let Some(baseline) = baseline {
        value["baseline"] = baseline;
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
