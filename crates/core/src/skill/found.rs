//! A folder that holds a skill, or should.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess_format::{Diagnostic, Manifest};

use super::Root;
use crate::bundled::BUNDLED;
use crate::supply::Supplied;
use prowess_fs::{Fingerprint, read_resolved};

/// The largest `SKILL.md` that is ever read.
pub(crate) const SKILL_MD_MAX: u64 = 16 * 1024 * 1024;

/// What was found in one folder. Immutable: a later scan shares it if nothing changed.
#[derive(Debug)]
pub struct Found {
    pub(crate) root: Arc<Root>,
    /// The folder, below its root.
    pub(crate) inner: Box<Path>,
    pub(crate) file: FileName,
    pub(crate) fingerprint: Fingerprint,
    /// Whether the file was old enough for its times to be believed. It says nothing about the skill, so two finds that
    /// differ in nothing else are equal.
    pub(crate) settled: bool,
    pub(crate) manifest: Option<Manifest>,
    pub(crate) diagnostics: Box<[Diagnostic]>,
    pub(crate) link: Option<Box<Link>>,
    /// The folder without any link in its path, where a link led to it.
    pub(crate) real: Option<Box<Path>>,
    /// The server it came from, where it was not found on disk.
    pub(crate) supplied: Option<Arc<Supplied>>,
}

impl PartialEq for Found {
    fn eq(&self, other: &Self) -> bool {
        let Self { root, inner, file, fingerprint, settled: _, manifest, diagnostics, link, real, supplied } =
            self;
        *fingerprint == other.fingerprint
            && *inner == other.inner
            && *root == other.root
            && *file == other.file
            && *manifest == other.manifest
            && *diagnostics == other.diagnostics
            && *link == other.link
            && *real == other.real
            && *supplied == other.supplied
    }
}

/// What the skill's file is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileName {
    /// `SKILL.md`, as it should be.
    Standard,
    /// Something like it.
    Other(Box<str>),
    /// There is none.
    Missing,
}

impl FileName {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Other(name) => name,
            Self::Standard | Self::Missing => "SKILL.md",
        }
    }
}

/// A link that led to a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where it leads, in full.
    pub target: PathBuf,
    /// Whether that is a place that is known.
    pub known: bool,
    /// Whether the folder or one above it is the link; otherwise its `SKILL.md` is.
    pub folder: bool,
}

impl Found {
    /// What the file system said about the skill's file when it was read.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// Whether the file was old enough then for equal times to mean equal bytes.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// The folder's name; of a skill from a server what it is called by, which no folder is called.
    pub fn id(&self) -> Cow<'_, str> {
        match &self.supplied {
            Some(supplied) => Cow::from(supplied.offered().name.as_str()),
            None => self.folder_name(),
        }
    }

    /// The folder's name, wherever the folder is.
    pub(crate) fn folder_name(&self) -> Cow<'_, str> {
        if let Some(supplied) = &self.supplied {
            return Cow::from(supplied.offered().own_name.as_str());
        }
        self.inner.file_name().unwrap_or_default().to_string_lossy()
    }

    /// The root it was found under.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The folder, below its root.
    pub fn inner(&self) -> &Path {
        &self.inner
    }

    /// The folder.
    pub fn folder(&self) -> PathBuf {
        self.root.path().join(&self.inner)
    }

    /// The folder without any link in its path: what makes two finds one.
    pub fn canonical_folder(&self) -> PathBuf {
        match &self.real {
            Some(real) => real.to_path_buf(),
            None => self.root.canonical().join(&self.inner),
        }
    }

    /// A file in that folder. In one piece: it is asked for whenever a file is read.
    pub(crate) fn canonical_file(&self, file: &str) -> PathBuf {
        let (above, folder) = match &self.real {
            Some(real) => (&**real, Path::new("")),
            None => (self.root.canonical(), &*self.inner),
        };
        let length = above.as_os_str().len() + folder.as_os_str().len() + file.len() + 2;
        let mut path = PathBuf::with_capacity(length);
        path.push(above);
        path.push(folder);
        path.push(file);
        path
    }

    /// Its `SKILL.md`.
    pub fn location(&self) -> PathBuf {
        self.folder().join(self.file.as_str())
    }

    /// What it says of itself, if it loads.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// What it is called by where names count: the frontmatter's name, unless it came from a server. `None` where it
    /// does not load.
    pub(crate) fn called(&self) -> Option<&str> {
        let own = self.manifest()?.name().as_str();
        Some(self.supplied.as_ref().map_or(own, |supplied| &supplied.offered().name))
    }

    /// The server it came from.
    pub fn supplied(&self) -> Option<&Supplied> {
        self.supplied.as_deref()
    }

    /// What there is to say about it.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The link that led to it.
    pub fn link(&self) -> Option<&Link> {
        self.link.as_deref()
    }

    /// Whether a link led to it that leads outside the known directories. Nothing behind such a link is read.
    pub fn is_outside(&self) -> bool {
        self.link().is_some_and(|link| !link.known)
    }

    /// The bytes of its `SKILL.md` as they are now, bounded; `None` where they cannot be read, or where a link has been
    /// put in their way since they were found. Nothing is fetched from a server for it.
    pub fn read_source(&self) -> Option<Vec<u8>> {
        if self.root.is_supplied() {
            return None;
        }
        if self.root.is_embedded() {
            return BUNDLED.iter().find(|skill| skill.id == self.id()).map(|skill| skill.skill_md().to_vec());
        }
        let path = match self.link() {
            Some(Link { known: false, .. }) => return None,
            Some(Link { target, folder: false, .. }) => target.clone(),
            _ => self.canonical_folder().join(self.file.as_str()),
        };
        read_resolved(&path, SKILL_MD_MAX)
    }

    /// The size of `SKILL.md` in bytes.
    pub fn bytes(&self) -> u64 {
        self.fingerprint.size()
    }
}
