//! The directory of one run: the verified files of the skill, a scratch directory, and copies of files of the user.
//!
//! Invariants: the files are those that were hashed, no other user can enter, and the directory is removed afterwards.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use prowess::resources::SkillFiles;

use crate::system_paths;

/// The directory of a run. It is removed on drop.
#[derive(Debug)]
pub(super) struct RunDir {
    dir: PathBuf,
    /// The files of the skill, which the script cannot change.
    pub(super) skill: PathBuf,
    /// The directory for temporary files of the script.
    pub(super) scratch: PathBuf,
    /// Empty modules that Python imports when it starts, in place of those in directories of modules.
    pub(super) python: PathBuf,
    /// The workspace of the script. It is created only if the script has one.
    pub(super) workspace: PathBuf,
    user: Option<u32>,
}

impl RunDir {
    /// Creates the directory in `parent` with the files of the skill, for `user` if the script runs as another user.
    pub(super) fn new(parent: &Path, files: &SkillFiles, user: Option<u32>) -> io::Result<Self> {
        Self::with(parent, Some(files), user)
    }

    /// Creates the directory without files, to check that it works.
    pub(super) fn empty(parent: &Path, user: Option<u32>) -> io::Result<Self> {
        Self::with(parent, None, user)
    }

    fn with(parent: &Path, files: Option<&SkillFiles>, user: Option<u32>) -> io::Result<Self> {
        let parent = fs::canonicalize(parent)?;
        remove_abandoned(&parent);
        let dir = create_unique_dir(&parent)?;
        let run_dir = Self {
            skill: dir.join("skill"),
            scratch: dir.join("scratch"),
            python: dir.join("python"),
            workspace: dir.join("workspace"),
            user,
            dir,
        };
        run_dir.copy_files(files)?;
        run_dir.create_python_modules()?;
        run_dir.create_for_user(&run_dir.scratch)?;
        run_dir.create_for_user(&run_dir.scratch.join(system_paths::SETTINGS_DIR))?;
        if let Some(user) = user {
            std::os::unix::fs::lchown(&run_dir.dir, Some(user), Some(user))?;
        }
        Ok(run_dir)
    }

    fn create_python_modules(&self) -> io::Result<()> {
        DirBuilder::new().mode(0o755).create(&self.python)?;
        fs::set_permissions(&self.python, Permissions::from_mode(0o755))?;
        for name in ["sitecustomize.py", "usercustomize.py"] {
            let file =
                OpenOptions::new().write(true).create_new(true).mode(0o444).open(self.python.join(name))?;
            file.set_permissions(Permissions::from_mode(0o444))?;
        }
        Ok(())
    }

