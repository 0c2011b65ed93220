//! What is recorded about an environment.

use serde::{Deserialize, Serialize};

pub(super) use prowess::lock::is_environment_id;
pub use prowess::lock::{EnvironmentKind, ResolvedPackage, ResolvedSet};

/// The record of an environment: `environment.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentRecord {
    /// The version of the format.
    pub schema: u32,
    /// The id.
    pub id: String,
    /// The packages.
    #[serde(flatten)]
    pub set: ResolvedSet,
    /// The version of the interpreter that it was built with.
    pub interpreter: String,
    /// The digest of the paths, sizes, modes and times of all files.
    pub stamp: String,
    /// The digest of the contents of all files.
    pub tree: String,
    /// The number of files.
    pub files: u64,
    /// The total size, in bytes.
    pub bytes: u64,
    /// When it was built, in seconds since 1970.
    pub created: i64,
}

/// The newest format that this version can read.
pub(super) const SCHEMA: u32 = 1;

/// Who uses an environment: `usage.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EnvironmentUsage {
    /// When it was last used, in seconds since 1970.
    pub last_used: i64,
    /// The skills that use it, sorted.
    pub skills: Vec<String>,
}
