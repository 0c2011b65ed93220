//! Where an interpreter lies, and what else has to be seen for it to work.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::sandbox::{may_enter, places::is_system};

/// An interpreter that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Located {
    /// The program.
    pub(super) program: PathBuf,
    /// What it needs besides the system.
    pub(super) needs: Vec<PathBuf>,
}

/// Why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absent {
    /// It is nowhere in `PATH`.
    Nowhere,
    /// It is there, and the user that scripts run as cannot get to it.
    OutOfReach,
}

impl Absent {
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Nowhere => "is not in PATH",
            Self::OutOfReach => "lies where only root can go: scripts never run as root",
        }
    }
}

/// Looks an interpreter up. `user` is whom scripts run as, where that is somebody else.
pub(super) fn locate(name: &str, path: &OsStr, user: Option<u32>) -> Result<Located, Absent> {
    let mut absent = Absent::Nowhere;
    // An empty or relative entry means a folder that a project controls.
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        let file = folder.join(name);
        if !is_executable(&file) {
            continue;
        }
        match settle(&file, name) {
            Some(located) if user.is_none_or(|user| may_enter(&located.program, user)) => return Ok(located),
            _ => absent = Absent::OutOfReach,
        }
    }
    Err(absent)
}

fn is_executable(path: &Path) -> bool {
    prowess_fs::can_execute(path)
}

/// The program behind a file: what version managers put into `PATH` are scripts that start another.
fn settle(file: &Path, name: &str) -> Option<Located> {
    let real = std::fs::canonicalize(file).ok()?;
    if !is_program(&real) {
        return shimmed(&real, name).and_then(|real| settle(&real, name));
    }
    // A link in the system may be one of many names of one program, which tells them apart.
    if is_system(file) && is_system(&real) {
        return Some(Located { program: file.to_owned(), needs: Vec::new() });
    }
    let needs = match is_system(&real) {
        true => Vec::new(),
        false => prefix(&real),
    };
    Some(Located { program: real, needs })
}

/// Whether the kernel runs it by itself.
fn is_program(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 4];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && &magic == b"\x7fELF"
}

/// What a shim of pyenv, rbenv, nodenv and the like starts: `ROOT/versions/VERSION/bin/NAME`, with the version that
/// `ROOT/version` names, or the highest.
fn shimmed(shim: &Path, name: &str) -> Option<PathBuf> {
    let root = shim.parent().filter(|folder| folder.ends_with("shims"))?.parent()?;
    let in_version = |version: &str| root.join("versions").join(version).join("bin").join(name);
    let wanted = prowess::read_bounded(&root.join("version"), 4_096).unwrap_or_default();
    let wanted = String::from_utf8_lossy(&wanted).into_owned();
    let named = wanted.split_whitespace().filter(|version| !version.contains('/')).map(in_version);
    let mut all: Vec<_> = std::fs::read_dir(root.join("versions"))
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    all.sort_by_key(|version| numbers(version));
    let others = all.iter().rev().map(|version| in_version(version));
    named.chain(others.collect::<Vec<_>>()).find(|path| is_executable(path))
}

fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

/// The program and its libraries beside it: `PREFIX/lib` of `PREFIX/bin/NAME`. Nothing else of the prefix, which may be
/// somebody's home.
fn prefix(program: &Path) -> Vec<PathBuf> {
    let mut needs = vec![program.to_owned()];
    if let Some(prefix) = program.parent().filter(|folder| folder.ends_with("bin")).and_then(Path::parent) {
        let libraries = ["lib", "lib64"].map(|name| prefix.join(name));
        needs.extend(libraries.into_iter().filter(|folder| folder.is_dir()));
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn program(path: &Path, bytes: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn shims_are_seen_through_and_only_libraries_come_along() {
        let world = tempfile::tempdir().unwrap();
        let home = world.path().canonicalize().unwrap();
        let root = home.join(".pyenv");
        program(&root.join("shims/python3"), b"#!/bin/sh\n");
        for version in ["3.9.1", "3.12.1"] {
            program(&root.join("versions").join(version).join("bin/python3.x"), b"\x7fELF");
            symlink("python3.x", root.join("versions").join(version).join("bin/python3")).unwrap();
            fs::create_dir_all(root.join("versions").join(version).join("lib")).unwrap();
        }
        let path = root.join("shims");
        let found = locate("python3", path.as_os_str(), None).unwrap();
        let newest = root.join("versions/3.12.1");
        assert_eq!(found.program, newest.join("bin/python3.x"));
        assert_eq!(found.needs, [newest.join("bin/python3.x"), newest.join("lib")]);
        fs::write(root.join("version"), "3.9.1\n").unwrap();
        assert!(
            locate("python3", path.as_os_str(), None)
                .unwrap()
                .program
                .starts_with(root.join("versions/3.9.1"))
        );
        assert_eq!(locate("ruby", path.as_os_str(), None), Err(Absent::Nowhere));
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(locate("python3", path.as_os_str(), Some(1)), Err(Absent::OutOfReach), "a private folder");
        assert_eq!(locate("python3", OsStr::new(":."), None), Err(Absent::Nowhere));
    }

    #[test]
    fn a_program_of_the_system_needs_nothing_else() {
        let found = locate("sh", OsStr::new("/usr/bin:/bin"), Some(1)).unwrap();
        assert_eq!(found.needs, Vec::<PathBuf>::new());
    }
}
