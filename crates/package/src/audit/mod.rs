//! The audit: what rules find in the files of a skill, with the line it stands on.
//!
//! It catches what its rules describe: droppers, stolen and leaked secrets, code that hides. It does not tell good skills
//! from bad ones, and a skill in which it finds nothing may still be bad. A skill has no say in it: only the user, and a
//! project that the user trusts, can [suppress](Suppressions) a finding, with a reason.
//!
//! ```
//! use prowess_package::audit::{AuditFile, Severity, audit};
//!
//! let text = b"```sh\necho aGVsbG8= | base64 -d | bash\n```\n";
//! let verdict = audit([AuditFile::new("SKILL.md", false, text)].into_iter());
//! assert_eq!((verdict.findings[0].rule, verdict.findings[0].line), ("PA101", 2));
//! assert!(verdict.is_refused());
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`rules`](self::rules()) | the rules, as tables |
//! | `engine` | one pass for the words of all rules, then the patterns where a word occurs |
//! | `text`, `emphasis` | what a file says: without NUL bytes and marks of emphasis; what is prose and what is code |
//! | `context` | whether a text instructs, or quotes what it warns of |
//! | `wording` | from what was found to findings in words |
//! | `checks` | what no pattern can say: hosts, encodings, hidden characters, kinds of files |
//! | `capabilities` | scripts, hosts, tools and variables, for the difference that an update makes |
//! | `suppressions` | what somebody has looked at and found to be all right |

mod capabilities;
mod checks;
mod context;
mod emphasis;
mod engine;
mod excerpt;
mod finding;
mod rule;
mod rules;
mod suppressions;
#[cfg(test)]
mod tests;
mod text;
mod wording;

pub use capabilities::{Capabilities, capabilities};
pub use finding::{Family, Finding, Severity, Verdict};
pub use rule::{Example, Rule, Scope};
pub use rules::{RULES, rule, rules};
pub use suppressions::{Suppression, SuppressionError, Suppressions};

use engine::Engine;

/// How much of a file is looked at.
pub const LOOKED_AT: usize = 1024 * 1024;

/// A file of a skill, as the audit gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditFile<'a> {
    /// Its path from the top of the skill, with `/`.
    pub path: &'a str,
    /// Whether it may be executed.
    pub executable: bool,
    /// Its bytes, or the first [`LOOKED_AT`] of them and at least one more.
    pub bytes: &'a [u8],
    /// What it is.
    pub kind: AuditKind<'a>,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditKind<'a> {
    /// A regular file.
    File,
    /// A link, with where it leads, if that is known.
    Link(Option<&'a str>),
    /// Something that was not read, and why.
    Unread(&'a str),
}

impl<'a> AuditFile<'a> {
    /// A regular file.
    pub fn new(path: &'a str, executable: bool, bytes: &'a [u8]) -> Self {
        Self { path, executable, bytes, kind: AuditKind::File }
    }

    /// A link. It is never followed.
    pub fn link(path: &'a str, target: Option<&'a str>) -> Self {
        Self { path, executable: false, bytes: &[], kind: AuditKind::Link(target) }
    }

    /// Something that is there and was not read.
    pub fn unread(path: &'a str, why: &'a str) -> Self {
        Self { path, executable: false, bytes: &[], kind: AuditKind::Unread(why) }
    }
}

/// Audits the files of one skill. The same files give the same verdict, in whatever order they come.
pub fn audit<'a>(files: impl Iterator<Item = AuditFile<'a>>) -> Verdict {
    let engine = Engine::get();
    let mut findings = Vec::new();
    for file in files {
        let kept = file.bytes.get(..LOOKED_AT).unwrap_or(file.bytes);
        findings.extend(checks::content::of(&file, kept));
        if file.kind == AuditKind::File {
            findings.extend(engine.file(file.path, kept));
        }
    }
    findings.sort_by(|a: &Finding, b| {
        (&a.path, a.line, a.column, a.rule).cmp(&(&b.path, b.line, b.column, b.rule))
    });
    Verdict { rules: RULES, findings }
}
