//! The lock file format: JSON with one entry per skill, sorted so that branches merge.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::environments::{PinnedEnvironment, check_pinned};
use super::grants::GrantedAccess;
use super::plugin::LockedPlugin;
use prowess_format::Capabilities;
use prowess_fs::{Dir, describe_errno, read_whole};
use prowess_fs::{Errno, HashedTree};

const SCHEMA: u32 = 1;
const FILE_MAX: u64 = 64 * 1024 * 1024;

/// The error for a lock file with a newer schema.
pub const NEWER_VERSION: &str = "written by a newer version";

/// The skills installed into one project, or for one user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockFile {
    schema: u32,
    /// The skills, sorted by directory.
    pub skills: Vec<LockEntry>,
    /// A change that was started and may not be finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingChange>,
}

/// One installed skill.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LockEntry {
    /// The skill's name.
    pub name: String,
    /// Its directory: relative to the project, or `~/…` or absolute in the user's state.
    pub folder: String,
    /// The source argument of `prowess install`; reference, commit and path are separate fields.
    pub source: String,
    /// The requested branch, tag or commit.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The commit that it resolved to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The directory inside the source; `None` if the source is the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The skill's name in its source, if the user renamed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// The plugin that the skill was installed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<LockedPlugin>,
    /// The tree hash of the installed files.
    pub tree: String,
    /// The digest of each file.
    pub files: BTreeMap<String, String>,
    /// The executable files.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub executable: BTreeSet<String>,
    /// The audit's result when the skill was installed.
    pub audit: AuditRecord,
    /// The capabilities that the user confirmed.
    pub capabilities: Capabilities,
    /// The grants when the skill was last installed, updated or run. A record only: nothing is granted because
    /// of it.
    #[serde(skip_serializing_if = "GrantedAccess::is_empty")]
    pub granted: GrantedAccess,
    /// The packages of its environments, so that every machine builds the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environments: Vec<PinnedEnvironment>,
    /// The time of the installation in ISO 8601. Only in the user's state, to avoid merge conflicts in
    /// projects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed_at: Option<String>,
}

/// The result of the audit at the time of the installation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditRecord {
    /// The version of the audit rules.
    pub rules: String,
    /// The worst severity, or `clean`.
    pub verdict: String,
}

/// An unfinished change of several skills, which is applied as a whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingChange {
    /// The absolute path of the staging directory, next to the directories it replaces.
    pub stage: PathBuf,
    /// The identity of the staging directory, to distinguish it from another one of the same name.
    #[serde(default)]
    pub owner: String,
    /// The directories to replace.
    pub changes: Vec<Replacement>,
    /// The symlinks and copies for other agents that belong to the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<PendingLink>,
}

/// A symlink to a skill, or a copy of it, in the directory of another agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingLink {
    /// The path, in the form of [`LockEntry::folder`].
    pub path: String,
    /// The directory of the skill, as in [`LockEntry::folder`].
    pub folder: String,
    /// What happens to it.
    pub action: LinkAction,
}

/// What happens to a symlink or copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkAction {
    /// A symlink is created.
    Symlink,
    /// A copy is created, or an unmodified one is replaced by the current files.
    Copy,
    /// The symlink or the unmodified copy is removed.
    Remove,
}

/// The replacement of one directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replacement {
    /// The directory, as in [`LockEntry::folder`].
    pub folder: String,
    /// The new entry; `None` if the directory is removed.
    pub after: Option<LockEntry>,
}

/// The reason why a lock file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {}: {reason}", path.display())]
pub struct ReadLockError {
    /// The lock file.
    pub path: PathBuf,
    /// The cause.
    pub reason: String,
}

impl ReadLockError {
    /// Formats the error without the directory of the file.
    pub(crate) fn without_dir(&self) -> String {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("cannot read {file}: {}", self.reason)
    }
}

impl Default for LockFile {
    fn default() -> Self {
        Self { schema: SCHEMA, skills: Vec::new(), pending: None }
    }
}

