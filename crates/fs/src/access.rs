//! Permissions, owners and ways to open files, for those who must not know which system this is.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Access, OFlags};
use rustix::io::Errno;

/// Whether the last step of a path may be a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastStep {
    /// It is followed.
    Followed,
    /// It is an error.
    NoLink,
}

/// Opens a file to read it, and waits for no other process, as opening a FIFO would. What was opened may be special: ask
/// its metadata.
pub fn open_without_waiting(path: &Path, last: LastStep) -> io::Result<File> {
    let flags = match last {
        LastStep::Followed => OFlags::NONBLOCK,
        LastStep::NoLink => OFlags::NONBLOCK.union(OFlags::NOFOLLOW),
    };
    let flags = flags.union(OFlags::NOCTTY).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Creates a file to write it, with these permissions less those that the process withholds from others. Fails where
/// something is.
pub fn create_new(path: &Path, permissions: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(permissions).open(path)
}

/// Creates a file that only the user can read and write. Fails where something is.
pub fn create_private(path: &Path) -> io::Result<File> {
    create_new(path, 0o600)
}

/// Creates a folder that only the user can enter. Fails where something is.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Creates a folder, and those above it that are not there, that only the user can enter.
pub fn make_private_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Sets who may do what with a file, as a POSIX mode.
pub fn set_permissions(file: &File, permissions: u32) -> io::Result<()> {
    file.set_permissions(fs::Permissions::from_mode(permissions))
}

/// Who may do what with a file, as the lower twelve bits of a POSIX mode.
pub fn permissions(of: &Metadata) -> u32 {
    of.mode() & 0o7777
}

/// Whether any user may execute a file.
pub fn is_executable(file: &Metadata) -> bool {
    file.mode() & 0o111 != 0
}

/// Whether there is a file at a path that this process may execute.
pub fn can_execute(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// The number of the user who owns something.
pub fn owner(of: &Metadata) -> u32 {
    of.uid()
}

/// The number of the user that this process acts for.
pub fn current_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The file system that something is on.
pub fn device(of: &Metadata) -> u64 {
    of.dev()
}

/// What tells a file or folder from every other that exists at the same time.
pub fn identity(of: &Metadata) -> (u64, u64) {
    (of.dev(), of.ino())
}

/// Fills `buffer` from an offset, without moving the position that others read at.
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

/// The path that these bytes are, as [`OsStr::as_encoded_bytes`] gives them.
pub fn path_from_bytes(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Makes a symbolic link at `at` that leads to `to`. Fails where something is.
pub fn make_link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

/// Whether the system refused something because of a symbolic link; the standard library has no stable kind for it.
pub fn is_link_error(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::LOOP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_waits_for_a_fifo_and_a_link_is_told_apart() {
        let world = tempfile::tempdir().unwrap();
        let at = |name: &str| world.path().join(name);
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        let fifo = open_without_waiting(&at("fifo"), LastStep::NoLink).unwrap();
        assert!(!fifo.metadata().unwrap().is_file());
        create_private(&at("file")).unwrap();
        make_link(Path::new("file"), &at("link")).unwrap();
        assert!(open_without_waiting(&at("link"), LastStep::Followed).is_ok());
        let refused = open_without_waiting(&at("link"), LastStep::NoLink).unwrap_err();
        assert!(is_link_error(&refused), "{refused}");
    }

    #[test]
    fn what_is_private_is_for_the_user_alone() {
        let world = tempfile::tempdir().unwrap();
        let at = |name: &str| world.path().join(name);
        make_private_folders(&at("a/b")).unwrap();
        make_private_folder(&at("a/c")).unwrap();
        create_private(&at("a/file")).unwrap();
        for (name, expected) in [("a", 0o700), ("a/b", 0o700), ("a/c", 0o700), ("a/file", 0o600)] {
            assert_eq!(permissions(&fs::metadata(at(name)).unwrap()), expected, "{name}");
        }
        let again = [create_private(&at("a/file")).map(drop), make_private_folder(&at("a/c"))];
        assert!(again.iter().all(|made| made.as_ref().unwrap_err().kind() == io::ErrorKind::AlreadyExists));
    }

    #[test]
    fn only_a_file_can_be_executed() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("tool");
        let file = create_private(&path).unwrap();
        assert!(!is_executable(&file.metadata().unwrap()) && !can_execute(&path));
        set_permissions(&file, 0o750).unwrap();
        assert_eq!(permissions(&file.metadata().unwrap()), 0o750);
        assert!(is_executable(&file.metadata().unwrap()) && can_execute(&path) && !can_execute(world.path()));
    }
}
