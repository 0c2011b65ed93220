//! Skill names.

use std::fmt;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::hidden;
use crate::rules::NameRule;

/// The maximum length of a name, in characters, under any rules. The specification's limit is 64.
pub const NAME_MAX: usize = 256;

/// A name that is safe to display, to compare and to send to a model: trimmed, in NFKC, not empty, bounded,
/// without control or hidden characters. [`SkillName::violations`] checks whether it is also well formed.
///
/// ```
/// use prowess_format::{NameRule, SkillName};
///
/// let name = SkillName::parse(" PDF Tools ").unwrap();
/// assert_eq!(name.as_str(), "PDF Tools");
/// assert_eq!(name.violations(NameRule::Unicode).len(), 2);
/// assert_eq!(name.suggestion(), "pdf-tools");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(Box<str>);

/// Why a text cannot be a skill name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing is left after trimming.
    #[error("the name is empty")]
    Empty,
    /// The name is longer than [`NAME_MAX`].
    #[error("the name has {0} characters; at most {NAME_MAX} are allowed")]
    TooLong(usize),
    /// The name contains a hidden or control character.
    #[error("the name contains the hidden character \\u{{{:x}}}", u32::from(*.0))]
    Hidden(char),
}

/// A way in which a name is not well formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameViolation {
    /// It could be mistaken for a path. Such a skill never loads if the name is its identity.
    Path,
    /// It contains upper-case letters.
    Uppercase,
    /// It starts or ends with a hyphen.
    EdgeHyphen,
    /// It contains two consecutive hyphens.
    DoubleHyphen,
    /// It contains this character, which is not allowed.
    Character(char),
}

impl fmt::Display for NameViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path => f.write_str("it could be mistaken for a path"),
            Self::Uppercase => f.write_str("it contains upper-case letters"),
            Self::EdgeHyphen => f.write_str("it starts or ends with a hyphen"),
            Self::DoubleHyphen => f.write_str("it contains two consecutive hyphens"),
            Self::Character(' ') => f.write_str("it contains a space"),
            Self::Character(c) => write!(f, "it contains the character '{c}'"),
        }
    }
}

