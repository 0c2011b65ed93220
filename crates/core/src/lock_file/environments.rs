//! The environments of an installed skill, as pinned in its lock file.
//!
//! Invariant: a lock file of a project is untrusted input. It selects packages by name, version and digest; it cannot
//! select an index, a file or an option.

use serde::{Deserialize, Serialize};

use super::packages::ResolvedSet;

/// The maximum number of pinned environments of a skill: its groups of scripts, for several interpreters.
const PINNED_MAX: usize = 64;

/// The exact packages for scripts of a skill with the same requirements, for one interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedEnvironment {
    /// The digest of the requirements.
    pub requirements: String,
    /// The packages.
    #[serde(flatten)]
    pub set: ResolvedSet,
}

impl PinnedEnvironment {
    fn is_valid(&self) -> bool {
        let digits = self.requirements.strip_prefix("sha256:").unwrap_or_default();
        digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) && self.set.is_valid()
    }

    fn key(&self) -> (&str, &str) {
        (&self.requirements, &self.set.tag)
    }
}

/// Checks the pinned environments of a skill. Returns why they are refused.
pub(super) fn check_pinned(pinned: &[PinnedEnvironment]) -> Result<(), String> {
    if pinned.len() > PINNED_MAX {
        return Err(format!("more than {PINNED_MAX} pinned environments"));
    }
    match pinned.iter().all(PinnedEnvironment::is_valid) {
        true => Ok(()),
        false => Err("a pinned package without a valid name, version and digest".to_owned()),
    }
}

/// Adds pinned environments. They replace those for the same requirements and interpreter; others are kept.
pub(crate) fn merge_pinned(
    existing: &[PinnedEnvironment],
    new: &[PinnedEnvironment],
) -> Vec<PinnedEnvironment> {
    let is_replaced = |old: &&PinnedEnvironment| new.iter().any(|pinned| pinned.key() == old.key());
    let mut merged = new.to_vec();
    merged.dedup_by(|a, b| a.key() == b.key());
    let kept = existing.iter().filter(|old| !is_replaced(old)).cloned();
    merged.extend(kept);
    // The new ones come first, so that they are never left out.
    merged.truncate(PINNED_MAX);
    merged.sort_by(|a, b| a.key().cmp(&b.key()));
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock_file::{EnvironmentKind, LockFile, ResolvedPackage};

    fn pinned(digit: &str, tag: &str, version: &str) -> PinnedEnvironment {
        let package = ResolvedPackage {
            name: "six".to_owned(),
            version: version.to_owned(),
            hashes: vec![format!("sha256:{}", "0".repeat(64))],
        };
        let set = ResolvedSet::new(EnvironmentKind::Python, tag.to_owned(), vec![package]).unwrap();
        PinnedEnvironment { requirements: format!("sha256:{}", digit.repeat(64)), set }
    }

    #[test]
    fn new_pins_replace_those_for_the_same_interpreter() {
        let existing = [pinned("1", "cpython-311-x", "1.0"), pinned("1", "cpython-312-x", "1.0")];
        let merged = merge_pinned(&existing, &[pinned("1", "cpython-311-x", "2.0")]);
        assert_eq!(merged, [pinned("1", "cpython-311-x", "2.0"), pinned("1", "cpython-312-x", "1.0")]);
        let many: Vec<_> = (0..100).map(|n| pinned("2", &format!("cpython-{n}-x"), "1.0")).collect();
        let merged = merge_pinned(&many, &existing);
        assert!(merged.len() == PINNED_MAX && merged.contains(&existing[1]));
        assert!(check_pinned(&merged).is_ok() && check_pinned(&many).is_err());
    }

    #[test]
    fn pins_of_a_lock_file_are_checked() {
        let mut lock = LockFile::default();
        let entry = super::super::LockEntry {
            folder: "a".to_owned(),
            environments: vec![pinned("1", "cpython-311-x", "1.0")],
            ..Default::default()
        };
        lock.set("a", Some(entry));
        let text = String::from_utf8(lock.to_bytes()).unwrap();
        assert_eq!(LockFile::parse(text.as_bytes()).unwrap(), lock);
        for (part, replacement) in [
            ("\"six\"", "\"-r x\""),
            ("\"six\"", "\"six @ https://files.example\""),
            ("\"1.0\"", "\"1.0 --index-url=http://x.example\""),
            ("sha256:00", "sha256:0g"),
            ("sha256:00", "md5:00"),
            ("\"sha256:1111", "\"1111"),
            ("cpython-311-x", "../x"),
            ("\"python\"", "\"node\""),
        ] {
            let changed = text.replacen(part, replacement, 1);
            let error = LockFile::parse(changed.as_bytes()).unwrap_err();
            assert!(error.contains("a pinned package without a valid"), "{replacement}: {error}");
        }
        // Other versions may add fields.
        let extended = text.replacen("\"kind\"", "\"other\": 1, \"kind\"", 1);
        assert_eq!(LockFile::parse(extended.as_bytes()).unwrap(), lock);
    }
}
