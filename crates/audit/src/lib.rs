//! The audit of skills: rules that match their files, reported with line numbers.
//!
//! The audit finds what its rules describe: droppers, stolen and leaked secrets, obfuscated code. It cannot
//! prove that a skill is safe: a skill without findings may still be malicious. A skill cannot influence its
//! audit: only the user, and a project that the user trusts, can [suppress](Suppressions) a finding, with a
//! reason.
//!
//! ```
//! use prowess_audit::{AuditFile, FindingSeverity, audit};
//!
//! let text = b"```sh\necho aGVsbG8= | base64 -d | bash\n```\n";
//! let verdict = audit([AuditFile::new("SKILL.md", false, text)].into_iter());
//! assert_eq!((verdict.findings[0].rule, verdict.findings[0].line), ("PA101", 2));
//! assert!(verdict.blocks_install());
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`rules`](self::rules()) | the rules, as tables |
//! | `engine` | one pass for the keywords of all rules, then the patterns where a keyword occurs |
//! | `exception` | the statement or sentence in which the exception of a pattern counts |
//! | `text`, `emphasis` | the text of a file without NUL bytes and emphasis marks; prose and code |
//! | `context` | whether a text instructs, or quotes a bad example |
//! | `report` | turning matches into findings |
//! | `checks` | checks beyond patterns: hosts, encodings, hidden characters, file types |
//! | `unpack` | archives, unpacked within limits |
//! | `capabilities` | scripts, hosts, tools and variables, to show what an update adds |
//! | `suppressions` | findings that were reviewed and accepted |

mod capabilities;
mod checks;
mod context;
mod emphasis;
mod engine;
mod exception;
#[cfg(test)]
mod exception_tests;
mod finding;
#[cfg(test)]
mod keyword_tests;
mod report;
mod rule;
mod rules;
mod suppressions;
#[cfg(test)]
mod technique_tests;
#[cfg(test)]
mod tests;
mod text;
mod unpack;

pub use capabilities::capabilities;
pub use finding::{Family, Finding, FindingSeverity, Verdict};
pub use prowess_format::Capabilities;
pub use rule::{Example, Rule, RuleScope};
pub use rules::{RULES_VERSION, rule, rules};
pub use suppressions::{Suppression, SuppressionError, Suppressions};

use engine::Engine;

/// The number of bytes of a file that are scanned: the maximum size of a file of an installed skill.
pub const SCAN_MAX: usize = 16 * 1024 * 1024;

/// A file of a skill to audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditFile<'a> {
    /// The path relative to the skill, with `/`.
    pub path: &'a str,
    /// Whether it is executable.
    pub executable: bool,
    /// The content. If it is longer than [`SCAN_MAX`], it may be cut after one byte more.
    pub bytes: &'a [u8],
    /// The kind of the entry.
    pub kind: AuditKind<'a>,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditKind<'a> {
    /// A regular file.
    File,
    /// A symlink, with its target if known.
    Symlink(Option<&'a str>),
    /// An entry that was not read, with the reason.
    Unread(&'a str),
}

impl<'a> AuditFile<'a> {
    /// Creates a regular file.
    pub fn new(path: &'a str, executable: bool, bytes: &'a [u8]) -> Self {
        Self { path, executable, bytes, kind: AuditKind::File }
    }

    /// Creates a symlink. It is never followed.
    pub fn symlink(path: &'a str, target: Option<&'a str>) -> Self {
        Self { path, executable: false, bytes: &[], kind: AuditKind::Symlink(target) }
    }

    /// Creates an entry that was not read.
    pub fn unread(path: &'a str, reason: &'a str) -> Self {
        Self { path, executable: false, bytes: &[], kind: AuditKind::Unread(reason) }
    }
}

/// Audits the files of one skill. The verdict does not depend on their order.
pub fn audit<'a>(files: impl Iterator<Item = AuditFile<'a>>) -> Verdict {
    let mut auditor = Auditor::default();
    files.for_each(|file| auditor.add(&file));
    auditor.verdict()
}

/// The audit of one skill, which receives its files one by one.
///
/// ```
/// use prowess_audit::{AuditFile, Auditor};
///
/// let mut auditor = Auditor::default();
/// auditor.add(&AuditFile::new("notes.txt", false, b"hello"));
/// assert_eq!(auditor.verdict().as_str(), "clean");
/// ```
#[derive(Debug, Default)]
pub struct Auditor {
    findings: Vec<Finding>,
    /// The number of bytes unpacked from archives.
    unpacked: u64,
}

impl Auditor {
    /// Audits a file, and the files in it if it is an archive.
    pub fn add(&mut self, file: &AuditFile<'_>) {
        self.add_nested(file, 0);
    }

    /// Returns the verdict over all files.
    pub fn verdict(mut self) -> Verdict {
        self.findings.sort_by(|a: &Finding, b| {
            (&a.path, a.line, a.column, a.rule).cmp(&(&b.path, b.line, b.column, b.rule))
        });
        Verdict { rules_version: RULES_VERSION, findings: self.findings }
    }

    fn add_nested(&mut self, file: &AuditFile<'_>, depth: usize) {
        let scanned = file.bytes.get(..SCAN_MAX).unwrap_or(file.bytes);
        let format = (file.kind == AuditKind::File).then(|| unpack::detect_format(scanned)).flatten();
        let file_finding = checks::content::check_file(file, scanned, format);
        // For a program or an archive, the finding that it is not text would be redundant.
        let is_text = file_finding
            .as_ref()
            .is_none_or(|finding| !matches!(finding.rule, "PA703" | "PA704" | "PA706" | "PA711"));
        self.findings.extend(file_finding);
        if file.kind != AuditKind::File {
            return;
        }
        let findings = Engine::get().audit_file(file.path, scanned);
        self.findings.extend(findings.into_iter().filter(|finding| is_text || finding.rule != "PA710"));
        let Some(format) = format else { return };
        let unpacked = match (depth < unpack::DEPTH_MAX, self.unpacked < unpack::TOTAL_MAX) {
            (true, true) => unpack::unpack_archive(format, file.path, scanned),
            (false, _) => Err("it is nested in too many archives".to_owned()),
            (true, false) => Err("the archives of the skill are too large to unpack".to_owned()),
        };
        match unpacked {
            Ok(files) => {
                self.unpacked += files.iter().map(|file| file.bytes.len() as u64).sum::<u64>();
                for inner in &files {
                    let inner = AuditFile::new(&inner.path, inner.executable, &inner.bytes);
                    self.findings.extend(checks::content::check_packed(file.path, &inner));
                    self.add_nested(&inner, depth + 1);
                }
            }
            Err(reason) => {
                // A rejected archive may have taken as much work as an accepted one.
                self.unpacked += scanned.len() as u64 * 8;
                self.findings.extend(checks::content::report_not_unpacked(file.path, scanned, &reason));
            }
        }
    }
}
