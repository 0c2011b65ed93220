//! Applies the changes of a script to a directory of the user.
//!
//! Invariants: no symlink is followed; each file has its old or its new content, even if this process is killed; a file
//! that another program changed during the run is not overwritten.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use prowess_fs::{Dir, ExpectedTarget, Fingerprint};
use rustix::io::Errno;

use super::{Changes, CopiedTree, ScriptFilesError};

/// The start of the name of the directory in which new files are staged.
const STAGING_PREFIX: &str = ".prowess-staging-";

/// How old the staging directory of a killed process is, at least.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// Returns `true` for the name of a staging directory.
pub(super) fn is_staging_name(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(STAGING_PREFIX.as_bytes())
}

/// Which existing files may be replaced.
#[derive(Debug, Clone, Copy)]
pub(super) enum Overwrite<'a> {
    /// Any.
    Any,
    /// Files that did not change since they were copied.
    Unchanged(&'a CopiedTree),
}

impl Overwrite<'_> {
    /// Returns what to expect at a path, or an error if another program changed it.
    fn expected(self, target: &Dir, path: &Path) -> Result<ExpectedTarget, ScriptFilesError> {
        let conflict = || ScriptFilesError::Conflict { path: path.display().to_string() };
        let now = match target.stat(path) {
            Ok(stat) if stat.is_file() => Some(Fingerprint::from_stat(&stat)),
            Ok(_) => return Err(conflict()),
            Err(Errno::NOENT | Errno::NOTDIR) => None,
            Err(error) => return Err(unwritable(target.path().join(path))(error.into())),
        };
        if let Self::Unchanged(copied) = self
            && now != copied.files.get(path).and_then(|file| file.source)
        {
            return Err(conflict());
        }
        Ok(if now.is_some() { ExpectedTarget::File } else { ExpectedTarget::Absent })
    }
}

fn unwritable(path: PathBuf) -> impl FnOnce(io::Error) -> ScriptFilesError {
    move |error| ScriptFilesError::Unwritable { path, error }
}

/// Applies changes in the directory `workspace` to the directory `target`.
pub(super) fn apply(
    workspace: &Path,
    target: &Path,
    changes: &Changes,
    overwrite: Overwrite<'_>,
) -> Result<(), ScriptFilesError> {
    let source = Dir::open(workspace).map_err(|error| unwritable(target.to_owned())(error.into()))?;
    let dir = Dir::open(target).map_err(|error| unwritable(target.to_owned())(error.into()))?;
    // All conflicts are found before the first change.
    let mut moves = Vec::new();
    for artifact in &changes.artifacts {
        let path = Path::new(&artifact.path);
        moves.push((path, overwrite.expected(&dir, path)?));
    }
    let removed: Vec<&Path> = changes.removed.iter().map(Path::new).collect();
    for path in &removed {
        overwrite.expected(&dir, path)?;
    }
    let staging = Staging::create(target)?;
    let mut staged = Vec::new();
    for (index, (path, expected)) in moves.into_iter().enumerate() {
        let file = staging.path.join(index.to_string());
        stage(&source, &dir, path, &file).map_err(unwritable(target.join(path)))?;
        staged.push((path, expected, file));
    }
    let fail = |path: &Path| unwritable(target.join(path));
    // A directory that replaces a file.
    let (in_the_way, others): (Vec<_>, Vec<_>) =
        removed.into_iter().partition(|path| staged.iter().any(|(written, ..)| written.starts_with(path)));
    for path in in_the_way {
        remove(&dir, path).map_err(fail(path))?;
    }
    for (path, expected, file) in staged {
        let moved = dir.create_parents(path).and_then(|_| dir.move_in(&file, path, expected));
        moved.map_err(|error| fail(path)(error.into()))?;
    }
    for path in others {
        remove(&dir, path).map_err(fail(path))?;
    }
    for path in &changes.created_dirs {
        // The path of a file in it, whose parents are created.
        dir.create_parents(&path.join("x")).map_err(|error| fail(path)(error.into()))?;
    }
    for path in &changes.removed_dirs {
        // A directory in which another program created a file stays.
        let _ = dir.remove_empty_dir(path);
    }
    Ok(())
}

