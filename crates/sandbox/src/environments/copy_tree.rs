//! Copies what a tool installed into an environment, and checks it on the way.
//!
//! The source is not trusted: only regular files, directories and relative symlinks that stay inside are copied, within
//! limits. Modes are not copied: all users can read the files, and only the owner can write them.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path};

use prowess_fs::{Dir, EntryKind};
use sha2::{Digest, Sha256};

use super::error::EnvironmentError;

/// The maximum number of entries.
const ENTRIES_MAX: usize = 90_000;

/// The maximum depth of directories.
const DEPTH_MAX: usize = 40;

/// The maximum total size.
const BYTES_MAX: u64 = super::sandboxed_tool::SCRATCH_MAX;

/// What was copied.
#[derive(Debug, Default)]
pub(super) struct CopiedTree {
    /// The paths with the digests of their contents; symlinks with their targets.
    pub(super) contents: Vec<(String, String)>,
    pub(super) bytes: u64,
    entries: usize,
}

impl CopiedTree {
    /// Returns the digest of all contents.
    pub(super) fn digest(&self) -> String {
        digest_contents(&self.contents)
    }
}

/// Returns the digest of a list of contents.
pub(super) fn digest_contents(contents: &[(String, String)]) -> String {
    let lines: String = contents.iter().map(|(path, digest)| format!("{digest} {path}\n")).collect();
    prowess_fs::digest(lines.as_bytes())
}

/// Copies a directory to a new one. `name` is its path in the environment, for messages and records.
pub(super) fn copy_tree(
    from: &Dir,
    to: &Path,
    name: &str,
    copied: &mut CopiedTree,
) -> Result<(), EnvironmentError> {
    copy_dir(from, to, name, 0, copied)
}

fn copy_dir(
    from: &Dir,
    to: &Path,
    name: &str,
    depth: usize,
    copied: &mut CopiedTree,
) -> Result<(), EnvironmentError> {
    let io_error = |error: io::Error| EnvironmentError::io(to, error);
    if depth > DEPTH_MAX {
        return Err(EnvironmentError::TooLarge {
            reason: format!("more than {DEPTH_MAX} nested directories"),
        });
    }
    create_dir(to).map_err(io_error)?;
    let listed = from.entries(ENTRIES_MAX).map_err(|error| io_error(error.into()))?;
    copied.entries += listed.entries.len();
    if listed.truncated || copied.entries > ENTRIES_MAX {
        return Err(EnvironmentError::TooLarge { reason: format!("more than {ENTRIES_MAX} files") });
    }
    for entry in &listed.entries {
        let path = format!("{name}/{}", entry.name.to_string_lossy());
        let refuse = |reason| EnvironmentError::UnsafeFile { path: path.clone(), reason };
        let text = entry.name.to_str().ok_or_else(|| refuse("has a name that is not Unicode"))?;
        if text.chars().any(char::is_control) {
            return Err(refuse("has a name with control characters"));
        }
        let (inner, target) = (Path::new(text), to.join(text));
        match entry.kind {
            EntryKind::Dir => {
                let dir = from.open_dir(inner).map_err(|error| io_error(error.into()))?;
                copy_dir(&dir, &target, &path, depth + 1, copied)?;
            }
            EntryKind::File => {
                let (file, stat) = from.open_file(inner).map_err(|error| io_error(error.into()))?;
                if !stat.is_file() {
                    return Err(refuse("is not a regular file"));
                }
                let digest = copy_file(&mut File::from(file), &target, stat.is_executable(), copied)?;
                copied.contents.push((path, digest));
            }
            EntryKind::Symlink => {
                let link = fs::read_link(from.path().join(inner)).map_err(io_error)?;
                if !stays_inside(&link, depth) {
                    return Err(refuse("is a symlink that leads outside"));
                }
                prowess_fs::create_symlink(&link, &target).map_err(io_error)?;
                copied.contents.push((path, format!("link:{}", link.display())));
            }
            EntryKind::Special => return Err(refuse("is neither a file nor a directory")),
        }
    }
    Ok(())
}

/// Creates a directory that all users can enter.
pub(super) fn create_dir(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    prowess_fs::set_permissions(&File::open(path)?, 0o755)
}

