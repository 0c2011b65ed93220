//! Reads process information from `/proc`, and measures directories.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, DirEntry, FileType, Mode, OFlags};
use rustix::io::Errno;

pub(crate) fn process_parents() -> Vec<(u32, u32)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, parent(pid)?))).collect()
}

/// Returns the children of a process.
#[cfg(all(target_os = "linux", not(prowess_portable)))]
pub(crate) fn children(parent_pid: u32) -> Vec<u32> {
    match fs::read_to_string(format!("/proc/{parent_pid}/task/{parent_pid}/children")) {
        Ok(list) => list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect(),
        // Not every kernel provides this list.
        Err(_) => process_parents()
            .into_iter()
            .filter(|(_, parent)| *parent == parent_pid)
            .map(|(pid, _)| pid)
            .collect(),
    }
}

fn parent(pid: u32) -> Option<u32> {
    stat(pid)?.split_whitespace().nth(1)?.parse().ok()
}

/// Returns `true` if a process has ended, even if it was not waited for.
#[cfg(all(target_os = "linux", not(prowess_portable)))]
pub(crate) fn has_ended(pid: rustix::process::Pid) -> bool {
    let stat = u32::try_from(pid.as_raw_nonzero().get()).ok().and_then(stat);
    stat.is_none_or(|stat| stat.trim_start().starts_with(['Z', 'X']))
}

/// Returns the part of `/proc/PID/stat` after the name, which is in parentheses and may itself contain parentheses.
fn stat(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.to_owned())
}

/// The resource usage of the processes of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ProcessUsage {
    /// The number of processes and threads.
    pub(crate) processes: u32,
    /// The memory of all processes in bytes, including the capacity of their socket and pipe buffers.
    pub(crate) memory: u64,
    /// The size of open files that were deleted, in bytes.
    pub(crate) deleted_bytes: u64,
    /// Files whose size is hidden: mapped but not open, or in flight over a socket.
    pub(crate) unsized_files: u64,
    /// Whether a process could not be read.
    pub(crate) incomplete: bool,
}

/// Which processes to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UsageQuery<'a> {
    /// The process whose descendants are measured.
    pub(crate) root: u32,
    /// Whether its children are helpers, which cannot be read.
    pub(crate) has_helpers: bool,
    /// Directories on disk that the processes may write to, under all of their names.
    pub(crate) dirs: &'a [&'a Path],
    /// Whether the processes have network access, and can send descriptors to each other.
    pub(crate) network: bool,
}

/// Measures the processes. Threads are counted like the kernel counts them; files are counted if they are on the device
/// of one of the directories.
pub(crate) fn measure_processes(query: UsageQuery<'_>) -> ProcessUsage {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pid, parent) in process_parents() {
        children.entry(parent).or_default().push(pid);
    }
    let mut usage = ProcessUsage::default();
    let mut visited = HashSet::new();
    let mut files = OpenFiles::new(query.dirs, query.network);
    let mut pending = vec![query.root];
    while let Some(pid) = pending.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            if visited.insert(child) {
                pending.push(child);
                let status = status(child);
                usage.processes += threads(&status).max(1);
                usage.memory += memory(&status);
                let is_helper = query.has_helpers && pid == query.root;
                // A process that is ending has no memory and cannot be read.
                if files.add(child).is_err() && !is_helper && memory(&self::status(child)) > 0 {
                    usage.incomplete = true;
                }
            }
        }
    }
    usage.memory += files.buffers(query.root);
    usage.deleted_bytes = files.deleted_bytes;
    usage.unsized_files = files.unsized_files();
    usage
}

fn status(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default()
}

/// Returns the memory of a process: resident, swapped and page tables.
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

/// Returns the maximum number of bytes in a socket buffer with default size: the kernel's limit and one more segment.
fn socket_bytes() -> u64 {
    let default = fs::read_to_string("/proc/sys/net/core/wmem_default").ok();
    default.and_then(|text| text.trim().parse().ok()).unwrap_or(208 * 1024) + 64 * 1024
}

