//! What `/proc` says about processes, and what a folder holds.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, DirEntry, FileType, Mode, OFlags};
use rustix::io::Errno;

/// Every process with its parent.
pub(crate) fn parents() -> Vec<(u32, u32)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, parent(pid)?))).collect()
}

/// The processes that a process started itself.
#[cfg(all(target_os = "linux", not(prowess_portable)))]
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
#[cfg(all(target_os = "linux", not(prowess_portable)))]
pub(crate) fn has_ended(pid: rustix::process::Pid) -> bool {
    let stat = u32::try_from(pid.as_raw_nonzero().get()).ok().and_then(stat);
    stat.is_none_or(|stat| stat.trim_start().starts_with(['Z', 'X']))
}

/// What is said of a process after its name, which stands in parentheses and may hold anything, parentheses too.
fn stat(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.to_owned())
}

/// What the processes of a script take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Taken {
    /// How many there are.
    pub(crate) processes: u32,
    /// The memory of all of them, in bytes, with what the buffers of their sockets and pipes can hold.
    pub(crate) memory: u64,
    /// The files that they have open and that have no name any more, in bytes.
    pub(crate) unnamed: u64,
    /// Files that they hold in ways that hide the size: mapped without being open, or sent and not yet received.
    pub(crate) unsized_files: u64,
    /// Whether a process could not be looked into.
    pub(crate) unseen: bool,
}

/// Whose processes are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Below<'a> {
    /// All below this one.
    pub(crate) root: u32,
    /// Whether its children are helpers of ours, which nobody may look into.
    pub(crate) has_helpers: bool,
    /// Where their files are.
    pub(crate) scratch: &'a Path,
    /// Whether they can have connections, and send each other descriptors.
    pub(crate) network: bool,
}

/// Adds up what processes take. Threads are counted as the kernel counts them; files count that are on the device of
/// the scratch folder.
pub(crate) fn taken_below(below: Below<'_>) -> Taken {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pid, parent) in parents() {
        children.entry(parent).or_default().push(pid);
    }
    let mut taken = Taken::default();
    let mut seen = HashSet::new();
    let mut files = OpenFiles::new(below.scratch, below.network);
    let mut open = vec![below.root];
    while let Some(pid) = open.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            if seen.insert(child) {
                open.push(child);
                let status = status(child);
                taken.processes += threads(&status).max(1);
                taken.memory += memory(&status);
                let is_helper = below.has_helpers && pid == below.root;
                // A process that is ending has no memory any more, and cannot be looked into either.
                if files.add(child).is_err() && !is_helper && memory(&self::status(child)) > 0 {
                    taken.unseen = true;
                }
            }
        }
    }
    taken.memory += files.buffers(below.root);
    taken.unnamed = files.unnamed_bytes;
    taken.unsized_files = files.unsized_files();
    taken
}

fn status(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default()
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

/// The most that waits in a socket that was left as it was made, in bytes: what the kernel allows, and one piece more.
fn socket_bytes() -> u64 {
    let default = fs::read_to_string("/proc/sys/net/core/wmem_default").ok();
    default.and_then(|text| text.trim().parse().ok()).unwrap_or(208 * 1024) + 64 * 1024
}

/// The most that waits in a pipe that was left as it was made, in bytes.
const PIPE_BYTES: u64 = 64 * 1024;

/// Open files that take up room and are found neither in a folder nor in the memory of a process.
struct OpenFiles<'a> {
    scratch: &'a Path,
    device: Option<u64>,
    network: bool,
    unnamed: HashSet<u64>,
    unnamed_bytes: u64,
    /// Mapped files without a name, by inode.
    mapped: HashSet<u64>,
    sockets: HashSet<u64>,
    pipes: HashSet<(u64, u64)>,
    /// Descriptors that were sent and not received yet.
    in_flight: u64,
}

impl<'a> OpenFiles<'a> {
    fn new(scratch: &'a Path, network: bool) -> Self {
        Self {
            scratch,
            device: fs::metadata(scratch).ok().map(|metadata| metadata.dev()),
            network,
            unnamed: HashSet::new(),
            unnamed_bytes: 0,
            mapped: HashSet::new(),
            sockets: HashSet::new(),
            pipes: HashSet::new(),
            in_flight: 0,
        }
    }

    /// Adds those of a process. An error means that it could not be looked into.
    fn add(&mut self, pid: u32) -> io::Result<()> {
        for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
            let entry = entry?;
            let metadata = match fs::metadata(entry.path()) {
                Ok(metadata) => metadata,
                // It was closed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let kind = metadata.file_type();
            if kind.is_socket() {
                if self.sockets.insert(metadata.ino()) && self.network {
                    self.in_flight += in_flight(pid, &entry.file_name());
                }
            } else if kind.is_fifo() {
                self.pipes.insert((metadata.dev(), metadata.ino()));
            } else if kind.is_file()
                && metadata.nlink() == 0
                && Some(metadata.dev()) == self.device
                && self.unnamed.insert(metadata.ino())
            {
                self.unnamed_bytes += metadata.blocks() * 512;
            }
        }
        for line in fs::read_to_string(format!("/proc/{pid}/maps"))?.lines() {
            let Some(path) = line.strip_suffix(" (deleted)") else { continue };
            let is_ours = path.find('/').and_then(|at| path.get(at..)).is_some_and(|path| {
                // Not component by component: what is below may have any name.
                path.as_bytes().starts_with(self.scratch.as_os_str().as_encoded_bytes())
            });
            let inode = path.split_whitespace().nth(4).and_then(|inode| inode.parse().ok());
            if let (true, Some(inode)) = (is_ours, inode) {
                self.mapped.insert(inode);
            }
        }
        Ok(())
    }

