//! The audit: what rules find in the files of a skill, with the line it stands on.
//!
//! It catches what its rules describe: droppers, stolen and leaked secrets, code that hides. It does not tell good skills
//! from bad ones, and a skill in which it finds nothing may still be bad. A skill has no say in it: only the user, and a
//! project that the user trusts, can [suppress](Suppressions) a finding, with a reason.
//!
//! ```
//! use prowess_audit::{AuditFile, Severity, audit};
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
//! | `unpack` | archives, opened within bounds |
//! | `capabilities` | scripts, hosts, tools and variables, for the difference that an update makes |
//! | `suppressions` | what somebody has looked at and found to be all right |

mod capabilities;
mod checks;
mod context;
mod emphasis;
mod engine;
mod finding;
mod rule;
mod rules;
mod suppressions;
#[cfg(test)]
mod tests;
mod text;
mod unpack;
mod wording;

pub use capabilities::capabilities;
pub use finding::{Family, Finding, Severity, Verdict};
pub use prowess_format::Capabilities;
pub use rule::{Example, Rule, Scope};
pub use rules::{RULES, rule, rules};
pub use suppressions::{Suppression, SuppressionError, Suppressions};

use engine::Engine;

/// How much of a file is looked at: as much as a file of an installed skill may have.
pub const LOOKED_AT: usize = 16 * 1024 * 1024;

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
    let mut auditor = Auditor::default();
    files.for_each(|file| auditor.file(&file));
    auditor.verdict()
}

/// The audit of one skill, which gets its files one by one.
///
/// ```
/// use prowess_audit::{AuditFile, Auditor};
///
/// let mut auditor = Auditor::default();
/// auditor.file(&AuditFile::new("notes.txt", false, b"hello"));
/// assert_eq!(auditor.verdict().as_str(), "clean");
/// ```
#[derive(Debug, Default)]
pub struct Auditor {
    findings: Vec<Finding>,
    /// How many bytes were unpacked from archives.
    unpacked: u64,
}

impl Auditor {
    /// Audits a file, and the files in it if it is an archive.
    pub fn file(&mut self, file: &AuditFile<'_>) {
        self.nested(file, 0);
    }

    /// What was found in all files.
    pub fn verdict(mut self) -> Verdict {
        self.findings.sort_by(|a: &Finding, b| {
            (&a.path, a.line, a.column, a.rule).cmp(&(&b.path, b.line, b.column, b.rule))
        });
        Verdict { rules: RULES, findings: self.findings }
    }

    fn nested(&mut self, file: &AuditFile<'_>, depth: usize) {
        let kept = file.bytes.get(..LOOKED_AT).unwrap_or(file.bytes);
        let format = (file.kind == AuditKind::File).then(|| unpack::format(kept)).flatten();
        let whole = checks::content::of(file, kept, format);
        // That a program or an archive is no text has been said then.
        let is_text = whole
            .as_ref()
            .is_none_or(|finding| !matches!(finding.rule, "PA703" | "PA704" | "PA706" | "PA711"));
        self.findings.extend(whole);
        if file.kind != AuditKind::File {
            return;
        }
        let found = Engine::get().file(file.path, kept);
        self.findings.extend(found.into_iter().filter(|finding| is_text || finding.rule != "PA710"));
        let Some(format) = format else { return };
        let opened = match (depth < unpack::DEPTH_MAX, self.unpacked < unpack::TOTAL_MAX) {
            (true, true) => unpack::open(format, file.path, kept),
            (false, _) => Err("it lies in too many archives".to_owned()),
            (true, false) => Err("more is packed into the skill than is ever unpacked".to_owned()),
        };
        match opened {
            Ok(files) => {
                self.unpacked += files.iter().map(|file| file.bytes.len() as u64).sum::<u64>();
                for inner in &files {
                    let inner = AuditFile::new(&inner.path, inner.executable, &inner.bytes);
                    self.findings.extend(checks::content::packed(file.path, &inner));
                    self.nested(&inner, depth + 1);
                }
            }
            Err(why) => {
                // What was refused may have taken as much work as what was not.
                self.unpacked += kept.len() as u64 * 8;
                self.findings.extend(checks::content::unopened(file.path, kept, &why));
            }
        }
    }
}