fn remove(dir: &Dir, path: &Path) -> io::Result<()> {
    match dir.remove_file(path) {
        Err(Errno::NOENT) | Ok(()) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Copies a file to its staging path, with the mode and owner of the file that it replaces.
fn stage(source: &Dir, target: &Dir, path: &Path, staged: &Path) -> io::Result<()> {
    let (content, stat) = source.open_file(path)?;
    if !stat.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    // Only the user can enter the staging directory.
    let mode = if stat.is_executable() { 0o777 } else { 0o666 };
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(staged)?;
    io::copy(&mut File::from(content), &mut &file)?;
    let existing = match target.open_file(path) {
        Ok((existing, _)) => Some(File::from(existing).metadata()?),
        Err(_) => None,
    };
    if rustix::process::geteuid().is_root() {
        // Files that root creates for another user belong to that user.
        let owner = match &existing {
            Some(existing) => existing.clone(),
            None => std::fs::metadata(target.path())?,
        };
        fchown(&file, Some(owner.uid()), Some(owner.gid()))?;
    }
    if let Some(existing) = existing {
        file.set_permissions(Permissions::from_mode(existing.mode() & 0o777))?;
    }
    file.sync_all()
}

/// A directory for new files, in the target and therefore on the same file system. It is removed on drop.
struct Staging {
    path: PathBuf,
}

impl Staging {
    fn create(target: &Path) -> Result<Self, ScriptFilesError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = target.join(format!("{STAGING_PREFIX}{:x}-{number:x}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&path).map_err(unwritable(path.clone()))?;
        Ok(Self { path })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What remains is removed by a later run.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes staging directories that killed processes left in a workspace.
pub(crate) fn remove_abandoned_staging(workspace: &Path) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::workspace::{CopyLimits, copy_dir};
    use std::fs;
    use std::os::unix::fs::symlink;

    struct Fixture {
        temp: tempfile::TempDir,
        copied: CopiedTree,
    }

    impl Fixture {
        fn new() -> Self {
            let temp = tempfile::tempdir().unwrap();
            for (path, text) in [("user/a.txt", "a"), ("user/dir/b.txt", "b"), ("user/.git/config", "g")] {
                let path = temp.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            fs::create_dir(temp.path().join("copy")).unwrap();
            let user = fs::canonicalize(temp.path().join("user")).unwrap();
            let mut limits = CopyLimits::new(&Limits::default(), None);
            let copied = copy_dir(&user, &temp.path().join("copy"), &mut limits).unwrap();
            Self { temp, copied }
        }

        fn path(&self, inner: &str) -> PathBuf {
            self.temp.path().join(inner)
        }

        fn apply(&self) -> Result<Vec<String>, ScriptFilesError> {
            let changes = Changes::collect(&self.path("copy"), &self.copied, &Limits::default()).unwrap();
            apply(&self.path("copy"), &self.path("user"), &changes, Overwrite::Unchanged(&self.copied))?;
            Ok(changes.remarks)
        }
    }

    #[test]
    fn changes_are_applied_without_links_and_settings() {
        let fixture = Fixture::new();
        let secret = fixture.path("secret");
        fs::write(&secret, "secret").unwrap();
        fs::write(fixture.path("copy/a.txt"), "changed").unwrap();
        fs::remove_file(fixture.path("copy/dir/b.txt")).unwrap();
        fs::remove_dir(fixture.path("copy/dir")).unwrap();
        fs::create_dir_all(fixture.path("copy/new/empty")).unwrap();
        fs::write(fixture.path("copy/new/c.txt"), "c").unwrap();
        fs::write(fixture.path("copy/.git/config"), "evil").unwrap();
        fs::write(fixture.path("copy/.envrc"), "evil").unwrap();
        symlink(&secret, fixture.path("copy/link")).unwrap();
        symlink(fixture.temp.path(), fixture.path("copy/new/out")).unwrap();
        fs::write(fixture.path("copy/bad\u{1b}[31m.txt"), "x").unwrap();
        insta::assert_snapshot!(fixture.apply().unwrap().join("\n"), @r"
        2 links or special files are not kept: only regular files and directories are
        1 file is not kept: the name contains characters that are not allowed
        2 changes are not kept: other programs run or trust files such as .envrc
        ");
        let text = |inner: &str| fs::read_to_string(fixture.path(inner)).unwrap_or_default();
        assert_eq!(text("user/a.txt"), "changed");
        assert_eq!(text("user/new/c.txt"), "c");
        assert_eq!(text("user/.git/config"), "g");
        assert!(fixture.path("user/new/empty").is_dir());
        for absent in ["dir", "link", "new/out", ".envrc"] {
            assert!(fixture.path("user").join(absent).symlink_metadata().is_err(), "{absent}");
        }
        let names = fs::read_dir(fixture.path("user")).unwrap();
        assert!(names.flatten().all(|entry| !is_staging_name(&entry.file_name())));
    }

    #[test]
    fn a_file_that_another_program_changed_is_not_overwritten() {
        let fixture = Fixture::new();
        fs::write(fixture.path("copy/a.txt"), "script").unwrap();
        fs::write(fixture.path("copy/new.txt"), "script").unwrap();
        fs::write(fixture.path("user/a.txt"), "the user").unwrap();
        let error = fixture.apply().unwrap_err();
        assert!(matches!(error, ScriptFilesError::Conflict { .. }), "{error}");
        assert_eq!(fs::read_to_string(fixture.path("user/a.txt")).unwrap(), "the user");
        assert!(!fixture.path("user/new.txt").exists(), "nothing else was changed");
    }

    #[test]
    fn a_symlink_in_the_directory_of_the_user_is_not_followed() {
        let fixture = Fixture::new();
        fs::create_dir(fixture.path("outside")).unwrap();
        fs::create_dir(fixture.path("copy/sub")).unwrap();
        fs::write(fixture.path("copy/sub/x.txt"), "x").unwrap();
        symlink(fixture.path("outside"), fixture.path("user/sub")).unwrap();
        assert!(fixture.apply().is_err());
        assert_eq!(fs::read_dir(fixture.path("outside")).unwrap().count(), 0);
    }

    #[test]
    fn a_file_may_become_a_directory() {
        let fixture = Fixture::new();
        fs::remove_file(fixture.path("copy/a.txt")).unwrap();
        fs::create_dir(fixture.path("copy/a.txt")).unwrap();
        fs::write(fixture.path("copy/a.txt/inner"), "x").unwrap();
        fixture.apply().unwrap();
        assert_eq!(fs::read_to_string(fixture.path("user/a.txt/inner")).unwrap(), "x");
    }
}
