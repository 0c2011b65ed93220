//! Fetches a source (a repository, directory, archive or site): its files, its skills, and the origin that the lock
//! file records.

pub(crate) mod candidate;
mod site;

use std::path::Path;
use std::sync::Arc;

use prowess::ErrorCode;

use crate::error::PackageError;
use crate::fetch::DirTree;
use crate::fetch::git::{self, GitOptions, GitRef, GitSource, GitUrl, LocalRepositories, ResolvedRef};
use crate::install_target::InstallTarget;
use crate::source::Source;
use crate::task::Task;
use prowess_archive::{self as archive, SourceTree};
use site::SkillSite;
pub(crate) use site::fetch_index;

pub(crate) use candidate::NameSource;
pub use candidate::{Candidate, find_candidates};

/// Whether `file://` repositories may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUrls {
    /// They are allowed: the user opted in.
    Allowed,
    /// They are rejected.
    Refused,
}

/// A fetched source.
pub(crate) struct AcquiredSource {
    source: Source,
    pub(crate) contents: SourceContents,
    /// The commit, if the source is a repository.
    pub(crate) commit: Option<String>,
    /// The branch, tag or commit that the source specifies.
    pub(crate) reference: Option<String>,
}

/// The contents of a fetched source.
pub(crate) enum SourceContents {
    /// All files.
    Tree(Box<dyn SourceTree>),
    /// The names of a site's skills. A skill is fetched when it is selected.
    Site(SkillSite),
}

/// Selected skills and the files that contain them.
pub(crate) struct SelectedSkills {
    pub(crate) tree: Box<dyn SourceTree>,
    pub(crate) skills: Vec<Candidate>,
}

/// Fetches a source, at a branch, tag or commit if it is a repository.
pub(crate) fn acquire_source(
    source: &Source,
    reference: Option<&str>,
    file_urls: FileUrls,
    scratch: &Path,
    task: &Arc<Task>,
) -> Result<AcquiredSource, PackageError> {
    let mut commit = None;
    let mut source_reference = None;
    if reference.is_some() && !matches!(source, Source::Git { .. }) {
        return Err(PackageError::InvalidArgument {
            message: "only a repository has branches, tags and commits".to_owned(),
            hint: "omit --ref".to_owned(),
        });
    }
    let contents = match source {
        Source::Git { reference: requested, .. } => {
            source_reference.clone_from(requested);
            std::fs::create_dir_all(scratch).map_err(PackageError::io("create", scratch))?;
            let source = git_source(source, reference, file_urls)?;
            let fetched = git::fetch_commit(&source, scratch, &GitOptions::default(), task)?;
            commit = Some(fetched.commit);
            SourceContents::Tree(Box::new(fetched.tree))
        }
        Source::Directory(path) => {
            task.begin_step("reading", 0);
            SourceContents::Tree(Box::new(DirTree::open(path)?))
        }
        Source::Archive(path) => {
            task.begin_step("unpacking", 0);
            let add_name = |error: PackageError| name_archive(error, &path.display().to_string());
            SourceContents::Tree(Box::new(
                archive::open_archive(path).map_err(|error| add_name(error.into()))?,
            ))
        }
        Source::ArchiveUrl(url) => {
            task.begin_step("receiving", 0);
            let tree = site::fetch_archive(url, task).map_err(|error| name_archive(error, url.as_str()))?;
            SourceContents::Tree(Box::new(tree))
        }
        Source::Site(url) => {
            task.begin_step("receiving", 0);
            SourceContents::Site(SkillSite::open(url, task)?)
        }
    };
    Ok(AcquiredSource { source: source.clone(), contents, commit, reference: source_reference })
}

/// Adds the name of the archive to an error.
fn name_archive(error: PackageError, name: &str) -> PackageError {
    match error {
        PackageError::FetchFailed { code, message, hint } if !message.contains(name) => {
            PackageError::FetchFailed { code, message: format!("{name}: {message}"), hint }
        }
        error => error,
    }
}

