//! The parts of a rule. The rules themselves are tables, one file per family.

use regex::bytes::{Regex, RegexBuilder};

use super::finding::{Family, FindingSeverity};
use super::text::{LineKind, TextKind};

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// The stable code, which is never reused.
    pub id: &'static str,
    /// The family of the rule.
    pub family: Family,
    /// The severity of its findings.
    pub severity: FindingSeverity,
    /// What was found, in a few words.
    pub title: &'static str,
    /// Why it matters: a clause that follows the title and a colon.
    pub reason: &'static str,
    /// How to react.
    pub help: &'static str,
    /// Where the rule applies.
    pub scope: RuleScope,
    /// How the rule matches.
    pub(crate) matcher: Matcher,
    /// A file that only this rule matches. See [`Rule::example_text`].
    pub example: Example,
}

/// A small file that demonstrates a rule.
#[derive(Debug)]
pub struct Example {
    /// The path in a skill.
    pub path: &'static str,
    /// The text. Two notations keep it short and other scanners from flagging it: a middle dot must be removed, and
    /// `⟨x × 160⟩` stands for 160 times `x`.
    pub text: &'static str,
}

/// Where a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleScope {
    /// Every text.
    Any,
    /// Scripts, and code in Markdown files.
    Code,
    /// Text for people and models: Markdown outside code.
    Prose,
    /// Files as a whole, and the frontmatter.
    File,
}

impl RuleScope {
    /// Returns `true` if a rule of this scope can match in a text of this kind.
    pub(super) fn applies_to(self, kind: TextKind) -> bool {
        match kind {
            TextKind::Markdown => self != Self::File,
            TextKind::Script => matches!(self, Self::Any | Self::Code),
            TextKind::Plain => matches!(self, Self::Any | Self::Prose),
            TextKind::Data => self == Self::Any,
        }
    }

    /// Returns `true` if a rule of this scope can match in a line of this kind.
    pub(super) fn covers(self, kind: LineKind) -> bool {
        match self {
            Self::Any => true,
            Self::Code => kind == LineKind::Code,
            Self::Prose => matches!(kind, LineKind::Prose | LineKind::Frontmatter),
            Self::File => false,
        }
    }
}

/// How a rule matches.
#[derive(Debug)]
pub(crate) enum Matcher {
    /// A pattern on one line, including its continuation lines.
    Line(Pattern),
    /// Like `Line`, with any of these patterns.
    AnyLine(&'static [Pattern]),
    /// Like `Line`, but the first group is a secret: it is validated and masked.
    LineWithSecret(Pattern, SecretCheck),
    /// Two patterns in one script, or close to each other in another text. The finding is at the first one.
    Pair {
        first: Pattern,
        second: Pattern,
        /// The maximum number of lines between them, outside scripts.
        max_lines: u32,
    },
    /// A function in [`super::checks`].
    Custom,
}

/// A word boundary, as in a regex.
pub(super) const WORD_BOUNDARY: &str = r"\b";

/// A pattern, and keywords of which a line must contain at least one before the pattern is tried, ignoring
/// case. A keyword that is part of many longer words starts or ends with [`WORD_BOUNDARY`], if the pattern does
/// not match those.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// Separated by commas. Spaces count.
    pub(crate) keywords: &'static str,
    /// Alternatives of which any may match.
    pub(crate) regexes: &'static [&'static str],
    /// What must not match near it.
    pub(crate) except: Option<PatternException>,
}

/// What a match must not have in its statement or sentence. See [`super::exception`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PatternException {
    pub(crate) regex: &'static str,
    /// Whether it is a remark, which changes nothing in code.
    pub(crate) prose_only: bool,
}

/// How a candidate for a secret is validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretCheck {
    /// Its format is specific enough.
    Format,
    /// It must look random, because it could also be a name or a sentence.
    Entropy,
}

impl Rule {
    /// Returns the text of the example, as it would appear in a file.
    pub fn example_text(&self) -> String {
        self.example.text.replace('·', "")
    }
}

/// Creates a pattern without an exception.
pub(super) const fn pattern(keywords: &'static str, regexes: &'static [&'static str]) -> Pattern {
    Pattern { keywords, regexes, except: None }
}

/// Creates a pattern with an exception.
pub(super) const fn pattern_except(
    keywords: &'static str,
    regexes: &'static [&'static str],
    except: &'static str,
) -> Pattern {
    Pattern { keywords, regexes, except: Some(PatternException { regex: except, prose_only: false }) }
}

/// Creates a pattern with an exception that counts only in prose.
pub(super) const fn pattern_except_in_prose(
    keywords: &'static str,
    regexes: &'static [&'static str],
    except: &'static str,
) -> Pattern {
    Pattern { keywords, regexes, except: Some(PatternException { regex: except, prose_only: true }) }
}

/// Creates an example.
pub(super) const fn example(path: &'static str, text: &'static str) -> Example {
    Example { path, text }
}

/// Compiles a regex with the flags that all rules and checks use.
pub(super) fn compile(source: &str) -> Option<Regex> {
    RegexBuilder::new(source)
        .case_insensitive(true)
        .dot_matches_new_line(true)
        .unicode(false)
        .size_limit(4 * 1024 * 1024)
        .build()
        .ok()
}
