//! Suppressions: findings that the user accepted, each with a reason.
//!
//! ```toml
//! [[suppress]]
//! rule = "PA103"
//! skill = "deploy"              # only in this skill; optional
//! path = "scripts/install.sh"   # only in this file; optional
//! reason = "our own installer, reviewed on 3 May"
//! ```
//!
//! The file belongs to the user or to a trusted project. Files in a skill's own directory are never consulted:
//! a skill cannot vouch for itself.

use std::sync::atomic::{AtomicBool, Ordering};

use prowess_format::{Location, Span};
use toml::de::{DeTable, DeValue};

use super::finding::{Finding, Verdict};
use super::rules::rule;

/// An accepted finding.
#[derive(Debug)]
pub struct Suppression {
    /// The code of the rule.
    pub rule: String,
    /// The name of the skill; `None` for any skill.
    pub skill: Option<String>,
    /// The path in the skill; `None` for any file.
    pub path: Option<String>,
    /// Why the finding is acceptable.
    pub reason: String,
    /// The line of the entry in the file.
    pub line: u32,
    used: AtomicBool,
}

/// The accepted findings of one file.
#[derive(Debug, Default)]
pub struct Suppressions {
    entries: Vec<Suppression>,
}

/// Why a suppression file cannot be used. The whole file is ignored then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct SuppressionError {
    /// The line of the error.
    pub line: u32,
    /// The problem.
    pub message: String,
}

impl Suppressions {
    /// Parses a file.
    pub fn parse(text: &str) -> Result<Self, SuppressionError> {
        let error_at = |offset: usize, message: String| SuppressionError {
            line: Location::from_span(text.as_bytes(), Span::new(offset, offset)).line,
            message,
        };
        let table = DeTable::parse(text).map_err(|error| {
            error_at(error.span().map_or(0, |span| span.start), error.message().to_owned())
        })?;
        let mut list = Vec::new();
        for (key, value) in table.get_ref() {
            let offset = key.span().start;
            let DeValue::Array(entries) = value.get_ref() else {
                return Err(error_at(
                    offset,
                    format!("{} must be an array of tables: [[suppress]]", key.get_ref()),
                ));
            };
            if key.get_ref() != "suppress" {
                return Err(error_at(offset, format!("unknown key {}; use suppress", key.get_ref())));
            }
            for entry in entries.iter() {
                let offset = entry.span().start;
                let DeValue::Table(entry) = entry.get_ref() else {
                    return Err(error_at(offset, "an entry must be a table with rule and reason".to_owned()));
                };
                let line = Location::from_span(text.as_bytes(), Span::new(offset, offset)).line;
                list.push(parse_entry(entry, line).map_err(|message| error_at(offset, message))?);
            }
        }
        Ok(Self { entries: list })
    }

    /// Marks the suppressed findings of a skill. An equally severe finding of another rule on the same line counts
    /// instead.
    pub fn apply(&self, skill: &str, verdict: &mut Verdict) {
        let mut index = 0;
        while let Some(finding) = verdict.findings.get_mut(index) {
            index += 1;
            let suppression = match finding.suppressed {
                Some(_) => None,
                None => self.find(skill, finding),
            };
            let Some(suppression) = suppression else { continue };
            suppression.used.store(true, Ordering::Relaxed);
            finding.suppressed = Some(suppression.reason.clone());
            let (severity, covered) = (finding.severity, std::mem::take(&mut finding.covered));
            // They are sorted by severity. Less severe ones are usually about the same command.
            let next = covered.split_first().filter(|(next, _)| next.severity >= severity);
            let Some((next, rest)) = next else { continue };
            let next = Finding { covered: rest.to_vec(), ..next.clone() };
            verdict.findings.insert(index, next);
        }
    }

    fn find(&self, skill: &str, finding: &Finding) -> Option<&Suppression> {
        self.entries.iter().find(|suppression| {
            suppression.rule == finding.rule
                && suppression.skill.as_deref().is_none_or(|name| name == skill)
                && suppression.path.as_deref().is_none_or(|path| path == finding.path)
        })
    }

    /// Returns the suppressions that matched no finding and are obsolete.
    pub fn unused(&self) -> impl Iterator<Item = &Suppression> {
        self.entries.iter().filter(|suppression| !suppression.used.load(Ordering::Relaxed))
    }

    /// Returns `true` if there are no suppressions.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

fn parse_entry(entry: &DeTable<'_>, line: u32) -> Result<Suppression, String> {
    let mut suppression = Suppression {
        rule: String::new(),
        skill: None,
        path: None,
        reason: String::new(),
        line,
        used: AtomicBool::new(false),
    };
    for (key, value) in entry {
        let key = key.get_ref().as_ref();
        let DeValue::String(text) = value.get_ref() else { return Err(format!("{key} must be a string")) };
        let text = text.trim().to_owned();
        match key {
            "rule" => suppression.rule = text,
            "skill" => suppression.skill = Some(text),
            "path" => suppression.path = Some(text),
            "reason" => suppression.reason = text,
            _ => return Err(format!("unknown key {key}; use rule, skill, path and reason")),
        }
    }
    match () {
        () if suppression.rule.is_empty() => Err("rule is missing".to_owned()),
        () if rule(&suppression.rule).is_none() => Err(format!("unknown rule {}", suppression.rule)),
        () if suppression.reason.is_empty() => {
            Err(format!("{} has no reason; explain why it is acceptable", suppression.rule))
        }
        () => Ok(suppression),
    }
}
