//! Stores a pack from a server after computing the hashes of all objects.

use std::fs;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gix_pack::bundle::write::Options;

use super::error::GitError;
use super::packet::display_message;
use super::unpack_meter::UnpackMeter;
use crate::Task;

/// The limits for unpacking, in bytes.
#[derive(Debug, Clone, Copy)]
struct UnpackLimits {
    object: usize,
    total: usize,
}

const UNPACK_LIMITS: UnpackLimits = UnpackLimits {
    // One object. Larger than any installed file, because a repository may contain more than skills.
    object: 256 * 1024 * 1024,
    // All objects. A small pack can unpack to any size, because of deltas that repeat data.
    total: 8 * 1024 * 1024 * 1024,
};

/// Passes bytes on and records the first error, because gix-pack does not return it completely.
struct ErrorTap<'f, R> {
    from: R,
    failure: &'f mut Option<GitError>,
}

impl<R: Read> Read for ErrorTap<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.from.read(buffer).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.failure.get_or_insert(GitError::from_io(error));
            }
        })
    }
}

/// Stores the pack in a new directory `objects` of `scratch`, and returns its path.
pub(super) fn store_pack(
    pack: impl Read,
    scratch: &Path,
    format: gix_hash::Kind,
    task: &Task,
) -> Result<PathBuf, GitError> {
    store_pack_within(UNPACK_LIMITS, pack, scratch, format, task)
}

fn store_pack_within(
    limits: UnpackLimits,
    pack: impl Read,
    scratch: &Path,
    format: gix_hash::Kind,
    task: &Task,
) -> Result<PathBuf, GitError> {
    let objects = scratch.join("objects");
    let packs = objects.join("pack");
    fs::create_dir_all(&packs)
        .map_err(|error| GitError::io("create a directory for the repository", &error))?;
    let (unpacked, stop, done) = (UnpackMeter::default(), AtomicBool::new(false), AtomicBool::new(false));
    let mut failure = None;
    let mut pack = BufReader::with_capacity(64 * 1024, ErrorTap { from: pack, failure: &mut failure });
    let written = std::thread::scope(|scope| {
        let watcher =
            scope.spawn(|| watch_limits(task, || unpacked.unpacked_bytes() > limits.total, &stop, &done));
        let _end = EndOfUnpacking { done: &done, watcher: watcher.thread() };
        gix_pack::Bundle::write_to_directory(
            &mut pack,
            Some(&packs),
            &mut unpacked.clone(),
            &stop,
            None::<gix_odb::Handle>,
            format,
            Options { alloc_limit_bytes: Some(limits.object), ..Options::default() },
        )
    });
    drop(pack);
    task.check_cancelled()?;
    match (written, failure) {
        _ if unpacked.unpacked_bytes() > limits.total => Err(GitError::UnpackedTooLarge),
        (Ok(_), _) => Ok(objects),
        (Err(_), Some(failure)) => Err(failure),
        (Err(error), None) if error.is_resource_exhausted() => Err(GitError::UnpackedTooLarge),
        (Err(error), None) => {
            Err(GitError::Damaged { reason: display_message(error.to_string().as_bytes()) })
        }
    }
}

/// Ends [`watch_limits`] when it is dropped, also by a panic: the scope waits for the watcher.
struct EndOfUnpacking<'a> {
    done: &'a AtomicBool,
    watcher: &'a std::thread::Thread,
}

impl Drop for EndOfUnpacking<'_> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        self.watcher.unpark();
    }
}

/// Stops unpacking if the task is cancelled or the limit is exceeded.
fn watch_limits(task: &Task, is_too_large: impl Fn() -> bool, stop: &AtomicBool, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        if task.check_cancelled().is_err() || is_too_large() {
            stop.store(true, Ordering::Relaxed);
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests;
