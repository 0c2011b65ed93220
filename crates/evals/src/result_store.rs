//! Stored results: each run once, by the digest of everything that influences it.
//!
//! A result is written to a temporary directory and then renamed, so that a killed session leaves no partial result. A later
//! session with the same skill, case, model and settings uses it.

use std::io;
use std::path::{Path, PathBuf};

use crate::agent::OutputFile;
use crate::run_record::RunRecord;

/// The maximum size of a stored record, in bytes.
const RECORD_MAX: u64 = 64 * 1024 * 1024;

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

    /// Stores the result of a run.
    pub fn store(&self, key: &str, record: &RunRecord) -> io::Result<()> {
        prowess_fs::create_dir_all(&self.dir)?;
        let staging = self.dir.join(format!(".{key}.{}", uuid::Uuid::new_v4().simple()));
        let write = || -> io::Result<()> {
            std::fs::create_dir(&staging)?;
            let paths: Vec<&str> = record.outcome.files.iter().map(|file| file.path.as_str()).collect();
            std::fs::write(staging.join("files.json"), serde_json::to_vec(&paths)?)?;
            for (index, file) in record.outcome.files.iter().enumerate() {
                std::fs::write(staging.join(format!("file-{index}")), &file.bytes)?;
            }
            std::fs::write(staging.join("record.json"), serde_json::to_vec(record)?)?;
            let target = self.dir.join(key);
            // A result that was stored meanwhile, or is damaged, is replaced.
            let _ = std::fs::remove_dir_all(&target);
            std::fs::rename(&staging, &target)
        };
        let written = write();
        if written.is_err() {
            let _ = std::fs::remove_dir_all(&staging);
        }
        written
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
