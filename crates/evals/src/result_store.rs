//! Stored results: each run once, by the digest of everything that influences it.
//!
//! A result is written to a temporary directory and then renamed, so that a killed session leaves no partial result. A later
//! session with the same skill, case, model and settings uses it.

use std::io;
use std::path::{Path, PathBuf};

use crate::agent::OutputFile;
use crate::run_record::RunRecord;
use crate::staging::StagingDir;

/// The maximum size of a stored record, in bytes.
const RECORD_MAX: u64 = 64 * 1024 * 1024;

/// A result that cannot be stored.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", .path.display())]
pub struct StoreResultError {
    /// The directory of the result.
    pub path: PathBuf,
    /// The cause.
    pub source: io::Error,
}

/// Stored results of runs.
#[derive(Debug, Clone)]
pub struct ResultStore {
    dir: PathBuf,
}

impl ResultStore {
    /// Uses a directory, which is created when a result is stored.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Returns `true` if there is a result.
    pub fn contains(&self, key: &str) -> bool {
        self.dir.join(key).join("record.json").is_file()
    }

    /// Returns the stored result of a run. A damaged one is ignored, and the run is repeated.
    pub fn load(&self, key: &str) -> Option<RunRecord> {
        let dir = self.dir.join(key);
        let bytes = prowess::read_bounded(&dir.join("record.json"), RECORD_MAX)?;
        let mut record: RunRecord = serde_json::from_slice(&bytes).ok()?;
        let paths: Vec<String> =
            serde_json::from_slice(&prowess::read_bounded(&dir.join("files.json"), RECORD_MAX)?).ok()?;
        for (index, path) in paths.into_iter().enumerate() {
            let bytes = prowess::read_bounded(&dir.join(format!("file-{index}")), RECORD_MAX)?;
            record.outcome.files.push(OutputFile { path, bytes });
        }
        record.cached = true;
        Some(record)
    }

    /// Stores the result of a run. A result that was stored meanwhile, or is damaged, is replaced.
    pub fn store(&self, key: &str, record: &RunRecord) -> Result<(), StoreResultError> {
        self.write(key, record).map_err(|source| StoreResultError { path: self.dir.join(key), source })
    }

    fn write(&self, key: &str, record: &RunRecord) -> io::Result<()> {
        let staging = StagingDir::create(&self.dir)?;
        let new = staging.path().join("new");
        std::fs::create_dir(&new)?;
        let paths: Vec<&str> = record.outcome.files.iter().map(|file| file.path.as_str()).collect();
        std::fs::write(new.join("files.json"), serde_json::to_vec(&paths)?)?;
        for (index, file) in record.outcome.files.iter().enumerate() {
            std::fs::write(new.join(format!("file-{index}")), &file.bytes)?;
        }
        std::fs::write(new.join("record.json"), serde_json::to_vec(record)?)?;
        let target = self.dir.join(key);
        // A directory with files cannot be replaced by a rename. The old one is removed together with the staging directory.
        match std::fs::rename(&target, staging.path().join("old")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => std::fs::rename(&new, &target),
        }
    }
}

/// The directories of the results of tests in the user's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestPaths(PathBuf);

impl TestPaths {
    /// Returns the directories below the user's state.
    pub fn new(state_dir: &Path) -> Self {
        Self(state_dir.join("tests"))
    }

    /// Returns the directory of stored results.
    pub fn results(&self) -> PathBuf {
        self.0.join("results")
    }

    /// Returns the file with the spending of an unfinished session, by the digest of its plan.
    pub fn spending(&self, plan: &str) -> PathBuf {
        self.0.join("unfinished").join(format!("{plan}.json"))
    }

    /// Returns the directory of the reports of a skill.
    pub fn reports(&self, skill: &str) -> PathBuf {
        self.0.join("reports").join(skill)
    }

    /// Returns the directory of all reports.
    pub fn all_reports(&self) -> PathBuf {
        self.0.join("reports")
    }
}
