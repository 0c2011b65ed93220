//! Which code the figures were measured with, so that `scripts/bench-age` can say when they are older than it.

use std::path::Path;
use std::process::Command;

/// What the figures depend on, from the top of the repository.
const CODE: [&str; 4] = ["crates", "bench/src", "Cargo.toml", "Cargo.lock"];

/// The commit that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its id.
    pub commit: String,
    /// Its date, as `2026-01-31`.
    pub date: String,
    /// Whether the code had changes that were not committed.
    pub uncommitted: bool,
}

impl Origin {
    /// The commit that is checked out in this repository; `None` where git cannot say.
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
