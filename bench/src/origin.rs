//! The measured commit, for `scripts/bench-age`.

use std::path::Path;
use std::process::Command;

/// The paths that the figures depend on, relative to the repository.
const CODE: [&str; 4] = ["crates", "bench/src", "Cargo.toml", "Cargo.lock"];

/// The measured commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The commit id.
    pub commit: String,
    /// The date of the commit, as `2026-01-31`.
    pub date: String,
    /// Whether the code had uncommitted changes.
    pub uncommitted: bool,
}

impl Origin {
    /// Returns the current commit of a repository, or `None` if git fails.
    pub fn of(repository: &Path) -> Option<Self> {
        let git = |args: &[&str]| {
            let output = Command::new("git").arg("-C").arg(repository).args(args).output().ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            output.status.success().then(|| text.trim().to_owned())
        };
        let log = git(&["log", "-1", "--format=%H %cs"])?;
        let (commit, date) = log.split_once(' ')?;
        let status = git(&[&["status", "--porcelain", "--"], &CODE[..]].concat())?;
        Some(Self { commit: commit.to_owned(), date: date.to_owned(), uncommitted: !status.is_empty() })
    }
}
