//! A directory that holds a skill, or was expected to hold one.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess_format::{Diagnostic, Manifest};

use super::{ContentCache, Root};
use crate::bundled::BundledSkill;
use crate::remote::RemoteSkill;
use prowess_fs::{Fingerprint, read_resolved};

/// The largest `SKILL.md` that is read.
pub(crate) const SKILL_MD_MAX: u64 = 16 * 1024 * 1024;

/// A skill found in a root, before its status is resolved. Immutable: later scans share it if nothing changed.
#[derive(Debug)]
pub struct DiscoveredSkill {
    pub(crate) root: Arc<Root>,
    /// The skill's directory, relative to its root. For a custom command, its file: it has no directory of its own, and
    /// nothing can be read through one.
    pub(crate) relative_dir: Box<Path>,
    pub(crate) file: FileName,
    pub(crate) fingerprint: Fingerprint,
    /// Whether the file was old enough for its timestamps to be reliable. Ignored by `==`: it is not a property
    /// of the skill.
    pub(crate) settled: bool,
    pub(crate) manifest: Option<Manifest>,
    pub(crate) diagnostics: Box<[Diagnostic]>,
    pub(crate) link: Option<Box<SkillLink>>,
    /// The canonical path of the directory, if a symlink led to it.
    pub(crate) canonical_path: Option<Box<Path>>,
    /// The server that provides the skill, if it was not found on disk.
    pub(crate) remote: Option<Arc<RemoteSkill>>,
    /// What was read of the skill since. Ignored by `==`.
    pub(crate) content: ContentCache,
}

impl PartialEq for DiscoveredSkill {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            root,
            relative_dir,
            file,
            fingerprint,
            settled: _,
            manifest,
            diagnostics,
            link,
            canonical_path,
            remote,
            content: _,
        } = self;
        *fingerprint == other.fingerprint
            && *relative_dir == other.relative_dir
            && *root == other.root
            && *file == other.file
            && *manifest == other.manifest
            && *diagnostics == other.diagnostics
            && *link == other.link
            && *canonical_path == other.canonical_path
            && *remote == other.remote
    }
}

/// The name of the skill's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileName {
    /// `SKILL.md`.
    Standard,
    /// A similar name, such as `skill.md`.
    Other(Box<str>),
    /// The directory has no such file.
    Missing,
    /// The skill is a custom command, which is a single file.
    Command,
}

impl FileName {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Other(name) => name,
            Self::Standard | Self::Missing => "SKILL.md",
            Self::Command => "",
        }
    }
}

/// Returns the name of the command in a file: `github:fix` for `github/fix.md`.
pub(crate) fn command_name(relative_file: &Path) -> String {
    let parts: Vec<_> =
        relative_file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    parts.join(":")
}

/// A symlink through which a skill was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillLink {
    /// The canonical path it points to.
    pub target: PathBuf,
    /// Whether the target is inside a known directory.
    pub is_known: bool,
    /// Whether the skill's directory or one above it is the symlink; otherwise its `SKILL.md` is.
    pub is_dir: bool,
}

