//! A path that somebody asks for, before anything is opened.
//!
//! What it says is taken as it stands: backslashes are letters of a name, and nothing is percent-decoded.

use super::error::AccessError;

/// The longest path that is looked at, in bytes.
const PATH_MAX: usize = 4096;

/// A relative path without `..`, `.` or empty segments; empty for the folder itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inner(String);

impl Inner {
    /// Refuses what is absolute and any `..`.
    pub(super) fn parse(path: &str) -> Result<Self, AccessError> {
        check(path)?;
        // Nearly all paths are already as they should be.
        if path.split('/').all(|segment| !matches!(segment, "" | "." | "..")) {
            return Ok(Self(path.to_owned()));
        }
        let segments = segments(path)?;
        if segments.contains(&"..") {
            return Err(AccessError::Escape);
        }
        Ok(Self(segments.join("/")))
    }

    /// Refuses what is absolute; a `..` may take back a segment before it, but not more than there are.
    pub(super) fn resolve(path: &str) -> Result<Self, AccessError> {
        let mut kept: Vec<&str> = Vec::new();
        for segment in segments(path)? {
            match segment {
                ".." => drop(kept.pop().ok_or(AccessError::Escape)?),
                name => kept.push(name),
            }
        }
        Ok(Self(kept.join("/")))
    }

    /// The path with `/`.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The path with `/`.
    pub(super) fn into_string(self) -> String {
        self.0
    }

    /// Whether it is the folder itself.
    pub(super) fn is_folder(&self) -> bool {
        self.0.is_empty()
    }
}

/// What is wrong with a path whatever its segments are.
fn check(path: &str) -> Result<(), AccessError> {
    if path.is_empty() {
        return Err(AccessError::Path("is empty"));
    }
    if path.len() > PATH_MAX {
        return Err(AccessError::Path("is longer than 4096 bytes"));
    }
    if path.contains('\0') {
        return Err(AccessError::Path("has a NUL"));
    }
    if path.starts_with('/') {
        return Err(AccessError::Absolute);
    }
    Ok(())
}

fn segments(path: &str) -> Result<Vec<&str>, AccessError> {
    check(path)?;
    Ok(path.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(path: &str) -> Result<String, AccessError> {
        Inner::parse(path).map(|inner| inner.0)
    }

    fn resolve(path: &str) -> Result<String, AccessError> {
        Inner::resolve(path).map(|inner| inner.0)
    }

    #[test]
    fn s002_17_the_check_before_opening_refuses_absolute_paths_and_parents() {
        assert_eq!(parse("./a//b/"), Ok("a/b".to_owned()));
        assert_eq!(parse("..a/b..").as_deref(), Ok("..a/b.."));
        assert_eq!(parse("a\\..\\b%2e%2e").as_deref(), Ok("a\\..\\b%2e%2e"));
        for path in ["..", "../a", "a/..", "a/../b", "a/../../b", "./.."] {
            assert_eq!(parse(path), Err(AccessError::Escape), "{path}");
        }
        for path in ["/", "/etc/passwd", "//a", "/.."] {
            assert_eq!(parse(path), Err(AccessError::Absolute), "{path}");
        }
        for path in ["", "a\0b", &"a".repeat(4097)] {
            assert!(matches!(parse(path), Err(AccessError::Path(_))), "{path}");
        }
    }

    #[test]
    fn s000_07_a_parent_may_be_taken_back_but_not_more() {
        assert_eq!(resolve("a/../b"), Ok("b".to_owned()));
        assert_eq!(resolve("a/.."), Ok(String::new()));
        for path in ["..", "a/../..", "a/../../a/b"] {
            assert_eq!(resolve(path), Err(AccessError::Escape), "{path}");
        }
    }
}
