//! Paths in arguments: a script may see a granted file at another path than the user.

use std::path::{Component, Path, PathBuf};

/// Where the script sees granted paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathMap {
    /// Paths of the user, as typed and resolved, with the paths inside the sandbox.
    mapped: Vec<(PathBuf, PathBuf)>,
    /// The directory from which the user gives relative paths.
    current_dir: Option<PathBuf>,
    /// The workspace on this machine.
    workspace: Option<PathBuf>,
}

impl PathMap {
    pub(crate) fn new(current_dir: Option<&Path>, workspace: Option<&Path>) -> Self {
        Self {
            mapped: Vec::new(),
            current_dir: current_dir.map(Path::to_owned),
            workspace: workspace.map(Path::to_owned),
        }
    }

    /// Adds a path of the user, under each of its names.
    pub(crate) fn add(&mut self, names: [&Path; 2], inside: &Path) {
        for name in names {
            let name = match &self.current_dir {
                Some(dir) => normalize(&dir.join(name)),
                None => normalize(name),
            };
            self.mapped.push((name, inside.to_owned()));
        }
    }

    /// Returns an argument with the path that the script sees. The path may follow `=`, as in `--input=PATH`.
    pub(crate) fn translate(&self, argument: &str) -> String {
        if let Some(path) = self.inside(argument) {
            return path;
        }
        match argument.split_once('=') {
            Some((option, value)) if option.starts_with('-') => match self.inside(value) {
                Some(path) => format!("{option}={path}"),
                None => argument.to_owned(),
            },
            _ => argument.to_owned(),
        }
    }

    fn inside(&self, text: &str) -> Option<String> {
        let path = Path::new(text);
        if text.is_empty() {
            return None;
        }
        if path.is_absolute() {
            return self.lookup(path, text);
        }
        // A relative path is relative to the workspace, unless it only exists where the user is.
        let in_workspace =
            self.workspace.as_ref().is_some_and(|dir| dir.join(path).symlink_metadata().is_ok());
        let typed = self.current_dir.as_ref()?.join(path);
        if in_workspace || typed.symlink_metadata().is_err() {
            return None;
        }
        self.lookup(&typed, text)
    }

    fn lookup(&self, path: &Path, text: &str) -> Option<String> {
        let path = normalize(path);
        let (name, inside) = self.mapped.iter().find(|(name, _)| path.starts_with(name))?;
        let rest = path.strip_prefix(name).ok()?;
        let mut translated = if rest.as_os_str().is_empty() { inside.clone() } else { inside.join(rest) };
        if text.ends_with('/') {
            translated.push("");
        }
        translated.to_str().map(str::to_owned)
    }
}

/// Removes `.` and `..` without looking at the file system.
fn normalize(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normalized.pop();
            }
            other => normalized.push(other),
        }
    }
    normalized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_refer_to_the_paths_inside() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path();
        for dir in ["copy", "user/data"] {
            std::fs::create_dir_all(base.join(dir)).unwrap();
        }
        for file in ["copy/in.txt", "user/in.txt", "user/data/a.csv", "user/other.txt"] {
            std::fs::write(base.join(file), "").unwrap();
        }
        let mut map = PathMap::new(Some(&base.join("user")), Some(&base.join("copy")));
        map.add([Path::new("/ws"), Path::new("/real/ws")], Path::new("/inside/ws"));
        map.add([Path::new("data/a.csv"), Path::new("/real/a.csv")], Path::new("/inside/a.csv"));
        for (argument, expected) in [
            ("/ws", "/inside/ws"),
            ("/ws/", "/inside/ws/"),
            ("/ws/out/x.txt", "/inside/ws/out/x.txt"),
            ("/real/ws/./a/../b", "/inside/ws/b"),
            ("/wsx", "/wsx"),
            ("/ws/../etc/passwd", "/ws/../etc/passwd"),
            ("--in=/ws/a", "--in=/inside/ws/a"),
            ("x=/ws/a", "x=/ws/a"),
            ("in.txt", "in.txt"),
            ("data/a.csv", "/inside/a.csv"),
            ("./data/a.csv", "/inside/a.csv"),
            ("other.txt", "other.txt"),
            ("absent.txt", "absent.txt"),
            ("--verbose", "--verbose"),
            ("", ""),
        ] {
            assert_eq!(map.translate(argument), expected, "{argument}");
        }
    }
}