/// Returns the latest commit of a repository and how it was resolved; `None` if the source is not a repository.
pub(crate) fn latest_commit(
    source: &Source,
    reference: Option<&str>,
    file_urls: FileUrls,
    task: &Arc<Task>,
) -> Result<Option<(String, ResolvedRef)>, PackageError> {
    if !matches!(source, Source::Git { .. }) {
        return Ok(None);
    }
    let source = git_source(source, reference, file_urls)?;
    Ok(Some(git::resolve_commit(&source, &GitOptions::default(), task)?))
}

fn git_source(
    source: &Source,
    reference: Option<&str>,
    file_urls: FileUrls,
) -> Result<GitSource, PackageError> {
    let Source::Git { url, reference: source_reference, subdir, .. } = source else {
        return Err(PackageError::InvalidArgument {
            message: "the source is not a repository".to_owned(),
            hint: String::new(),
        });
    };
    let local =
        if file_urls == FileUrls::Allowed { LocalRepositories::Allowed } else { LocalRepositories::Refused };
    if local == LocalRepositories::Refused && url.starts_with("file://") {
        return Err(PackageError::FetchFailed {
            code: ErrorCode::AccessDenied,
            message: "file:// repositories are not allowed".to_owned(),
            hint: Some("set PROWESS_ALLOW_FILE_URLS=1, or pass the path of the directory".to_owned()),
        });
    }
    let invalid = |message: String, hint: Option<String>| PackageError::FetchFailed {
        code: ErrorCode::InvalidParam,
        message,
        hint,
    };
    let url = GitUrl::parse(url, local)
        .map_err(|error| invalid(error.to_string(), error.hint().map(str::to_owned)))?;
    let reference = reference.or(source_reference.as_deref()).map(GitRef::parse).transpose();
    let reference = reference.map_err(|error| {
        invalid(error.to_string(), Some("pass a branch, a tag, or a full commit id of 40 digits".to_owned()))
    })?;
    Ok(GitSource { url, reference, subdir: subdir.clone() })
}

impl AcquiredSource {
    /// Returns the skills of the source, including skills inside others if `nested`.
    pub(crate) fn candidates(&self, nested: bool, names: NameSource) -> Result<Vec<Candidate>, PackageError> {
        match &self.contents {
            SourceContents::Tree(tree) => candidate::find_candidates_named(&**tree, nested, names),
            SourceContents::Site(site) => Ok(site.candidates()),
        }
    }

    /// Returns the selected skills with their files.
    pub(crate) fn select(self, chosen: Vec<Candidate>) -> Result<SelectedSkills, PackageError> {
        match self.contents {
            SourceContents::Tree(tree) => Ok(SelectedSkills { tree, skills: chosen }),
            SourceContents::Site(site) => {
                let tree = site.fetch(&chosen)?;
                let names: Vec<String> = chosen.into_iter().map(|candidate| candidate.dir).collect();
                let available = candidate::find_candidates_named(&tree, false, NameSource::Directory)?;
                let skills =
                    available.into_iter().filter(|candidate| names.contains(&candidate.dir)).collect();
                Ok(SelectedSkills { tree: Box::new(tree), skills })
            }
        }
    }

    /// Returns the origin for the lock file.
    pub(crate) fn origin(&self, target: &InstallTarget) -> SourceOrigin {
        let relative = |path: &Path| {
            let inner = target.project.as_ref().and_then(|base| path.strip_prefix(base).ok());
            inner.map_or_else(|| path.display().to_string(), |inner| format!("./{}", inner.display()))
        };
        let source = match &self.source {
            Source::Git { url, .. } => {
                Source::Git { url: url.clone(), reference: None, subdir: None, skill: None }.to_string()
            }
            // A clone of the project has only the directories in it, so paths in the project are relative.
            Source::Directory(path) | Source::Archive(path) => relative(path),
            Source::ArchiveUrl(_) | Source::Site(_) => self.source.to_string(),
        };
        SourceOrigin { source, reference: self.reference.clone(), commit: self.commit.clone() }
    }
}

/// The origin of a skill.
#[derive(Debug, Clone)]
pub(crate) struct SourceOrigin {
    pub(crate) source: String,
    pub(crate) reference: Option<String>,
    pub(crate) commit: Option<String>,
}