/// The maximum number of bytes in a pipe with default size.
const PIPE_BYTES: u64 = 64 * 1024;

/// Open files that use space but are neither in a directory nor in the memory of a process.
struct OpenFiles<'a> {
    dirs: &'a [&'a Path],
    devices: HashSet<u64>,
    network: bool,
    deleted: HashSet<(u64, u64)>,
    deleted_bytes: u64,
    /// The inodes of mapped files that were deleted.
    mapped: HashSet<u64>,
    sockets: HashSet<u64>,
    pipes: HashSet<(u64, u64)>,
    /// Descriptors that were sent and not yet received.
    in_flight: u64,
}

impl<'a> OpenFiles<'a> {
    fn new(dirs: &'a [&'a Path], network: bool) -> Self {
        Self {
            dirs,
            devices: dirs.iter().filter_map(|dir| Some(fs::metadata(dir).ok()?.dev())).collect(),
            network,
            deleted: HashSet::new(),
            deleted_bytes: 0,
            mapped: HashSet::new(),
            sockets: HashSet::new(),
            pipes: HashSet::new(),
            in_flight: 0,
        }
    }

    /// Adds the open files of a process. An error means that the process could not be read.
    fn add(&mut self, pid: u32) -> io::Result<()> {
        for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
            let entry = entry?;
            let metadata = match fs::metadata(entry.path()) {
                Ok(metadata) => metadata,
                // The file was closed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let kind = metadata.file_type();
            if kind.is_socket() {
                if self.sockets.insert(metadata.ino()) && self.network {
                    self.in_flight += descriptors_in_flight(pid, &entry.file_name());
                }
            } else if kind.is_fifo() {
                self.pipes.insert((metadata.dev(), metadata.ino()));
            } else if kind.is_file()
                && metadata.nlink() == 0
                && self.devices.contains(&metadata.dev())
                && self.deleted.insert((metadata.dev(), metadata.ino()))
            {
                self.deleted_bytes += metadata.blocks() * 512;
            }
        }
        for line in fs::read_to_string(format!("/proc/{pid}/maps"))?.lines() {
            let Some(path) = line.strip_suffix(" (deleted)") else { continue };
            let in_dirs = path.find('/').and_then(|index| path.get(index..)).is_some_and(|path| {
                // Compare bytes, not components: the rest of the name is arbitrary.
                let is_in = |dir: &&Path| path.as_bytes().starts_with(dir.as_os_str().as_encoded_bytes());
                self.dirs.iter().any(is_in)
            });
            let inode = path.split_whitespace().nth(4).and_then(|inode| inode.parse().ok());
            if let (true, Some(inode)) = (in_dirs, inode) {
                self.mapped.insert(inode);
            }
        }
        Ok(())
    }

    /// Returns the memory of sockets and pipes in bytes: their capacity, or the queued bytes for connections.
    fn buffers(&self, root: u32) -> u64 {
        let sockets = self.sockets.len() as u64 + self.in_flight;
        let connections = if self.network { queued_bytes(root, &self.sockets) } else { 0 };
        sockets * socket_bytes() + self.pipes.len() as u64 * PIPE_BYTES + connections
    }

    /// Returns the number of files whose size is unknown.
    fn unsized_files(&self) -> u64 {
        let is_open = |inode: &&u64| self.deleted.iter().any(|(_, open)| open == *inode);
        self.mapped.iter().filter(|inode| !is_open(inode)).count() as u64 + self.in_flight
    }
}

/// Returns the number of descriptors in flight in a socket.
fn descriptors_in_flight(pid: u32, descriptor: &std::ffi::OsStr) -> u64 {
    let path = Path::new("/proc").join(pid.to_string()).join("fdinfo").join(descriptor);
    fs::read_to_string(path).ok().and_then(|info| field(&info, "scm_fds:")).unwrap_or_default()
}