/// Returns `true` for a relative target that stays inside the tree, seen from a directory at this depth.
fn stays_inside(target: &Path, depth: usize) -> bool {
    let mut level = depth;
    target.components().all(|component| match component {
        Component::Normal(_) => {
            level += 1;
            true
        }
        Component::CurDir => true,
        Component::ParentDir if level > 0 => {
            level -= 1;
            true
        }
        Component::ParentDir | Component::RootDir | Component::Prefix(_) => false,
    })
}

/// Copies a file and returns the digest of its contents.
fn copy_file(
    from: &mut File,
    to: &Path,
    is_executable: bool,
    copied: &mut CopiedTree,
) -> Result<String, EnvironmentError> {
    let io_error = |error| EnvironmentError::io(to, error);
    let mut out = prowess_fs::create_new(to, 0o644).map_err(io_error)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 128 * 1024];
    let mut is_program = is_executable;
    let mut is_start = true;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(io_error(error)),
        };
        let bytes = &buffer[..count];
        // Without a mount namespace, tools cannot set modes, so programs are recognized by their contents.
        is_program |= is_start && (bytes.starts_with(b"#!") || bytes.starts_with(b"\x7fELF"));
        is_start = false;
        copied.bytes += count as u64;
        if copied.bytes > BYTES_MAX {
            return Err(EnvironmentError::TooLarge {
                reason: format!("more than {} MiB", BYTES_MAX / 1024 / 1024),
            });
        }
        hasher.update(bytes);
        out.write_all(bytes).map_err(io_error)?;
    }
    prowess_fs::set_permissions(&out, if is_program { 0o755 } else { 0o644 }).map_err(io_error)?;
    let digest: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("sha256:{digest}"))
}

/// The files of an environment that describe it.
pub(super) const RECORD_FILES: &[&str] = &["environment.json", "usage.json", "contents.json"];

/// Returns a digest of the paths, sizes, modes and times of all files of an environment. It shows with little effort that
/// nothing was changed; the contents are compared by [`hash_tree`].
pub(super) fn stamp_tree(dir: &Path) -> io::Result<String> {
    let mut text = Vec::with_capacity(64 * 1024);
    stamp_dir(&Dir::open(dir)?, "", 0, &mut text)?;
    Ok(prowess_fs::digest(&text))
}

fn stamp_dir(dir: &Dir, name: &str, depth: usize, text: &mut Vec<u8>) -> io::Result<()> {
    let listed = dir.entries(ENTRIES_MAX + 16)?;
    if listed.truncated || depth > DEPTH_MAX + 2 {
        return Err(io::Error::other("too many files"));
    }
    for entry in &listed.entries {
        let inner = Path::new(&*entry.name);
        if depth == 0
            && entry.name.to_str().is_some_and(|name| RECORD_FILES.contains(&name) || name.starts_with('.'))
        {
            continue;
        }
        let stat = dir.stat(inner)?;
        let path = format!("{name}/{}", entry.name.to_string_lossy());
        // The time of the last change cannot be set, so a write is noticed even if the time of modification is set back.
        let [_, _, size, modified @ .., changed, nanoseconds] =
            prowess_fs::Fingerprint::from_stat(&stat).to_numbers();
        // The times and sizes of directories depend on the file system.
        let (size, modified, changed, nanoseconds) = match entry.kind {
            EntryKind::Dir => (0, [0, 0], 0, 0),
            _ => (size, modified, changed, nanoseconds),
        };
        let mode = stat.permissions();
        writeln!(text, "{:?} {mode:o} {size} {modified:?} {changed}.{nanoseconds} {path}", entry.kind)?;
        if entry.kind == EntryKind::Dir {
            stamp_dir(&dir.open_dir(inner)?, &path, depth + 1, text)?;
        }
    }
    Ok(())
}

/// Returns the digest of the contents of all files of an environment, to compare it with the record.
pub(super) fn hash_tree(dir: &Path, names: &[&str]) -> Result<String, EnvironmentError> {
    let mut contents = Vec::new();
    for name in names {
        let inner = dir.join(name);
        if inner.is_dir() {
            let opened = Dir::open(&inner).map_err(|error| EnvironmentError::io(&inner, error.into()))?;
            hash_dir(&opened, name, 0, &mut contents)?;
        }
    }
    Ok(digest_contents(&contents))
}