    /// Makes npm packages available to `import`, which searches only the directories above a script. A skill that brings its
    /// own packages keeps them.
    pub(super) fn link_node_modules(&self, packages: Option<&Path>) -> io::Result<()> {
        let Some(packages) = packages else { return Ok(()) };
        match std::os::unix::fs::symlink(packages, self.skill.join("node_modules")) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Creates the workspace.
    pub(super) fn create_workspace(&self) -> io::Result<()> {
        self.create_for_user(&self.workspace)
    }

    /// Creates a directory for a copy of a file or directory that the script may read.
    pub(super) fn create_read_dir(&self, number: usize) -> io::Result<PathBuf> {
        let path = self.dir.join(format!("read-{number}"));
        self.create_for_user(&path)?;
        Ok(path)
    }

    /// Creates a directory that belongs to the user that runs the script.
    fn create_for_user(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(path)?;
        match self.user {
            Some(user) => std::os::unix::fs::lchown(path, Some(user), Some(user)),
            None => Ok(()),
        }
    }

    fn copy_files(&self, files: Option<&SkillFiles>) -> io::Result<()> {
        let mut created = std::collections::HashSet::new();
        let mut create_dir = |path: &Path| -> io::Result<()> {
            let mut missing: Vec<&Path> = path
                .ancestors()
                .take_while(|above| *above != self.dir && !created.contains(*above))
                .collect();
            while let Some(path) = missing.pop() {
                DirBuilder::new().mode(0o755).create(path)?;
                created.insert(path.to_owned());
            }
            Ok(())
        };
        create_dir(&self.skill)?;
        for (path, file) in files.into_iter().flat_map(SkillFiles::files) {
            let path = self.skill.join(path);
            if let Some(parent) = path.parent() {
                create_dir(parent)?;
            }
            // Copies of these files can be changed. The files themselves cannot: the sandbox makes them read-only.
            let mode = if file.executable { 0o755 } else { 0o644 };
            let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            out.write_all(&file.bytes)?;
            // Independent of the umask, because another user may have to read the file.
            out.set_permissions(Permissions::from_mode(mode))?;
        }
        for path in created {
            fs::set_permissions(path, Permissions::from_mode(0o755))?;
        }
        Ok(())
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        // A process that is being killed may still write, so removal is retried.
        for _ in 0..5 {
            if remove_tree(&self.dir).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Longer than any script may run.
const ABANDONED_AFTER: Duration = Duration::from_secs(2 * 3600);

/// Removes old run directories of killed processes. A process id alone is not sufficient, because another container may
/// share the parent directory.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let parts: Option<Vec<u32>> = name
            .to_str()
            .and_then(|name| name.strip_prefix("prowess-"))
            .and_then(|suffix| suffix.split('-').map(|part| u32::from_str_radix(part, 16).ok()).collect());
        let Some([pid, _, _]) = parts.as_deref() else { continue };
        let Ok(metadata) = entry.metadata() else { continue };
        let is_ours =
            metadata.uid() == rustix::process::geteuid().as_raw() || rustix::process::geteuid().is_root();
        let is_old = metadata
            .modified()
            .is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > ABANDONED_AFTER));
        if metadata.is_dir() && is_ours && is_old && !Path::new("/proc").join(pid.to_string()).exists() {
            // Another process may remove it at the same time. Permissions are not changed here, because the owner could
            // replace the directory by a symlink.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Creates a new private directory.
fn create_unique_dir(parent: &Path) -> io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    for _ in 0..100 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("prowess-{:x}-{:x}-{number:x}", std::process::id(), now.subsec_nanos());
        match DirBuilder::new().mode(0o700).create(parent.join(&name)) {
            Ok(()) => return Ok(parent.join(name)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("cannot find an unused directory name"))
}

/// Removes an untrusted tree: directories may be unreadable, or nested deeper than the maximum path length.
fn remove_tree(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(()) => return Ok(()),
        Err(_) => {}
    }
    flatten(dir)?;
    fs::remove_dir_all(dir)
}

/// Makes directories accessible and moves deeply nested ones up.
fn flatten(dir: &Path) -> io::Result<()> {
    let mut open = vec![dir.to_owned()];
    let mut moved = 0_u32;
    while let Some(current) = open.pop() {
        let _ = fs::set_permissions(&current, Permissions::from_mode(0o700));
        for entry in fs::read_dir(&current)?.flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let deep = current.strip_prefix(dir).is_ok_and(|inner| inner.components().count() > 8);
                let target = dir.join(format!("flat-{moved}"));
                moved += 1;
                match deep && fs::rename(entry.path(), &target).is_ok() {
                    true => open.push(target),
                    false => open.push(entry.path()),
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_abandoned_directories_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * ABANDONED_AFTER;
        let own = format!("prowess-{:x}-1-1", std::process::id());
        // No process has such a high id.
        for name in
            ["prowess-7ffffffe-1-1", &own, "prowess-7ffffffe-1", "prowess-work-1-1", "prowess-7ffffffe-1-1-x"]
        {
            let path = parent.path().join(name);
            fs::create_dir_all(path.join("skill")).unwrap();
            fs::File::open(path).unwrap().set_modified(old).unwrap();
        }
        fs::create_dir(parent.path().join("prowess-7ffffffe-2-2")).unwrap();
        remove_abandoned(parent.path());
        let mut remaining: Vec<_> = fs::read_dir(parent.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        remaining.sort();
        let mut expected = [
            own.as_str(),
            "prowess-7ffffffe-1",
            "prowess-7ffffffe-1-1-x",
            "prowess-7ffffffe-2-2",
            "prowess-work-1-1",
        ];
        expected.sort_unstable();
        assert_eq!(remaining, expected);
    }
}
