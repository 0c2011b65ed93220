//! The audit as SARIF 2.1.0.

use std::io;
use std::path::Path;

use prowess_package::audit::{Finding, Severity, rules};
use serde_json::{Value, json};

use super::Audited;
use crate::output::Output;
use crate::report::{sarif, uri};

pub(super) fn write(output: &mut Output, audited: &[Audited], base: &Path) -> io::Result<()> {
    let rule = |rule: &prowess_package::audit::Rule| {
        json!({
            "id": rule.id,
            "shortDescription": {"text": rule.title},
            "fullDescription": {"text": format!("{}: {}", rule.title, rule.why)},
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
    output.answer(&sarif::log(&rules, &results))
}

fn result(skill: &Audited, finding: &Finding, base: &Path) -> Value {
    let rule = (finding.rule, rules().position(|rule| rule.id == finding.rule));
    let text = format!("{}\nhelp: {}", finding.message, finding.help);
    let uri = uri::reference(&skill.folder.join(&finding.path), base);
    let region = json!({"startLine": finding.line, "startColumn": finding.column});
    let region = (finding.line > 0).then_some(region);
    let mut result = sarif::result(rule, level(finding.severity), &text, &uri, region);
    if let Some(reason) = &finding.suppressed {
        result["suppressions"] = json!([{"kind": "external", "justification": reason}]);
    }
    result
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "note",
        Severity::Medium => "warning",
        Severity::High | Severity::Critical => "error",
    }
}

/// What code scanning services sort by, from 0 to 10.
fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "2.0",
        Severity::Medium => "5.0",
        Severity::High => "8.0",
        Severity::Critical => "9.5",
    }
}
