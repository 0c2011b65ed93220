//! Finds interpreters and the files that they need.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::sandbox::others_can_access;
use super::system_paths::is_system;

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

/// Finds an interpreter. `user` is the user that runs scripts, if it is a different one. Settings of version managers are
/// read from the home directory.
pub(super) fn locate(
    name: &str,
    path: &OsStr,
    home: Option<&Path>,
    user: Option<u32>,
) -> Result<LocatedInterpreter, LocateError> {
    let mut error = LocateError::NotInPath;
    for file in prowess_fs::programs_on_path(name, path) {
        match resolve_program(&file, name, home) {
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
fn resolve_program(file: &Path, name: &str, home: Option<&Path>) -> Option<LocatedInterpreter> {
    let mut real = std::fs::canonicalize(file).ok()?;
    let layout = ShimLayout::of(file).or_else(|| ShimLayout::of(&real));
    if let Some(layout) = layout.filter(|_| is_shim(&real, name)) {
        real = std::fs::canonicalize(layout.target(name, home)?).ok()?;
    }
    if !is_elf(&real) || is_shim(&real, name) && ShimLayout::of(&real).is_some() {
        return None;
    }
    Some(match (is_system(file), is_system(&real)) {
        // A system symlink may be one of several names of a program that behaves differently by name.
        (true, true) => LocatedInterpreter { program: file.to_owned(), readable: Vec::new() },
        (false, true) => LocatedInterpreter { program: real, readable: Vec::new() },
        (_, false) => LocatedInterpreter { readable: program_and_libraries(&real, home), program: real },
    })
}

/// Returns `true` for ELF files.
fn is_elf(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 4];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && &magic == b"\x7fELF"
}

/// Returns `true` if a file in a directory of shims starts another program: it is a script, the program of the version
/// manager itself under another name, or a copy of it.
fn is_shim(real: &Path, name: &str) -> bool {
    let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
    let real_name = real.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let in_shims = real.parent().is_some_and(|dir| dir.ends_with("shims"));
    !is_elf(real) || in_shims || stem(real_name) != stem(name)
}

/// Where a version manager keeps its shims and the programs that they start.
#[derive(Debug, PartialEq, Eq)]
enum ShimLayout {
    /// pyenv, rbenv, nodenv: `ROOT/shims/NAME` starts `ROOT/versions/VERSION/bin/NAME`. asdf and mise:
    /// `ROOT/installs/TOOL/VERSION/bin/NAME`. proto: `ROOT/tools/TOOL/VERSION/bin/NAME`.
    Shims(PathBuf),
    /// Volta: `ROOT/bin/NAME` starts `ROOT/tools/image/TOOL/VERSION/bin/NAME`.
    Volta(PathBuf),
}

impl ShimLayout {
    /// Returns the layout of the directory that contains a file.
    fn of(file: &Path) -> Option<Self> {
        let dir = file.parent()?;
        let root = dir.parent()?.to_owned();
        match dir.file_name()?.to_str()? {
            "shims" => Some(Self::Shims(root)),
            "bin" if root.join("tools/image").is_dir() => Some(Self::Volta(root)),
            _ => None,
        }
    }

    /// Returns the program that a shim starts: the selected version, or the highest one.
    fn target(&self, name: &str, home: Option<&Path>) -> Option<PathBuf> {
        let (root, parents) = match self {
            Self::Shims(root) => (root, &["versions", "installs/*", "tools/*"][..]),
            Self::Volta(root) => (root, &["tools/image/*"][..]),
        };
        let mut candidates: Vec<(String, PathBuf)> = Vec::new();
        for parent in parents {
            for dir in tool_dirs(root, parent) {
                candidates.extend(entries(&dir).into_iter().filter_map(|version| {
                    let program = dir.join(&version).join("bin").join(name);
                    prowess_fs::can_execute(&program).then_some((version, program))
                }));
            }
        }
        candidates.sort_by_key(|(version, _)| version_numbers(version));
        let selected = selected_versions(root, home);
        let is_selected = |version: &str| {
            selected.iter().any(|selected| {
                version
                    .strip_prefix(selected.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        let position = candidates.iter().rposition(|(version, _)| is_selected(version));
        let position = position.or_else(|| candidates.len().checked_sub(1))?;
        candidates.into_iter().nth(position).map(|(_, program)| program)
    }
}

/// Returns the directories that contain versions: `parent`, or all of its subdirectories if it ends in `/*`.
fn tool_dirs(root: &Path, parent: &str) -> Vec<PathBuf> {
    match parent.strip_suffix("/*") {
        Some(parent) => entries(&root.join(parent)).iter().map(|tool| root.join(parent).join(tool)).collect(),
        None => vec![root.join(parent)],
    }
}

fn entries(dir: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}

/// The maximum size of a settings file of a version manager.
const SETTINGS_MAX: u64 = 64 * 1024;

/// Returns the versions that the user selected for all directories, of any tool. They may be prefixes, such as `3.12`.
fn selected_versions(root: &Path, home: Option<&Path>) -> Vec<String> {
    let mut files = vec![root.join("version"), root.join("tools/user/platform.json")];
    if let Some(home) = home {
        files.extend([".tool-versions", ".config/mise/config.toml"].map(|name| home.join(name)));
    }
    let texts = files.iter().filter_map(|file| prowess::read_bounded(file, SETTINGS_MAX));
    let is_separator = |c: char| c.is_whitespace() || "\"'=,:[]{}".contains(c);
    texts
        .flat_map(|text| {
            let text = String::from_utf8_lossy(&text).into_owned();
            text.split(is_separator).map(str::to_owned).collect::<Vec<_>>()
        })
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains('/'))
        .collect()
}

fn version_numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

/// Returns the program and its library directories: `PREFIX/lib` of `PREFIX/bin/NAME`. Not the whole prefix, which may be
/// a home directory. If many programs share the prefix, only the library with the name of the program: `lib/python3.12`.
pub(super) fn program_and_libraries(program: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let home = home.and_then(|home| std::fs::canonicalize(home).ok());
    let mut needs = vec![program.to_owned()];
    if let Some(prefix) = program.parent().filter(|dir| dir.ends_with("bin")).and_then(Path::parent) {
        let is_shared =
            home.as_ref().is_some_and(|home| home.starts_with(prefix) || prefix == home.join(".local"));
        let own_name = program.file_name().filter(|_| is_shared).unwrap_or_default();
        let libraries = ["lib", "lib64"].map(|name| prefix.join(name).join(own_name));
        needs.extend(libraries.into_iter().filter(|dir| is_library(dir, home.as_deref())));
    }
    needs
}

/// Returns `true` for a directory that does not lead to the home directory or a directory above it.
fn is_library(dir: &Path, home: Option<&Path>) -> bool {
    std::fs::canonicalize(dir)
        .is_ok_and(|real| real.is_dir() && !home.is_some_and(|home| home.starts_with(&real)))
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
        let located = locate("python3", path.as_os_str(), None, None).unwrap();
        let newest = root.join("versions/3.12.1");
        assert_eq!(located.program, newest.join("bin/python3.x"));
        assert_eq!(located.readable, [newest.join("bin/python3.x"), newest.join("lib")]);
        fs::write(root.join("version"), "3.9.1\n").unwrap();
        assert!(
            locate("python3", path.as_os_str(), None, None)
                .unwrap()
                .program
                .starts_with(root.join("versions/3.9.1"))
        );
        assert_eq!(locate("ruby", path.as_os_str(), None, None), Err(LocateError::NotInPath));
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(
            locate("python3", path.as_os_str(), None, Some(1)),
            Err(LocateError::NotAccessible),
            "a private directory"
        );
        assert_eq!(locate("python3", OsStr::new(":."), None, None), Err(LocateError::NotInPath));
    }

    #[test]
    fn shims_of_mise_asdf_and_volta_are_resolved() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap();
        let find = |dir: &str, name: &str| {
            locate(name, home.join(dir).as_os_str(), Some(&home), None).unwrap().program
        };
        // A shim of mise is a link to mise, which is a program itself.
        program(&home.join(".local/bin/mise"), b"\x7fELF mise");
        for version in ["3.11.9", "3.12.4", "3.13.0"] {
            program(&home.join("mise/installs/python").join(version).join("bin/python3"), b"\x7fELF");
            program(&home.join("asdf/installs/python").join(version).join("bin/python3"), b"\x7fELF");
        }
        program(&home.join("mise/installs/node/20.1.0/bin/node"), b"\x7fELF");
        for name in ["python3", "node"] {
            fs::create_dir_all(home.join("mise/shims")).unwrap();
            symlink(home.join(".local/bin/mise"), home.join("mise/shims").join(name)).unwrap();
        }
        assert_eq!(find("mise/shims", "python3"), home.join("mise/installs/python/3.13.0/bin/python3"));
        assert_eq!(find("mise/shims", "node"), home.join("mise/installs/node/20.1.0/bin/node"));
        fs::create_dir_all(home.join(".config/mise")).unwrap();
        fs::write(home.join(".config/mise/config.toml"), "[tools]\npython = \"3.12\"\n").unwrap();
        assert_eq!(find("mise/shims", "python3"), home.join("mise/installs/python/3.12.4/bin/python3"));
        fs::remove_file(home.join(".config/mise/config.toml")).unwrap();
        // A shim of asdf is a script.
        program(&home.join("asdf/shims/python3"), b"#!/usr/bin/env bash\nexec asdf exec python3 \"$@\"\n");
        fs::write(home.join(".tool-versions"), "python 3.11.9\nnodejs 20.1.0\n").unwrap();
        assert_eq!(find("asdf/shims", "python3"), home.join("asdf/installs/python/3.11.9/bin/python3"));
        // A shim of Volta is a link to another program beside it.
        program(&home.join("volta/bin/volta-shim"), b"\x7fELF volta");
        program(&home.join("volta/tools/image/node/18.2.0/bin/node"), b"\x7fELF");
        program(&home.join("volta/tools/image/node/22.2.0/bin/node"), b"\x7fELF");
        symlink("volta-shim", home.join("volta/bin/node")).unwrap();
        fs::create_dir_all(home.join("volta/tools/user")).unwrap();
        fs::write(home.join("volta/tools/user/platform.json"), r#"{"node":{"runtime":"18.2.0","npm":null}}"#)
            .unwrap();
        assert_eq!(find("volta/bin", "node"), home.join("volta/tools/image/node/18.2.0/bin/node"));
    }

    #[test]
    fn a_shim_without_a_program_is_an_error() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let shim = root.join("shims/python3");
        program(&shim, b"#!/bin/sh\n");
        let find = || locate("python3", root.join("shims").as_os_str(), None, None);
        assert_eq!(find(), Err(LocateError::UnresolvedShim));
        // The version is the shim itself.
        fs::create_dir_all(root.join("versions/3.1/bin")).unwrap();
        symlink(&shim, root.join("versions/3.1/bin/python3")).unwrap();
        assert_eq!(find(), Err(LocateError::UnresolvedShim));
    }

    /// A script chooses its interpreter, so that of another program must not open a directory of the user.
    #[test]
    fn libraries_of_other_programs_are_not_needed() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap().join("home");
        program(&home.join("bin/tool"), b"\x7fELF");
        program(&home.join(".local/bin/python3.12"), b"\x7fELF");
        program(&home.join("app/bin/tool2"), b"\x7fELF");
        for dir in ["lib/private", ".local/lib/python3.12", ".local/lib/private", "app"] {
            fs::create_dir_all(home.join(dir)).unwrap();
        }
        symlink(&home, home.join("app/lib")).unwrap();
        symlink(home.parent().unwrap(), home.join("app/lib64")).unwrap();
        let readable = |dir: &str, name: &str| {
            locate(name, home.join(dir).as_os_str(), Some(&home), None).unwrap().readable
        };
        assert_eq!(readable("bin", "tool"), [home.join("bin/tool")]);
        let python = [home.join(".local/bin/python3.12"), home.join(".local/lib/python3.12")];
        assert_eq!(readable(".local/bin", "python3.12"), python);
        assert_eq!(readable("app/bin", "tool2"), [home.join("app/bin/tool2")]);
    }

    #[test]
    fn a_system_program_needs_no_other_paths() {
        let located = locate("sh", OsStr::new("/usr/bin:/bin"), None, Some(1)).unwrap();
        assert_eq!(located.readable, Vec::<PathBuf>::new());
    }
}
