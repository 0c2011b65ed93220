//! Turning matches into findings: the worst of each family on a line, up to a limit.

use std::cmp::Reverse;

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
    pub(super) offset: usize,
    /// The part to mask in the excerpt.
    pub(super) secret: Option<(usize, usize)>,
    /// Details to add to the message of the rule.
    pub(super) note: Option<String>,
}

/// The maximum number of matches of one rule in one file whose context is determined. Further ones count as instructions.
const CLASSIFIED_MAX: usize = 1_000;

/// Builds the findings: the worst of each rule, up to a limit, and of those the worst of each family on a line.
pub(super) fn build_findings(mut raw: Vec<RawFinding>, text: &SourceText<'_>) -> Vec<Finding> {
    raw.sort_by(|a, b| a.rule.id.cmp(b.rule.id).then(a.offset.cmp(&b.offset)));
    let mut secrets: Vec<(usize, usize)> = raw.iter().filter_map(|raw| raw.secret).collect();
    secrets.sort_unstable();
    let mut findings: Vec<Finding> = Vec::new();
    for matches in raw.chunk_by(|a, b| a.rule.id == b.rule.id) {
        let mut reported: Vec<(&RawFinding, Context)> = matches
            .iter()
            .enumerate()
            .map(|(index, raw)| {
                (raw, if index < CLASSIFIED_MAX { context(raw, text) } else { Context::Instruction })
            })
            .collect();
        // Keep the worst, so that harmless quotations cannot displace an instruction.
        reported.sort_by_key(|(raw, context)| Reverse(context.severity(raw.rule)));
        reported.truncate(FINDINGS_PER_RULE_MAX);
        reported.sort_by_key(|(raw, _)| raw.offset);
        let omitted = matches.len() - reported.len();
        findings
            .extend(reported.into_iter().map(|(raw, context)| build_finding(raw, context, text, &secrets)));
        if let Some(last) = findings.last_mut().filter(|_| omitted > 0) {
            last.message.push_str(&format!(" [and {omitted} more in this file]"));
        }
    }
    findings.sort_by(|a, b| {
        (a.line, a.family, b.severity, a.rule, a.column)
            .cmp(&(b.line, b.family, a.severity, b.rule, b.column))
    });
    findings.dedup_by(|other, first| {
        let is_covered = first.line == other.line && first.family == other.family;
        if is_covered && first.rule != other.rule {
            first.covered.push(other.clone());
        }
        is_covered
    });
    findings
}

fn context(raw: &RawFinding, text: &SourceText<'_>) -> Context {
    match raw.rule.severity >= FindingSeverity::Medium {
        true => context::classify(raw.rule, raw.offset, text),
        false => Context::Instruction,
    }
}

fn build_finding(
    raw: &RawFinding,
    context: Context,
    text: &SourceText<'_>,
    secrets: &[(usize, usize)],
) -> Finding {
    let rule = raw.rule;
    let (line, column) = text.position(raw.offset);
    let mut message = format!("{}: {}", rule.title, rule.reason);
    if let Some(note) = &raw.note {
        message = format!("{message} ({note})");
    }
    match context {
        Context::Quotation => message.push_str("; it seems to be quoted as a bad example"),
        Context::Disclaimed if rule.severity == FindingSeverity::Critical => {
            message.push_str("; the warning next to it does not make it harmless");
        }
        Context::Mention => message.push_str("; it is only mentioned, or shown to the reader"),
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
        excerpt: excerpt(text, raw.offset, secrets),
        help: rule.help,
        suppressed: None,
        covered: Vec::new(),
    }
}

/// Returns the line at an offset. Only the beginning of each secret is kept, which shows its kind.
fn excerpt(text: &SourceText<'_>, offset: usize, secrets: &[(usize, usize)]) -> String {
    let (start, line) = text.line(text.line_of(offset));
    let end = start + line.len();
    let from =
        if line.len() <= EXCERPT_MAX { start } else { offset.saturating_sub(EXCERPT_MAX / 4).max(start) };
    let excerpt_end = end.min(from + EXCERPT_MAX);
    let mut excerpt = String::new();
    if from > start {
        excerpt.push('…');
    }
    let mut shown = from;
    for (key, key_end) in secrets.iter().filter(|(key, key_end)| *key < excerpt_end && *key_end > from) {
        // Two rules may find the same secret.
        if *key >= shown {
            excerpt.push_str(&escaped_range(text, shown, (key + 4).min(*key_end).min(excerpt_end)));
        }
        if *key_end > shown && !excerpt.ends_with('…') {
            excerpt.push('…');
        }
        shown = shown.max(*key_end).min(excerpt_end);
    }
    excerpt.push_str(&escaped_range(text, shown, excerpt_end));
    if excerpt_end < end {
        excerpt.push('…');
    }
    excerpt.trim().to_owned()
}

fn escaped_range(text: &SourceText<'_>, from: usize, end: usize) -> String {
    let bytes = text.bytes.get(from..end.max(from)).unwrap_or_default();
    let lossy = String::from_utf8_lossy(bytes);
    // Drop characters that were cut in half.
    hidden::escape_for_display(lossy.trim_matches(char::REPLACEMENT_CHARACTER)).into_owned()
}
