//! Looks up commands in `PATH`, without starting anything.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::Mutex;
use std::sync::PoisonError;

use prowess_fs::programs_on_path;

/// Looks up commands and caches the results.
#[derive(Debug)]
pub(crate) struct CommandLookup<'a> {
    path: &'a OsStr,
    cache: Mutex<HashMap<String, bool>>,
}

impl<'a> CommandLookup<'a> {
    pub(crate) fn new(path: &'a OsStr) -> Self {
        Self { path, cache: Mutex::default() }
    }

    /// Returns `true` if a command of this name is on `PATH`.
    pub(crate) fn has(&self, name: &str) -> bool {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        *cache.entry(name.to_owned()).or_insert_with(|| is_on_path(name, self.path))
    }
}

impl CommandLookup<'_> {
    /// Returns all lookups and their results, sorted.
    pub(crate) fn into_results(self) -> Vec<(String, bool)> {
        let mut results: Vec<_> =
            self.cache.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect();
        results.sort();
        results
    }
}

fn is_on_path(name: &str, path: &OsStr) -> bool {
    // A path is not a command: it may point into the skill itself.
    if name.is_empty() || name.contains(['/', '\0']) {
        return false;
    }
    programs_on_path(name, path).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn s002_18_commands_are_looked_up_without_starting_anything() {
        let dir = tempfile::tempdir().unwrap();
        let tool = dir.path().join("tool");
        std::fs::write(&tool, "").unwrap();
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        let has = |name: &str| CommandLookup::new(dir.path().as_os_str()).has(name);
        assert!(!has("tool"), "not executable");
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(has("tool"));
        assert!(!has("folder") && !has("none") && !has("") && !has("../tool") && !has("a\0b"));
        assert!(!CommandLookup::new(OsStr::new(":.")).has("tool"), "relative entries do not count");
    }
}
