//! The tree hashes to which trust in a skill is pinned: the skill is trusted only while its files have one of them.

use serde::{Deserialize, Serialize};

/// The tree hashes that a skill may have: usually one, two while the skill is being replaced, and none if its files
/// could not be read. In the file, they are one string, separated by a space.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct TreeHashes(Vec<String>);

impl TreeHashes {
    /// Returns the hashes of a skill.
    pub fn new(hashes: Vec<String>) -> Self {
        Self(hashes)
    }

    /// Returns `true` if there is no hash.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if the skill may have this hash.
    pub fn contains(&self, hash: &str) -> bool {
        self.0.iter().any(|pinned| pinned == hash)
    }

    /// Returns all hashes.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl From<String> for TreeHashes {
    fn from(text: String) -> Self {
        // Earlier versions stored an error with the names of files here, which could contain a hash.
        let hashes = if text.starts_with("no hash") { "" } else { &text };
        Self(hashes.split_whitespace().map(str::to_owned).collect())
    }
}

impl From<TreeHashes> for String {
    fn from(hashes: TreeHashes) -> Self {
        hashes.0.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_not_a_hash() {
        for text in ["", "no hash: cannot read a b c"] {
            assert_eq!(TreeHashes::from(text.to_owned()), TreeHashes::default(), "{text}");
        }
        let hashes = TreeHashes::from("a b".to_owned());
        assert!(hashes.contains("a") && hashes.contains("b") && !hashes.contains("a b"));
        assert_eq!(String::from(hashes), "a b");
    }
}