/// Returns the bytes queued in connections, doubled to account for the kernel's overhead.
fn queued_bytes(root: u32, sockets: &HashSet<u64>) -> u64 {
    let tables = ["tcp", "tcp6", "udp", "udp6"];
    let lines =
        tables.map(|table| fs::read_to_string(format!("/proc/{root}/net/{table}")).unwrap_or_default());
    let queued = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (sent, received) = fields.get(4)?.split_once(':')?;
        let inode = fields.get(9)?.parse().ok()?;
        let bytes = |hex| u64::from_str_radix(hex, 16).ok();
        sockets.contains(&inode).then_some(bytes(sent)? + bytes(received)?)
    };
    lines.iter().flat_map(|table| table.lines()).filter_map(queued).sum::<u64>() * 2
}

/// Returns the number of processes and threads of a user.
pub(crate) fn count_user_threads(user: u32) -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let pids = entries.flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse::<u32>().ok()?;
        // The owner is known from metadata, which is much cheaper than reading the process.
        (entry.metadata().ok()?.uid() == user).then_some(pid)
    });
    pids.map(|pid| u64::from(threads(&status(pid)))).sum()
}

/// The maximum nesting of directories: each level needs an open descriptor while the tree is walked.
const DEPTH_MAX: usize = 64;

/// Measures a directory by descriptor, so that no path is too long. Other file systems that are mounted in it are not
/// included. Stops after `limit` entries.
pub(crate) fn measure_dir(root: BorrowedFd<'_>, limit: usize) -> DirUsage {
    let mut usage = DirUsage::default();
    let mut open: Vec<Dir> = Vec::new();
    let device = match rustix::fs::fstat(root).and_then(|stat| Ok((stat.st_dev, Dir::read_from(root)?))) {
        Ok((device, dir)) => {
            open.push(dir);
            device
        }
        Err(_) => return DirUsage { incomplete: true, ..usage },
    };
    while let Some(mut dir) = open.pop() {
        let Some(entry) = dir.read() else { continue };
        let inner = entry.and_then(|entry| usage.add(&dir, &entry, device));
        open.push(dir);
        match inner {
            Ok(Some(_)) if open.len() >= DEPTH_MAX => usage.incomplete = true,
            Ok(Some(inner)) => open.push(inner),
            // The entry was removed meanwhile.
            Ok(None) | Err(Errno::NOENT) => {}
            Err(_) => {
                usage.incomplete = true;
                return usage;
            }
        }
        if usage.entries >= limit {
            return usage;
        }
    }
    usage
}

/// The size of a directory tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DirUsage {
    pub(crate) entries: usize,
    /// The disk space in bytes.
    pub(crate) bytes: u64,
    /// The size in bytes: the disk space, or the sizes of files that have holes.
    pub(crate) size: u64,
    /// The size of the largest file.
    pub(crate) largest: u64,
    /// Whether a part could not be read.
    pub(crate) incomplete: bool,
}

impl DirUsage {
    /// Adds an entry, and opens it if it is a directory.
    fn add(&mut self, dir: &Dir, entry: &DirEntry, device: u64) -> Result<Option<Dir>, Errno> {
        let name = entry.file_name();
        if name == c"." || name == c".." {
            return Ok(None);
        }
        let stat = rustix::fs::statat(dir.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if stat.st_dev != device {
            return Ok(None);
        }
        self.entries += 1;
        let space = u64::try_from(stat.st_blocks).unwrap_or_default() * 512;
        self.bytes += space;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        self.size = self.size.saturating_add(if is_file { space.max(size) } else { space });
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let inner = rustix::fs::openat(dir.fd()?, name, flags, Mode::empty())?;
                Ok(Some(Dir::new(inner)?))
            }
            _ => {
                self.largest = self.largest.max(size);
                Ok(None)
            }
        }
    }
}
