//! Finds interpreters and the files that they need.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::sandbox::{others_can_access, system_paths::is_system};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LocatedInterpreter {
    pub(super) program: PathBuf,
    /// The paths it needs besides the system directories.
    pub(super) readable: Vec<PathBuf>,
}

/// Why an interpreter is not available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LocateError {
    NotInPath,
    /// It exists, but the user that runs scripts cannot access it.
    NotAccessible,
    /// It is a script that starts another program, which was not found.
    UnresolvedShim,
}

impl LocateError {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::NotInPath => "is not in PATH",
            Self::NotAccessible => "is only accessible to root, and scripts never run as root",
            Self::UnresolvedShim => "is a script that starts another program, which was not found",
        }
    }
}

/// Finds an interpreter. `user` is the user that runs scripts, if it is a different one.
pub(super) fn locate(name: &str, path: &OsStr, user: Option<u32>) -> Result<LocatedInterpreter, LocateError> {
    let mut error = LocateError::NotInPath;
    for file in prowess_fs::programs_on_path(name, path) {
        match resolve_program(&file, name) {
            Some(located) if user.is_none() || others_can_access(&located.program) => {
                return Ok(located);
            }
            Some(_) => error = LocateError::NotAccessible,
            None => error = LocateError::UnresolvedShim,
        }
    }
    Err(error)
}

/// Returns the program behind a file. Version managers put shims into `PATH` that start another program.
fn resolve_program(file: &Path, name: &str) -> Option<LocatedInterpreter> {
    let mut real = std::fs::canonicalize(file).ok()?;
    if !is_elf(&real) {
        real = std::fs::canonicalize(shim_target(&real, name)?).ok().filter(|target| is_elf(target))?;
    }
    Some(match (is_system(file), is_system(&real)) {
        // A system symlink may be one of several names of a program that behaves differently by name.
        (true, true) => LocatedInterpreter { program: file.to_owned(), readable: Vec::new() },
        (false, true) => LocatedInterpreter { program: real, readable: Vec::new() },
        (_, false) => LocatedInterpreter { readable: program_and_libraries(&real), program: real },
    })
}

/// Returns `true` for ELF files.
fn is_elf(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 4];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && &magic == b"\x7fELF"
}

/// Returns the target of a shim of pyenv, rbenv, nodenv and similar: `ROOT/versions/VERSION/bin/NAME`, with the version in
/// `ROOT/version`, or the highest.
fn shim_target(shim: &Path, name: &str) -> Option<PathBuf> {
    let root = shim.parent().filter(|dir| dir.ends_with("shims"))?.parent()?;
    let in_version = |version: &str| root.join("versions").join(version).join("bin").join(name);
    let selected = prowess::read_bounded(&root.join("version"), 4_096).unwrap_or_default();
    let selected = String::from_utf8_lossy(&selected).into_owned();
    let selected_files = selected.split_whitespace().filter(|version| !version.contains('/')).map(in_version);
    let mut versions: Vec<_> = std::fs::read_dir(root.join("versions"))
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    versions.sort_by_key(|version| version_numbers(version));
    let other_files = versions.iter().rev().map(|version| in_version(version));
    selected_files.chain(other_files.collect::<Vec<_>>()).find(|path| prowess_fs::can_execute(path))
}

fn version_numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

/// Returns the program and its library directories: `PREFIX/lib` of `PREFIX/bin/NAME`. Not the whole prefix, which may be
/// a home directory.
fn program_and_libraries(program: &Path) -> Vec<PathBuf> {
    let mut needs = vec![program.to_owned()];
    if let Some(prefix) = program.parent().filter(|dir| dir.ends_with("bin")).and_then(Path::parent) {
        let libraries = ["lib", "lib64"].map(|name| prefix.join(name));
        needs.extend(libraries.into_iter().filter(|dir| dir.is_dir()));
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
    fn shims_are_resolved_with_their_libraries() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap();
        let root = home.join(".pyenv");
        program(&root.join("shims/python3"), b"#!/bin/sh\n");
        for version in ["3.9.1", "3.12.1"] {
            program(&root.join("versions").join(version).join("bin/python3.x"), b"\x7fELF");
            symlink("python3.x", root.join("versions").join(version).join("bin/python3")).unwrap();
            fs::create_dir_all(root.join("versions").join(version).join("lib")).unwrap();
        }
        let path = root.join("shims");
        let located = locate("python3", path.as_os_str(), None).unwrap();
        let newest = root.join("versions/3.12.1");
        assert_eq!(located.program, newest.join("bin/python3.x"));
        assert_eq!(located.readable, [newest.join("bin/python3.x"), newest.join("lib")]);
        fs::write(root.join("version"), "3.9.1\n").unwrap();
        assert!(
            locate("python3", path.as_os_str(), None)
                .unwrap()
                .program
                .starts_with(root.join("versions/3.9.1"))
        );
        assert_eq!(locate("ruby", path.as_os_str(), None), Err(LocateError::NotInPath));
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(
            locate("python3", path.as_os_str(), Some(1)),
            Err(LocateError::NotAccessible),
            "a private directory"
        );
        assert_eq!(locate("python3", OsStr::new(":."), None), Err(LocateError::NotInPath));
    }

    #[test]
    fn a_shim_without_a_program_is_an_error() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let shim = root.join("shims/python3");
        program(&shim, b"#!/bin/sh\n");
        let find = || locate("python3", root.join("shims").as_os_str(), None);
        assert_eq!(find(), Err(LocateError::UnresolvedShim));
        // The version is the shim itself.
        fs::create_dir_all(root.join("versions/3.1/bin")).unwrap();
        symlink(&shim, root.join("versions/3.1/bin/python3")).unwrap();
        assert_eq!(find(), Err(LocateError::UnresolvedShim));
    }

    #[test]
    fn a_system_program_needs_no_other_paths() {
        let located = locate("sh", OsStr::new("/usr/bin:/bin"), Some(1)).unwrap();
        assert_eq!(located.readable, Vec::<PathBuf>::new());
    }
}
