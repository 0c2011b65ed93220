//! Findings, and the verdict over all of them.

use std::fmt;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingSeverity {
    /// Worth knowing; legitimate skills do this, too.
    Low,
    /// Worth reviewing before the skill is used.
    Medium,
    /// Rare in legitimate skills; find out why this one does it.
    High,
    /// No known legitimate reason: the skill is not installed unless the user accepts the finding.
    Critical,
}

impl FindingSeverity {
    /// All severities, the lowest first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// Returns the word used in JSON and in front of a message.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for FindingSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a group of rules is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Texts that make the reader download and run something.
    Dropper,
    /// What scripts do: read secrets, send them, open backdoors, destroy data.
    Code,
    /// Obfuscated code.
    Obfuscation,
    /// Leaked keys and tokens.
    Secret,
    /// Invisible characters.
    Hidden,
    /// Permissions that a skill requests.
    Grant,
    /// Files that are disguised or cannot be inspected.
    Content,
    /// Phrases that try to manipulate a model.
    Prose,
}

impl Family {
    /// All families, in the order of their rules.
    pub const ALL: [Self; 8] = [
        Self::Dropper,
        Self::Code,
        Self::Obfuscation,
        Self::Secret,
        Self::Hidden,
        Self::Grant,
        Self::Content,
        Self::Prose,
    ];

    /// Returns the name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dropper => "dropper",
            Self::Code => "code",
            Self::Obfuscation => "obfuscation",
            Self::Secret => "secret",
            Self::Hidden => "hidden",
            Self::Grant => "grant",
            Self::Content => "content",
            Self::Prose => "prose",
        }
    }
}

/// A match of a rule in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The stable code of the rule, such as `PA101`.
    pub rule: &'static str,
    /// The family of the rule.
    pub family: Family,
    /// The severity in this context; a quoted bad example is rated lower than the rule.
    pub severity: FindingSeverity,
    /// The path relative to the skill, with `/`.
    pub path: String,
    /// The line, from 1; 0 if the finding concerns the whole file.
    pub line: u32,
    /// The column in characters, from 1; 0 if the finding concerns the whole file.
    pub column: u32,
    /// What was found, and why it matters.
    pub message: String,
    /// The matching line, escaped and truncated, with secrets masked. Empty if the finding concerns the whole
    /// file.
    pub excerpt: String,
    /// How to react.
    pub help: &'static str,
    /// The reason given for suppressing the finding.
    pub suppressed: Option<String>,
    /// The other findings of the same family on the line, most severe first.
    pub(crate) covered: Vec<Finding>,
}

/// All findings of one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The version of the rules.
    pub rules_version: &'static str,
    /// The findings, sorted by path, line, column and rule.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// Returns the findings that are not suppressed.
    pub fn unsuppressed(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.suppressed.is_none())
    }

    /// Returns the highest severity, or `None` if the rules found nothing, which does not prove that the skill
    /// is safe.
    pub fn worst(&self) -> Option<FindingSeverity> {
        self.unsuppressed().map(|finding| finding.severity).max()
    }

    /// Returns the number of findings of a severity.
    pub fn count(&self, severity: FindingSeverity) -> usize {
        self.unsuppressed().filter(|finding| finding.severity == severity).count()
    }

    /// Returns `true` if the user must accept the findings before the skill is installed.
    pub fn blocks_install(&self) -> bool {
        self.worst() >= Some(FindingSeverity::Critical)
    }

    /// Returns `true` if the skill is installed only after the user confirms the findings.
    pub fn needs_confirmation(&self) -> bool {
        self.worst() == Some(FindingSeverity::High)
    }

    /// Returns the findings that block the installation or require confirmation.
    pub fn serious(&self) -> impl Iterator<Item = &Finding> {
        self.unsuppressed().filter(|finding| finding.severity >= FindingSeverity::High)
    }

    /// Returns the word for the lock file and for JSON: `clean`, or the highest severity.
    pub fn as_str(&self) -> &'static str {
        self.worst().map_or("clean", FindingSeverity::as_str)
    }
}
