//! Changes to a directory of the user that can be undone until all of them were made.
//!
//! Invariants: everything is found beneath open directories, so no path that another process replaces leads elsewhere;
//! what is replaced or removed stays in the staging directory until the last change was made.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use prowess_fs::{Dir, ExpectedTarget, Fingerprint, MoveOutcome};
use rustix::io::Errno;

/// The start of the name of the directory in which new files are staged.
const STAGING_PREFIX: &str = ".prowess-staging-";

/// The start of the name of a staging directory with files that could not be put back.
const RECOVERED_PREFIX: &str = "prowess-recovered-";

/// How old the staging directory of a killed process is, at least.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// Returns `true` for the name of a staging directory.
pub(super) fn is_staging_name(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(STAGING_PREFIX.as_bytes())
}

/// Why a change was not made.
#[derive(Debug)]
pub(super) enum ChangeError {
    /// Another program changed the path.
    Conflict,
    Io(io::Error),
}

impl From<Errno> for ChangeError {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// A change that was made.
enum Change {
    /// A new file is at the path.
    Created { path: PathBuf, new: Fingerprint },
    /// A new file is at the path, and the old one in the staging directory.
    Replaced { path: PathBuf, staged: PathBuf },
    /// The file is in the staging directory.
    Removed { path: PathBuf, staged: PathBuf },
    /// New directories, the outermost first.
    Parents(Vec<PathBuf>),
}

/// A directory for new and old files, in the target and therefore on the same file system. It is removed on drop.
pub(super) struct Staging<'d> {
    target: &'d Dir,
    dir: Dir,
    name: PathBuf,
    next: usize,
    made: Vec<Change>,
    is_kept: bool,
}

impl<'d> Staging<'d> {
    pub(super) fn create(target: &'d Dir) -> Result<Self, Errno> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = PathBuf::from(format!("{STAGING_PREFIX}{:x}-{number:x}", std::process::id()));
        let dir = target.create_private_dir(&name)?;
        Ok(Self { target, dir, name, next: 0, made: Vec::new(), is_kept: false })
    }

    fn next_name(&mut self) -> PathBuf {
        self.next += 1;
        PathBuf::from(self.next.to_string())
    }

    /// Creates a file in the staging directory. Returns its name there.
    pub(super) fn create_file(&mut self, permissions: u32) -> Result<(PathBuf, File), Errno> {
        let name = self.next_name();
        let file = self.dir.create_file(&name, permissions)?;
        Ok((name, file))
    }

