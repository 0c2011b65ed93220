//! The lock as it is written: JSON, one entry for each skill, sorted, so that two branches merge.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::granted::Granted;
use prowess_format::Capabilities;
use prowess_fs::{Errno, HashedTree};
use prowess_fs::{Folder, read_whole, words};

const SCHEMA: u32 = 1;
const FILE_MAX: u64 = 64 * 1024 * 1024;

/// What is said of a lock that this version cannot know.
pub const NEWER: &str = "written by a newer version";

/// Everything that was installed into one project, or for one user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    schema: u32,
    /// The skills, by their folders.
    pub skills: Vec<Locked>,
    /// A change that has begun and is not known to be finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
}

/// One skill that was installed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Locked {
    /// Its name.
    pub name: String,
    /// Where it lies: below the project, or as `~/…` or absolute in the user's state.
    pub folder: String,
    /// What to type after `prowess install` to get it again, without the parts that follow.
    pub source: String,
    /// The branch, tag or commit that was asked for.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The commit that was found there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The folder inside the source; none where the source is the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The name it has at its source, where the user gave it another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// The tree hash of what was installed.
    pub tree: String,
    /// The digest of each file.
    pub files: BTreeMap<String, String>,
    /// The files that may be executed.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub executable: BTreeSet<String>,
    /// What the audit said at that time.
    pub audit: AuditRecord,
    /// What the user let in with it.
    pub capabilities: Capabilities,
    /// What the user granted to it, as of the last time that it was installed, updated or run. A record, not a grant.
    #[serde(skip_serializing_if = "Granted::is_empty")]
    pub granted: Granted,
    /// When, in ISO 8601; only in the user's state, where nobody has to merge it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed_at: Option<String>,
}

/// The audit's verdict at the time of installing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditRecord {
    /// The version of the rules.
    pub rules: String,
    /// The worst severity that was found, or `clean`.
    pub verdict: String,
}

/// A change of several skills that becomes whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// The folder that holds what is swapped in, beside where it goes: an absolute path.
    pub stage: PathBuf,
    /// Which folder that was, so that one of the same name from elsewhere is not taken for it.
    #[serde(default)]
    pub owner: String,
    /// What is swapped.
    pub changes: Vec<Replacement>,
}

/// What becomes of one folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replacement {
    /// The folder, as in [`Locked::folder`].
    pub folder: String,
    /// What will be there; `None` where it is removed.
    pub after: Option<Locked>,
}

/// Why a lock cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} cannot be read: {why}", path.display())]
pub struct LockError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

impl LockError {
    /// The text without the folder that the file is in.
    pub(crate) fn without_folder(&self) -> String {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{file} cannot be read: {}", self.why)
    }
}

impl Default for Lock {
    fn default() -> Self {
        Self { schema: SCHEMA, skills: Vec::new(), pending: None }
    }
}

impl Lock {
    /// Reads a lock; one that is not there is empty.
    pub fn read(path: &Path) -> Result<Self, LockError> {
        let failed = |why: String| LockError { path: path.to_owned(), why };
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(Self::default());
        };
        let opened = Folder::open(folder).and_then(|folder| folder.file(Path::new(name)));
        let (file, stat) = match opened {
            Ok(opened) => opened,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Self::default()),
            Err(error) => return Err(failed(words(error))),
        };
        let bytes = read_whole(&file, &stat, FILE_MAX).map_err(|error| failed(error.to_string()))?;
        Self::parse(&bytes).map_err(failed)
    }

    /// Takes bytes for a lock.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let begins_line = |at: usize| at == 0 || bytes.get(at - 1) == Some(&b'\n');
        let marked = |mark: &[u8]| memchr::memmem::find_iter(bytes, mark).any(begins_line);
        if marked(b"<<<<<<< ") || marked(b">>>>>>> ") {
            return Err("it has the marks of a merge that was not finished".to_owned());
        }
        let lock: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if lock.schema > SCHEMA { Err(NEWER.to_owned()) } else { Ok(lock) }
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        // A lock has no maps with keys that JSON does not take, which is all that could fail.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The skill in a folder.
    pub fn skill(&self, folder: &str) -> Option<&Locked> {
        self.skills.iter().find(|locked| locked.folder == folder)
    }

    /// Puts a skill in its place, or takes it out.
    pub fn set(&mut self, folder: &str, locked: Option<Locked>) {
        self.apply(&[Replacement { folder: folder.to_owned(), after: locked }]);
    }

    /// The same for many at once.
    pub fn apply(&mut self, changes: &[Replacement]) {
        let changed: HashSet<&str> = changes.iter().map(|change| change.folder.as_str()).collect();
        self.skills.retain(|known| !changed.contains(known.folder.as_str()));
        self.skills.extend(changes.iter().filter_map(|change| change.after.clone()));
        self.skills.sort_by(|a, b| a.folder.cmp(&b.folder));
    }

    /// What a folder may hold: what the lock says, and what a change that has begun makes of it.
    pub fn expected(&self, folder: &str) -> impl Iterator<Item = &Locked> {
        let changes = self.pending.iter().flat_map(|pending| &pending.changes);
        let changed = changes.filter(move |change| change.folder == folder);
        self.skills
            .iter()
            .filter(move |known| known.folder == folder)
            .chain(changed.filter_map(|change| change.after.as_ref()))
    }
}

