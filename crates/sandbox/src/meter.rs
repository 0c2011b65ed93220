//! Measures the resource usage of a running script.
//!
//! Usage that cannot be measured counts as exceeded. In tier 1, the strongest protection, the scratch directory and shared
//! memory are file systems in memory: the kernel limits their size and reports their usage. Otherwise the scratch directory
//! is on disk and is walked; deleted files are found among the open files of the script's processes.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Limits;
use super::options::NetworkAccess;
use super::processes::{DirUsage, UsageQuery, measure_dir, measure_processes};
use super::result::RunLimit;
use super::sandbox::{SandboxTier, SandboxedProcess};

/// The maximum number of entries in the scratch directory.
const ENTRIES_MAX: usize = 100_000;

/// How long measurements may be incomplete: a process that is just starting cannot be read, and on a busy machine that
/// takes a while.
const INCOMPLETE_MAX: Duration = Duration::from_secs(2);

/// Measures one script.
#[derive(Debug)]
pub(super) struct Meter {
    scratch: PathBuf,
    /// The workspace and the path at which the script sees it, if there is one.
    workspace: Option<[PathBuf; 2]>,
    network: NetworkAccess,
    /// The first of the latest consecutive measurements that were incomplete.
    processes_incomplete_since: Option<Instant>,
    files_incomplete_since: Option<Instant>,
    workspace_incomplete_since: Option<Instant>,
}

impl Meter {
    pub(super) fn new(scratch: &Path, workspace: Option<[PathBuf; 2]>, network: NetworkAccess) -> Self {
        Self {
            scratch: scratch.to_owned(),
            workspace,
            network,
            processes_incomplete_since: None,
            files_incomplete_since: None,
            workspace_incomplete_since: None,
        }
    }

    /// Returns the limits that the script exceeds now.
    pub(super) fn limits_hit(&mut self, running: &SandboxedProcess, limits: &Limits) -> Vec<RunLimit> {
        let mut hit = Vec::new();
        let usage = measure_processes(UsageQuery {
            root: running.root_pid(),
            has_helpers: running.tier() == SandboxTier::Tier1,
            dirs: &self.dirs(),
            network: matches!(self.network, NetworkAccess::On | NetworkAccess::Gateway(_)),
        });
        let is_incomplete =
            is_incomplete_too_long(&mut self.processes_incomplete_since, usage.incomplete, Instant::now());
        let files = ScratchUsage::measure(running, &self.scratch);
        let in_memory = if files.in_memory { files.bytes } else { 0 };
        if is_incomplete || usage.memory.saturating_add(in_memory) > limits.memory_bytes {
            hit.push(RunLimit::Memory);
        }
        if usage.processes >= limits.processes {
            hit.push(RunLimit::Processes);
        }
        let hidden = usage.unsized_files.saturating_mul(limits.file_bytes);
        let deleted = usage.deleted_bytes.saturating_add(hidden);
        let is_exceeded = match files.in_memory {
            true => files.exceeds(limits),
            false => {
                let bytes = files.bytes.saturating_add(deleted);
                is_incomplete || ScratchUsage { bytes, ..files }.exceeds(limits)
            }
        };
        if let Some(workspace) = self.measure_workspace(limits) {
            // Deleted files on disk count once: in the scratch directory, unless that is in memory.
            let deleted = if files.in_memory { deleted } else { 0 };
            let size = workspace.size.saturating_add(deleted);
            let is_exceeded = exceeds_workspace(&DirUsage { size, ..workspace }, limits);
            let since = &mut self.workspace_incomplete_since;
            if is_incomplete_too_long(since, workspace.incomplete, Instant::now()) || is_exceeded {
                hit.push(RunLimit::Workspace);
            }
        }
        if is_incomplete_too_long(&mut self.files_incomplete_since, files.incomplete, Instant::now())
            || is_exceeded
        {
            hit.push(RunLimit::Scratch);
        }
        hit
    }

