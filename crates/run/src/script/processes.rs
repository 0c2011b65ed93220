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

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything, parentheses too.
    let rest = stat.rsplit_once(')')?.1;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// What a process and all below it take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Taken {
    /// How many there are below it.
    pub(crate) processes: u32,
    /// The memory of all of them, in bytes.
    pub(crate) memory: u64,
}

/// Adds up what the processes below `root` take. Threads are counted as the kernel counts them.
pub(crate) fn taken_below(root: u32) -> Taken {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pid, parent) in parents() {
        children.entry(parent).or_default().push(pid);
    }
    let page = rustix::param::page_size() as u64;
    let mut taken = Taken::default();
    let mut seen = HashSet::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            if seen.insert(child) {
                open.push(child);
                taken.processes += threads(child).max(1);
                taken.memory += resident(child) * page;
            }
        }
    }
    taken
}

fn resident(pid: u32) -> u64 {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or_default()
}

fn threads(pid: u32) -> u32 {
    status_field(&format!("/proc/{pid}/status"), "Threads:").unwrap_or_default()
}

fn status_field(path: &str, name: &str) -> Option<u32> {
    let status = fs::read_to_string(path).ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// How many processes and threads a user has.
pub(crate) fn of_user(user: u32) -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let own = entries.flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse::<u32>().ok()?;
        // Whose a process is can be told from outside, which is far cheaper than reading about it.
        (entry.metadata().ok()?.uid() == user).then_some(pid)
    });
    own.map(|pid| u64::from(threads(pid))).sum()
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
