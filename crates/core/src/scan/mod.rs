//! Roots to folders to what lies in them: bounded, deterministic, in parallel.
//!
//! A scan reads each `SKILL.md` once, and only as far as its frontmatter goes. A later scan is given the earlier one and
//! reads again only what the file system says has changed.

mod embedded;
mod head;
mod links;
mod roots;
mod supplied;
mod visit;
mod walk;

pub(crate) use embedded::embedded;
pub(crate) use head::{Read, check_file, head};
pub(crate) use links::Places;
pub use roots::RootProblem;
pub(crate) use roots::{Roots, resolve};
pub(crate) use supplied::{SupplyScan, supplied};
pub(crate) use walk::{RootScan, Settings, walk};

use std::sync::atomic::{AtomicU64, Ordering};

/// How far a scan has come, for whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    folders: AtomicU64,
}

impl Progress {
    /// How many folders have been looked at.
    pub fn folders(&self) -> u64 {
        self.folders.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, folders: u64) {
        self.folders.fetch_add(folders, Ordering::Relaxed);
    }
}
