//! What a rule is made of. The rules themselves are tables, one file for each family.

use regex::bytes::{Regex, RegexBuilder};

use super::finding::{Family, Severity};

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// The stable code. One that was used is never used for anything else.
    pub id: &'static str,
    /// What it is about.
    pub family: Family,
    /// How much it matters.
    pub severity: Severity,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Why it matters, in a sentence that begins after a comma or a colon.
    pub why: &'static str,
    /// What to do about it.
    pub help: &'static str,
    /// Where it is looked for.
    pub scope: Scope,
    /// How it is found.
    pub(crate) test: Test,
    /// A file that this rule finds something in, and no other rule. See [`Rule::example_text`].
    pub example: Example,
}

/// A small file that shows what a rule finds.
#[derive(Debug)]
pub struct Example {
    /// Its path in a skill.
    pub path: &'static str,
    /// Its text; a middle dot is to be left out, so that no other scanner takes it for the real thing.
    pub text: &'static str,
}

/// Where a rule looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// In every text.
    Any,
    /// In scripts, and in the code of Markdown files.
    Code,
    /// In what people and models read: Markdown outside of code.
    Prose,
    /// At files as a whole, and at the frontmatter.
    File,
}

/// How a rule finds something.
#[derive(Debug)]
pub(crate) enum Test {
    /// A pattern on one line, or on one that goes on over several.
    Line(Pattern),
    /// The same, and the first group is a secret: it is weighed, and masked.
    Key(Pattern, Weight),
    /// Two patterns in one script, or within so many lines of another text. The finding is at the first.
    Both(Pattern, Pattern, u32),
    /// By a function in [`super::checks`].
    Own,
}

/// The edge of a word, as in a pattern.
pub(super) const EDGE: &str = r"\b";

/// A pattern, and the words that a line must have one of before the pattern is tried. Case does not matter. A word that is
/// found in many longer ones begins or ends with [`EDGE`], if the pattern does not match the longer ones.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) words: &'static [&'static str],
    /// Any of them.
    pub(crate) regex: &'static [&'static str],
    /// What must not stand in the same line.
    pub(crate) unless: Option<&'static str>,
}

/// How random a secret must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Its form alone tells.
    Form,
    /// It could also be a name or a sentence.
    Random,
}

impl Rule {
    /// The text of the example, as it would stand in a file.
    pub fn example_text(&self) -> String {
        self.example.text.replace('·', "")
    }
}

/// A pattern without exceptions.
pub(super) const fn pattern(words: &'static [&'static str], regex: &'static [&'static str]) -> Pattern {
    Pattern { words, regex, unless: None }
}

/// A pattern with one.
pub(super) const fn but(
    words: &'static [&'static str],
    regex: &'static [&'static str],
    unless: &'static str,
) -> Pattern {
    Pattern { words, regex, unless: Some(unless) }
}

/// An example.
pub(super) const fn example(path: &'static str, text: &'static str) -> Example {
    Example { path, text }
}

/// Compiles a pattern, as every rule and check does.
pub(super) fn compile(source: &str) -> Option<Regex> {
    RegexBuilder::new(source)
        .case_insensitive(true)
        .dot_matches_new_line(true)
        .unicode(false)
        .size_limit(4 * 1024 * 1024)
        .build()
        .ok()
}
