//! Turning matches into findings: the worst of each family on a line, up to a limit.

use prowess_format::hidden;

use super::context::{self, Context};
use super::finding::{Finding, FindingSeverity};
use super::rule::Rule;
use super::text::SourceText;

/// The maximum number of findings of one rule in one file; the last one counts the rest.
pub(super) const FINDINGS_PER_RULE_MAX: usize = 10;

/// The maximum length of an excerpt, in bytes.
const EXCERPT_MAX: usize = 160;

/// A match that is not yet a finding.
pub(super) struct RawFinding {
    pub(super) rule: &'static Rule,
    pub(super) at: usize,
    /// The part to mask in the excerpt.
    pub(super) secret: Option<(usize, usize)>,
    /// Details to add to the message of the rule.
    pub(super) note: Option<String>,
}

/// Builds the findings: the worst of each family on a line, up to a limit.
pub(super) fn build_findings(mut raw: Vec<RawFinding>, text: &SourceText<'_>) -> Vec<Finding> {
    raw.sort_by(|a, b| a.rule.id.cmp(b.rule.id).then(a.at.cmp(&b.at)));
    let mut findings: Vec<Finding> = Vec::new();
    let (mut count, mut rule) = (0, "");
    for raw in raw {
        if raw.rule.id != rule {
            (count, rule) = (0, raw.rule.id);
        }
        count += 1;
        if count > FINDINGS_PER_RULE_MAX {
            if let Some(last) = findings.last_mut() {
                set_more_count(last, count - FINDINGS_PER_RULE_MAX);
            }
            continue;
        }
        findings.push(build_finding(&raw, text));
    }
    findings.sort_by(|a, b| {
        (a.line, a.family, b.severity, a.rule, a.column)
            .cmp(&(b.line, b.family, a.severity, b.rule, b.column))
    });
    findings.dedup_by(|b, a| a.line == b.line && a.family == b.family);
    findings
}

fn build_finding(raw: &RawFinding, text: &SourceText<'_>) -> Finding {
    let rule = raw.rule;
    let (line, column) = text.position(raw.at);
    let context = match rule.severity >= FindingSeverity::Medium {
        true => context::classify(rule, raw.at, text),
        false => Context::Instruction,
    };
    let mut message = format!("{}: {}", rule.title, rule.why);
    if let Some(note) = &raw.note {
        message = format!("{message} ({note})");
    }
    match context {
        Context::Quotation => message.push_str("; it seems to be quoted as a bad example"),
        Context::Disclaimed if rule.severity == FindingSeverity::Critical => {
            message.push_str("; the warning next to it does not make it harmless");
        }
        Context::Disclaimed | Context::Instruction => {}
    }
    Finding {
        rule: rule.id,
        family: rule.family,
        severity: context.severity(rule),
        path: text.path.to_owned(),
        line,
        column,
        message,
        excerpt: excerpt(text, raw),
        help: rule.help,
        suppressed: None,
    }
}

fn set_more_count(finding: &mut Finding, count: usize) {
    let kept = finding.message.find(" [and ").unwrap_or(finding.message.len());
    finding.message.truncate(kept);
    finding.message.push_str(&format!(" [and {count} more in this file]"));
}

/// Returns the line of a finding. Only the beginning of a secret is kept, which shows its kind.
fn excerpt(text: &SourceText<'_>, raw: &RawFinding) -> String {
    let (start, line) = text.line(text.line_of(raw.at));
    let end = start + line.len();
    let from =
        if line.len() <= EXCERPT_MAX { start } else { raw.at.saturating_sub(EXCERPT_MAX / 4).max(start) };
    let until = end.min(from + EXCERPT_MAX);
    let mut excerpt = String::new();
    if from > start {
        excerpt.push('…');
    }
    match raw.secret {
        Some((key, key_end)) if key < until => {
            let kept = (key + 4).min(key_end);
            excerpt.push_str(&escaped_range(text, from, kept));
            excerpt.push('…');
            excerpt.push_str(&escaped_range(text, key_end.min(until), until));
        }
        _ => excerpt.push_str(&escaped_range(text, from, until)),
    }
    if until < end {
        excerpt.push('…');
    }
    excerpt.trim().to_owned()
}

fn escaped_range(text: &SourceText<'_>, from: usize, until: usize) -> String {
    let bytes = text.bytes.get(from..until.max(from)).unwrap_or_default();
    let lossy = String::from_utf8_lossy(bytes);
    // Drop characters that were cut in half.
    hidden::escape_for_display(lossy.trim_matches(char::REPLACEMENT_CHARACTER)).into_owned()
}
