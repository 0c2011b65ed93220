//! Copies files of the user for a script.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use prowess::HostEnv;
use prowess_fs::{Dir, EntryKind, Fingerprint, Stat};

use super::apply::DirLock;
use super::grants::program_dirs;
use super::staging::{is_staging_name, remove_abandoned_staging};
use super::{InputFile, ScriptFilesError};

/// The maximum depth of directories.
const DEPTH_MAX: usize = 32;

/// The limits of a copy, which several copies share.
#[derive(Debug)]
pub(crate) struct CopyLimits {
    pub(crate) bytes: u64,
    pub(crate) files: u64,
    /// The user that the copies belong to, if it is a different one.
    pub(crate) user: Option<u32>,
    remaining_bytes: u64,
    remaining_files: u64,
}

impl CopyLimits {
    pub(crate) fn new(limits: &crate::Limits, user: Option<u32>) -> Self {
        let (bytes, files) = (limits.workspace_bytes, u64::from(limits.workspace_files));
        Self { bytes, files, user, remaining_bytes: bytes, remaining_files: files }
    }

    fn take_entry(&mut self, root: &Path) -> Result<(), ScriptFilesError> {
        self.remaining_files = self.remaining_files.checked_sub(1).ok_or_else(|| self.too_many(root))?;
        Ok(())
    }

    fn take_bytes(&mut self, bytes: u64, root: &Path) -> Result<(), ScriptFilesError> {
        self.remaining_bytes =
            self.remaining_bytes.checked_sub(bytes).ok_or_else(|| ScriptFilesError::TooLarge {
                path: root.to_owned(),
                limit: self.bytes,
                unit: "bytes",
                key: "run.workspace-bytes",
            })?;
        Ok(())
    }

    fn too_many(&self, root: &Path) -> ScriptFilesError {
        ScriptFilesError::TooLarge {
            path: root.to_owned(),
            limit: self.files,
            unit: "files and directories",
            key: "run.workspace-files",
        }
    }
}

/// A copied file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CopiedFile {
    /// The state of the user's file.
    pub(crate) source: Option<Fingerprint>,
    /// The state of the copy before the script ran.
    pub(crate) copy: Fingerprint,
}

/// What was copied into a workspace, by relative path.
#[derive(Debug, Default)]
pub(crate) struct CopiedTree {
    pub(crate) files: BTreeMap<PathBuf, CopiedFile>,
    pub(crate) dirs: BTreeSet<PathBuf>,
    /// Directories from which the user starts programs by name. Changes in them are not kept.
    pub(super) program_dirs: BTreeSet<PathBuf>,
    /// The copies of symlinks.
    pub(super) links: BTreeMap<PathBuf, Fingerprint>,
    /// The files that exist only in the copy of a directory.
    pub(super) only_copied: BTreeSet<PathBuf>,
    /// The number of symlinks that lead outside, FIFOs, sockets and devices, which were not copied.
    pub(crate) skipped: u32,
}

/// Copies the workspace of the user, whose path was resolved. Returns it open, so that changes are applied to the same
/// directory. `target` exists and is empty.
pub(crate) fn copy_workspace(
    source: &Path,
    target: &Path,
    env: &HostEnv,
    limits: &mut CopyLimits,
) -> Result<(Dir, CopiedTree), ScriptFilesError> {
    let unreadable = |error| ScriptFilesError::Unreadable { path: source.to_owned(), error };
    let dir = Dir::open_resolved(source).map_err(|error| unreadable(error.into()))?;
    // No other run is changing it meanwhile.
    let lock = DirLock::acquire(&dir).map_err(unreadable)?;
    remove_abandoned_staging(source);
    let mut copied = copy_dir(&dir, target, limits)?;
    drop(lock);
    let program_dirs = program_dirs(env).into_iter();
    copied.program_dirs =
        program_dirs.filter_map(|dir| Some(dir.strip_prefix(source).ok()?.to_owned())).collect();
    Ok((dir, copied))
}

/// Copies a directory. `target` exists and is empty.
pub(crate) fn copy_dir(
    source: &Dir,
    target: &Path,
    limits: &mut CopyLimits,
) -> Result<CopiedTree, ScriptFilesError> {
    let mut copier = Copier { root: source.path(), target, limits, tree: CopiedTree::default() };
    copier.copy_entries(source, Path::new(""), 0)?;
    Ok(copier.tree)
}

