//! All files of a skill, read once for running it: the verified bytes are the ones that are used.

use std::collections::BTreeMap;
use std::path::Path;

use super::error::ReadResourceError;
use super::open::{self, FILE_MAX};
use super::path::RelativePath;
use super::{dir_error, open_skill_dir};
use crate::bundled::BundledSkill;
use crate::file_listing::is_git_path;
use crate::remote::RemoteFileError;
use crate::skill::{ResourceUnavailable, Skill, SkillLink, display_text};
use prowess_fs::{Dir, EntryKind, ReadError, read_whole};
use prowess_fs::{HashedTree, digest};

/// The maximum number of files, of their total bytes, and of nested directories. A lock file has the same
/// limits.
pub(super) const FILES_MAX: usize = 4_096;
const TOTAL_MAX: u64 = 64 * 1024 * 1024;
pub(super) const DEPTH_MAX: usize = 16;

/// All regular files of a skill, in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFiles {
    files: BTreeMap<String, LoadedFile>,
    /// Symlinks, special files and names that are not Unicode. They were not read.
    pub skipped: Vec<String>,
    /// The tree hash of the files.
    pub tree: String,
}

/// A file of [`SkillFiles`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedFile {
    /// Whether the file is executable.
    pub executable: bool,
    /// The contents.
    pub bytes: Vec<u8>,
}

impl LoadedFile {
    /// Returns the digest of the contents.
    pub fn digest(&self) -> String {
        digest(&self.bytes)
    }
}