impl LockFile {
    /// Reads a lock file; a missing file counts as empty.
    pub fn read(path: &Path) -> Result<Self, ReadLockError> {
        let failed = |reason: String| ReadLockError { path: path.to_owned(), reason };
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(Self::default());
        };
        // The parent of a bare file name is empty.
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        let opened = Dir::open(dir).and_then(|dir| dir.open_file(Path::new(name)));
        let (file, stat) = match opened {
            Ok(opened) => opened,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Self::default()),
            Err(error) => return Err(failed(describe_errno(error))),
        };
        let bytes = read_whole(&file, &stat, FILE_MAX).map_err(|error| failed(error.to_string()))?;
        Self::parse(&bytes).map_err(failed)
    }

    /// Parses a lock file.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let begins_line = |offset: usize| offset == 0 || bytes.get(offset - 1) == Some(&b'\n');
        let marked = |mark: &[u8]| memchr::memmem::find_iter(bytes, mark).any(begins_line);
        if marked(b"<<<<<<< ") || marked(b">>>>>>> ") {
            return Err("it contains unresolved merge conflicts".to_owned());
        }
        let lock: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if lock.schema > SCHEMA {
            return Err(NEWER_VERSION.to_owned());
        }
        let pending = lock.pending.iter().flat_map(|pending| &pending.changes);
        for entry in lock.skills.iter().chain(pending.filter_map(|change| change.after.as_ref())) {
            let name = prowess_format::hidden::escape_and_truncate(&entry.name);
            check_pinned(&entry.environments).map_err(|reason| format!("skill {name} has {reason}"))?;
        }
        Ok(lock)
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Serialization only fails for map keys that are not strings; there are none.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Returns the entry of a directory.
    pub fn entry(&self, folder: &str) -> Option<&LockEntry> {
        self.skills.iter().find(|locked| locked.folder == folder)
    }

    /// Sets or removes the entry of a directory.
    pub fn set(&mut self, folder: &str, locked: Option<LockEntry>) {
        self.apply(&[Replacement { folder: folder.to_owned(), after: locked }]);
    }

    /// Applies several replacements at once.
    pub fn apply(&mut self, changes: &[Replacement]) {
        let changed: HashSet<&str> = changes.iter().map(|change| change.folder.as_str()).collect();
        self.skills.retain(|entry| !changed.contains(entry.folder.as_str()));
        self.skills.extend(changes.iter().filter_map(|change| change.after.clone()));
        self.skills.sort_by(|a, b| a.folder.cmp(&b.folder));
    }
}

impl LockEntry {
    /// Sets the hashes to those of a tree.
    #[must_use]
    pub fn with_tree(mut self, tree: &HashedTree) -> Self {
        self.tree = tree.hash();
        self.files = tree.files().iter().map(|file| (file.path.clone(), file.digest())).collect();
        self.executable =
            tree.files().iter().filter(|file| file.executable).map(|file| file.path.clone()).collect();
        self
    }

    /// Returns the directory's path. `base` is the project; `None` means the user's state. An entry in a
    /// project's lock file that points outside the project has no path.
    pub fn resolve_dir(&self, base: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
        resolve_lock_dir(&self.folder, base, home)
    }
}

/// Returns the path of a directory in a lock file.
pub(crate) fn resolve_lock_dir(dir: &str, base: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    let is_plain =
        |path: &str| Path::new(path).components().all(|component| matches!(component, Component::Normal(_)));
    match (base, dir.strip_prefix("~/")) {
        (Some(base), None) => (!dir.is_empty() && is_plain(dir)).then(|| base.join(dir)),
        (None, Some(inner)) => {
            (!inner.is_empty() && is_plain(inner)).then(|| Some(home?.join(inner))).flatten()
        }
        (None, None) => Path::new(dir).is_absolute().then(|| PathBuf::from(dir)),
        (Some(_), Some(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked(dir: &str, tree: &str) -> LockEntry {
        LockEntry { name: "a".into(), folder: dir.into(), tree: tree.into(), ..LockEntry::default() }
    }

    #[test]
    fn a_lock_file_round_trips_and_unreadable_ones_are_rejected() {
        let mut lock = LockFile::default();
        lock.set("b", Some(locked("b", "1")));
        lock.set("a", Some(locked("a", "2")));
        assert_eq!(LockFile::parse(&lock.to_bytes()).unwrap(), lock);
        assert_eq!(lock.skills.iter().map(|skill| &*skill.folder).collect::<Vec<_>>(), ["a", "b"]);
        lock.set("a", None);
        assert_eq!(lock.skills.len(), 1);
        assert_eq!(
            LockFile::parse(b"{\n<<<<<<< HEAD\n").unwrap_err(),
            "it contains unresolved merge conflicts"
        );
        assert_eq!(
            LockFile::parse(b"{\"schema\":2,\"skills\":[]}").unwrap_err(),
            "written by a newer version"
        );
        assert!(LockFile::parse("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn a_project_lock_covers_nothing_outside_the_project() {
        let (base, home) = (Some(Path::new("/p")), Some(Path::new("/h")));
        assert_eq!(resolve_lock_dir(".agents/skills/a", base, home), Some("/p/.agents/skills/a".into()));
        for outside in ["../a", "/etc", "~/a", "a/../../b", ""] {
            assert_eq!(resolve_lock_dir(outside, base, home), None, "{outside}");
        }
        assert_eq!(resolve_lock_dir("~/a", None, home), Some("/h/a".into()));
        assert_eq!(resolve_lock_dir("/opt/a", None, home), Some("/opt/a".into()));
        assert_eq!(resolve_lock_dir("a", None, home), None);
        assert_eq!(resolve_lock_dir("~/", None, home), None);
    }
}
