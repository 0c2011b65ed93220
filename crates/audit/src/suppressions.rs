//! Findings that somebody has looked at and found to be all right, each with the reason.
//!
//! ```toml
//! [[suppress]]
//! rule = "PA103"
//! skill = "deploy"              # only in this skill; may be left out
//! path = "scripts/install.sh"   # only in this file; may be left out
//! reason = "our own installer, reviewed on 3 May"
//! ```
//!
//! The file is the user's or a trusted project's. Whatever lies in a skill's own folder is never asked: a skill may not
//! vouch for itself.

use std::sync::atomic::{AtomicBool, Ordering};

use prowess_format::{Place, Span};
use toml::de::{DeTable, DeValue};

use super::finding::Verdict;
use super::rules::rule;

/// One of them.
#[derive(Debug)]
pub struct Suppression {
    /// The rule's code.
    pub rule: String,
    /// The skill's name; any where there is none.
    pub skill: Option<String>,
    /// The file in the skill; any where there is none.
    pub path: Option<String>,
    /// Why it is all right.
    pub reason: String,
    /// The line that it stands on.
    pub line: u32,
    used: AtomicBool,
}

/// All of one file.
#[derive(Debug, Default)]
pub struct Suppressions {
    list: Vec<Suppression>,
}

/// Why a file of them cannot be used. None of it counts then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct SuppressionError {
    /// The line.
    pub line: u32,
    /// What is wrong with it.
    pub message: String,
}

impl Suppressions {
    /// Reads a file.
    pub fn parse(text: &str) -> Result<Self, SuppressionError> {
        let wrong = |at: usize, message: String| SuppressionError {
            line: Place::of(text.as_bytes(), Span::new(at, at)).line,
            message,
        };
        let table = DeTable::parse(text)
            .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message().to_owned()))?;
        let mut list = Vec::new();
        for (key, value) in table.get_ref() {
            let at = key.span().start;
            let DeValue::Array(entries) = value.get_ref() else {
                return Err(wrong(at, format!("{} is not [[suppress]]", key.get_ref())));
            };
            if key.get_ref() != "suppress" {
                return Err(wrong(at, format!("{} is not known; the key is suppress", key.get_ref())));
            }
            for entry in entries.iter() {
                let at = entry.span().start;
                let DeValue::Table(entry) = entry.get_ref() else {
                    return Err(wrong(at, "an entry must be a table with rule and reason".to_owned()));
                };
                let line = Place::of(text.as_bytes(), Span::new(at, at)).line;
                list.push(one(entry, line).map_err(|message| wrong(at, message))?);
            }
        }
        Ok(Self { list })
    }

    /// Marks the findings of a skill that somebody gave a reason for.
    pub fn apply(&self, skill: &str, verdict: &mut Verdict) {
        for finding in verdict.findings.iter_mut().filter(|finding| finding.suppressed.is_none()) {
            let fits = |one: &&Suppression| {
                one.rule == finding.rule
                    && one.skill.as_deref().is_none_or(|name| name == skill)
                    && one.path.as_deref().is_none_or(|path| path == finding.path)
            };
            if let Some(one) = self.list.iter().find(fits) {
                one.used.store(true, Ordering::Relaxed);
                finding.suppressed = Some(one.reason.clone());
            }
        }
    }

    /// Those that no finding was there for: what they were about is gone.
    pub fn unused(&self) -> impl Iterator<Item = &Suppression> {
        self.list.iter().filter(|one| !one.used.load(Ordering::Relaxed))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

fn one(entry: &DeTable<'_>, line: u32) -> Result<Suppression, String> {
    let mut it = Suppression {
        rule: String::new(),
        skill: None,
        path: None,
        reason: String::new(),
        line,
        used: AtomicBool::new(false),
    };
    for (key, value) in entry {
        let key = key.get_ref().as_ref();
        let DeValue::String(text) = value.get_ref() else { return Err(format!("{key} must be text")) };
        let text = text.trim().to_owned();
        match key {
            "rule" => it.rule = text,
            "skill" => it.skill = Some(text),
            "path" => it.path = Some(text),
            "reason" => it.reason = text,
            _ => return Err(format!("{key} is not known; there are rule, skill, path and reason")),
        }
    }
    match () {
        () if it.rule.is_empty() => Err("rule is missing".to_owned()),
        () if rule(&it.rule).is_none() => Err(format!("there is no rule {}", it.rule)),
        () if it.reason.is_empty() => Err(format!("{} has no reason; say why it is all right", it.rule)),
        () => Ok(it),
    }
}
