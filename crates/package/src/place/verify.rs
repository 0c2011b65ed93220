//! Whether what is installed is still what was installed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use prowess::lock::{Change, Comparison, Lock, Locked, compare};
use prowess::{HashedTree, lock};

use super::Place;
use crate::error::PackageError;
use prowess_fs::parallel;

/// What is installed in a folder, beside what the lock says.
pub(crate) fn standing(place: &Place, locked: &Locked) -> Result<(PathBuf, Standing), PackageError> {
    let folder = place.folder(locked)?;
    let standing = standing_at(&folder, locked);
    Ok((folder, standing))
}

/// The same as [`standing`] for a folder that is known to be the one of the entry.
fn standing_at(folder: &Path, locked: &Locked) -> Standing {
    match std::fs::symlink_metadata(folder) {
        Err(_) => Standing::Missing,
        Ok(there) if there.is_symlink() => Standing::Link,
        Ok(_) => {
            let comparison = compare(locked, &HashedTree::of(folder));
            if comparison.is_same() { Standing::Same } else { Standing::Modified(comparison) }
        }
    }
}

/// How an installed folder compares with the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    Same,
    Missing,
    Link,
    Modified(Comparison),
}

/// How a skill compares with the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    /// Byte for byte what was installed.
    Ok,
    /// Files differ or are missing.
    Modified,
    /// The folder is not there.
    Missing,
    /// Nothing but files that the lock does not know.
    Extra,
    /// A skill that nobody installed.
    Unlocked,
    /// A link where a folder or file was.
    Link,
}

impl Verification {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Modified => "modified",
            Self::Missing => "missing",
            Self::Extra => "extra",
            Self::Unlocked => "unlocked",
            Self::Link => "link",
        }
    }
}

/// One skill, compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// How it compares.
    pub status: Verification,
    /// The files that differ, and how.
    pub files: Vec<(String, Change)>,
    /// What else is wrong.
    pub problem: Option<String>,
    /// Whether the user accepted exactly what is there.
    pub accepted: bool,
    /// What the lock says.
    pub locked: Option<Locked>,
}

/// Compares every skill of a place with its lock, sorted by name; those that nobody installed come as `unlocked`.
pub fn verify(place: &Place) -> Result<Vec<Verified>, PackageError> {
    let lock = place.tidied().or_else(|error| {
        let lock = Lock::read(&place.lock)?;
        // Where nothing can be written, what is merely left over does not matter; this does.
        if lock.pending.is_some() { Err(error) } else { Ok(lock) }
    })?;
    let folders = place.folders(&lock.skills)?;
    let located: Vec<(PathBuf, &Locked)> = folders.into_iter().zip(&lock.skills).collect();
    // Hashing is all there is to it: every core takes its share.
    let mut verified: Vec<Verified> = parallel(&located, 1, |(folder, locked)| one(place, folder, locked));
    for (verified, locked) in verified.iter_mut().zip(lock.skills) {
        verified.locked = Some(locked);
    }
    let known: HashSet<&Path> = verified.iter().map(|verified| verified.folder.as_path()).collect();
    let mut roots: HashSet<&Path> = known.iter().filter_map(|folder| folder.parent()).collect();
    roots.insert(&place.root);
    let others: Vec<Verified> = roots.into_iter().flat_map(|root| unlocked(root, &known)).collect();
    verified.extend(others);
    verified.sort_by(|a, b| (&a.name, &a.folder).cmp(&(&b.name, &b.folder)));
    Ok(verified)
}

/// One of them, without its entry of the lock.
fn one(place: &Place, folder: &Path, locked: &Locked) -> Verified {
    let standing = standing_at(folder, locked);
    let mut verified = Verified {
        name: locked.name.clone(),
        folder: folder.to_owned(),
        status: Verification::Ok,
        files: Vec::new(),
        problem: None,
        accepted: false,
        locked: None,
    };
    match standing {
        Standing::Same => {}
        Standing::Missing => verified.status = Verification::Missing,
        Standing::Link => verified.status = Verification::Link,
        Standing::Modified(comparison) => {
            let all = |wanted: Change| {
                let mut changes = comparison.files.iter().map(|(_, change)| *change);
                comparison.problem.is_none() && changes.all(|change| change == wanted)
            };
            verified.status = match comparison.files.iter().any(|(_, change)| *change == Change::Link) {
                true => Verification::Link,
                false if all(Change::Extra) => Verification::Extra,
                false => Verification::Modified,
            };
            let tree = HashedTree::of(&verified.folder).ok().map(|tree| tree.hash());
            let canonical = std::fs::canonicalize(&verified.folder).unwrap_or_default();
            verified.accepted = tree.is_some() && lock::accepted(&place.world, &canonical) == tree;
            verified.files = comparison.files;
            verified.problem = comparison.problem;
        }
    }
    verified
}

/// Accepts a skill exactly as it is now, and trusts it where that is needed.
pub fn accept(place: &Place, verified: &Verified) -> Result<(), PackageError> {
    let folder = canonical(&verified.folder)?;
    let tree = HashedTree::of_resolved(&folder)?.hash();
    lock::accept(&place.world, &folder, &tree).map_err(PackageError::io("accepted", &folder))?;
    if place.needs_trust {
        let failed = |error: prowess::trust::TrustError| PackageError::Acquire {
            code: prowess::ErrorCode::ExecutionError,
            message: error.to_string(),
            hint: None,
        };
        prowess::trust::trust_installed(&[(folder, vec![tree])], &place.world).map_err(failed)?;
    }
    Ok(())
}

fn canonical(folder: &Path) -> Result<PathBuf, PackageError> {
    std::fs::canonicalize(folder).map_err(PackageError::io("found", folder))
}

/// The skills of a directory that no lock knows.
fn unlocked(root: &Path, known: &HashSet<&Path>) -> Vec<Verified> {
    let folders = std::fs::read_dir(root).into_iter().flatten().filter_map(Result::ok);
    let unknown = |path: &PathBuf| {
        let hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        !hidden && !known.contains(path.as_path()) && path.join("SKILL.md").exists()
    };
    let verified = |folder: PathBuf| Verified {
        name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        folder,
        status: Verification::Unlocked,
        files: Vec::new(),
        problem: None,
        accepted: false,
        locked: None,
    };
    folders.map(|entry| entry.path()).filter(unknown).map(verified).collect()
}
