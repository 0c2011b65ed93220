//! Keeps a pack that comes from a server, after having computed the hash of everything in it.

use std::fs;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gix_pack::bundle::write::Options;

use super::error::GitError;
use super::meter::Meter;
use super::packet::words;
use crate::Work;

/// How much is unpacked.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    object: usize,
    all: usize,
}

const BOUNDS: Bounds = Bounds {
    // One thing. Beyond what is ever installed, since a repository may hold more than skills.
    object: 256 * 1024 * 1024,
    // All together. A pack of a few bytes can come to any size: one thing may be said to be another many times over.
    all: 8 * 1024 * 1024 * 1024,
};

/// Passes bytes on and keeps the first failure, which would not come through whole.
struct Tap<'f, R> {
    from: R,
    failure: &'f mut Option<GitError>,
}

impl<R: Read> Read for Tap<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.from.read(buffer).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.failure.get_or_insert(GitError::from_io(error));
            }
        })
    }
}

/// Keeps the pack in a new folder `objects` of `scratch`, and gives that.
pub(super) fn keep(
    pack: impl Read,
    scratch: &Path,
    format: gix_hash::Kind,
    work: &Work,
) -> Result<PathBuf, GitError> {
    keep_within(BOUNDS, pack, scratch, format, work)
}

fn keep_within(
    bounds: Bounds,
    pack: impl Read,
    scratch: &Path,
    format: gix_hash::Kind,
    work: &Work,
) -> Result<PathBuf, GitError> {
    let objects = scratch.join("objects");
    let packs = objects.join("pack");
    fs::create_dir_all(&packs).map_err(|error| GitError::io("making a folder for the repository", &error))?;
    let (unpacked, stop, done) = (Meter::default(), AtomicBool::new(false), AtomicBool::new(false));
    let mut failure = None;
    let mut pack = BufReader::with_capacity(64 * 1024, Tap { from: pack, failure: &mut failure });
    let written = std::thread::scope(|scope| {
        let guard = scope.spawn(|| guard(work, || unpacked.bytes() > bounds.all, &stop, &done));
        let written = gix_pack::Bundle::write_to_directory(
            &mut pack,
            Some(&packs),
            &mut unpacked.clone(),
            &stop,
            None::<gix_odb::Handle>,
            format,
            Options { alloc_limit_bytes: Some(bounds.object), ..Options::default() },
        );
        done.store(true, Ordering::Relaxed);
        guard.thread().unpark();
        written
    });
    drop(pack);
    work.go_on()?;
    match (written, failure) {
        _ if unpacked.bytes() > bounds.all => Err(GitError::Unpacked),
        (Ok(_), _) => Ok(objects),
        (Err(_), Some(failure)) => Err(failure),
        (Err(error), None) if error.is_resource_exhausted() => Err(GitError::Unpacked),
        (Err(error), None) => Err(GitError::Damaged { why: words(error.to_string().as_bytes()) }),
    }
}

/// Ends the work when nobody wants it any more, or when it comes to more than is taken.
fn guard(work: &Work, too_much: impl Fn() -> bool, stop: &AtomicBool, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        if work.go_on().is_err() || too_much() {
            stop.store(true, Ordering::Relaxed);
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests;
