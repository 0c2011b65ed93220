//! A repository on this machine, read as files.
//!
//! Nothing of its configuration is looked at: no hook, filter, include or helper that it names can ever run, and what
//! it says about itself is not needed. Objects that it borrows from elsewhere are not followed.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use prowess_fs::{LastStep, open_without_waiting};

use super::error::GitError;
use super::reference::GitRef;
use super::refs::{REFS_MAX, Ref, Refs};

/// The most bytes of a file with one name in it, and of the one with all of them.
const REF_MAX: u64 = 4 * 1024;
const PACKED_MAX: u64 = 128 * 1024 * 1024;

/// How often one name may lead to another.
const SYMBOLIC_MAX: usize = 5;

/// The folders of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    /// Where HEAD is.
    own: PathBuf,
    /// Where everything else is, which several working trees may share.
    common: PathBuf,
}

impl Repository {
    /// Finds the repository in a folder: its `.git`, or the folder itself.
    pub(super) fn open(folder: &Path, url: String) -> Result<Self, GitError> {
        let not_found = || GitError::NotFound { url: url.clone() };
        let not_git = || GitError::NotGit { url: url.clone(), why: "the folder holds none".to_owned() };
        let folder = fs::canonicalize(folder).map_err(|_| not_found())?;
        let inside = folder.join(".git");
        let own = if inside.is_dir() {
            inside
        } else if let Some(text) = text(&inside, REF_MAX)? {
            // A working tree beside the first, or a submodule.
            let leads = text.trim_end().strip_prefix("gitdir: ").ok_or_else(not_git)?;
            folder.join(leads)
        } else {
            folder
        };
        let common = match text(&own.join("commondir"), REF_MAX)? {
            Some(leads) => own.join(leads.trim_end()),
            None => own.clone(),
        };
        if !own.join("HEAD").is_file() || !common.join("objects").is_dir() {
            return Err(not_git());
        }
        if common.join("reftable").is_dir() {
            let what = "the repository keeps its names as a reftable, which is not read here".to_owned();
            return Err(GitError::Unsupported { what });
        }
        if common.join("objects/info/alternates").symlink_metadata().is_ok() {
            let what = "the repository borrows objects of another one, which is not followed; \
                        `git repack -a -d` and removing objects/info/alternates makes it whole";
            return Err(GitError::Unsupported { what: what.to_owned() });
        }
        only_files(&common.join("objects"))?;
        Ok(Self { own, common })
    }

    /// Where the objects are.
    pub(super) fn objects(&self) -> PathBuf {
        self.common.join("objects")
    }

    /// The names: those that are asked for, or with `None` all that are branches or tags.
    pub(super) fn refs(&self, reference: Option<&GitRef>, all: bool) -> Result<Refs, GitError> {
        let packed = text(&self.common.join("packed-refs"), PACKED_MAX)?.unwrap_or_default();
        let mut refs = Refs::default();
        let (head, target) = self.value("HEAD", &packed, &mut 0)?;
        (refs.head, refs.head_target) = (head, target);
        if all {
            refs.all = packed_refs(&packed).take(REFS_MAX).map(|(name, id)| named(name, id)).collect();
            for kind in ["refs/heads", "refs/tags"] {
                self.loose(kind, 0, &mut refs.all);
            }
        } else {
            for name in Refs::wanted(reference) {
                if let (Some(id), _) = self.value(&name, &packed, &mut 0)? {
                    refs.all.push(named(&name, id));
                }
            }
        }
        Ok(refs)
    }

    /// What a name stands for, and the name that it leads to.
    fn value(
        &self,
        name: &str,
        packed: &str,
        steps: &mut usize,
    ) -> Result<(Option<ObjectId>, Option<String>), GitError> {
        // Each working tree has a HEAD of its own; branches and tags are shared.
        let folder = if name.starts_with("refs/") { &self.common } else { &self.own };
        let Some(text) = text(&folder.join(name), REF_MAX)? else {
            let found = packed_refs(packed).find(|(packed, _)| *packed == name);
            return Ok((found.map(|(_, id)| id), None));
        };
        let text = text.trim_end();
        let Some(target) = text.strip_prefix("ref: ") else {
            let id = ObjectId::from_hex(text.as_bytes());
            return id
                .map(|id| (Some(id), None))
                .map_err(|_| GitError::damaged("a name stands for no commit"));
        };
        *steps += 1;
        if *steps > SYMBOLIC_MAX || !target.starts_with("refs/") || GitRef::parse(target).is_err() {
            return Err(GitError::damaged("a name leads nowhere"));
        }
        let (id, _) = self.value(target, packed, steps)?;
        Ok((id, Some(target.to_owned())))
    }

    /// The names that have a file each. Only for telling people what there is.
    fn loose(&self, folder: &str, depth: usize, into: &mut Vec<Ref>) {
        let Ok(entries) = fs::read_dir(self.common.join(folder)) else { return };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let name = format!("{folder}/{name}");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < 8 => self.loose(&name, depth + 1, into),
                Ok(kind) if kind.is_file() && into.len() < REFS_MAX => {
                    into.push(named(&name, ObjectId::null(gix_hash::Kind::Sha1)));
                }
                _ => {}
            }
        }
    }
}

/// Objects are opened where they lie, and opening a FIFO waits for somebody who never comes.
fn only_files(objects: &Path) -> Result<(), GitError> {
    let inside = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    for folder in inside(objects).filter(|entry| entry.path().is_dir()) {
        for entry in inside(&folder.path()) {
            let plain = entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir());
            if !plain && !entry.path().is_file() {
                return Err(GitError::damaged("an object is not a file"));
            }
        }
    }
    Ok(())
}

fn named(name: &str, id: ObjectId) -> Ref {
    Ref { name: name.to_owned(), id, peeled: None }
}

fn packed_refs(packed: &str) -> impl Iterator<Item = (&str, ObjectId)> {
    packed.lines().filter_map(|line| {
        let (id, name) = line.split_once(' ')?;
        Some((name, ObjectId::from_hex(id.as_bytes()).ok()?))
    })
}

/// The text of a regular file. Nothing waits for what is none, such as a FIFO.
fn text(path: &Path, max: u64) -> Result<Option<String>, GitError> {
    let Ok(file) = open_without_waiting(path, LastStep::Followed) else { return Ok(None) };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let read = file.take(max + 1).read_to_end(&mut bytes);
    read.map_err(|error| GitError::io("reading the repository", &error))?;
    if bytes.len() as u64 > max {
        return Err(GitError::damaged("a file with names in it is too large"));
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
