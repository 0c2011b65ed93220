//! The audit as SARIF 2.1.0.

use std::io;
use std::path::Path;

use prowess::check::PassedOverSkill;
use prowess_package::audit::{Finding, FindingSeverity, rules};
use serde_json::{Value, json};

use super::AuditedSkill;
use crate::output::Output;
use crate::report::help_uri::rule_uri;
use crate::report::{sarif, uri};

pub(super) fn write(
    output: &mut Output,
    audited: &[AuditedSkill],
    passed_over: &[PassedOverSkill],
    base: &Path,
) -> io::Result<()> {
    let rule = |rule: &prowess_package::audit::Rule| {
        json!({
            "id": rule.id,
            "helpUri": rule_uri(rule),
            "shortDescription": {"text": rule.title},
            "fullDescription": {"text": format!("{}: {}", rule.title, rule.reason)},
            "help": {"text": rule.help},
            "defaultConfiguration": {"level": level(rule.severity)},
            "properties": {"tags": ["security", rule.family.as_str()], "security-severity": score(rule.severity)},
        })
    };
    let rules: Vec<_> = rules().map(rule).collect();
    let results: Vec<_> = audited
        .iter()
        .flat_map(|skill| skill.verdict.findings.iter().map(move |finding| result(skill, finding, base)))
        .collect();
    output.write_json(&sarif::log(&rules, &results, passed_over, base))
}

fn result(skill: &AuditedSkill, finding: &Finding, base: &Path) -> Value {
    let rule = (finding.rule, rules().position(|rule| rule.id == finding.rule));
    let text = format!("{}\nhelp: {}", finding.message, finding.help);
    let uri = uri::uri_reference(&skill.dir.join(&finding.path), base);
    let region = json!({"startLine": finding.line, "startColumn": finding.column});
    let region = (finding.line > 0).then_some(region);
    let mut result = sarif::result(rule, level(finding.severity), &text, &uri, region);
    if let Some(reason) = &finding.suppressed {
        result["suppressions"] = json!([{"kind": "external", "justification": reason}]);
    }
    result
}

fn level(severity: FindingSeverity) -> &'static str {
    match severity {
        FindingSeverity::Low => "note",
        FindingSeverity::Medium => "warning",
        FindingSeverity::High | FindingSeverity::Critical => "error",
    }
}

/// Returns the score that code scanning services sort by, from 0 to 10.
fn score(severity: FindingSeverity) -> &'static str {
    match severity {
        FindingSeverity::Low => "2.0",
        FindingSeverity::Medium => "5.0",
        FindingSeverity::High => "8.0",
        FindingSeverity::Critical => "9.5",
    }
}
