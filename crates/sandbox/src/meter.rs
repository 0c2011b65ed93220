//! How much a running script takes, and which limits that is beyond.
//!
//! A limit counts what it cannot see as exceeded. In tier 1 the scratch folder is a file system of its own in memory: the
//! kernel keeps its size and says how much of it is used. Elsewhere it is a folder on a disk, which is walked, and files
//! that have no name any more are looked for among those that the script's processes have open.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use super::Limits;
use super::options::Network;
use super::processes::{self, Below, Tree, measure, taken_below};
use super::ran::Limit;
use super::sandbox::{Running, Tier};

/// The most entries that a script may make in its scratch folder.
const ENTRIES_MAX: usize = 100_000;

/// In how many looks in a row something may be out of sight: a process that is being started is, for a moment.
const UNSEEN_MAX: u32 = 3;

/// Measures one script.
#[derive(Debug)]
pub(super) struct Meter {
    scratch: PathBuf,
    network: Network,
    /// The looks in a row in which something was out of sight.
    unseen_processes: u32,
    unseen_files: u32,
}

impl Meter {
    pub(super) fn new(scratch: &Path, network: Network) -> Self {
        Self { scratch: scratch.to_owned(), network, unseen_processes: 0, unseen_files: 0 }
    }

    /// The limits that what the script takes now is beyond.
    pub(super) fn limits_hit(&mut self, running: &Running, limits: &Limits) -> Vec<Limit> {
        let mut hit = Vec::new();
        let taken = taken_below(Below {
            root: running.process(),
            has_helpers: running.tier() == Tier::Tier1,
            scratch: &self.scratch,
            network: self.network == Network::On,
        });
        let is_unseen = in_a_row(&mut self.unseen_processes, taken.unseen);
        let files = Files::of(running, &self.scratch);
        let in_memory = if files.in_memory { files.bytes } else { 0 };
        if is_unseen || taken.memory.saturating_add(in_memory) > limits.memory_bytes {
            hit.push(Limit::Memory);
        }
        if taken.processes >= limits.processes {
            hit.push(Limit::Processes);
        }
        let is_beyond = match files.in_memory {
            true => files.is_beyond(limits),
            false => {
                let hidden = taken.unsized_files.saturating_mul(limits.file_bytes);
                let bytes = files.bytes.saturating_add(taken.unnamed).saturating_add(hidden);
                is_unseen || Files { bytes, ..files }.is_beyond(limits)
            }
        };
        if in_a_row(&mut self.unseen_files, files.unseen) || is_beyond {
            hit.push(Limit::Scratch);
        }
        hit
    }

    /// The limits that files are beyond which are still there when every process has ended.
    pub(super) fn limits_hit_at_end(&self, running: &Running, limits: &Limits) -> Vec<Limit> {
        let mut hit = Vec::new();
        let files = Files::of(running, &self.scratch);
        let largest = match running.private_scratch() {
            Some(scratch) => measure(scratch, ENTRIES_MAX).largest,
            None => files.largest,
        };
        if largest >= limits.file_bytes {
            hit.push(Limit::FileSize);
        }
        if files.unseen || files.is_beyond(limits) {
            hit.push(Limit::Scratch);
        }
        hit
    }
}

/// Counts a look. Returns whether something was out of sight for too long.
fn in_a_row(count: &mut u32, unseen: bool) -> bool {
    *count = if unseen { count.saturating_add(1) } else { 0 };
    *count >= UNSEEN_MAX
}

/// What is in the scratch folder.
#[derive(Debug, Clone, Copy)]
struct Files {
    entries: u64,
    bytes: u64,
    /// Not known where the files are in memory.
    largest: u64,
    unseen: bool,
    in_memory: bool,
}

impl Files {
    fn of(running: &Running, scratch: &Path) -> Self {
        if let Some(used) = running.private_scratch_use() {
            let (bytes, entries) = used.as_ref().copied().unwrap_or_default();
            return Self { entries, bytes, largest: 0, unseen: used.is_err(), in_memory: true };
        }
        let tree = match File::open(scratch) {
            Ok(folder) => measure(folder.as_fd(), ENTRIES_MAX),
            Err(_) => Tree { unseen: true, ..Tree::default() },
        };
        let processes::Tree { entries, bytes, largest, unseen } = tree;
        Self { entries: entries as u64, bytes, largest, unseen, in_memory: false }
    }

    fn is_beyond(&self, limits: &Limits) -> bool {
        self.bytes > limits.scratch_bytes || self.entries >= ENTRIES_MAX as u64
    }
}
