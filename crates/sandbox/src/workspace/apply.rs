//! Applies the changes of a script to a directory of the user.
//!
//! Invariants: no symlink is followed, also if another process replaces files and directories meanwhile; each file has its
//! old or its new content, even if this process is killed; a file that another program changed during the run is not
//! overwritten; after an error, nothing was changed.

use std::collections::HashSet;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use prowess_fs::{Dir, Fingerprint, digest, read_whole};
use rustix::io::Errno;

use super::staging::{ChangeError, Staging};
use super::{Artifact, Changes, CopiedTree, ScriptFilesError};

/// How long to wait for another run that copies or changes the same directory.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// Which existing files may be replaced.
#[derive(Debug, Clone, Copy)]
pub(super) enum Overwrite<'a> {
    /// Any.
    Any,
    /// Files that did not change since they were copied.
    Unchanged(&'a CopiedTree),
}

impl Overwrite<'_> {
    /// Returns the file at a path, or an error if another program changed it.
    fn existing(self, target: &Dir, path: &Path) -> Result<Option<Fingerprint>, ScriptFilesError> {
        let now = match target.stat_beneath(path) {
            Ok(stat) if stat.is_file() => Some(Fingerprint::from_stat(&stat)),
            Ok(_) | Err(Errno::LOOP) => return Err(conflict(path)),
            Err(Errno::NOENT | Errno::NOTDIR) => None,
            Err(error) => return Err(unwritable(target.path().join(path))(error.into())),
        };
        if let Self::Unchanged(copied) = self
            && now != copied.files.get(path).and_then(|file| file.source)
        {
            return Err(conflict(path));
        }
        Ok(now)
    }
}

fn conflict(path: &Path) -> ScriptFilesError {
    ScriptFilesError::Conflict { path: path.display().to_string() }
}

fn unwritable(path: PathBuf) -> impl FnOnce(io::Error) -> ScriptFilesError {
    move |error| ScriptFilesError::Unwritable { path, error }
}

/// A lock on a directory of the user, against other runs.
pub(super) struct DirLock<'d>(&'d Dir);

