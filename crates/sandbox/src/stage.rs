//! The folder of one run: the skill's files as they were verified, and a scratch folder beside them.
//!
//! What must always hold: what lies here is what was hashed, nobody else can enter, and it is gone afterwards.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use prowess::resource::Material;

/// The folder of one run. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Stage {
    folder: PathBuf,
    /// The skill's files, which the script cannot change.
    pub(super) skill: PathBuf,
    /// What the script may write.
    pub(super) scratch: PathBuf,
}

impl Stage {
    /// Lays everything out in a new folder in `parent`, for `user` where that is somebody else.
    pub(super) fn new(parent: &Path, material: &Material, user: Option<u32>) -> io::Result<Self> {
        Self::with(parent, Some(material), user)
    }

    /// The same without files, to see whether it can be done.
    pub(super) fn empty(parent: &Path, user: Option<u32>) -> io::Result<Self> {
        Self::with(parent, None, user)
    }

    fn with(parent: &Path, material: Option<&Material>, user: Option<u32>) -> io::Result<Self> {
        let parent = fs::canonicalize(parent)?;
        clear_away(&parent);
        let folder = fresh(&parent)?;
        let stage = Self { skill: folder.join("skill"), scratch: folder.join("scratch"), folder };
        stage.lay_out(material)?;
        DirBuilder::new().mode(0o700).create(&stage.scratch)?;
        if let Some(user) = user {
            std::os::unix::fs::chown(&stage.scratch, Some(user), Some(user))?;
            std::os::unix::fs::chown(&stage.folder, Some(user), Some(user))?;
        }
        Ok(stage)
    }

    fn lay_out(&self, material: Option<&Material>) -> io::Result<()> {
        let mut made = std::collections::HashSet::new();
        let mut folder = |path: &Path| -> io::Result<()> {
            let mut missing: Vec<&Path> = path
                .ancestors()
                .take_while(|above| *above != self.folder && !made.contains(*above))
                .collect();
            while let Some(path) = missing.pop() {
                DirBuilder::new().mode(0o755).create(path)?;
                made.insert(path.to_owned());
            }
            Ok(())
        };
        folder(&self.skill)?;
        for (path, file) in material.into_iter().flat_map(Material::files) {
            let path = self.skill.join(path);
            if let Some(parent) = path.parent() {
                folder(parent)?;
            }
            let mode = if file.executable { 0o555 } else { 0o444 };
            let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            out.write_all(&file.bytes)?;
            // Not left to the umask: another user may have to read it.
            out.set_permissions(Permissions::from_mode(mode))?;
        }
        for path in made {
            fs::set_permissions(path, Permissions::from_mode(0o755))?;
        }
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Something that is being killed may still write: what comes after the first try is removed by the next.
        for _ in 0..5 {
            if remove(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Longer than any script may run.
const ABANDONED: Duration = Duration::from_secs(2 * 3600);

/// Removes what a Prowess that was killed left behind: folders of ours whose process is gone, and has been for long. The
/// process may be one of another container that shares the folder, so that its number alone says nothing.
fn clear_away(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let parts: Option<Vec<u32>> = name
            .to_str()
            .and_then(|name| name.strip_prefix("prowess-"))
            .and_then(|rest| rest.split('-').map(|part| u32::from_str_radix(part, 16).ok()).collect());
        let Some([pid, _, _]) = parts.as_deref() else { continue };
        let Ok(metadata) = entry.metadata() else { continue };
        let is_ours =
            metadata.uid() == rustix::process::geteuid().as_raw() || rustix::process::geteuid().is_root();
        let is_old = metadata.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ABANDONED));
        if metadata.is_dir() && is_ours && is_old && !Path::new("/proc").join(pid.to_string()).exists() {
            // Another one may be at it, too. Nothing is opened up for it: whoever owns the folder could be swapping it for
            // a link to something else.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A new folder that nobody else can enter.
fn fresh(parent: &Path) -> io::Result<PathBuf> {
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
    Err(io::Error::other("no free name for a folder"))
}

/// Removes a tree that a stranger made: folders may be closed, or lie in each other deeper than a path is long.
fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(()) => return Ok(()),
        Err(_) => {}
    }
    flatten(folder)?;
    fs::remove_dir_all(folder)
}

/// Opens closed folders and brings deep ones up, step by step.
fn flatten(folder: &Path) -> io::Result<()> {
    let mut open = vec![folder.to_owned()];
    let mut moved = 0_u32;
    while let Some(here) = open.pop() {
        let _ = fs::set_permissions(&here, Permissions::from_mode(0o700));
        for entry in fs::read_dir(&here)?.flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let deep = here.strip_prefix(folder).is_ok_and(|inner| inner.components().count() > 8);
                let to = folder.join(format!("flat-{moved}"));
                moved += 1;
                match deep && fs::rename(entry.path(), &to).is_ok() {
                    true => open.push(to),
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
    fn only_what_was_abandoned_long_ago_is_cleared_away() {
        let parent = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * ABANDONED;
        let own = format!("prowess-{:x}-1-1", std::process::id());
        // No process has so high a number.
        for name in
            ["prowess-7ffffffe-1-1", &own, "prowess-7ffffffe-1", "prowess-work-1-1", "prowess-7ffffffe-1-1-x"]
        {
            let path = parent.path().join(name);
            fs::create_dir_all(path.join("skill")).unwrap();
            fs::File::open(path).unwrap().set_modified(old).unwrap();
        }
        fs::create_dir(parent.path().join("prowess-7ffffffe-2-2")).unwrap();
        clear_away(parent.path());
        let mut left: Vec<_> = fs::read_dir(parent.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut kept = [
            own.as_str(),
            "prowess-7ffffffe-1",
            "prowess-7ffffffe-1-1-x",
            "prowess-7ffffffe-2-2",
            "prowess-work-1-1",
        ];
        kept.sort_unstable();
        assert_eq!(left, kept);
    }
}