impl DiscoveredSkill {
    /// Returns the fingerprint that the skill's file had when it was read.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// Returns `true` if the file was old enough when it was read for equal timestamps to mean equal bytes.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Returns the name of the directory. For a remote skill, returns `LABEL/NAME`.
    pub fn id(&self) -> Cow<'_, str> {
        match &self.remote {
            Some(remote) => Cow::from(remote.entry().name.as_str()),
            None => self.dir_name(),
        }
    }

    /// Returns the name of the directory, also for a remote skill.
    pub(crate) fn dir_name(&self) -> Cow<'_, str> {
        if let Some(remote) = &self.remote {
            return Cow::from(remote.entry().frontmatter_name.as_str());
        }
        if self.is_command() {
            return Cow::from(command_name(&self.relative_dir));
        }
        self.relative_dir.file_name().unwrap_or_default().to_string_lossy()
    }

    /// Returns `true` for a custom command: a single file that users call by name.
    pub fn is_command(&self) -> bool {
        self.file == FileName::Command
    }

    /// Returns the bundled skill; `None` for any other skill, even one with the same name.
    pub(crate) fn bundled(&self) -> Option<&'static BundledSkill> {
        if self.root.is_embedded() { BundledSkill::find(&self.id()) } else { None }
    }

    /// Returns `true` for a bundled example: users can load it by name, but models are not offered it.
    pub fn is_example(&self) -> bool {
        self.bundled().is_some_and(BundledSkill::is_example)
    }

    /// Returns the root in which the skill was found.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Returns the skill's directory, relative to its root.
    pub fn relative_dir(&self) -> &Path {
        &self.relative_dir
    }

    /// Returns the skill's directory.
    pub fn dir(&self) -> PathBuf {
        self.root.path().join(&self.relative_dir)
    }

    /// Returns the directory with all symlinks resolved. Two discovered skills with the same canonical
    /// directory are one skill.
    pub fn canonical_dir(&self) -> PathBuf {
        match &self.canonical_path {
            Some(path) => path.to_path_buf(),
            None => self.found_dir(),
        }
    }

    /// Returns the directory in its root. The last component is a symlink if the skill was found behind one.
    pub(crate) fn found_dir(&self) -> PathBuf {
        self.root.canonical().join(&self.relative_dir)
    }

    /// Returns the path of a file in the canonical directory, with a single allocation: every file read calls
    /// it.
    pub(crate) fn canonical_file(&self, file: &str) -> PathBuf {
        let (parent, dir) = match &self.canonical_path {
            Some(path) => (&**path, Path::new("")),
            None => (self.root.canonical(), &*self.relative_dir),
        };
        let length = parent.as_os_str().len() + dir.as_os_str().len() + file.len() + 2;
        let mut path = PathBuf::with_capacity(length);
        path.push(parent);
        path.push(dir);
        path.push(file);
        path
    }

    /// Returns the path of `SKILL.md`, or of a custom command.
    pub fn skill_md_path(&self) -> PathBuf {
        match self.is_command() {
            true => self.dir(),
            false => self.dir().join(self.file.as_str()),
        }
    }

    /// Returns the path of `SKILL.md`, or of a custom command, relative to the root.
    pub(crate) fn relative_file(&self) -> PathBuf {
        match self.is_command() {
            true => self.relative_dir.to_path_buf(),
            false => self.relative_dir.join(self.file.as_str()),
        }
    }

    /// Returns the path of `SKILL.md`, or of a custom command, with all symlinks resolved.
    pub(crate) fn canonical_skill_md(&self) -> PathBuf {
        match self.is_command() {
            true => self.found_dir(),
            false => self.canonical_file(self.file.as_str()),
        }
    }

    /// Returns the manifest; `None` if the skill cannot be loaded.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// Returns the name that takes part in precedence: the frontmatter's name, or `LABEL/NAME` for a remote
    /// skill. `None` if the skill cannot be loaded.
    pub(crate) fn resolved_name(&self) -> Option<&str> {
        let name = self.manifest()?.name().as_str();
        Some(self.remote.as_ref().map_or(name, |remote| &remote.entry().name))
    }

    /// Returns the remote skill's entry and server; `None` for a local skill.
    pub fn remote(&self) -> Option<&RemoteSkill> {
        self.remote.as_deref()
    }

    /// Returns the problems found in the skill.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the symlink through which the skill was found.
    pub fn link(&self) -> Option<&SkillLink> {
        self.link.as_deref()
    }

    /// Returns `true` if the skill was found through a symlink to outside the known directories. Nothing behind
    /// such a symlink is read.
    pub fn is_outside_known_dirs(&self) -> bool {
        self.link().is_some_and(|link| !link.is_known)
    }

    /// Reads `SKILL.md` again, up to a size limit. `None` if it cannot be read, if a symlink has replaced part
    /// of its path since discovery, or for a remote skill.
    pub fn read_skill_md(&self) -> Option<Vec<u8>> {
        if self.root.is_remote() {
            return None;
        }
        if self.root.is_embedded() {
            return self.bundled().map(|skill| skill.skill_md().to_vec());
        }
        let path = match self.link() {
            Some(SkillLink { is_known: false, .. }) => return None,
            Some(SkillLink { target, is_dir: false, .. }) => target.clone(),
            _ => self.canonical_skill_md(),
        };
        read_resolved(&path, SKILL_MD_MAX)
    }

    /// Returns the size of `SKILL.md` in bytes.
    pub fn skill_md_size(&self) -> u64 {
        self.fingerprint.size()
    }
}
