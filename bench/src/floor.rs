//! The unavoidable I/O and nothing else: what every program that finds skills has to do at least.
//!
//! Plain standard library, one thread unless it says otherwise, no parsing, no output worth the name. A folder that holds a `SKILL.md` is a
//! skill, and nothing below it is looked at.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;

use sha2::{Digest, Sha256};

const FILE: &str = "SKILL.md";
const HEAD: usize = 4096;

/// How the read floor learns that a folder is a skill.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Find {
    /// It lists every folder, as a walker does: the floor that targets refer to.
    List,
    /// It tries to open `SKILL.md` first and lists only the folders that have none: fewer system calls, shown for
    /// comparison.
    Open,
}

/// Walks `root` and reads the first 4 KiB of every `SKILL.md`; says how many there were.
pub fn read(root: &Path, find: Find) -> io::Result<usize> {
    let mut head = [0; HEAD];
    let mut found = 0;
    let mut waiting = vec![root.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        if find == Find::Open && read_head(&folder.join(FILE), &mut head)? {
            found += 1;
            continue;
        }
        let (is_skill, folders) = list(&folder)?;
        if is_skill && read_head(&folder.join(FILE), &mut head)? {
            found += 1;
        } else {
            waiting.extend(folders);
        }
    }
    Ok(found)
}

/// Every path a refresh has to stat: each folder that was walked and each `SKILL.md`.
pub fn paths(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        let (is_skill, folders) = list(&folder)?;
        if is_skill {
            paths.push(folder.join(FILE));
        } else {
            waiting.extend(folders);
        }
        paths.push(folder);
    }
    Ok(paths)
}

/// Stats every path; the sum of the sizes, so that no call can be left out.
pub fn stat(paths: &[PathBuf]) -> io::Result<u64> {
    paths.iter().try_fold(0_u64, |sum, path| Ok(sum.wrapping_add(fs::metadata(path)?.len())))
}

/// Reads every file below `root` once and hashes it with SHA-256; the folders in it are shared out among as many threads
/// as there are processors, which is what Prowess does. The sum of the first bytes, so that no hash can be left out.
pub fn hash(root: &Path) -> io::Result<u64> {
    let folders: Vec<PathBuf> =
        fs::read_dir(root)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    let threads = thread::available_parallelism().map_or(1, usize::from).min(folders.len().max(1));
    let share = folders.len().div_ceil(threads).max(1);
    let hash_all = |share: &[PathBuf]| share.iter().map(|path| hash_below(path)).sum::<io::Result<u64>>();
    thread::scope(|scope| {
        let threads: Vec<_> =
            folders.chunks(share).map(|share| scope.spawn(move || hash_all(share))).collect();
        threads.into_iter().map(|one| one.join().map_err(|_| io::Error::other("a thread ended"))?).sum()
    })
}

fn hash_below(path: &Path) -> io::Result<u64> {
    let mut sum = 0;
    let mut waiting = vec![path.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                waiting.push(entry.path());
            } else {
                sum += u64::from(Sha256::digest(fs::read(entry.path())?)[0]);
            }
        }
    }
    Ok(sum)
}

/// Whether the folder holds a `SKILL.md`, and its folders.
fn list(folder: &Path) -> io::Result<(bool, Vec<PathBuf>)> {
    let mut is_skill = false;
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == FILE {
            is_skill = true;
        } else if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    Ok((is_skill, folders))
}

/// Reads the first 4 KiB; false when there is no such file.
fn read_head(path: &Path, head: &mut [u8; HEAD]) -> io::Result<bool> {
    match File::open(path) {
        Ok(mut file) => file.read(head).map(|_| true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