impl Locked {
    /// Takes down what was hashed.
    #[must_use]
    pub fn with_tree(mut self, tree: &HashedTree) -> Self {
        self.tree = tree.hash();
        self.files = tree.files().iter().map(|file| (file.path.clone(), file.digest())).collect();
        self.executable =
            tree.files().iter().filter(|file| file.executable).map(|file| file.path.clone()).collect();
        self
    }

    /// Where it lies. `base` is the project, or nothing for the user's state; a project's lock speaks for nothing
    /// outside the project.
    pub fn place(&self, base: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
        place(&self.folder, base, home)
    }
}

/// Where a folder of a lock lies.
pub(crate) fn place(folder: &str, base: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    let plain = |path: &str| Path::new(path).components().all(|step| matches!(step, Component::Normal(_)));
    match (base, folder.strip_prefix("~/")) {
        (Some(base), None) => (!folder.is_empty() && plain(folder)).then(|| base.join(folder)),
        (None, Some(inner)) => plain(inner).then(|| Some(home?.join(inner))).flatten(),
        (None, None) => Path::new(folder).is_absolute().then(|| PathBuf::from(folder)),
        (Some(_), Some(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked(folder: &str, tree: &str) -> Locked {
        Locked { name: "a".into(), folder: folder.into(), tree: tree.into(), ..Locked::default() }
    }

    #[test]
    fn a_lock_reads_what_it_wrote_and_refuses_what_it_cannot_know() {
        let mut lock = Lock::default();
        lock.set("b", Some(locked("b", "1")));
        lock.set("a", Some(locked("a", "2")));
        assert_eq!(Lock::parse(&lock.to_bytes()).unwrap(), lock);
        assert_eq!(lock.skills.iter().map(|skill| &*skill.folder).collect::<Vec<_>>(), ["a", "b"]);
        lock.set("a", None);
        assert_eq!(lock.skills.len(), 1);
        assert_eq!(
            Lock::parse(b"{\n<<<<<<< HEAD\n").unwrap_err(),
            "it has the marks of a merge that was not finished"
        );
        assert_eq!(Lock::parse(b"{\"schema\":2,\"skills\":[]}").unwrap_err(), "written by a newer version");
        assert!(Lock::parse("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn while_a_change_is_pending_both_states_are_expected() {
        let mut lock = Lock::default();
        lock.set("a", Some(locked("a", "old")));
        let change = Replacement { folder: "a".into(), after: Some(locked("a", "new")) };
        lock.pending = Some(Pending { stage: "/s".into(), owner: String::new(), changes: vec![change] });
        assert_eq!(lock.expected("a").map(|locked| &*locked.tree).collect::<Vec<_>>(), ["old", "new"]);
    }

    #[test]
    fn a_project_speaks_for_nothing_outside_it() {
        let (base, home) = (Some(Path::new("/p")), Some(Path::new("/h")));
        assert_eq!(place(".agents/skills/a", base, home), Some("/p/.agents/skills/a".into()));
        for outside in ["../a", "/etc", "~/a", "a/../../b", ""] {
            assert_eq!(place(outside, base, home), None, "{outside}");
        }
        assert_eq!(place("~/a", None, home), Some("/h/a".into()));
        assert_eq!(place("/opt/a", None, home), Some("/opt/a".into()));
        assert_eq!(place("a", None, home), None);
    }
}
