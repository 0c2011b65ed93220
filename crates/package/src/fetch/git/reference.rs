//! References: a branch, a tag or a commit.

use std::fmt;

use prowess_format::hidden;

/// A branch, a tag or a commit.
///
/// A full commit id with 40 (or 64) digits is a commit. Any other name is resolved as a tag first, then as a branch,
/// like in git; `refs/heads/…` and `refs/tags/…` are unambiguous.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GitRef(String);

/// The reason why a text is not a valid reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseRefError {
    /// The name is empty.
    #[error("the name of the branch, tag or commit is empty")]
    Empty,
    /// The name looks like a command-line option.
    #[error("a branch or tag cannot start with “-”")]
    LooksLikeOption,
    /// The name violates the rules of git.
    #[error("invalid name of a branch, tag or commit")]
    InvalidName,
    /// The name is too long.
    #[error("the name of the branch, tag or commit is longer than 255 bytes")]
    TooLong,
}

impl GitRef {
    /// Parses a reference by the rules of `git check-ref-format`.
    pub fn parse(raw: &str) -> Result<Self, ParseRefError> {
        if raw.is_empty() {
            return Err(ParseRefError::Empty);
        }
        if raw.starts_with('-') {
            return Err(ParseRefError::LooksLikeOption);
        }
        if raw.len() > 255 {
            return Err(ParseRefError::TooLong);
        }
        let is_forbidden = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
        let is_invalid = raw == "@" || raw.ends_with('.') || raw.contains("..") || raw.contains("@{");
        if is_invalid || raw.contains(is_forbidden) || hidden::find_hidden(raw).is_some() {
            return Err(ParseRefError::InvalidName);
        }
        let is_bad_component =
            |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
        if raw.split('/').any(is_bad_component) {
            Err(ParseRefError::InvalidName)
        } else {
            Ok(Self(raw.to_owned()))
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the commit id in lower case, if it is complete.
    pub(super) fn as_commit(&self) -> Option<String> {
        (matches!(self.0.len(), 40 | 64) && is_hex(&self.0)).then(|| self.0.to_ascii_lowercase())
    }

    /// Returns `true` if the name may be an abbreviated commit id.
    pub(super) fn may_be_abbreviated(&self) -> bool {
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
            assert_eq!(GitRef::parse(name), Err(ParseRefError::InvalidName), "{name:?}");
        }
        assert_eq!(GitRef::parse("--upload-pack=id"), Err(ParseRefError::LooksLikeOption));
        assert_eq!(GitRef::parse(""), Err(ParseRefError::Empty));
        assert_eq!(GitRef::parse(&"a".repeat(256)), Err(ParseRefError::TooLong));
    }

    #[test]
    fn a_full_commit_id_is_a_commit() {
        assert_eq!(GitRef::parse(&"AB".repeat(20)).unwrap().as_commit(), Some("ab".repeat(20)));
        assert_eq!(GitRef::parse(&"ab".repeat(32)).unwrap().as_commit(), Some("ab".repeat(32)));
        let abbreviated = GitRef::parse("abcdef12").unwrap();
        assert!(abbreviated.as_commit().is_none() && abbreviated.may_be_abbreviated());
    }

    proptest! {
        /// A name cannot escape the directory of refs or inject a line or packet.
        #[test]
        fn a_name_stays_a_single_path(raw in "\\PC{0,20}") {
            if let Ok(name) = GitRef::parse(&raw) {
                let plain = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
                prop_assert!(std::path::Path::new(name.as_str()).components().all(plain));
                prop_assert!(!name.as_str().contains(['\n', '\0', ' ']));
            }
        }
    }
}
