//! What an audit says: findings, and the verdict over all of them.

use std::fmt;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; good skills do this, too.
    Low,
    /// Worth a look before the skill is used.
    Medium,
    /// Good skills hardly ever do this; somebody should know why this one does.
    High,
    /// There is no good reason for it that we know of: installing is refused unless somebody accepts it.
    Critical,
}

impl Severity {
    /// All of them, the mildest first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The word that stands in JSON and in front of a message.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Texts that make somebody fetch and run something.
    Dropper,
    /// What scripts do: take secrets, send them, open a door, destroy.
    Code,
    /// Code that does not want to be read.
    Obfuscation,
    /// Keys and tokens that were left in.
    Secret,
    /// Characters that nobody sees.
    Hidden,
    /// What a skill asks to be allowed.
    Grant,
    /// Files that are not what they seem, or cannot be looked into.
    Content,
    /// Words that try to turn a model.
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

    /// The name used in JSON.
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

/// One thing that a rule describes, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's stable code, `PA101` and on.
    pub rule: &'static str,
    /// What the rule is about.
    pub family: Family,
    /// How much it matters here; what is quoted as a bad example matters less than the rule says.
    pub severity: Severity,
    /// The file, from the top of the skill, with `/`.
    pub path: String,
    /// The line, from 1; 0 where it is about the whole file.
    pub line: u32,
    /// The column in characters, from 1; 0 where it is about the whole file.
    pub column: u32,
    /// What it is, and why it matters.
    pub message: String,
    /// What stands there: one clean line, cut, with secrets masked. Empty where it is about the whole file.
    pub excerpt: String,
    /// What to do about it.
    pub help: &'static str,
    /// The reason of whoever said that it is all right.
    pub suppressed: Option<String>,
}

/// All findings of one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The version of the rules.
    pub rules: &'static str,
    /// The findings, by path, line, column and rule.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// The findings that nobody gave a reason for.
    pub fn open(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.suppressed.is_none())
    }

    /// The worst of them; `None` where the rules found nothing, which does not mean that nothing is wrong.
    pub fn worst(&self) -> Option<Severity> {
        self.open().map(|finding| finding.severity).max()
    }

    /// How many there are of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.open().filter(|finding| finding.severity == severity).count()
    }

    /// Whether such a skill is not installed without somebody's word.
    pub fn is_refused(&self) -> bool {
        self.worst() >= Some(Severity::Critical)
    }

    /// Whether such a skill is installed only after the user has confirmed it, having seen the findings.
    pub fn needs_confirmation(&self) -> bool {
        self.worst() == Some(Severity::High)
    }

    /// The findings for which it is refused, or has to be confirmed.
    pub fn serious(&self) -> impl Iterator<Item = &Finding> {
        self.open().filter(|finding| finding.severity >= Severity::High)
    }

    /// The word for a lock, and for JSON: `clean`, or the worst severity.
    pub fn as_str(&self) -> &'static str {
        self.worst().map_or("clean", Severity::as_str)
    }
}
