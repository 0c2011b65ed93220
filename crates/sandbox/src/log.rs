//! What was run, kept for the user: one line of JSON for each run, in the user's state.
//!
//! A run is recorded before it begins and again when it ends, so that even one that was cut off leaves a trace.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use prowess::Surroundings;
use prowess_fs::lock;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

/// When a log is put aside. There is one older one, so that not more than twice as much is kept.
const LOG_MAX: u64 = 1024 * 1024;

/// The longest that is read of each.
const READ_MAX: u64 = 2 * LOG_MAX;

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// What makes it this run and no other.
    pub id: String,
    /// When it began, in seconds since 1970.
    pub at: u64,
    /// The skill.
    pub skill: String,
    /// Where the skill came from.
    pub scope: String,
    /// The script, inside the skill.
    pub script: String,
    /// How many arguments it was given. What they are is nobody's business later.
    pub arguments: usize,
    /// The digest of the script.
    pub digest: String,
    /// The tree hash of the files it ran among.
    pub tree: String,
    /// What ran it.
    pub interpreter: String,
    /// Whether it reached the network.
    pub network: bool,
    /// The names of the variables it was passed.
    pub env: Vec<String>,
    /// Under which protection it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// How it ended; none where it has not, or nobody was left to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct End {
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether its output was cut.
    pub truncated: bool,
    /// Whether it ran too long.
    pub timed_out: bool,
    /// The limits that it ran into.
    pub limits_hit: Vec<String>,
    /// How many processes it left behind.
    pub left_behind: u32,
    /// How long it took.
    pub duration_ms: u64,
    /// Why it did not begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Where the user's log lies; none without a home.
pub fn path(world: &Surroundings) -> Option<PathBuf> {
    Some(world.state()?.join("runs.jsonl"))
}

fn older(path: &Path) -> PathBuf {
    path.with_extension("old.jsonl")
}

/// Adds a line.
pub(super) fn append(path: &Path, record: &Record) -> io::Result<()> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    let _held = lock(path)?;
    let mut file = open(path)?;
    if file.metadata()?.len() + line.len() as u64 > LOG_MAX {
        std::fs::rename(path, older(path))?;
        file = open(path)?;
    }
    file.write_all(&line)
}

fn open(path: &Path) -> io::Result<File> {
    File::options()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed())
        .open(path)
}

/// The last runs, the latest first. Lines that cannot be understood are passed over.
pub fn read(path: &Path, most: usize) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for path in [older(path), path.to_owned()] {
        let bytes = prowess::read_bounded(&path, READ_MAX).unwrap_or_default();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let Ok(record) = serde_json::from_slice::<Record>(line) else { continue };
            match records.iter_mut().rev().find(|known| known.id == record.id) {
                Some(known) => *known = record,
                None => records.push(record),
            }
        }
    }
    records.reverse();
    records.truncate(most);
    records
}

/// A new run, now.
pub(super) fn begun() -> Record {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Record {
        id: format!("{:x}-{:x}", now.as_nanos(), std::process::id()),
        at: now.as_secs(),
        ..Record::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: usize, end: bool) -> Record {
        let end = end.then(|| End { exit_code: Some(0), ..End::default() });
        Record { id: id.to_string(), skill: "s".repeat(2_000), end, ..Record::default() }
    }

    #[test]
    fn it_is_bounded_and_the_latest_come_first() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("deep/runs.jsonl");
        for id in 0..1_200 {
            append(&path, &record(id, false)).unwrap();
        }
        append(&path, &record(1_199, true)).unwrap();
        std::fs::write(home.path().join("junk"), "").unwrap();
        let read = read(&path, 3);
        assert_eq!(
            read.iter().map(|record| record.id.as_str()).collect::<Vec<_>>(),
            ["1199", "1198", "1197"]
        );
        assert!(read[0].end.is_some() && read[1].end.is_none());
        for path in [&path, &older(&path)] {
            assert!(std::fs::metadata(path).unwrap().len() <= LOG_MAX);
        }
    }

    #[test]
    fn no_line_is_lost_when_many_write() {
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
        assert_eq!(super::read(&path, 100).len(), 20);
    }
}
