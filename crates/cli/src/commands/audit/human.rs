//! The audit for people.

use std::io;
use std::path::Path;

use prowess_package::audit::{Finding, RULES, Severity, rule, rules};

use super::{Audited, Summary};
use crate::columns;
use crate::output::{Output, Tone, clean, clean_path, counted, cut};

/// What must not be forgotten about any audit.
const HONEST: &str = "It catches what its rules describe; that it finds nothing does not make a skill good.";

pub(super) fn write(
    output: &mut Output,
    audited: &[Audited],
    summary: &Summary,
    base: &Path,
) -> io::Result<()> {
    for skill in audited {
        for finding in &skill.verdict.findings {
            one(output, skill, finding, base)?;
        }
    }
    let figures = [
        (summary.critical, Severity::Critical),
        (summary.high, Severity::High),
        (summary.medium, Severity::Medium),
        (summary.low, Severity::Low),
    ];
    let mut said: Vec<_> = figures
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, severity)| format!("{count} {severity}"))
        .collect();
    if said.is_empty() {
        said.push("nothing found".to_owned());
    }
    if summary.suppressed > 0 {
        said.push(format!("{} suppressed", summary.suppressed));
    }
    output.line(format!(
        "{} audited with the rules of {RULES}: {}",
        counted(summary.audited, "skill"),
        said.join(", ")
    ))?;
    output.line(HONEST)
}

/// Place, severity, rule and what it is; below it the line, and what to do.
fn one(output: &mut Output, skill: &Audited, finding: &Finding, base: &Path) -> io::Result<()> {
    let path = skill.folder.join(&finding.path);
    let path = clean_path(path.strip_prefix(base).unwrap_or(&path));
    let place = match finding.line {
        0 => path,
        line => format!("{path}:{line}:{}", finding.column),
    };
    let severity = match &finding.suppressed {
        Some(_) => output.tone(Tone::Faint, "suppressed"),
        None => output.tone(tone(finding.severity), finding.severity.as_str()),
    };
    let (title, why) = said(finding);
    let place = output.tone(Tone::Strong, &place);
    output.line(format!("{place} {severity} {}  {}", finding.rule, clean(title)))?;
    if !finding.excerpt.is_empty() {
        let width = output.width().saturating_sub(6);
        let line = output.tone(Tone::Faint, &cut(&finding.excerpt, width));
        output.line(format!("    | {line}"))?;
    }
    labelled(output, "why", why)?;
    match &finding.suppressed {
        Some(reason) => labelled(output, "reason", reason)?,
        None => labelled(output, "help", finding.help)?,
    }
    output.line("")
}

/// What it is, and why it matters.
fn said(finding: &Finding) -> (&str, &str) {
    let title = rule(finding.rule).map_or("", |rule| rule.title);
    let why = finding.message.strip_prefix(title).and_then(|rest| rest.strip_prefix(": "));
    why.map_or((finding.message.as_str(), ""), |why| (title, why))
}

/// A text under the line it is about, with its lines below one another.
fn labelled(output: &mut Output, label: &str, text: &str) -> io::Result<()> {
    let column = 4 + 8;
    for (number, line) in output.wrapped(&clean(text), column).iter().enumerate() {
        let label = if number == 0 { format!("{label}:") } else { String::new() };
        output.line(format!("    {label:8}{line}"))?;
    }
    Ok(())
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Low => Tone::Faint,
        Severity::Medium => Tone::Caution,
        Severity::High | Severity::Critical => Tone::Bad,
    }
}

/// All rules, one on a line.
pub(super) fn all_rules(output: &mut Output) -> io::Result<()> {
    for rule in rules() {
        let severity = columns::pad(rule.severity.as_str(), 8);
        let severity = output.tone(tone(rule.severity), &severity);
        let family = columns::pad(rule.family.as_str(), 11);
        output.line(format!("{}  {severity}  {family}  {}", rule.id, rule.title))?;
    }
    output.line("")?;
    output.line(format!("{} of {RULES}. {HONEST}", counted(rules().count(), "rule")))
}
