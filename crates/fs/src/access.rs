//! Permissions, owners and ways to open files, behind one interface for all systems.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags};
use rustix::io::Errno;

/// How to treat a symlink in the last component of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymlinkMode {
    /// Follow it.
    Follow,
    /// Fail.
    Refuse,
}

/// Opens a file for reading without blocking, even if it is a FIFO. The file may be special: check its metadata.
pub fn open_nonblocking(path: &Path, symlinks: SymlinkMode) -> io::Result<File> {
    let flags = match symlinks {
        SymlinkMode::Follow => OFlags::NONBLOCK,
        SymlinkMode::Refuse => OFlags::NONBLOCK.union(OFlags::NOFOLLOW),
    };
    let flags = flags.union(OFlags::NOCTTY).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Creates a file for writing with these permissions, reduced by the umask. Fails if the path exists.
pub fn create_new(path: &Path, permissions: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(permissions).open(path)
}

/// Creates a file that only the user can read and write. Fails if the path exists.
pub fn create_private(path: &Path) -> io::Result<File> {
    create_new(path, 0o600)
}

/// Creates a directory that only the user can enter. Fails if the path exists.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Creates a directory that only the user can enter, and its missing parents.
pub fn create_private_dir_all(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Sets the permissions of a file, as a POSIX mode.
pub fn set_permissions(file: &File, permissions: u32) -> io::Result<()> {
    file.set_permissions(fs::Permissions::from_mode(permissions))
}

/// Returns the permissions of a file, as the lower twelve bits of a POSIX mode.
pub fn permissions(metadata: &Metadata) -> u32 {
    metadata.mode() & 0o7777
}

/// Returns `true` if any user may execute the file.
pub fn is_executable(metadata: &Metadata) -> bool {
    metadata.mode() & 0o111 != 0
}

/// Returns `true` if the path is a file that this process may execute.
pub fn can_execute(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// Returns the programs with this name in the directories of a `PATH`, in order. Empty and relative entries are
/// ignored: they depend on the current directory, which a project controls.
pub fn programs_on_path(name: &str, path: &OsStr) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(move |dir| dir.join(name))
        .filter(|program| can_execute(program))
}

/// Returns the id of the user who owns the file.
pub fn owner_uid(metadata: &Metadata) -> u32 {
    metadata.uid()
}

/// Returns the effective user id of this process.
pub fn current_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns the id of the file system that contains the file.
pub fn device_id(metadata: &Metadata) -> u64 {
    metadata.dev()
}

/// Returns an identifier that distinguishes the file or directory from all others that exist at the same time.
pub fn file_id(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Fills `buffer` from an offset without moving the file's position.
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

/// Returns the path with these bytes, as encoded by [`OsStr::as_encoded_bytes`].
pub fn path_from_bytes(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Creates a symlink at `link` that points to `target`. Fails if `link` exists.
pub fn create_symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Returns `true` if a call failed because of a symlink. The standard library has no stable error kind for it.
pub fn is_symlink_error(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::LOOP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opening_a_fifo_does_not_block_and_a_symlink_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        let fifo = open_nonblocking(&at("fifo"), SymlinkMode::Refuse).unwrap();
        assert!(!fifo.metadata().unwrap().is_file());
        create_private(&at("file")).unwrap();
        create_symlink(Path::new("file"), &at("link")).unwrap();
        assert!(open_nonblocking(&at("link"), SymlinkMode::Follow).is_ok());
        let refused = open_nonblocking(&at("link"), SymlinkMode::Refuse).unwrap_err();
        assert!(is_symlink_error(&refused), "{refused}");
    }

    #[test]
    fn private_files_and_directories_are_for_the_user_only() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        create_private_dir_all(&at("a/b")).unwrap();
        create_private_dir(&at("a/c")).unwrap();
        create_private(&at("a/file")).unwrap();
        for (name, expected) in [("a", 0o700), ("a/b", 0o700), ("a/c", 0o700), ("a/file", 0o600)] {
            assert_eq!(permissions(&fs::metadata(at(name)).unwrap()), expected, "{name}");
        }
        let results = [create_private(&at("a/file")).map(drop), create_private_dir(&at("a/c"))];
        assert!(
            results.iter().all(|result| result.as_ref().unwrap_err().kind() == io::ErrorKind::AlreadyExists)
        );
    }

    #[test]
    fn only_a_file_can_be_executed() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("tool");
        let file = create_private(&path).unwrap();
        assert!(!is_executable(&file.metadata().unwrap()) && !can_execute(&path));
        set_permissions(&file, 0o750).unwrap();
        assert_eq!(permissions(&file.metadata().unwrap()), 0o750);
        assert!(is_executable(&file.metadata().unwrap()) && can_execute(&path) && !can_execute(temp.path()));
    }
}
