//! Whether commands are there, by looking through `PATH`. Nothing is started.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::Mutex;
use std::sync::PoisonError;

use prowess_fs::can_execute;

/// Looks commands up, each once.
#[derive(Debug)]
pub(crate) struct Commands<'a> {
    path: &'a OsStr,
    known: Mutex<HashMap<String, bool>>,
}

impl<'a> Commands<'a> {
    pub(crate) fn new(path: &'a OsStr) -> Self {
        Self { path, known: Mutex::default() }
    }

    /// Whether a command of this name can be run.
    pub(crate) fn has(&self, name: &str) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(name.to_owned()).or_insert_with(|| is_on_path(name, self.path))
    }
}

impl Commands<'_> {
    /// All that was looked up, in order.
    pub(crate) fn into_known(self) -> Vec<(String, bool)> {
        let mut known: Vec<_> =
            self.known.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect();
        known.sort();
        known
    }
}

fn is_on_path(name: &str, path: &OsStr) -> bool {
    // A path is not a command: what it names may lie in the skill itself.
    if name.is_empty() || name.contains(['/', '\0']) {
        return false;
    }
    // An empty entry of `PATH` means the current directory, which a project controls.
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .any(|folder| can_execute(&folder.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn s002_18_commands_are_looked_up_without_starting_anything() {
        let world = tempfile::tempdir().unwrap();
        let tool = world.path().join("tool");
        std::fs::write(&tool, "").unwrap();
        std::fs::create_dir(world.path().join("folder")).unwrap();
        let has = |name: &str| Commands::new(world.path().as_os_str()).has(name);
        assert!(!has("tool"), "not executable");
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(has("tool"));
        assert!(!has("folder") && !has("none") && !has("") && !has("../tool") && !has("a\0b"));
        assert!(!Commands::new(OsStr::new(":.")).has("tool"), "relative entries do not count");
    }
}