/// Copies a single file into the directory `target`. Returns the path of the copy.
pub(crate) fn copy_file(
    source: &Path,
    target: &Path,
    limits: &mut CopyLimits,
) -> Result<PathBuf, ScriptFilesError> {
    let unreadable = |error| ScriptFilesError::Unreadable { path: source.to_owned(), error };
    let copy = target.join(source.file_name().unwrap_or_default());
    let (file, stat) = Dir::open_file_resolved(source).map_err(|error| unreadable(error.into()))?;
    if !stat.is_file() {
        return Err(unreadable(io::Error::other("it is neither a regular file nor a directory")));
    }
    limits.take_entry(source)?;
    limits.take_bytes(stat.size(), source)?;
    copy_content(File::from(file), &stat, &copy, limits.user).map_err(unreadable)?;
    Ok(copy)
}

/// Writes the inputs of a temporary workspace.
pub(crate) fn write_inputs(
    inputs: &[InputFile],
    target: &Path,
    limits: &mut CopyLimits,
) -> Result<CopiedTree, ScriptFilesError> {
    let mut tree = CopiedTree::default();
    write_into(&mut tree, inputs, target, limits)?;
    Ok(tree)
}

/// Writes inputs into the copy of a directory. They must not have the name of anything in the directory.
pub(crate) fn add_inputs(
    tree: &mut CopiedTree,
    inputs: &[InputFile],
    source: &Path,
    target: &Path,
    limits: &mut CopyLimits,
) -> Result<(), ScriptFilesError> {
    for input in inputs {
        let inner = Path::new(input.path());
        // The directory may also have links and special files, which were not copied.
        let is_taken = |path: &Path| match source.join(path).symlink_metadata() {
            Ok(found) => path == inner || !found.is_dir(),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        // From the outside, so that no link is followed.
        let mut paths: Vec<&Path> = inner.ancestors().filter(|path| !path.as_os_str().is_empty()).collect();
        paths.reverse();
        if let Some(taken) = paths.into_iter().find(|path| is_taken(path)) {
            return Err(ScriptFilesError::InputExists { path: taken.display().to_string() });
        }
    }
    write_into(tree, inputs, target, limits)?;
    tree.only_copied.extend(inputs.iter().map(|input| PathBuf::from(input.path())));
    Ok(())
}

fn write_into(
    tree: &mut CopiedTree,
    inputs: &[InputFile],
    target: &Path,
    limits: &mut CopyLimits,
) -> Result<(), ScriptFilesError> {
    for InputFile { path, bytes, executable } in inputs {
        let inner = Path::new(path.as_str());
        let full = target.join(inner);
        let unwritable = |error| ScriptFilesError::Unwritable { path: PathBuf::from(path.as_str()), error };
        limits.take_bytes(bytes.len() as u64, inner)?;
        let mut parents: Vec<&Path> = inner.ancestors().skip(1).collect();
        parents.pop();
        for parent in parents.into_iter().rev() {
            if tree.files.contains_key(parent) {
                return Err(ScriptFilesError::DuplicateInput { path: path.as_str().to_owned() });
            }
            if tree.dirs.insert(parent.to_owned()) {
                limits.take_entry(inner)?;
                create_dir(&target.join(parent), limits.user).map_err(unwritable)?;
            }
        }
        if tree.dirs.contains(inner) || tree.files.contains_key(inner) {
            return Err(ScriptFilesError::DuplicateInput { path: path.as_str().to_owned() });
        }
        limits.take_entry(inner)?;
        let mode = if *executable { 0o700 } else { 0o600 };
        let mut file = create_file(&full, mode).map_err(unwritable)?;
        // An older time, so that every change has a newer one.
        let modified = SystemTime::now() - Duration::from_secs(2);
        let written = file.write_all(bytes).and_then(|()| finish_file(&file, Some(modified), limits.user));
        let copy =
            written.and_then(|()| Ok(Fingerprint::from_stat(&Stat::from_fd(&file)?))).map_err(unwritable)?;
        tree.files.insert(inner.to_owned(), CopiedFile { source: None, copy });
    }
    Ok(())
}

struct Copier<'c> {
    root: &'c Path,
    target: &'c Path,
    limits: &'c mut CopyLimits,
    tree: CopiedTree,
}

