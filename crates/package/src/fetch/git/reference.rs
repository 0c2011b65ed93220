//! What of a repository is wanted: a branch, a tag or a commit.

use std::fmt;

use prowess_format::hidden;

/// A branch, a tag or a commit.
///
/// All 40 (or 64) digits of a commit are a commit. Any other name is looked for as a tag first and as a branch then, as
/// git itself does; `refs/heads/…` and `refs/tags/…` say which.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GitRef(String);

/// Why a text is not taken as a branch, tag or commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefError {
    /// Nothing at all.
    #[error("the name of the branch, tag or commit is empty")]
    Empty,
    /// Something that a program would take for an option.
    #[error("a branch or tag cannot begin with “-”")]
    Option,
    /// Not by git's own rules.
    #[error("this cannot be the name of a branch, tag or commit")]
    Name,
    /// Longer than any name.
    #[error("the name of the branch, tag or commit is longer than 255 bytes")]
    Long,
}

impl GitRef {
    /// Takes a text for a name, by the rules of `git check-ref-format`.
    pub fn parse(raw: &str) -> Result<Self, RefError> {
        if raw.is_empty() {
            return Err(RefError::Empty);
        }
        if raw.starts_with('-') {
            return Err(RefError::Option);
        }
        if raw.len() > 255 {
            return Err(RefError::Long);
        }
        let odd = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
        let wrong = raw == "@" || raw.ends_with('.') || raw.contains("..") || raw.contains("@{");
        if wrong || raw.contains(odd) || hidden::first(raw).is_some() {
            return Err(RefError::Name);
        }
        let bad = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
        if raw.split('/').any(bad) { Err(RefError::Name) } else { Ok(Self(raw.to_owned())) }
    }

    /// The name as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The commit, in small letters, if all its digits were given.
    pub(super) fn as_commit(&self) -> Option<String> {
        (matches!(self.0.len(), 40 | 64) && is_hex(&self.0)).then(|| self.0.to_ascii_lowercase())
    }

    /// Whether somebody may have meant a commit and left out digits.
    pub(super) fn is_short_commit(&self) -> bool {
        (4..40).contains(&self.0.len()) && is_hex(&self.0)
    }
}

impl fmt::Display for GitRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_follow_the_rules_of_git() {
        for name in ["main", "v1.0", "feature/x", "refs/heads/main", "a@b", "ünicode", "HEAD"] {
            assert_eq!(GitRef::parse(name).unwrap().as_str(), name);
        }
        for name in [
            "a..b",
            "a b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "a/",
            "/a",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.lock/b",
            "a.",
            "@",
            "a@{1}",
            "a\u{7f}",
            "a\n",
            "a\u{202e}",
        ] {
            assert_eq!(GitRef::parse(name), Err(RefError::Name), "{name:?}");
        }
        assert_eq!(GitRef::parse("--upload-pack=id"), Err(RefError::Option));
        assert_eq!(GitRef::parse(""), Err(RefError::Empty));
        assert_eq!(GitRef::parse(&"a".repeat(256)), Err(RefError::Long));
    }

    #[test]
    fn a_commit_has_all_its_digits() {
        assert_eq!(GitRef::parse(&"AB".repeat(20)).unwrap().as_commit(), Some("ab".repeat(20)));
        assert_eq!(GitRef::parse(&"ab".repeat(32)).unwrap().as_commit(), Some("ab".repeat(32)));
        let short = GitRef::parse("abcdef12").unwrap();
        assert!(short.as_commit().is_none() && short.is_short_commit());
    }

    proptest! {
        /// A name never leads out of the folder of names, nor on to another line or packet.
        #[test]
        fn a_name_stays_a_name(raw in "\\PC{0,20}") {
            if let Ok(name) = GitRef::parse(&raw) {
                let plain = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
                prop_assert!(std::path::Path::new(name.as_str()).components().all(plain));
                prop_assert!(!name.as_str().contains(['\n', '\0', ' ']));
            }
        }
    }
}
