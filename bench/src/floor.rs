//! The minimum I/O of any program that finds skills.
//!
//! It uses only the standard library and, unless stated otherwise, one thread, without parsing. A directory that contains a
//! `SKILL.md` is a skill, and its subdirectories are not searched.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;

use sha2::{Digest, Sha256};

const FILE: &str = "SKILL.md";
const HEAD: usize = 4096;

/// How [`read`] detects that a directory is a skill.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Detection {
    /// Lists every directory. Targets refer to this floor.
    List,
    /// Tries to open `SKILL.md` first, and lists only directories without one. It needs fewer system calls and is shown for
    /// comparison.
    Open,
}

/// Walks `root` and reads the first 4 KiB of every `SKILL.md`. Returns the number of skills.
pub fn read(root: &Path, detection: Detection) -> io::Result<usize> {
    let mut head = [0; HEAD];
    let mut count = 0;
    let mut waiting = vec![root.to_path_buf()];
    while let Some(dir) = waiting.pop() {
        if detection == Detection::Open && read_head(&dir.join(FILE), &mut head)? {
            count += 1;
            continue;
        }
        let (is_skill, dirs) = list(&dir)?;
        if is_skill && read_head(&dir.join(FILE), &mut head)? {
            count += 1;
        } else {
            waiting.extend(dirs);
        }
    }
    Ok(count)
}

/// Returns the paths that a refresh must stat: every walked directory and every `SKILL.md`.
pub fn paths(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(dir) = waiting.pop() {
        let (is_skill, dirs) = list(&dir)?;
        if is_skill {
            paths.push(dir.join(FILE));
        } else {
            waiting.extend(dirs);
        }
        paths.push(dir);
    }
    Ok(paths)
}

/// Stats every path. Returns the sum of the sizes, so that no call can be optimized away.
pub fn stat(paths: &[PathBuf]) -> io::Result<u64> {
    paths.iter().try_fold(0_u64, |sum, path| Ok(sum.wrapping_add(fs::metadata(path)?.len())))
}

/// Reads every file below `root` and hashes it with SHA-256, on as many threads as there are processors, like Prowess. Returns the
/// sum of the first bytes of the hashes, so that no hash can be optimized away.
pub fn hash(root: &Path) -> io::Result<u64> {
    let dirs: Vec<PathBuf> =
        fs::read_dir(root)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    let threads = thread::available_parallelism().map_or(1, usize::from).min(dirs.len().max(1));
    let share = dirs.len().div_ceil(threads).max(1);
    let hash_all = |share: &[PathBuf]| share.iter().map(|path| hash_below(path)).sum::<io::Result<u64>>();
    thread::scope(|scope| {
        let threads: Vec<_> = dirs.chunks(share).map(|share| scope.spawn(move || hash_all(share))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| io::Error::other("a thread panicked"))?)
            .sum()
    })
}

fn hash_below(path: &Path) -> io::Result<u64> {
    let mut sum = 0;
    let mut waiting = vec![path.to_path_buf()];
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(dir)? {
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

/// Returns whether the directory contains a `SKILL.md`, and its subdirectories.
fn list(dir: &Path) -> io::Result<(bool, Vec<PathBuf>)> {
    let mut is_skill = false;
    let mut dirs = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name() == FILE {
            is_skill = true;
        } else if entry.file_type()?.is_dir() {
            dirs.push(entry.path());
        }
    }
    Ok((is_skill, dirs))
}

/// Reads the first 4 KiB. Returns `false` if the file does not exist.
fn read_head(path: &Path, head: &mut [u8; HEAD]) -> io::Result<bool> {
    match File::open(path) {
        Ok(mut file) => file.read(head).map(|_| true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
