//! A requested path, validated as text before anything is opened.
//!
//! The path is taken literally: backslashes are part of a name, and nothing is percent-decoded.

use super::error::ReadResourceError;

/// The longest path that is accepted, in bytes.
const PATH_MAX: usize = 4096;

/// A relative path without `..`, `.` or empty segments; empty for the directory itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RelativePath(String);

impl RelativePath {
    /// Rejects absolute paths and any `..`.
    pub(super) fn parse(path: &str) -> Result<Self, ReadResourceError> {
        check_path(path)?;
        // Nearly all paths are already normalized.
        if path.split('/').all(|segment| !matches!(segment, "" | "." | "..")) {
            return Ok(Self(path.to_owned()));
        }
        let segments = segments(path)?;
        if segments.contains(&"..") {
            return Err(ReadResourceError::Escape);
        }
        Ok(Self(segments.join("/")))
    }

    /// Rejects absolute paths. A `..` may cancel the segment before it.
    pub(super) fn resolve(path: &str) -> Result<Self, ReadResourceError> {
        let mut normalized: Vec<&str> = Vec::new();
        for segment in segments(path)? {
            match segment {
                ".." => drop(normalized.pop().ok_or(ReadResourceError::Escape)?),
                name => normalized.push(name),
            }
        }
        Ok(Self(normalized.join("/")))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }

    /// Returns `true` for the directory itself.
    pub(super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

/// Rejects paths that are invalid regardless of their segments.
fn check_path(path: &str) -> Result<(), ReadResourceError> {
    if path.is_empty() {
        return Err(ReadResourceError::InvalidPath("is empty"));
    }
    if path.len() > PATH_MAX {
        return Err(ReadResourceError::InvalidPath("is longer than 4096 bytes"));
    }
    if path.contains('\0') {
        return Err(ReadResourceError::InvalidPath("contains a NUL"));
    }
    if path.starts_with('/') {
        return Err(ReadResourceError::Absolute);
    }
    Ok(())
}

fn segments(path: &str) -> Result<Vec<&str>, ReadResourceError> {
    check_path(path)?;
    Ok(path.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect())
}

#[cfg(test)]
mod tests {
    // The numbers in names of tests are requirements; see `docs/glossary.md`.
    use super::*;

    fn parse(path: &str) -> Result<String, ReadResourceError> {
        RelativePath::parse(path).map(|inner| inner.0)
    }

    fn resolve(path: &str) -> Result<String, ReadResourceError> {
        RelativePath::resolve(path).map(|inner| inner.0)
    }

    #[test]
    fn s002_17_the_check_before_opening_refuses_absolute_paths_and_parents() {
        assert_eq!(parse("./a//b/"), Ok("a/b".to_owned()));
        assert_eq!(parse("..a/b..").as_deref(), Ok("..a/b.."));
        assert_eq!(parse("a\\..\\b%2e%2e").as_deref(), Ok("a\\..\\b%2e%2e"));
        for path in ["..", "../a", "a/..", "a/../b", "a/../../b", "./.."] {
            assert_eq!(parse(path), Err(ReadResourceError::Escape), "{path}");
        }
        for path in ["/", "/etc/passwd", "//a", "/.."] {
            assert_eq!(parse(path), Err(ReadResourceError::Absolute), "{path}");
        }
        for path in ["", "a\0b", &"a".repeat(PATH_MAX + 1)] {
            assert!(matches!(parse(path), Err(ReadResourceError::InvalidPath(_))), "{path}");
        }
    }

    #[test]
    fn s000_07_a_parent_segment_may_cancel_the_one_before_it() {
        assert_eq!(resolve("a/../b"), Ok("b".to_owned()));
        assert_eq!(resolve("a/.."), Ok(String::new()));
        for path in ["..", "a/../..", "a/../../a/b"] {
            assert_eq!(resolve(path), Err(ReadResourceError::Escape), "{path}");
        }
    }
}
