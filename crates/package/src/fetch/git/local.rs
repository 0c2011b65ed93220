//! A local repository, read as files.
//!
//! Its configuration is not read, so no hook, filter, include or helper in it can run. Objects in other repositories
//! (alternates) are not followed.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use prowess_fs::{SymlinkMode, open_nonblocking};

use super::error::GitError;
use super::reference::GitRef;
use super::refs::{REFS_MAX, Ref, Refs};

/// The maximum size of a file with one ref.
const REF_MAX: u64 = 4 * 1024;
/// The maximum size of `packed-refs`.
const PACKED_MAX: u64 = 128 * 1024 * 1024;

/// The maximum length of a chain of symbolic refs.
const SYMBOLIC_MAX: usize = 5;

/// The directories of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LocalRepository {
    /// The directory with HEAD.
    git_dir: PathBuf,
    /// The directory with everything else, which several working trees may share.
    common_dir: PathBuf,
}

impl LocalRepository {
    /// Opens the repository in a directory: its `.git`, or the directory itself.
    pub(super) fn open(dir: &Path, url: String) -> Result<Self, GitError> {
        let not_found = || GitError::NotFound { url: url.clone() };
        let not_git =
            || GitError::NotGit { url: url.clone(), reason: "the directory has no repository".to_owned() };
        let dir = fs::canonicalize(dir).map_err(|_| not_found())?;
        let inside = dir.join(".git");
        let git_dir = if inside.is_dir() {
            inside
        } else if let Some(text) = read_text(&inside, REF_MAX)? {
            // A linked working tree or a submodule.
            let target = text.trim_end().strip_prefix("gitdir: ").ok_or_else(not_git)?;
            dir.join(target)
        } else {
            dir
        };
        let common_dir = match read_text(&git_dir.join("commondir"), REF_MAX)? {
            Some(target) => git_dir.join(target.trim_end()),
            None => git_dir.clone(),
        };
        if !git_dir.join("HEAD").is_file() || !common_dir.join("objects").is_dir() {
            return Err(not_git());
        }
        if common_dir.join("reftable").is_dir() {
            let message = "the repository uses the reftable format, which is not supported".to_owned();
            return Err(GitError::Unsupported { message });
        }
        if common_dir.join("objects/info/alternates").symlink_metadata().is_ok() {
            let message = "the repository uses objects of another one, which is not supported; \
                        run `git repack -a -d` and remove objects/info/alternates";
            return Err(GitError::Unsupported { message: message.to_owned() });
        }
        check_only_files(&common_dir.join("objects"))?;
        Ok(Self { git_dir, common_dir })
    }

    /// Returns the directory of the objects.
    pub(super) fn objects_dir(&self) -> PathBuf {
        self.common_dir.join("objects")
    }

    /// Returns the refs: those that match `wanted`, or all branches and tags if `all`.
    pub(super) fn refs(&self, wanted: Option<&GitRef>, all: bool) -> Result<Refs, GitError> {
        let packed = read_text(&self.common_dir.join("packed-refs"), PACKED_MAX)?.unwrap_or_default();
        let mut refs = Refs::default();
        let (head, target) = self.resolve_ref("HEAD", &packed, 0)?;
        (refs.head, refs.head_target) = (head, target);
        if all {
            refs.all = packed_refs(&packed).take(REFS_MAX).map(|(name, id)| new_ref(name, id)).collect();
            for kind in ["refs/heads", "refs/tags"] {
                self.add_loose_refs(kind, 0, &mut refs.all);
            }
        } else {
            for name in Refs::names_for(wanted) {
                if let (Some(id), _) = self.resolve_ref(&name, &packed, 0)? {
                    refs.all.push(new_ref(&name, id));
                }
            }
        }
        Ok(refs)
    }

    /// Returns the object id of a ref, and the target of a symbolic ref. `steps` is the number of symbolic refs so far.
    fn resolve_ref(
        &self,
        name: &str,
        packed: &str,
        steps: usize,
    ) -> Result<(Option<ObjectId>, Option<String>), GitError> {
        // Each working tree has its own HEAD; branches and tags are shared.
        let dir = if name.starts_with("refs/") { &self.common_dir } else { &self.git_dir };
        let Some(text) = read_text(&dir.join(name), REF_MAX)? else {
            let packed_ref = packed_refs(packed).find(|(packed, _)| *packed == name);
            return Ok((packed_ref.map(|(_, id)| id), None));
        };
        let text = text.trim_end();
        let Some(target) = text.strip_prefix("ref: ") else {
            let id = ObjectId::from_hex(text.as_bytes());
            return id
                .map(|id| (Some(id), None))
                .map_err(|_| GitError::damaged("a ref does not contain an object id"));
        };
        if steps >= SYMBOLIC_MAX || !target.starts_with("refs/") || GitRef::parse(target).is_err() {
            return Err(GitError::damaged("a symbolic ref cannot be resolved"));
        }
        let (id, _) = self.resolve_ref(target, packed, steps + 1)?;
        Ok((id, Some(target.to_owned())))
    }

    /// Adds the refs that have a file of their own. Only used for suggestions.
    fn add_loose_refs(&self, dir: &str, depth: usize, refs: &mut Vec<Ref>) {
        let Ok(entries) = fs::read_dir(self.common_dir.join(dir)) else { return };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let name = format!("{dir}/{name}");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < 8 => self.add_loose_refs(&name, depth + 1, refs),
                Ok(kind) if kind.is_file() && refs.len() < REFS_MAX => {
                    refs.push(new_ref(&name, ObjectId::null(gix_hash::Kind::Sha1)));
                }
                _ => {}
            }
        }
    }
}

/// Rejects special files among the objects: opening a FIFO would block.
fn check_only_files(objects: &Path) -> Result<(), GitError> {
    let list = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
    for dir in list(objects).filter(|entry| entry.path().is_dir()) {
        for entry in list(&dir.path()) {
            let is_plain = entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir());
            if !is_plain && !entry.path().is_file() {
                return Err(GitError::damaged("an object is not a file"));
            }
        }
    }
    Ok(())
}

fn new_ref(name: &str, id: ObjectId) -> Ref {
    Ref { name: name.to_owned(), id, peeled: None }
}

fn packed_refs(packed: &str) -> impl Iterator<Item = (&str, ObjectId)> {
    packed.lines().filter_map(|line| {
        let (id, name) = line.split_once(' ')?;
        Some((name, ObjectId::from_hex(id.as_bytes()).ok()?))
    })
}

/// Returns the text of a file; `None` if it cannot be opened or is not regular. Never blocks on a FIFO.
fn read_text(path: &Path, max: u64) -> Result<Option<String>, GitError> {
    let Ok(file) = open_nonblocking(path, SymlinkMode::Follow) else { return Ok(None) };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let read = file.take(max + 1).read_to_end(&mut bytes);
    read.map_err(|error| GitError::io("read the repository", &error))?;
    if bytes.len() as u64 > max {
        return Err(GitError::damaged("a file with refs is too large"));
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
