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
    let driver = json!({"name": "prowess", "version": env!("CARGO_PKG_VERSION"), "rules": rules});
    let run = json!({"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results});
    output.answer(&json!({"$schema": sarif::SCHEMA, "version": "2.1.0", "runs": [run]}))
}

fn result(skill: &Audited, finding: &Finding, base: &Path) -> Value {
    let mut place =
        json!({"artifactLocation": {"uri": uri::reference(&skill.folder.join(&finding.path), base)}});
    if finding.line > 0 {
        place["region"] = json!({"startLine": finding.line, "startColumn": finding.column});
    }
    // Viewers make links of [text](target); a skill may not put one here.
    let text = format!("{}\nhelp: {}", finding.message, finding.help).replace("](", "] (");
    let mut result = json!({
        "ruleId": finding.rule,
        "ruleIndex": rules().position(|rule| rule.id == finding.rule),
        "level": level(finding.severity),
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    });
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
