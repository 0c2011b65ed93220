//! The tree hashes to which trust in a skill is pinned.

use serde::{Deserialize, Serialize};

/// The tree hashes that a skill may have: usually one, and two while the skill is being replaced. In the file, they
/// are one string, separated by a space.
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
        self.0.iter().any(|known| known == hash)
    }

    /// Returns all hashes.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl From<String> for TreeHashes {
    fn from(text: String) -> Self {
        Self(text.split(' ').map(str::to_owned).collect())
    }
}

impl From<TreeHashes> for String {
    fn from(hashes: TreeHashes) -> Self {
        hashes.0.join(" ")
    }
}