fn hash_dir(
    dir: &Dir,
    name: &str,
    depth: usize,
    contents: &mut Vec<(String, String)>,
) -> Result<(), EnvironmentError> {
    let io_error = |error: io::Error| EnvironmentError::io(dir.path(), error);
    let listed = dir.entries(ENTRIES_MAX).map_err(|error| io_error(error.into()))?;
    if listed.truncated || depth > DEPTH_MAX {
        return Err(EnvironmentError::TooLarge { reason: format!("more than {ENTRIES_MAX} files") });
    }
    for entry in &listed.entries {
        let inner = Path::new(&*entry.name);
        let path = format!("{name}/{}", entry.name.to_string_lossy());
        match entry.kind {
            EntryKind::Dir => {
                let inner = dir.open_dir(inner).map_err(|error| io_error(error.into()))?;
                hash_dir(&inner, &path, depth + 1, contents)?;
            }
            EntryKind::File => {
                let (file, _) = dir.open_file(inner).map_err(|error| io_error(error.into()))?;
                let mut hasher = Sha256::new();
                io::copy(&mut File::from(file), &mut HashWriter(&mut hasher)).map_err(io_error)?;
                let digest: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
                contents.push((path, format!("sha256:{digest}")));
            }
            EntryKind::Symlink => {
                let link = fs::read_link(dir.path().join(inner)).map_err(io_error)?;
                contents.push((path, format!("link:{}", link.display())));
            }
            EntryKind::Special => contents.push((path, "special".to_owned())),
        }
    }
    Ok(())
}

struct HashWriter<'h>(&'h mut Sha256);

impl Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(from: &Path, to: &Path) -> Result<CopiedTree, EnvironmentError> {
        let mut copied = CopiedTree::default();
        copy_tree(&Dir::open(from).unwrap(), to, "x", &mut copied).map(|()| copied)
    }

    #[test]
    fn files_are_copied_with_fixed_modes() {
        let temp = tempfile::tempdir().unwrap();
        let (from, to) = (temp.path().join("from"), temp.path().join("to"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::write(from.join("a/b/program"), "#!/bin/sh\n").unwrap();
        fs::write(from.join("a/data"), "data").unwrap();
        prowess_fs::create_symlink(Path::new("b/program"), &from.join("a/link")).unwrap();
        prowess_fs::create_symlink(Path::new("../a/data"), &from.join("a/up")).unwrap();
        let copied = copy(&from, &to).unwrap();
        assert_eq!(copied.contents.len(), 4);
        let mode = |path: &str| prowess_fs::permissions(&fs::metadata(to.join(path)).unwrap());
        assert_eq!([mode("a"), mode("a/b/program"), mode("a/data")], [0o755, 0o755, 0o644]);
        assert_eq!(fs::read_to_string(to.join("a/up")).unwrap(), "data");
        assert_eq!(hash_tree(temp.path(), &["to"]).unwrap(), {
            let renamed: Vec<_> = copied
                .contents
                .iter()
                .map(|(path, digest)| (path.replacen('x', "to", 1), digest.clone()))
                .collect();
            digest_contents(&renamed)
        });
    }

    #[test]
    fn unsafe_entries_are_refused() {
        for (link, is_refused) in
            [("/etc/passwd", true), ("../outside", true), ("a/../../outside", true), ("./a", false)]
        {
            let temp = tempfile::tempdir().unwrap();
            let from = temp.path().join("from");
            fs::create_dir(&from).unwrap();
            prowess_fs::create_symlink(Path::new(link), &from.join("link")).unwrap();
            let result = copy(&from, &temp.path().join("to"));
            assert_eq!(result.is_err(), is_refused, "{link}");
        }
        let temp = tempfile::tempdir().unwrap();
        let from = temp.path().join("from");
        fs::create_dir(&from).unwrap();
        fs::write(from.join("a\u{1b}[31m"), "").unwrap();
        insta::assert_snapshot!(copy(&from, &temp.path().join("to")).unwrap_err(), @r"a package contains x/a\u{1b}[31m, which has a name with control characters");
    }

    #[test]
    fn every_change_changes_the_stamp() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        fs::create_dir(dir.join("site-packages")).unwrap();
        let file = dir.join("site-packages/a.py");
        fs::write(&file, "one").unwrap();
        let first = stamp_tree(dir).unwrap();
        fs::write(dir.join("usage.json"), "{}").unwrap();
        assert_eq!(stamp_tree(dir).unwrap(), first, "the records do not count");
        fs::write(&file, "two!").unwrap();
        let second = stamp_tree(dir).unwrap();
        assert_ne!(second, first);
        fs::write(dir.join("site-packages/b.py"), "").unwrap();
        assert_ne!(stamp_tree(dir).unwrap(), second);
    }
}