impl SkillFiles {
    /// Returns the files with their paths relative to the skill's directory, sorted.
    pub fn files(&self) -> impl Iterator<Item = (&str, &LoadedFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// Returns the file at a path, with the normalized path.
    ///
    /// All symlinks are rejected, even those to files of the skill.
    pub fn file(&self, path: &str) -> Result<(String, &LoadedFile), ReadResourceError> {
        let inner = RelativePath::parse(path)?;
        if let Some(file) = self.files.get(inner.as_str()) {
            return Ok((inner.into_string(), file));
        }
        let is_inside = |file_path: &String| {
            file_path.strip_prefix(inner.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        if inner.is_root() || self.files.keys().any(is_inside) {
            return Err(ReadResourceError::Directory { path: display_text(path) });
        }
        let is_at_or_above = |file_path: &String| {
            inner
                .as_str()
                .strip_prefix(file_path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if self.skipped.iter().any(is_at_or_above) {
            return Err(ReadResourceError::Link { path: display_text(path) });
        }
        let nearest = prowess_format::suggest::nearest(inner.as_str(), self.files.keys().map(String::as_str));
        Err(ReadResourceError::NotFound { path: display_text(path), nearest: nearest.map(str::to_owned) })
    }
}

/// Reads all files of a skill, and verifies them against the lock file and, if trust is pinned, against the files
/// that the user trusted.
///
/// Only enabled local skills are read: files of remote skills are never executed. The bytes that are hashed
/// here are the ones that are returned, so nothing can change in between.
///
/// ```
/// use prowess::{Policy, Registry, resources};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::open(Policy::default())?;
/// let snapshot = registry.snapshot();
/// let skill = snapshot.get("skills-system-validation").ok_or("missing bundled skill")?;
/// let files = resources::read_skill_files(skill)?;
/// assert!(files.file("scripts/echo.sh")?.1.executable);
/// # Ok(())
/// # }
/// ```
pub fn read_skill_files(skill: &Skill) -> Result<SkillFiles, ReadResourceError> {
    if let Some(unavailable) = ResourceUnavailable::for_use(skill) {
        return Err(unavailable.into());
    }
    if let Some(remote) = skill.remote() {
        let (name, origin) = (display_text(&skill.name()), remote.origin());
        return Err(RemoteFileError::NotRunnable { name, origin }.into());
    }
    let mut collector = FileCollector::default();
    if skill.root().is_embedded() {
        for (path, bytes) in skill.bundled().map(|skill| skill.files).unwrap_or_default() {
            let executable = BundledSkill::is_executable(path);
            collector.files.insert((*path).to_owned(), LoadedFile { executable, bytes: bytes.to_vec() });
        }
    } else {
        let dir = open_skill_dir(skill)?;
        collector.add_dir(&dir, Path::new(""), 0)?;
        collector.add_linked_skill_md(skill)?;
    }
    let mut tree = HashedTree::default();
    for (path, file) in &collector.files {
        tree.add(path, file.executable, &file.bytes);
    }
    skill.verifier.verify_tree(skill, &tree, &collector.skipped)?;
    Ok(SkillFiles { files: collector.files, skipped: collector.skipped, tree: tree.hash() })
}

/// Reads the files of a skill for running commands of its instructions: like [`read_skill_files`], and for a custom command
/// its only file, which cannot be run itself.
pub fn read_instruction_files(skill: &Skill) -> Result<SkillFiles, ReadResourceError> {
    if !skill.is_command() {
        return read_skill_files(skill);
    }
    if let Some(unavailable) = ResourceUnavailable::for_use(skill) {
        return Err(unavailable.into());
    }
    let path = skill.skill_md_path();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = open::read_skill_md(skill)
        .map_err(|error| ReadResourceError::from_read_error(&name, error, FILE_MAX))?
        .bytes;
    skill.verifier.verify(skill, skill.file.as_str(), &bytes)?;
    let tree = HashedTree::from_file(&path, &bytes).hash();
    let files = BTreeMap::from([(name, LoadedFile { executable: false, bytes })]);
    Ok(SkillFiles { files, skipped: Vec::new(), tree })
}

#[derive(Default)]
struct FileCollector {
    files: BTreeMap<String, LoadedFile>,
    skipped: Vec<String>,
    bytes: u64,
}

impl FileCollector {
    fn add_dir(&mut self, dir: &Dir, parent: &Path, depth: usize) -> Result<(), ReadResourceError> {
        let parent_text = parent.to_string_lossy();
        let entries =
            dir.entries(2 * FILES_MAX).map_err(|error| ReadResourceError::from_errno(&parent_text, error))?;
        if entries.truncated || depth > DEPTH_MAX {
            return Err(skill_too_large(&parent_text));
        }
        for entry in entries.entries {
            let (name, path) = (Path::new(&*entry.name), parent.join(&*entry.name));
            match (entry.kind, path.to_str()) {
                (EntryKind::Dir, _) if is_git_path(&path) => {}
                (EntryKind::Dir, _) => {
                    let inner = dir
                        .open_dir(name)
                        .map_err(|error| ReadResourceError::from_errno(&path.to_string_lossy(), error))?;
                    self.add_dir(&inner, &path, depth + 1)?;
                }
                (EntryKind::File, Some(text)) => self.add_file(dir, name, text)?,
                (EntryKind::File | EntryKind::Symlink | EntryKind::Special, _) => {
                    self.skipped.push(path.to_string_lossy().into_owned());
                }
            }
        }
        Ok(())
    }

    fn add_file(&mut self, dir: &Dir, name: &Path, path: &str) -> Result<(), ReadResourceError> {
        let (file, stat) = dir.open_file(name).map_err(|error| ReadResourceError::from_errno(path, error))?;
        let bytes = read_whole(&file, &stat, FILE_MAX)
            .map_err(|error| ReadResourceError::from_read_error(path, error, FILE_MAX))?;
        self.bytes += bytes.len() as u64;
        if self.files.len() >= FILES_MAX || self.bytes > TOTAL_MAX {
            return Err(skill_too_large(path));
        }
        let executable = stat.is_executable();
        self.files.insert(path.to_owned(), LoadedFile { executable, bytes });
        Ok(())
    }

    /// Adds the target of a `SKILL.md` that is a symlink to a known directory.
    fn add_linked_skill_md(&mut self, skill: &Skill) -> Result<(), ReadResourceError> {
        let Some(SkillLink { is_dir: false, .. }) = skill.link() else { return Ok(()) };
        let name = skill.file.as_str();
        let file = open::read_skill_md(skill).map_err(|error| match error {
            ReadError::Os(error) => dir_error(skill, error),
            error => ReadResourceError::from_read_error(name, error, FILE_MAX),
        })?;
        self.skipped.retain(|path| path != name);
        self.files.insert(name.to_owned(), LoadedFile { executable: false, bytes: file.bytes });
        Ok(())
    }
}

pub(super) fn skill_too_large(path: &str) -> ReadResourceError {
    ReadResourceError::SkillTooLarge { path: display_text(path), files: FILES_MAX, bytes: TOTAL_MAX }
}
