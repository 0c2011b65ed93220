//! What a skill may be called.

use std::fmt;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::hidden;
use crate::rules::NameRule;

/// The longest name that is ever taken, in characters. The specification's own limit is 64.
pub const NAME_MAX: usize = 256;

/// A name that is safe to show, to compare and to offer to a model: trimmed, in NFKC, not empty, bounded, without
/// control or hidden characters. Whether it is also well formed is asked with [`SkillName::breaks`].
///
/// ```
/// use prowess_format::{NameRule, SkillName};
///
/// let name = SkillName::parse(" PDF Tools ").unwrap();
/// assert_eq!(name.as_str(), "PDF Tools");
/// assert_eq!(name.breaks(NameRule::Unicode).len(), 2);
/// assert_eq!(name.suggestion(), "pdf-tools");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(Box<str>);

/// Why a text is no name at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing is left after trimming.
    #[error("the name is empty")]
    Empty,
    /// Longer than [`NAME_MAX`].
    #[error("the name has {0} characters; at most {NAME_MAX} are read")]
    Endless(usize),
    /// A character that nobody sees.
    #[error("the name has the hidden character \\u{{{:x}}}", u32::from(*.0))]
    Hidden(char),
}

/// One way in which a name is not well formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameBreak {
    /// It could be taken for a path. Never loads where the name is the identity.
    Path,
    /// It has upper-case letters.
    Uppercase,
    /// It begins or ends with a hyphen.
    EdgeHyphen,
    /// It has two hyphens in a row.
    DoubleHyphen,
    /// It has this character.
    Character(char),
}

impl fmt::Display for NameBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path => f.write_str("it could be taken for a path"),
            Self::Uppercase => f.write_str("it has upper-case letters"),
            Self::EdgeHyphen => f.write_str("it begins or ends with a hyphen"),
            Self::DoubleHyphen => f.write_str("it has two hyphens in a row"),
            Self::Character(' ') => f.write_str("it has a space"),
            Self::Character(c) => write!(f, "it has the character '{c}'"),
        }
    }
}

impl SkillName {
    /// Takes a text for a name, if it can be one at all.
    pub fn parse(raw: &str) -> Result<Self, NameError> {
        let raw = raw.trim();
        let length = raw.chars().count();
        if length > NAME_MAX {
            return Err(NameError::Endless(length));
        }
        if let Some(c) = raw.chars().find(|c| hidden::is_hidden(*c) || c.is_control()) {
            return Err(NameError::Hidden(c));
        }
        let name: Box<str> = if raw.is_ascii() { raw.into() } else { raw.nfkc().collect::<String>().into() };
        if name.trim().is_empty() { Err(NameError::Empty) } else { Ok(Self(name)) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How many characters it has.
    pub fn length(&self) -> usize {
        self.0.chars().count()
    }

    /// All that is not well formed under a rule.
    pub fn breaks(&self, rule: NameRule) -> Vec<NameBreak> {
        if rule == NameRule::Title {
            return Vec::new();
        }
        let mut breaks = Vec::new();
        let name = self.as_str();
        if name.contains(['/', '\\']) || matches!(name, "." | "..") {
            breaks.push(NameBreak::Path);
        }
        if rule != NameRule::Alphanumeric && name.to_lowercase() != name {
            breaks.push(NameBreak::Uppercase);
        }
        if name.starts_with('-') || name.ends_with('-') {
            breaks.push(NameBreak::EdgeHyphen);
        }
        if name.contains("--") {
            breaks.push(NameBreak::DoubleHyphen);
        }
        let allowed = |c: char| match rule {
            NameRule::Unicode => is_letter_or_digit(c),
            NameRule::Alphanumeric | NameRule::Ascii | NameRule::Title => c.is_ascii_alphanumeric(),
        };
        if let Some(c) = name.chars().find(|c| *c != '-' && !matches!(c, '/' | '\\') && !allowed(*c)) {
            breaks.push(NameBreak::Character(c));
        }
        breaks
    }

    /// Whether it is the folder's name.
    pub fn is_folder(&self, folder: &str) -> bool {
        self.as_str() == folder || (!folder.is_ascii() && folder.nfkc().eq(self.as_str().chars()))
    }

    /// The nearest well-formed name; empty where nothing is left.
    pub fn suggestion(&self) -> String {
        let lower = self.as_str().to_lowercase();
        let words = lower.split(|c: char| !is_letter_or_digit(c));
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-").chars().take(64).collect()
    }
}

/// Whether a character is a letter or a digit of some script. Marks and letter-like symbols are alphabetic, too, but no
/// letters.
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

    fn broken(name: &str, rule: NameRule) -> Vec<NameBreak> {
        SkillName::parse(name).unwrap().breaks(rule)
    }

    #[test]
    fn the_rules_side_by_side() {
        use NameBreak::{Character, DoubleHyphen, EdgeHyphen, Path, Uppercase};
        use NameRule::{Alphanumeric, Ascii, Title, Unicode};
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
            assert_eq!(broken(name, Title), title, "{name}");
            assert_eq!(broken(name, Alphanumeric), alphanumeric, "{name}");
            assert_eq!(broken(name, Ascii), ascii, "{name}");
            assert_eq!(broken(name, Unicode), unicode, "{name}");
        }
    }

    #[test]
    fn what_is_no_name() {
        assert_eq!(SkillName::parse("  "), Err(NameError::Empty));
        assert_eq!(SkillName::parse("a\u{200b}b"), Err(NameError::Hidden('\u{200b}')));
        assert_eq!(SkillName::parse("a\nb"), Err(NameError::Hidden('\n')));
        assert_eq!(SkillName::parse(&"a".repeat(300)), Err(NameError::Endless(300)));
    }

    #[test]
    fn composed_and_decomposed_are_one() {
        assert_eq!(SkillName::parse("cafe\u{301}"), SkillName::parse("caf\u{e9}"));
        assert!(SkillName::parse("caf\u{e9}").unwrap().is_folder("cafe\u{301}"));
    }

    proptest! {
        #[test]
        fn a_suggestion_is_well_formed(raw in "[ -~äßЖ字]{1,80}") {
            if let Ok(name) = SkillName::parse(&raw) {
                let suggestion = name.suggestion();
                let suggestion = suggestion.trim_end_matches('-');
                prop_assume!(!suggestion.is_empty());
                prop_assert_eq!(SkillName::parse(suggestion).unwrap().breaks(NameRule::Unicode), vec![]);
            }
        }
    }
}