    /// Returns the limits that the remaining files exceed after all processes have ended.
    pub(super) fn limits_hit_at_end(&self, running: &SandboxedProcess, limits: &Limits) -> Vec<RunLimit> {
        let mut hit = Vec::new();
        let files = ScratchUsage::measure(running, &self.scratch);
        let largest =
            running.private_dirs().iter().map(|dir| measure_dir(dir.as_fd(), ENTRIES_MAX).largest).max();
        let largest = largest.unwrap_or(files.largest);
        if largest >= limits.file_bytes {
            hit.push(RunLimit::FileSize);
        }
        if files.incomplete || files.exceeds(limits) {
            hit.push(RunLimit::Scratch);
        }
        let workspace = self.measure_workspace(limits);
        if workspace.is_some_and(|usage| usage.incomplete || exceeds_workspace(&usage, limits)) {
            hit.push(RunLimit::Workspace);
        }
        hit
    }

    /// Returns the directories on disk, as seen from here and by the script.
    fn dirs(&self) -> Vec<&Path> {
        let workspace = self.workspace.iter().flatten().map(PathBuf::as_path);
        std::iter::once(self.scratch.as_path()).chain(workspace).collect()
    }

    fn measure_workspace(&self, limits: &Limits) -> Option<DirUsage> {
        let [workspace, _] = self.workspace.as_ref()?;
        // One more than allowed, so that more are noticed.
        Some(measure_path(workspace, (limits.workspace_files as usize).saturating_add(1)))
    }
}

fn measure_path(path: &Path, entries_max: usize) -> DirUsage {
    match File::open(path) {
        Ok(dir) => measure_dir(dir.as_fd(), entries_max),
        Err(_) => DirUsage { incomplete: true, ..DirUsage::default() },
    }
}

fn exceeds_workspace(usage: &DirUsage, limits: &Limits) -> bool {
    // The size, because files are copied without holes.
    usage.size > limits.workspace_bytes || usage.entries > limits.workspace_files as usize
}

/// Returns `true` if consecutive measurements have been incomplete for too long.
fn is_incomplete_too_long(incomplete_since: &mut Option<Instant>, incomplete: bool, now: Instant) -> bool {
    match incomplete {
        true => now.duration_since(*incomplete_since.get_or_insert(now)) >= INCOMPLETE_MAX,
        false => {
            *incomplete_since = None;
            false
        }
    }
}

/// The usage of the scratch directory.
#[derive(Debug, Clone, Copy)]
struct ScratchUsage {
    entries: u64,
    bytes: u64,
    /// Unknown if the files are in memory.
    largest: u64,
    incomplete: bool,
    in_memory: bool,
}

impl ScratchUsage {
    fn measure(running: &SandboxedProcess, scratch: &Path) -> Self {
        if let Some(used) = running.private_usage() {
            let (bytes, entries) = used.as_ref().copied().unwrap_or_default();
            return Self { entries, bytes, largest: 0, incomplete: used.is_err(), in_memory: true };
        }
        let DirUsage { entries, bytes, largest, incomplete: unseen, .. } = measure_path(scratch, ENTRIES_MAX);
        Self { entries: entries as u64, bytes, largest, incomplete: unseen, in_memory: false }
    }

    fn exceeds(&self, limits: &Limits) -> bool {
        self.bytes > limits.scratch_bytes || self.entries >= ENTRIES_MAX as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_row_of_incomplete_measurements_counts() {
        let (mut since, start) = (None, Instant::now());
        let mut measure = |millis, incomplete| {
            is_incomplete_too_long(&mut since, incomplete, start + Duration::from_millis(millis))
        };
        let measured =
            [(0, true), (1_900, true), (1_950, false), (2_000, true), (3_900, true), (4_000, true)]
                .map(|(millis, incomplete)| measure(millis, incomplete));
        assert_eq!(measured, [false, false, false, false, false, true]);
    }
}