    /// Moves a staged file to its path. `existing` is the file that it replaces.
    pub(super) fn move_in(
        &mut self,
        staged: &Path,
        path: &Path,
        existing: Option<Fingerprint>,
    ) -> Result<(), ChangeError> {
        let new = Fingerprint::from_stat(&self.dir.stat(staged)?);
        let parents = self.target.create_parents(path)?;
        self.adopt(&parents);
        self.made.push(Change::Parents(parents));
        let expected = if existing.is_some() { ExpectedTarget::File } else { ExpectedTarget::Absent };
        let moved = self.target.move_from(&self.dir, staged, path, expected);
        match moved {
            Ok(MoveOutcome::Exchanged) => {
                self.made.push(Change::Replaced { path: path.to_owned(), staged: staged.to_owned() });
                self.check_old(staged, existing)
            }
            Ok(MoveOutcome::Replaced) => {
                if existing.is_none() {
                    self.made.push(Change::Created { path: path.to_owned(), new });
                }
                Ok(())
            }
            Err(Errno::EXIST | Errno::NOENT) => Err(ChangeError::Conflict),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a file.
    pub(super) fn remove(&mut self, path: &Path, existing: Option<Fingerprint>) -> Result<(), ChangeError> {
        let staged = self.next_name();
        match self.dir.move_from(self.target, path, &staged, ExpectedTarget::Absent) {
            // Another program removed it, too.
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
            Ok(_) => {
                self.made.push(Change::Removed { path: path.to_owned(), staged: staged.clone() });
                self.check_old(&staged, existing)
            }
        }
    }

    /// Creates a directory with its parents.
    pub(super) fn create_dir(&mut self, path: &Path) -> Result<(), ChangeError> {
        // The path of a file in it, whose parents are created.
        let parents = self.target.create_parents(&path.join("x"))?;
        self.adopt(&parents);
        self.made.push(Change::Parents(parents));
        Ok(())
    }

    /// Gives directories that root creates to the owner of the target.
    fn adopt(&self, created: &[PathBuf]) {
        if prowess_fs::current_uid() == 0
            && let Ok(stat) = self.target.stat_self()
        {
            for path in created {
                // A directory of root does no harm.
                let _ = self.target.open_dir(path).and_then(|dir| dir.set_owner(stat.owner()));
            }
        }
    }

    /// Checks that a file that was moved here is the expected one: another program may have replaced it at the last moment.
    fn check_old(&self, staged: &Path, existing: Option<Fingerprint>) -> Result<(), ChangeError> {
        let stat = self.dir.stat(staged)?;
        let is_expected = existing.is_some_and(|existing| {
            stat.is_file() && existing.is_same_content(&Fingerprint::from_stat(&stat))
        });
        if is_expected { Ok(()) } else { Err(ChangeError::Conflict) }
    }

    /// Undoes all changes. Files that cannot be put back are kept in a directory with another name.
    pub(super) fn undo(mut self) {
        while let Some(change) = self.made.pop() {
            let undone = match &change {
                Change::Created { path, new } => self.undo_created(path, new),
                Change::Replaced { path, staged } => {
                    self.target.move_from(&self.dir, staged, path, ExpectedTarget::File).map(drop)
                }
                Change::Removed { path, staged } => {
                    self.target.move_from(&self.dir, staged, path, ExpectedTarget::Absent).map(drop)
                }
                Change::Parents(created) => {
                    self.target.remove_created(created);
                    Ok(())
                }
            };
            self.is_kept |= undone.is_err() && !matches!(change, Change::Created { .. });
        }
        if self.is_kept {
            let suffix = self.name.to_string_lossy().replacen(STAGING_PREFIX, "", 1);
            let kept = PathBuf::from(format!("{RECOVERED_PREFIX}{suffix}"));
            let _ = self.target.move_from(self.target, &self.name, &kept, ExpectedTarget::Absent);
        }
    }

    fn undo_created(&mut self, path: &Path, new: &Fingerprint) -> Result<(), Errno> {
        let stat = self.target.stat_beneath(path)?;
        if !new.is_same_content(&Fingerprint::from_stat(&stat)) {
            return Ok(());
        }
        let staged = self.next_name();
        self.dir.move_from(self.target, path, &staged, ExpectedTarget::Absent).map(drop)
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        for number in 1..=self.next {
            let name = PathBuf::from(number.to_string());
            // An empty directory can be here if another program replaced a file by one.
            if self.dir.remove_file(&name) == Err(Errno::ISDIR) {
                let _ = self.dir.remove_empty_dir(&name);
            }
        }
        // What remains is removed by a later run.
        let _ = self.target.remove_empty_dir(&self.name);
    }
}

/// Removes staging directories that killed processes left in a workspace.
pub(super) fn remove_abandoned_staging(workspace: &Path) {
    let Ok(entries) = std::fs::read_dir(workspace) else { return };
    for entry in entries.flatten() {
        let is_old = || {
            let modified = entry.metadata().and_then(|metadata| metadata.modified()).ok();
            modified.and_then(|modified| modified.elapsed().ok()).is_some_and(|age| age > ABANDONED_AFTER)
        };
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_staging_name(&entry.file_name()) && is_dir && is_old() {
            // Another process may remove it at the same time.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
