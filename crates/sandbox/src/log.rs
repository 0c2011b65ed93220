//! The log of runs: one line of JSON for each record, in the user's state directory.
//!
//! A run is recorded before it starts and again when it ends, so an interrupted run leaves a trace.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use prowess::HostEnv;
use prowess_fs::lock;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

/// The size at which the log is rotated. One older file is kept.
const LOG_MAX: u64 = 1024 * 1024;

/// The maximum number of bytes to read of each file.
const READ_MAX: u64 = 2 * LOG_MAX;

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunRecord {
    /// The unique id of the run.
    pub id: String,
    /// When the run started, in seconds since 1970.
    pub at: u64,
    /// The name of the skill.
    pub skill: String,
    /// The scope of the skill.
    pub scope: String,
    /// The path of the script in the skill.
    pub script: String,
    /// The number of arguments. Their values are not recorded.
    pub arguments: usize,
    /// The digest of the script.
    pub digest: String,
    /// The tree hash of the files of the run: one digest over all paths, bytes and executable bits.
    pub tree: String,
    /// The interpreter.
    pub interpreter: String,
    /// Whether the script had network access.
    pub network: bool,
    /// The names of the variables that were passed.
    pub env: Vec<String>,
    /// The protection under which the script ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// How the run ended; `None` if it is still running or was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<RunEnd>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunEnd {
    /// The exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the script.
    pub signal: Option<i32>,
    /// Whether the output was truncated.
    pub truncated: bool,
    /// Whether the script ran too long.
    pub timed_out: bool,
    /// The limits that the script exceeded.
    pub limits_hit: Vec<String>,
    /// How many processes the script left behind.
    pub left_behind: u32,
    /// The duration.
    pub duration_ms: u64,
    /// Why the script did not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Returns the path of the user's log, or `None` without a home directory.
pub fn path(env: &HostEnv) -> Option<PathBuf> {
    Some(env.state_dir()?.join("runs.jsonl"))
}

fn rotated_path(path: &Path) -> PathBuf {
    path.with_extension("old.jsonl")
}

pub(super) fn append(path: &Path, record: &RunRecord) -> io::Result<()> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    let _guard = lock(path)?;
    let mut file = open(path)?;
    if file.metadata()?.len() + line.len() as u64 > LOG_MAX {
        std::fs::rename(path, rotated_path(path))?;
        file = open(path)?;
    }
    if ends_within_line(path)? {
        line.insert(0, b'\n');
    }
    file.write_all(&line)
}

/// Returns `true` if the last record was not written completely. Another one on its line would be lost.
fn ends_within_line(path: &Path) -> io::Result<bool> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = prowess_fs::open_nonblocking(path, prowess_fs::SymlinkMode::Refuse)?;
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn open(path: &Path) -> io::Result<File> {
    File::options()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed())
        .open(path)
}

/// Reads the last runs, most recent first. Invalid lines are skipped.
pub fn read_records(path: &Path, limit: usize) -> Vec<RunRecord> {
    let mut records: Vec<RunRecord> = Vec::new();
    for path in [rotated_path(path), path.to_owned()] {
        let bytes = prowess::read_bounded(&path, READ_MAX).unwrap_or_default();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let Ok(record) = serde_json::from_slice::<RunRecord>(line) else { continue };
            match records.iter_mut().rev().find(|earlier| earlier.id == record.id) {
                Some(earlier) => *earlier = record,
                None => records.push(record),
            }
        }
    }
    records.reverse();
    records.truncate(limit);
    records
}

pub(super) fn new_record() -> RunRecord {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    RunRecord {
        id: format!("{:x}-{:x}", now.as_nanos(), std::process::id()),
        at: now.as_secs(),
        ..RunRecord::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: usize, end: bool) -> RunRecord {
        let end = end.then(|| RunEnd { exit_code: Some(0), ..RunEnd::default() });
        RunRecord { id: id.to_string(), skill: "s".repeat(2_000), end, ..RunRecord::default() }
    }

    #[test]
    fn the_log_is_limited_and_sorted_by_time() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("deep/runs.jsonl");
        for id in 0..1_200 {
            append(&path, &record(id, false)).unwrap();
        }
        append(&path, &record(1_199, true)).unwrap();
        // A record that was not written completely is skipped, and only that.
        File::options().append(true).open(&path).unwrap().write_all(b"{\"id\":").unwrap();
        append(&path, &record(1_200, false)).unwrap();
        assert_eq!(read_records(&path, 1)[0].id, "1200");
        let records = read_records(&path, 4).split_off(1);
        assert_eq!(
            records.iter().map(|record| record.id.as_str()).collect::<Vec<_>>(),
            ["1199", "1198", "1197"]
        );
        assert!(records[0].end.is_some() && records[1].end.is_none());
        for path in [&path, &rotated_path(&path)] {
            assert!(std::fs::metadata(path).unwrap().len() <= LOG_MAX);
        }
    }

    #[test]
    fn concurrent_writers_lose_no_lines() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("runs.jsonl");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    (0..5).for_each(|n| append(path, &record(thread * 10 + n, false)).unwrap())
                });
            }
        });
        assert_eq!(super::read_records(&path, 100).len(), 20);
    }
}