    /// The memory that waits in sockets and pipes, in bytes: what they can hold, or, for connections, what they do hold.
    fn buffers(&self, root: u32) -> u64 {
        let sockets = self.sockets.len() as u64 + self.in_flight;
        let connections = if self.network { queued(root, &self.sockets) } else { 0 };
        sockets * socket_bytes() + self.pipes.len() as u64 * PIPE_BYTES + connections
    }

    /// How many files there are whose size cannot be seen.
    fn unsized_files(&self) -> u64 {
        self.mapped.difference(&self.unnamed).count() as u64 + self.in_flight
    }
}

/// How many descriptors wait in a socket.
fn in_flight(pid: u32, descriptor: &std::ffi::OsStr) -> u64 {
    let path = Path::new("/proc").join(pid.to_string()).join("fdinfo").join(descriptor);
    fs::read_to_string(path).ok().and_then(|info| field(&info, "scm_fds:")).unwrap_or_default()
}

/// How much waits in connections, by the tables of a process's network. The kernel needs about as much again to keep it.
fn queued(root: u32, sockets: &HashSet<u64>) -> u64 {
    let tables = ["tcp", "tcp6", "udp", "udp6"];
    let lines =
        tables.map(|table| fs::read_to_string(format!("/proc/{root}/net/{table}")).unwrap_or_default());
    let waiting = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (sent, received) = fields.get(4)?.split_once(':')?;
        let inode = fields.get(9)?.parse().ok()?;
        let bytes = |hex| u64::from_str_radix(hex, 16).ok();
        sockets.contains(&inode).then_some(bytes(sent)? + bytes(received)?)
    };
    lines.iter().flat_map(|table| table.lines()).filter_map(waiting).sum::<u64>() * 2
}

/// How many processes and threads a user has.
pub(crate) fn of_user(user: u32) -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let own = entries.flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse::<u32>().ok()?;
        // Whose a process is can be told from outside, which is far cheaper than reading about it.
        (entry.metadata().ok()?.uid() == user).then_some(pid)
    });
    own.map(|pid| u64::from(threads(&status(pid)))).sum()
}

/// How deeply folders may be nested: each level is an open descriptor while the tree is walked.
const DEPTH_MAX: usize = 64;

/// Walks a folder by descriptor, so that no path is too long. Not more than `most` entries are looked at.
pub(crate) fn measure(folder: BorrowedFd<'_>, most: usize) -> Tree {
    let mut tree = Tree::default();
    let mut open: Vec<Dir> = Vec::new();
    match Dir::read_from(folder) {
        Ok(folder) => open.push(folder),
        Err(_) => tree.unseen = true,
    }
    while let Some(mut folder) = open.pop() {
        let Some(entry) = folder.read() else { continue };
        let inner = entry.and_then(|entry| tree.add(&folder, &entry));
        open.push(folder);
        match inner {
            Ok(Some(_)) if open.len() >= DEPTH_MAX => tree.unseen = true,
            Ok(Some(inner)) => open.push(inner),
            // It was removed meanwhile.
            Ok(None) | Err(Errno::NOENT) => {}
            Err(_) => {
                tree.unseen = true;
                return tree;
            }
        }
        if tree.entries >= most {
            return tree;
        }
    }
    tree
}

/// What is below a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tree {
    /// How many entries there are.
    pub(crate) entries: usize,
    /// How much room they take, in bytes.
    pub(crate) bytes: u64,
    /// The size of the largest file.
    pub(crate) largest: u64,
    /// Whether some of it could not be looked at.
    pub(crate) unseen: bool,
}

impl Tree {
    /// Adds an entry, and opens it if it is a folder.
    fn add(&mut self, folder: &Dir, entry: &DirEntry) -> Result<Option<Dir>, Errno> {
        let name = entry.file_name();
        if name == c"." || name == c".." {
            return Ok(None);
        }
        self.entries += 1;
        let stat = rustix::fs::statat(folder.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
        self.bytes += u64::try_from(stat.st_blocks).unwrap_or_default() * 512;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let inner = rustix::fs::openat(folder.fd()?, name, flags, Mode::empty())?;
                Ok(Some(Dir::new(inner)?))
            }
            _ => {
                self.largest = self.largest.max(u64::try_from(stat.st_size).unwrap_or_default());
                Ok(None)
            }
        }
    }
}