impl<'d> DirLock<'d> {
    pub(super) fn acquire(dir: &'d Dir) -> io::Result<Self> {
        let started = Instant::now();
        while !dir.try_lock()? {
            if started.elapsed() > LOCK_TIMEOUT {
                return Err(io::Error::other("another script is using it"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Self(dir))
    }
}

impl Drop for DirLock<'_> {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

/// Applies changes in the directory `workspace` to the directory `target`.
pub(super) fn apply(
    workspace: &Path,
    target: &Dir,
    changes: &Changes,
    overwrite: Overwrite<'_>,
) -> Result<(), ScriptFilesError> {
    let fail = |error: Errno| unwritable(target.path().to_owned())(error.into());
    let source = Dir::open(workspace).map_err(fail)?;
    let _lock = DirLock::acquire(target).map_err(unwritable(target.path().to_owned()))?;
    // Most conflicts are found before the first change.
    let mut moves = Vec::new();
    for artifact in &changes.artifacts {
        moves.push((artifact, overwrite.existing(target, Path::new(&artifact.path))?));
    }
    let mut removed = Vec::new();
    for path in changes.removed.iter().map(Path::new) {
        if let Some(existing) = overwrite.existing(target, path)? {
            removed.push((path, existing));
        }
    }
    let mut staging = Staging::create(target).map_err(fail)?;
    match make_changes(&source, target, changes, (moves, removed), &mut staging) {
        Ok(()) => Ok(()),
        Err(error) => {
            staging.undo();
            Err(error)
        }
    }
}

/// Artifacts with the files that they replace, and files to remove.
type Planned<'c> = (Vec<(&'c Artifact, Option<Fingerprint>)>, Vec<(&'c Path, Fingerprint)>);

fn make_changes(
    source: &Dir,
    target: &Dir,
    changes: &Changes,
    (moves, removed): Planned<'_>,
    staging: &mut Staging<'_>,
) -> Result<(), ScriptFilesError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |error| match error {
            ChangeError::Conflict => conflict(&path),
            ChangeError::Io(error) => unwritable(target.path().join(path))(error),
        }
    };
    let mut staged = Vec::new();
    for (artifact, existing) in moves {
        let path = Path::new(&artifact.path);
        let name = stage(source, target, artifact, staging).map_err(unwritable(target.path().join(path)))?;
        staged.push((path, name, existing));
    }
    // A directory that replaces a file.
    let parents: HashSet<&Path> = staged.iter().flat_map(|(path, ..)| path.ancestors().skip(1)).collect();
    let (in_the_way, others): (Vec<_>, Vec<_>) =
        removed.into_iter().partition(|(path, _)| parents.contains(path));
    for (path, existing) in in_the_way {
        staging.remove(path, Some(existing)).map_err(fail(path))?;
    }
    for (path, name, existing) in staged {
        staging.move_in(&name, path, existing).map_err(fail(path))?;
    }
    for (path, existing) in others {
        staging.remove(path, Some(existing)).map_err(fail(path))?;
    }
    for path in &changes.created_dirs {
        staging.create_dir(path).map_err(fail(path))?;
    }
    for path in &changes.removed_dirs {
        // A directory in which another program created a file stays.
        let _ = target.remove_empty_dir(path);
    }
    Ok(())
}

/// Copies a file to the staging directory, with the mode and owner of the file that it replaces. Returns its name there.
fn stage(source: &Dir, target: &Dir, artifact: &Artifact, staging: &mut Staging<'_>) -> io::Result<PathBuf> {
    let path = Path::new(&artifact.path);
    let (content, stat) = source.open_file(path)?;
    let bytes = read_whole(&content, &stat, artifact.size).map_err(io::Error::other)?;
    if digest(&bytes) != artifact.digest {
        return Err(io::Error::other("it changed after the script ended"));
    }
    // Only the user can enter the staging directory.
    let (name, mut file) = staging.create_file(if stat.is_executable() { 0o777 } else { 0o666 })?;
    file.write_all(&bytes)?;
    let existing = target.stat_beneath(path).ok().filter(|stat| stat.is_file());
    if prowess_fs::current_uid() == 0 {
        // Files that root creates for another user belong to that user.
        let (user, group) = match &existing {
            Some(existing) => existing.owner(),
            None => target.stat_self()?.owner(),
        };
        fchown(&file, Some(user), Some(group))?;
    }
    if let Some(existing) = existing {
        file.set_permissions(Permissions::from_mode(existing.permissions() & 0o777))?;
    }
    file.sync_all()?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::super::ProtectedFiles;
    use super::*;
    use crate::Limits;
    use crate::workspace::staging::is_staging_name;
    use crate::workspace::{CopyLimits, copy_dir};
    use std::fs;
    use std::os::unix::fs::symlink;

    struct Fixture {
        temp: tempfile::TempDir,
        /// The directory of the user, as it was opened before the script ran.
        user: Dir,
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
            let user = Dir::open_resolved(&user).unwrap();
            let copied = copy_dir(&user, &temp.path().join("copy"), &mut limits).unwrap();
            Self { temp, user, copied }
        }

        fn path(&self, inner: &str) -> PathBuf {
            self.temp.path().join(inner)
        }

        fn apply(&self) -> Result<Vec<String>, ScriptFilesError> {
            let changes = Changes::collect(
                &self.path("copy"),
                &self.copied,
                &Limits::default(),
                ProtectedFiles::Skipped,
            )
            .unwrap();
            self.apply_changes(&changes).map(|()| changes.remarks)
        }

        fn apply_changes(&self, changes: &Changes) -> Result<(), ScriptFilesError> {
            apply(&self.path("copy"), &self.user, changes, Overwrite::Unchanged(&self.copied))
        }

        /// Returns the names and contents of all files below a directory.
        fn files(&self, inner: &str) -> Vec<(String, String)> {
            let mut found = Vec::new();
            for entry in fs::read_dir(self.path(inner)).unwrap().flatten() {
                let path = format!("{inner}/{}", entry.file_name().to_string_lossy());
                match entry.file_type().unwrap() {
                    kind if kind.is_dir() => found.extend(self.files(&path)),
                    kind if kind.is_file() => found.push((path, fs::read_to_string(entry.path()).unwrap())),
                    _ => found.push((path, "link".to_owned())),
                }
            }
            found.sort();
            found
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
    fn after_an_error_nothing_was_changed() {
        let fixture = Fixture::new();
        fs::write(fixture.path("copy/a.txt"), "script").unwrap();
        fs::write(fixture.path("copy/new.txt"), "script").unwrap();
        fs::remove_file(fixture.path("copy/dir/b.txt")).unwrap();
        fs::create_dir_all(fixture.path("copy/dir/b.txt/deep")).unwrap();
        fs::write(fixture.path("copy/dir/b.txt/deep/c"), "script").unwrap();
        fs::create_dir(fixture.path("copy/z")).unwrap();
        fs::write(fixture.path("copy/z/last.txt"), "script").unwrap();
        // Another program creates a file where the script created a directory: the last change fails.
        fs::write(fixture.path("user/z"), "the user").unwrap();
        let before = fixture.files("user");
        fixture.apply().unwrap_err();
        assert_eq!(fixture.files("user"), before);
    }

    #[test]
    fn a_file_that_is_swapped_after_the_script_ended_is_not_copied() {
        let fixture = Fixture::new();
        let secret = fixture.path("secret");
        fs::write(&secret, "a").unwrap();
        fs::write(fixture.path("copy/a.txt"), "x").unwrap();
        let changes = Changes::collect(
            &fixture.path("copy"),
            &fixture.copied,
            &Limits::default(),
            ProtectedFiles::Skipped,
        )
        .unwrap();
        let before = fixture.files("user");
        let swaps: [&dyn Fn(&Path); 5] = [
            &|path| symlink(&secret, path).unwrap(),
            &|path| fs::hard_link(&secret, path).unwrap(),
            &|path| fs::create_dir(path).unwrap(),
            &|path| fs::write(path, "longer").unwrap(),
            &|path| {
                rustix::fs::mknodat(
                    rustix::fs::CWD,
                    path,
                    rustix::fs::FileType::Fifo,
                    rustix::fs::Mode::RWXU,
                    0,
                )
                .unwrap()
            },
        ];
        for swap in swaps {
            let path = fixture.path("copy/a.txt");
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
            swap(&path);
            fixture.apply_changes(&changes).unwrap_err();
            assert_eq!(fixture.files("user"), before);
        }
    }

    /// Another process replaces files and directories of the user, the staging directory and the directory itself by
    /// symlinks while changes are applied.
    #[test]
    fn swaps_while_changes_are_applied_reach_nothing_outside() {
        use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
        let fixture = Fixture::new();
        for name in ["outside/a.txt", "outside/b.txt", "outside/dir/b.txt", "outside/new/0"] {
            fs::create_dir_all(fixture.path(name).parent().unwrap()).unwrap();
            fs::write(fixture.path(name), "outside").unwrap();
        }
        let outside = fixture.files("outside");
        for (link, target) in [
            ("link-a", "outside/a.txt"),
            ("link-dir", "outside"),
            ("link-new", "outside"),
            ("link-user", "outside"),
        ] {
            symlink(fixture.path(target), fixture.path(link)).unwrap();
        }
        let stop = AtomicBool::new(false);
        let swap = |one: &str, other: &str| {
            let _ = prowess_fs::exchange(&fixture.path(one), &fixture.path(other));
        };
        let swap_staging = || {
            for entry in fs::read_dir(fixture.path("user")).unwrap().flatten() {
                let (moved, path) = (fixture.path("moved"), entry.path());
                if is_staging_name(&entry.file_name()) && fs::rename(&path, &moved).is_ok() {
                    symlink(fixture.path("outside"), &path).unwrap();
                    std::thread::yield_now();
                    fs::remove_file(&path).unwrap();
                    let _ = fs::remove_dir_all(&moved);
                }
            }
        };
        let attempt = |text: &str| {
            for path in ["copy/a.txt", "copy/dir/b.txt", "copy/new/0"] {
                fs::create_dir_all(fixture.path(path).parent().unwrap()).unwrap();
                fs::write(fixture.path(path), text).unwrap();
            }
            let all = CopiedTree::default();
            let changes =
                Changes::collect(&fixture.path("copy"), &all, &Limits::default(), ProtectedFiles::Skipped)
                    .unwrap();
            apply(&fixture.path("copy"), &fixture.user, &changes, Overwrite::Any)
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    let inner =
                        [("user/a.txt", "link-a"), ("user/dir", "link-dir"), ("user/new", "link-new")];
                    for (one, other) in inner.into_iter().chain([("user", "link-user")]) {
                        swap_staging();
                        swap(one, other);
                        std::thread::yield_now();
                        swap(one, other);
                    }
                }
            });
            for round in 0..200 {
                // Most attempts fail.
                let _ = attempt(&format!("round {round}"));
            }
            stop.store(true, Relaxed);
        });
        assert_eq!(fixture.files("outside"), outside);
        for name in ["user/a.txt", "user/dir", "user/new"] {
            if fixture.path(name).is_symlink() {
                fs::remove_file(fixture.path(name)).unwrap();
            }
        }
        attempt("at last").unwrap();
        assert_eq!(fs::read_to_string(fixture.path("user/dir/b.txt")).unwrap(), "at last");
        assert_eq!(fixture.files("outside"), outside);
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
