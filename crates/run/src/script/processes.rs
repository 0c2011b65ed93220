//! What `/proc` says about processes.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Every process with its parent.
pub(crate) fn parents() -> Vec<(u32, u32)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, parent(pid)?))).collect()
}

/// The processes that a process started itself.
#[cfg(all(target_os = "linux", not(prowess_elsewhere)))]
pub(crate) fn children(of: u32) -> Vec<u32> {
    match fs::read_to_string(format!("/proc/{of}/task/{of}/children")) {
        Ok(list) => list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect(),
        // Not every kernel keeps that list.
        Err(_) => parents().into_iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| pid).collect(),
    }
}

fn parent(pid: u32) -> Option<u32> {
    stat(pid)?.split_whitespace().nth(1)?.parse().ok()
}

/// Whether a process has ended, though nobody has asked how.
#[cfg(all(target_os = "linux", not(prowess_elsewhere)))]
pub(crate) fn has_ended(pid: rustix::process::Pid) -> bool {
    let stat = u32::try_from(pid.as_raw_nonzero().get()).ok().and_then(stat);
    stat.is_none_or(|stat| stat.trim_start().starts_with(['Z', 'X']))
}

/// What is said of a process after its name, which stands in parentheses and may hold anything, parentheses too.
fn stat(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.to_owned())
}

/// What a process and all below it take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Taken {
    /// How many there are below it.
    pub(crate) processes: u32,
    /// The memory of all of them, in bytes.
    pub(crate) memory: u64,
    /// The files that they have open and that have no name any more, in bytes.
    pub(crate) unnamed: u64,
}

/// Adds up what the processes below `root` take. Threads are counted as the kernel counts them; files count that lie on
/// the device of `scratch`.
pub(crate) fn taken_below(root: u32, scratch: &Path) -> Taken {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pid, parent) in parents() {
        children.entry(parent).or_default().push(pid);
    }
    let mut taken = Taken::default();
    let mut seen = HashSet::new();
    let mut files = Unnamed::on(scratch);
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            if seen.insert(child) {
                open.push(child);
                let status = fs::read_to_string(format!("/proc/{child}/status")).unwrap_or_default();
                taken.processes += threads(&status).max(1);
                taken.memory += memory(&status);
                files.of(child);
            }
        }
    }
    taken.unnamed = files.bytes;
    taken
}

/// What a process has in memory, has put aside, and costs the kernel in tables to find it again.
fn memory(status: &str) -> u64 {
    ["VmRSS:", "VmSwap:", "VmPTE:"].iter().filter_map(|name| field(status, name)).sum::<u64>() * 1024
}

fn threads(status: &str) -> u32 {
    field(status, "Threads:").and_then(|threads| threads.try_into().ok()).unwrap_or_default()
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Open files without a name, which a look at the folder does not find.
struct Unnamed {
    device: Option<u64>,
    seen: HashSet<u64>,
    bytes: u64,
}

impl Unnamed {
    fn on(scratch: &Path) -> Self {
        let device = fs::metadata(scratch).ok().map(|metadata| metadata.dev());
        Self { device, seen: HashSet::new(), bytes: 0 }
    }

    /// Adds those of a process, as far as it lets us look.
    fn of(&mut self, pid: u32) {
        let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return };
        for metadata in entries.flatten().filter_map(|entry| fs::metadata(entry.path()).ok()) {
            let is_unnamed =
                metadata.is_file() && metadata.nlink() == 0 && Some(metadata.dev()) == self.device;
            if is_unnamed && self.seen.insert(metadata.ino()) {
                self.bytes += metadata.blocks() * 512;
            }
        }
    }
}

/// How many processes and threads a user has.
pub(crate) fn of_user(user: u32) -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let own = entries.flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse::<u32>().ok()?;
        // Whose a process is can be told from outside, which is far cheaper than reading about it.
        (entry.metadata().ok()?.uid() == user).then_some(pid)
    });
    let status = |pid: u32| fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    own.map(|pid| u64::from(threads(&status(pid)))).sum()
}

/// What lies below a folder: how many bytes, how many entries, and the largest file. Not more than `most` entries are
/// looked at.
pub(crate) fn lies_below(folder: &Path, most: usize) -> Lying {
    let mut lying = Lying::default();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            lying.entries += 1;
            if lying.entries >= most {
                return lying;
            }
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => open.push(entry.path()),
                Ok(metadata) => {
                    lying.bytes += metadata.blocks() * 512;
                    lying.largest = lying.largest.max(metadata.len());
                }
                Err(_) => {}
            }
        }
    }
    lying
}

/// What lies in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Lying {
    pub(crate) entries: usize,
    pub(crate) bytes: u64,
    pub(crate) largest: u64,
}
