//! Everything a skill brings, read once for those who run it: the bytes that were judged are the bytes that are used.

use std::collections::BTreeMap;
use std::path::Path;

use super::error::AccessError;
use super::path::Inner;
use super::place::{self, FILE_MAX};
use super::{no_folder, open_folder};
use crate::bundled::Bundled;
use crate::contents::is_gits;
use crate::skill::{Closed, Link, Skill, shown};
use crate::supply::Unverified;
use prowess_fs::{EntryKind, Folder, ReadError, read_whole};
use prowess_fs::{HashedTree, digest};

/// The most files, the most bytes of all of them together, and how deep they may lie: as many as a lock can hold.
pub(super) const FILES_MAX: usize = 4_096;
const TOTAL_MAX: u64 = 64 * 1024 * 1024;
pub(super) const DEPTH_MAX: usize = 16;

/// All regular files of a skill, held in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Material {
    files: BTreeMap<String, MaterialFile>,
    /// Links, special files and names that are not Unicode. They are no part of it.
    pub left_out: Vec<String>,
    /// The tree hash of the files.
    pub tree: String,
}

/// One file of a [`Material`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaterialFile {
    /// Whether anybody may execute it.
    pub executable: bool,
    /// All its bytes.
    pub bytes: Vec<u8>,
}

impl MaterialFile {
    /// The digest of its bytes.
    pub fn digest(&self) -> String {
        digest(&self.bytes)
    }
}

impl Material {
    /// The files with their paths below the skill's folder, sorted.
    pub fn files(&self) -> impl Iterator<Item = (&str, &MaterialFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// The file at a path, with the path as it is written inside.
    ///
    /// A link is refused like a path that leads out, whatever it leads to.
    pub fn file(&self, path: &str) -> Result<(String, &MaterialFile), AccessError> {
        let inner = Inner::parse(path)?;
        if let Some(file) = self.files.get(inner.as_str()) {
            return Ok((inner.into_string(), file));
        }
        let is_folder =
            |known: &String| known.strip_prefix(inner.as_str()).is_some_and(|r| r.starts_with('/'));
        if inner.is_folder() || self.files.keys().any(is_folder) {
            return Err(AccessError::Directory { path: shown(path) });
        }
        let behind = |known: &String| {
            inner
                .as_str()
                .strip_prefix(known.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if self.left_out.iter().any(behind) {
            return Err(AccessError::Link { path: shown(path) });
        }
        let nearest = prowess_format::suggest::nearest(inner.as_str(), self.files.keys().map(String::as_str));
        Err(AccessError::NotFound { path: shown(path), nearest: nearest.map(str::to_owned) })
    }
}

/// Reads everything that a skill brings, and refuses it where it is not what was installed or trusted.
///
/// Only an enabled skill is read, and none that came from a server: nothing of those is run here.
/// What is hashed here, compared with the lock and with pinned trust, is what is handed
/// out: there is no moment between the two.
///
/// ```
/// use prowess::{Policy, Registry, resource};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::open(Policy::default())?;
/// let snapshot = registry.snapshot();
/// let skill = snapshot.get("skills-system-validation").ok_or("it is bundled")?;
/// let material = resource::material(skill)?;
/// assert!(material.file("scripts/echo.sh")?.1.executable);
/// # Ok(())
/// # }
/// ```
pub fn material(skill: &Skill) -> Result<Material, AccessError> {
    if let Some(closed) = Closed::of(skill) {
        return Err(closed.into());
    }
    if let Some(supplied) = skill.supplied() {
        let (name, origin) = (shown(&skill.name()), supplied.origin());
        return Err(Unverified::Run { name, origin }.into());
    }
    let mut gathered = Gathered::default();
    if skill.root().is_embedded() {
        for (path, bytes) in place::bundled(skill).map(|skill| skill.files).unwrap_or_default() {
            let executable = Bundled::is_executable(path);
            gathered.files.insert((*path).to_owned(), MaterialFile { executable, bytes: bytes.to_vec() });
        }
    } else {
        let folder = open_folder(skill)?;
        gathered.folder(&folder, Path::new(""), 0)?;
        gathered.own_link(skill)?;
    }
    let mut tree = HashedTree::default();
    for (path, file) in &gathered.files {
        tree.add(path, file.executable, &file.bytes);
    }
    skill.verify.admit_tree(skill, &tree, &gathered.left_out)?;
    Ok(Material { files: gathered.files, left_out: gathered.left_out, tree: tree.hash() })
}

#[derive(Default)]
struct Gathered {
    files: BTreeMap<String, MaterialFile>,
    left_out: Vec<String>,
    bytes: u64,
}

impl Gathered {
    fn folder(&mut self, folder: &Folder, below: &Path, depth: usize) -> Result<(), AccessError> {
        let here = below.to_string_lossy();
        let entries = folder.entries(2 * FILES_MAX).map_err(|error| AccessError::os(&here, error))?;
        if entries.cut || depth > DEPTH_MAX {
            return Err(too_large(&here));
        }
        for entry in entries.list {
            let (name, path) = (Path::new(&*entry.name), below.join(&*entry.name));
            match (entry.kind, path.to_str()) {
                (EntryKind::Folder, _) if is_gits(&path) => {}
                (EntryKind::Folder, _) => {
                    let inner = folder
                        .folder(name)
                        .map_err(|error| AccessError::os(&path.to_string_lossy(), error))?;
                    self.folder(&inner, &path, depth + 1)?;
                }
                (EntryKind::File, Some(text)) => self.file(folder, name, text)?,
                (EntryKind::File | EntryKind::Link | EntryKind::Special, _) => {
                    self.left_out.push(path.to_string_lossy().into_owned());
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, folder: &Folder, name: &Path, path: &str) -> Result<(), AccessError> {
        let (file, stat) = folder.file(name).map_err(|error| AccessError::os(path, error))?;
        let bytes =
            read_whole(&file, &stat, FILE_MAX).map_err(|error| AccessError::read(path, error, FILE_MAX))?;
        self.bytes += bytes.len() as u64;
        if self.files.len() >= FILES_MAX || self.bytes > TOTAL_MAX {
            return Err(too_large(path));
        }
        let executable = stat.is_executable();
        self.files.insert(path.to_owned(), MaterialFile { executable, bytes });
        Ok(())
    }

    /// A `SKILL.md` that is a known link counts as what it leads to.
    fn own_link(&mut self, skill: &Skill) -> Result<(), AccessError> {
        let Some(Link { folder: false, .. }) = skill.link() else { return Ok(()) };
        let name = skill.file.as_str();
        let file = place::read_skill_md(skill).map_err(|error| match error {
            ReadError::Os(error) => no_folder(skill, error),
            error => AccessError::read(name, error, FILE_MAX),
        })?;
        self.left_out.retain(|path| path != name);
        self.files.insert(name.to_owned(), MaterialFile { executable: false, bytes: file.bytes });
        Ok(())
    }
}

pub(super) fn too_large(path: &str) -> AccessError {
    AccessError::Whole { path: shown(path), files: FILES_MAX, bytes: TOTAL_MAX }
}
