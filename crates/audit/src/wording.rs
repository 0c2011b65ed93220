//! From what was found to findings in words: the worst of each family on a line, and not without end.

use prowess_format::hidden;

use super::context::{self, Context};
use super::finding::{Finding, Severity};
use super::rule::Rule;
use super::text::Text;

/// The most findings of one rule in one file; the last one says how many more there are.
pub(super) const EACH_MAX: usize = 10;

/// The most bytes of a line that are shown.
const WIDTH: usize = 160;

/// A finding before it is put into words.
pub(super) struct Raw {
    pub(super) rule: &'static Rule,
    pub(super) at: usize,
    /// What is masked in the excerpt.
    pub(super) key: Option<(usize, usize)>,
    /// What there is to say beyond the rule's own words.
    pub(super) note: Option<String>,
}

/// Findings of what was found: the worst of each family on a line, and not without end.
pub(super) fn findings(mut raw: Vec<Raw>, text: &Text<'_>) -> Vec<Finding> {
    raw.sort_by(|a, b| a.rule.id.cmp(b.rule.id).then(a.at.cmp(&b.at)));
    let mut findings: Vec<Finding> = Vec::new();
    let (mut counted, mut rule) = (0, "");
    for raw in raw {
        if raw.rule.id != rule {
            (counted, rule) = (0, raw.rule.id);
        }
        counted += 1;
        if counted > EACH_MAX {
            if let Some(last) = findings.last_mut() {
                more(last, counted - EACH_MAX);
            }
            continue;
        }
        findings.push(finding(&raw, text));
    }
    findings.sort_by(|a, b| {
        (a.line, a.family, b.severity, a.rule, a.column)
            .cmp(&(b.line, b.family, a.severity, b.rule, b.column))
    });
    findings.dedup_by(|b, a| a.line == b.line && a.family == b.family);
    findings
}

fn finding(raw: &Raw, text: &Text<'_>) -> Finding {
    let rule = raw.rule;
    let (line, column) = text.place(raw.at);
    let context = match rule.severity > Severity::Medium {
        true => context::of(rule, raw.at, text),
        false => Context::Instructs,
    };
    let mut message = format!("{}: {}", rule.title, rule.why);
    if let Some(note) = &raw.note {
        message = format!("{message} ({note})");
    }
    match context {
        Context::Quotes => message.push_str("; here it seems to be quoted as a bad example"),
        Context::Disclaims if rule.severity == Severity::Critical => {
            message.push_str("; there is a warning beside it, which does not make it harmless");
        }
        Context::Disclaims | Context::Instructs => {}
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

fn more(finding: &mut Finding, count: usize) {
    let kept = finding.message.find(" [and ").unwrap_or(finding.message.len());
    finding.message.truncate(kept);
    finding.message.push_str(&format!(" [and {count} more in this file]"));
}

/// The line of a finding. Of a secret only its beginning is left, which tells what kind it is.
fn excerpt(text: &Text<'_>, raw: &Raw) -> String {
    let (start, line) = text.line(text.line_of(raw.at));
    let end = start + line.len();
    let from = if line.len() <= WIDTH { start } else { raw.at.saturating_sub(WIDTH / 4).max(start) };
    let until = end.min(from + WIDTH);
    let mut shown = String::new();
    if from > start {
        shown.push('…');
    }
    match raw.key {
        Some((key, key_end)) if key < until => {
            let kept = (key + 4).min(key_end);
            shown.push_str(&clean(text, from, kept));
            shown.push('…');
            shown.push_str(&clean(text, key_end.min(until), until));
        }
        _ => shown.push_str(&clean(text, from, until)),
    }
    if until < end {
        shown.push('…');
    }
    shown.trim().to_owned()
}

fn clean(text: &Text<'_>, from: usize, until: usize) -> String {
    let bytes = text.bytes.get(from..until.max(from)).unwrap_or_default();
    let lossy = String::from_utf8_lossy(bytes);
    // A character that was cut through is left out.
    hidden::shown(lossy.trim_matches(char::REPLACEMENT_CHARACTER)).into_owned()
}
