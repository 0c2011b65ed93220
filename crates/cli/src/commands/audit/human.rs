//! The audit as human-readable text.

use std::io;
use std::path::Path;

use prowess_package::audit::{Finding, FindingSeverity, RULES_VERSION, rule, rules};

use super::{AuditSummary, AuditedSkill};
use crate::columns;
use crate::output::{Output, TextStyle, clean, clean_path, pluralize, truncate};

/// The limits of an audit.
const LIMITS: &str =
    "The audit finds only what its rules describe. A clean result does not mean that a skill is safe.";

pub(super) fn write(
    output: &mut Output,
    audited: &[AuditedSkill],
    summary: &AuditSummary,
    base: &Path,
) -> io::Result<()> {
    for skill in audited {
        for finding in &skill.verdict.findings {
            print_finding(output, skill, finding, base)?;
        }
    }
    let figures = [
        (summary.critical, FindingSeverity::Critical),
        (summary.high, FindingSeverity::High),
        (summary.medium, FindingSeverity::Medium),
        (summary.low, FindingSeverity::Low),
    ];
    let mut counts: Vec<_> = figures
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, severity)| format!("{count} {severity}"))
        .collect();
    if counts.is_empty() {
        counts.push("no findings".to_owned());
    }
    if summary.suppressed > 0 {
        counts.push(format!("{} suppressed", summary.suppressed));
    }
    output.line(format!(
        "{} audited (rules {}): {}",
        pluralize(summary.audited, "skill"),
        RULES_VERSION,
        counts.join(", ")
    ))?;
    output.line(LIMITS)
}

/// Prints location, severity, rule and title of a finding, then the source line, the reason and the help.
fn print_finding(
    output: &mut Output,
    skill: &AuditedSkill,
    finding: &Finding,
    base: &Path,
) -> io::Result<()> {
    let path = skill.dir.join(&finding.path);
    let path = clean_path(path.strip_prefix(base).unwrap_or(&path));
    let location = match finding.line {
        0 => path,
        line => format!("{path}:{line}:{}", finding.column),
    };
    let severity = match &finding.suppressed {
        Some(_) => output.styled_text(TextStyle::Faint, "suppressed"),
        None => output.styled_text(tone(finding.severity), finding.severity.as_str()),
    };
    let (title, reason) = split_message(finding);
    let location = output.styled_text(TextStyle::Strong, &location);
    output.line(format!("{location} {severity} {}  {}", finding.rule, clean(title)))?;
    if !finding.excerpt.is_empty() {
        let width = output.width().saturating_sub(6);
        let line = output.styled_text(TextStyle::Faint, &truncate(&finding.excerpt, width));
        output.line(format!("    | {line}"))?;
    }
    print_labelled(output, "why", reason)?;
    match &finding.suppressed {
        Some(reason) => print_labelled(output, "reason", reason)?,
        None => print_labelled(output, "help", finding.help)?,
    }
    output.line("")
}

/// Splits the message of a finding into title and reason.
fn split_message(finding: &Finding) -> (&str, &str) {
    let title = rule(finding.rule).map_or("", |rule| rule.title);
    let reason = finding.message.strip_prefix(title).and_then(|rest| rest.strip_prefix(": "));
    reason.map_or((finding.message.as_str(), ""), |reason| (title, reason))
}

/// Prints a labelled and wrapped text.
fn print_labelled(output: &mut Output, label: &str, text: &str) -> io::Result<()> {
    let column = 4 + 8;
    for (number, line) in output.wrap(&clean(text), column).iter().enumerate() {
        let label = if number == 0 { format!("{label}:") } else { String::new() };
        output.line(format!("    {label:8}{line}"))?;
    }
    Ok(())
}

fn tone(severity: FindingSeverity) -> TextStyle {
    match severity {
        FindingSeverity::Low => TextStyle::Faint,
        FindingSeverity::Medium => TextStyle::Caution,
        FindingSeverity::High | FindingSeverity::Critical => TextStyle::Bad,
    }
}

/// Prints all rules, one per line.
pub(super) fn print_rules(output: &mut Output) -> io::Result<()> {
    for rule in rules() {
        let severity = columns::pad(rule.severity.as_str(), 8);
        let severity = output.styled_text(tone(rule.severity), &severity);
        let family = columns::pad(rule.family.as_str(), 11);
        output.line(format!("{}  {severity}  {family}  {}", rule.id, rule.title))?;
    }
    output.line("")?;
    output.line(format!("{} (version {}). {LIMITS}", pluralize(rules().count(), "rule"), RULES_VERSION))
}
