//! A source, fetched: its files, its skills, and what is needed to get exactly the same again.

pub(crate) mod candidate;
mod site;

use std::path::Path;
use std::sync::Arc;

use prowess::ErrorCode;

use crate::error::PackageError;
use crate::fetch::FolderTree;
use crate::fetch::git::{self, GitOptions, GitRef, GitSource, GitUrl, Local, Resolved};
use crate::place::Place;
use crate::source::Source;
use crate::work::Work;
use prowess_archive::{self as archive, Tree};
use site::Site;

pub(crate) use candidate::Names;
pub use candidate::{Candidate, candidates};

/// Whether `file://` repositories may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUrls {
    /// They may: the user said so.
    Allowed,
    /// They may not.
    Refused,
}

/// What was fetched.
pub(crate) struct Acquired {
    source: Source,
    pub(crate) held: Held,
    /// The commit, where there are commits.
    pub(crate) commit: Option<String>,
    /// The branch, tag or commit that the source itself names.
    pub(crate) reference: Option<String>,
}

/// What is there to choose from.
pub(crate) enum Held {
    /// All files.
    Tree(Box<dyn Tree>),
    /// The names of a site's skills, each of which is fetched when it is chosen.
    Site(Site),
}

/// Skills that were chosen, and the files they are in.
pub(crate) struct Found {
    pub(crate) tree: Box<dyn Tree>,
    pub(crate) skills: Vec<Candidate>,
}

/// Fetches a source, at a branch, tag or commit where it has those.
pub(crate) fn acquire(
    source: &Source,
    reference: Option<&str>,
    file_urls: FileUrls,
    scratch: &Path,
    work: &Arc<Work>,
) -> Result<Acquired, PackageError> {
    let mut commit = None;
    let mut named = None;
    if reference.is_some() && !matches!(source, Source::Git { .. }) {
        return Err(PackageError::Call {
            message: "only a repository has branches, tags and commits".to_owned(),
            hint: "leave out --ref".to_owned(),
        });
    }
    let held = match source {
        Source::Git { reference: own, .. } => {
            named.clone_from(own);
            std::fs::create_dir_all(scratch).map_err(PackageError::io("made", scratch))?;
            let source = git_source(source, reference, file_urls)?;
            let fetched = git::fetch(&source, scratch, &GitOptions::default(), work)?;
            commit = Some(fetched.commit);
            Held::Tree(Box::new(fetched.tree))
        }
        Source::Folder(path) => {
            work.step("reading", 0);
            Held::Tree(Box::new(FolderTree::open(path)?))
        }
        Source::Archive(path) => {
            work.step("unpacking", 0);
            let named = |error: PackageError| of_archive(error, &path.display().to_string());
            Held::Tree(Box::new(archive::open(path).map_err(|error| named(error.into()))?))
        }
        Source::ArchiveUrl(url) => {
            work.step("receiving", 0);
            let tree = site::archive(url, work).map_err(|error| of_archive(error, url.as_str()))?;
            Held::Tree(Box::new(tree))
        }
        Source::Site(url) => {
            work.step("receiving", 0);
            Held::Site(Site::open(url, work)?)
        }
    };
    Ok(Acquired { source: source.clone(), held, commit, reference: named })
}

/// What is wrong with an archive, with the name of the archive.
fn of_archive(error: PackageError, name: &str) -> PackageError {
    match error {
        PackageError::Acquire { code, message, hint } if !message.contains(name) => {
            PackageError::Acquire { code, message: format!("{name}: {message}"), hint }
        }
        error => error,
    }
}

/// The commit that a repository has now, and how it was found; `None` for what is no repository.
pub(crate) fn newest(
    source: &Source,
    reference: Option<&str>,
    file_urls: FileUrls,
    work: &Arc<Work>,
) -> Result<Option<(String, Resolved)>, PackageError> {
    if !matches!(source, Source::Git { .. }) {
        return Ok(None);
    }
    let source = git_source(source, reference, file_urls)?;
    Ok(Some(git::resolve(&source, &GitOptions::default(), work)?))
}

fn git_source(
    source: &Source,
    reference: Option<&str>,
    file_urls: FileUrls,
) -> Result<GitSource, PackageError> {
    let Source::Git { url, reference: own, inner, .. } = source else {
        return Err(PackageError::Call { message: "it is no repository".to_owned(), hint: String::new() });
    };
    let local = if file_urls == FileUrls::Allowed { Local::Allowed } else { Local::Refused };
    if local == Local::Refused && url.starts_with("file://") {
        return Err(PackageError::Acquire {
            code: ErrorCode::AccessDenied,
            message: "file:// repositories are refused unless you allow them".to_owned(),
            hint: Some("set PROWESS_ALLOW_FILE_URLS=1, or give the path of the folder itself".to_owned()),
        });
    }
    let acquire = |message: String, hint: Option<String>| PackageError::Acquire {
        code: ErrorCode::InvalidParam,
        message,
        hint,
    };
    let url = GitUrl::parse(url, local)
        .map_err(|error| acquire(error.to_string(), error.hint().map(str::to_owned)))?;
    let reference = reference.or(own.as_deref()).map(GitRef::parse).transpose();
    let reference = reference.map_err(|error| {
        acquire(error.to_string(), Some("name a branch, a tag, or a commit by its 40 digits".to_owned()))
    })?;
    Ok(GitSource { url, reference, inner: inner.clone() })
}

impl Acquired {
    /// The skills there are; inside others, too, if `nested`.
    pub(crate) fn there(&self, nested: bool, names: Names) -> Result<Vec<Candidate>, PackageError> {
        match &self.held {
            Held::Tree(tree) => candidate::find(&**tree, nested, names),
            Held::Site(site) => Ok(site.candidates()),
        }
    }

    /// The files of those that were chosen.
    pub(crate) fn take(self, chosen: Vec<Candidate>) -> Result<Found, PackageError> {
        match self.held {
            Held::Tree(tree) => Ok(Found { tree, skills: chosen }),
            Held::Site(site) => {
                let tree = site.fetch(&chosen)?;
                let names: Vec<String> = chosen.into_iter().map(|candidate| candidate.folder).collect();
                let there = candidate::find(&tree, false, Names::OfFolders)?;
                let skills =
                    there.into_iter().filter(|candidate| names.contains(&candidate.folder)).collect();
                Ok(Found { tree: Box::new(tree), skills })
            }
        }
    }

    /// What the lock says of where it came from.
    pub(crate) fn origin(&self, place: &Place) -> Origin {
        let relative = |path: &Path| {
            let inner = place.base.as_ref().and_then(|base| path.strip_prefix(base).ok());
            inner.map_or_else(|| path.display().to_string(), |inner| format!("./{}", inner.display()))
        };
        let source = match &self.source {
            Source::Git { url, .. } => {
                Source::Git { url: url.clone(), reference: None, inner: None, skill: None }.to_string()
            }
            // Others who have the project have not our folders, but they have what is in the project.
            Source::Folder(path) | Source::Archive(path) => relative(path),
            Source::ArchiveUrl(_) | Source::Site(_) => self.source.to_string(),
        };
        Origin { source, reference: self.reference.clone(), commit: self.commit.clone() }
    }
}

/// Where something came from.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) source: String,
    pub(crate) reference: Option<String>,
    pub(crate) commit: Option<String>,
}