impl SkillName {
    /// Parses a name.
    pub fn parse(raw: &str) -> Result<Self, NameError> {
        let raw = raw.trim();
        let length = raw.chars().count();
        if length > NAME_MAX {
            return Err(NameError::TooLong(length));
        }
        if let Some(c) = raw.chars().find(|c| hidden::is_hidden(*c) || c.is_control()) {
            return Err(NameError::Hidden(c));
        }
        let name: Box<str> = if raw.is_ascii() { raw.into() } else { raw.nfkc().collect::<String>().into() };
        if name.trim().is_empty() { Err(NameError::Empty) } else { Ok(Self(name)) }
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the number of characters.
    pub fn char_count(&self) -> usize {
        self.0.chars().count()
    }

    /// Returns all violations of a rule.
    pub fn violations(&self, rule: NameRule) -> Vec<NameViolation> {
        if rule == NameRule::Title {
            return Vec::new();
        }
        let mut violations = Vec::new();
        let name = self.as_str();
        if name.contains(['/', '\\']) || matches!(name, "." | "..") {
            violations.push(NameViolation::Path);
        }
        if rule != NameRule::Alphanumeric && name.to_lowercase() != name {
            violations.push(NameViolation::Uppercase);
        }
        if name.starts_with('-') || name.ends_with('-') {
            violations.push(NameViolation::EdgeHyphen);
        }
        if name.contains("--") {
            violations.push(NameViolation::DoubleHyphen);
        }
        let allowed = |c: char| match rule {
            NameRule::Unicode => is_letter_or_digit(c),
            NameRule::Alphanumeric | NameRule::Ascii | NameRule::Title => c.is_ascii_alphanumeric(),
        };
        if let Some(c) = name.chars().find(|c| *c != '-' && !matches!(c, '/' | '\\') && !allowed(*c)) {
            violations.push(NameViolation::Character(c));
        }
        violations
    }

    /// Returns `true` if the name equals the name of the directory after normalization.
    pub fn matches_dir_name(&self, dir_name: &str) -> bool {
        self.as_str() == dir_name || (!dir_name.is_ascii() && dir_name.nfkc().eq(self.as_str().chars()))
    }

    /// Returns the nearest well-formed name, or an empty text if no valid character is left.
    pub fn suggestion(&self) -> String {
        let lower = self.as_str().to_lowercase();
        let words = lower.split(|c: char| !is_letter_or_digit(c));
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-").chars().take(64).collect()
    }
}

/// Returns `true` for letters and digits of any script. Combining marks and letter-like symbols are alphabetic
/// in Unicode, but not letters.
fn is_letter_or_digit(c: char) -> bool {
    c.is_alphanumeric()
        && !is_combining_mark(c)
        && !matches!(c, '\u{24B6}'..='\u{24E9}' | '\u{1F130}'..='\u{1F189}')
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn violations(name: &str, rule: NameRule) -> Vec<NameViolation> {
        SkillName::parse(name).unwrap().violations(rule)
    }

    #[test]
    fn name_rules_compared() {
        use NameRule::{Alphanumeric, Ascii, Title, Unicode};
        use NameViolation::{Character, DoubleHyphen, EdgeHyphen, Path, Uppercase};
        for (name, title, alphanumeric, ascii, unicode) in [
            ("code-review", vec![], vec![], vec![], vec![]),
            ("Code", vec![], vec![], vec![Uppercase], vec![Uppercase]),
            ("-a-", vec![], vec![EdgeHyphen], vec![EdgeHyphen], vec![EdgeHyphen]),
            ("a--b", vec![], vec![DoubleHyphen], vec![DoubleHyphen], vec![DoubleHyphen]),
            ("a b", vec![], vec![Character(' ')], vec![Character(' ')], vec![Character(' ')]),
            ("a/b", vec![], vec![Path], vec![Path], vec![Path]),
            (
                "..",
                vec![],
                vec![Path, Character('.')],
                vec![Path, Character('.')],
                vec![Path, Character('.')],
            ),
            ("技能", vec![], vec![Character('技')], vec![Character('技')], vec![]),
            ("мой-навык", vec![], vec![Character('м')], vec![Character('м')], vec![]),
        ] {
            assert_eq!(violations(name, Title), title, "{name}");
            assert_eq!(violations(name, Alphanumeric), alphanumeric, "{name}");
            assert_eq!(violations(name, Ascii), ascii, "{name}");
            assert_eq!(violations(name, Unicode), unicode, "{name}");
        }
    }

    #[test]
    fn invalid_names() {
        assert_eq!(SkillName::parse("  "), Err(NameError::Empty));
        assert_eq!(SkillName::parse("a\u{200b}b"), Err(NameError::Hidden('\u{200b}')));
        assert_eq!(SkillName::parse("a\nb"), Err(NameError::Hidden('\n')));
        assert_eq!(SkillName::parse(&"a".repeat(300)), Err(NameError::TooLong(300)));
    }

    #[test]
    fn composed_and_decomposed_names_are_equal() {
        assert_eq!(SkillName::parse("cafe\u{301}"), SkillName::parse("caf\u{e9}"));
        assert!(SkillName::parse("caf\u{e9}").unwrap().matches_dir_name("cafe\u{301}"));
    }

    proptest! {
        #[test]
        fn a_suggestion_is_well_formed(raw in "[ -~äßЖ字]{1,80}") {
            if let Ok(name) = SkillName::parse(&raw) {
                let suggestion = name.suggestion();
                let suggestion = suggestion.trim_end_matches('-');
                prop_assume!(!suggestion.is_empty());
                prop_assert_eq!(SkillName::parse(suggestion).unwrap().violations(NameRule::Unicode), vec![]);
            }
        }
    }
}
