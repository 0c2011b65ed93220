//! From what was found to findings in words: the worst of each family on a line, and not without end.

use std::sync::OnceLock;

use regex::bytes::Regex;

use super::engine::compile;
use super::excerpt::excerpt;
use super::finding::{Finding, Severity};
use super::rule::Rule;
use super::text::{Kind, Text};

/// The most findings of one rule in one file; the last one says how many more there are.
pub(super) const EACH_MAX: usize = 10;

/// Words that teach by a bad example. That something "may seem unsafe" or "suspicious" is what malware says of itself.
const WARNS: &str = r"\b(never|don't|do\s+not|avoid|must\s+not|refuse\s+to|beware\s+of)\s+(\w+\s+){0,2}(run|execut|us(e|ing)|pip(e|ing)|past(e|ing)|do(ing)?\b|download|install|hard-?cod|commit|writ|instruct|such|this|like)|\b(malicious|attack(er)?s?|red\s+flags?)\b|\xE2\x9D\x8C|\xF0\x9F\x9A\xA9";

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
    let quoted = rule.severity > Severity::Medium && is_warned_of(raw.at, text);
    let mut message = format!("{}: {}", rule.title, rule.why);
    if let Some(note) = &raw.note {
        message = format!("{message} ({note})");
    }
    if quoted {
        message.push_str("; here it seems to be quoted as a bad example");
    }
    Finding {
        rule: rule.id,
        family: rule.family,
        severity: if quoted { Severity::Medium } else { rule.severity },
        path: text.path.to_owned(),
        line,
        column,
        message,
        excerpt: excerpt(text, raw),
        help: rule.help,
        suppressed: None,
    }
}

/// Whether the text itself warns of what stands there: before it on the line, or in the line above.
fn is_warned_of(at: usize, text: &Text<'_>) -> bool {
    let Some(warns) = warns() else { return false };
    let line = text.line_of(at);
    let (start, _) = text.line(line);
    let before = text.bytes.get(start..at).unwrap_or_default();
    let above = (0..line).rev().take(3).map(|above| text.line(above).1).find(|above| {
        let above = above.trim_ascii();
        !above.is_empty()
            && !above.starts_with(b"```")
            && !above.starts_with(b"~~~")
            && !above.starts_with(b"#!")
    });
    text.kind == Kind::Markdown
        && (warns.is_match(before) || above.is_some_and(|above| warns.is_match(above)))
}

/// The words that teach by a bad example, compiled once.
pub(super) fn warns() -> Option<&'static Regex> {
    static PATTERN: OnceLock<Option<Regex>> = OnceLock::new();
    PATTERN.get_or_init(|| compile(WARNS)).as_ref()
}

fn more(finding: &mut Finding, count: usize) {
    let kept = finding.message.find(" [and ").unwrap_or(finding.message.len());
    finding.message.truncate(kept);
    finding.message.push_str(&format!(" [and {count} more in this file]"));
}