impl Copier<'_> {
    fn copy_entries(&mut self, dir: &Dir, inner: &Path, depth: usize) -> Result<(), ScriptFilesError> {
        let unreadable = |path: &Path| {
            let path = self.root.join(path);
            move |error: io::Error| ScriptFilesError::Unreadable { path, error }
        };
        let max = usize::try_from(self.limits.remaining_files).unwrap_or(usize::MAX);
        let listing = dir.entries(max).map_err(io::Error::from).map_err(unreadable(inner))?;
        if listing.truncated || depth > DEPTH_MAX {
            return Err(self.limits.too_many(self.root));
        }
        for entry in listing.entries {
            let (name, path) = (Path::new(&*entry.name), inner.join(&*entry.name));
            if depth == 0 && is_staging_name(&entry.name) {
                continue;
            }
            self.limits.take_entry(self.root)?;
            match entry.kind {
                EntryKind::Dir => {
                    let open = dir.open_dir(name).map_err(io::Error::from).map_err(unreadable(&path))?;
                    create_dir(&self.target.join(&path), self.limits.user).map_err(unreadable(&path))?;
                    self.tree.dirs.insert(path.clone());
                    self.copy_entries(&open, &path, depth + 1)?;
                }
                EntryKind::File => {
                    let (file, stat) =
                        dir.open_file(name).map_err(io::Error::from).map_err(unreadable(&path))?;
                    self.limits.take_bytes(stat.size(), self.root)?;
                    let copy =
                        copy_content(File::from(file), &stat, &self.target.join(&path), self.limits.user)
                            .map_err(unreadable(&path))?;
                    let source = Some(Fingerprint::from_stat(&stat));
                    self.tree.files.insert(path, CopiedFile { source, copy });
                }
                EntryKind::Symlink => {
                    let link = dir.read_link(name).map_err(io::Error::from).map_err(unreadable(&path))?;
                    if stays_inside(inner, &link) {
                        let copy = self.target.join(&path);
                        std::os::unix::fs::symlink(&link, &copy).map_err(unreadable(&path))?;
                        if let Some(fingerprint) = Fingerprint::from_path(&copy) {
                            self.tree.links.insert(path, fingerprint);
                        }
                    } else {
                        self.tree.skipped += 1;
                    }
                }
                EntryKind::Special => self.tree.skipped += 1,
            }
        }
        Ok(())
    }
}

/// Returns `true` if a relative symlink in the directory `inner` stays inside the workspace.
fn stays_inside(inner: &Path, link: &Path) -> bool {
    let mut depth = inner.components().count();
    for component in link.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

/// Copies the content, the executable bit and the modification time. The file may not grow meanwhile.
fn copy_content(file: File, stat: &Stat, target: &Path, user: Option<u32>) -> io::Result<Fingerprint> {
    if !stat.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let modified = file.metadata()?.modified().ok();
    let copy = create_file(target, if stat.is_executable() { 0o700 } else { 0o600 })?;
    let copied = io::copy(&mut file.take(stat.size()), &mut &copy)?;
    if copied != stat.size() {
        return Err(io::Error::other("it changed while it was copied"));
    }
    finish_file(&copy, modified, user)?;
    Ok(Fingerprint::from_stat(&Stat::from_fd(&copy)?))
}

fn create_file(path: &Path, mode: u32) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    Ok(file)
}

fn finish_file(file: &File, modified: Option<SystemTime>, user: Option<u32>) -> io::Result<()> {
    if let Some(modified) = modified {
        file.set_modified(modified)?;
    }
    match user {
        Some(user) => fchown(file, Some(user), Some(user)),
        None => Ok(()),
    }
}

pub(crate) fn create_dir(path: &Path, user: Option<u32>) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    match user {
        Some(user) => std::os::unix::fs::lchown(path, Some(user), Some(user)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_escape_names_of_files() {
        let temp = tempfile::tempdir().unwrap();
        let (source, target) = (temp.path().join("a\u{1b}[31m\nb"), temp.path().join("target"));
        std::fs::create_dir_all(source.join("c".repeat(9))).unwrap();
        std::fs::create_dir(&target).unwrap();
        let mut limits = CopyLimits::new(&crate::Limits { workspace_files: 0, ..Default::default() }, None);
        let error = copy_dir(&Dir::open(&source).unwrap(), &target, &mut limits).unwrap_err().to_string();
        assert!(!error.contains(char::is_control) && error.contains("\\u{1b}"), "{error}");
    }

    #[test]
    fn only_symlinks_that_stay_inside_are_copied() {
        for (inner, link, expected) in [
            ("", "a", true),
            ("", "../a", false),
            ("x", "../a", true),
            ("x", "../../a", false),
            ("x", "/etc", false),
            ("x/y", "../../a/../b", true),
            ("", "a/../../b", false),
        ] {
            assert_eq!(stays_inside(Path::new(inner), Path::new(link)), expected, "{inner} {link}");
        }
    }
}
