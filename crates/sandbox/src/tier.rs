//! Under which protection a script runs.

use std::fmt;

use serde::Serialize;

/// Under which protection a script ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Namespaces, Landlock, seccomp and resource limits.
    Tier1,
    /// Landlock, seccomp and resource limits.
    Tier2,
    /// None, because the user said so.
    None,
}

impl Tier {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tier1 => "tier1",
            Self::Tier2 => "tier2",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
