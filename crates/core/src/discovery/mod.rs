//! Finds skills in roots: bounded, deterministic and in parallel.
//!
//! A root is a directory that holds skills, the skills embedded in the binary, or a server. A scan reads each
//! `SKILL.md` once, and only up to the end of its frontmatter. A later scan gets the previous result and reads
//! only files whose metadata changed; `scan_cache` keeps frontmatter between processes.

mod bundled;
mod links;
mod manifest;
mod remote;
mod roots;
mod scan_cache;
mod visit;
mod walk;

pub(crate) use bundled::discover_bundled;
pub(crate) use links::KnownDirs;
pub(crate) use manifest::{
    ManifestRead, read_and_parse, read_error_diagnostic, read_frontmatter, read_openai_yaml,
};
pub(crate) use remote::{RemoteScan, scan_remote};
pub use roots::RootProblem;
pub(crate) use roots::{ResolvedRoots, resolve_roots};
pub(crate) use scan_cache::ScanCache;
pub(crate) use walk::{RootScan, ScanContext, scan_root};

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that shows the progress of a scan.
#[derive(Debug, Default)]
pub struct ScanProgress {
    dirs: AtomicU64,
}

impl ScanProgress {
    /// Returns the number of directories visited so far.
    pub fn dirs(&self) -> u64 {
        self.dirs.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, dirs: u64) {
        self.dirs.fetch_add(dirs, Ordering::Relaxed);
    }
}
