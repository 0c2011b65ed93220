//! Fetches git repositories without the program `git` and without a checkout.
//!
//! ```text
//! GitUrl ─ https, ssh ─► wire ─► pack ─► scratch directory ┐
//!        ─ file ───────────────► local ────────────────────┴─► GitTree, a SourceTree
//! ```
//!
//! Invariants: nothing in a repository is executed, neither here nor by a program that is started here; data from a
//! server is hashed before it is parsed; every read is bounded.

mod error;
mod https;
mod local;
mod pack;
mod packet;
mod reference;
mod refs;
mod ssh;
mod tree;
mod unpack_meter;
mod url;
mod wire;

use std::path::Path;
use std::sync::Arc;

use gix_hash::ObjectId;

pub use error::GitError;
pub use reference::{GitRef, ParseRefError};
pub use refs::ResolvedRef;
pub use ssh::SshProgram;
pub use tree::GitTree;
pub use url::{GitUrl, LocalRepositories, ParseGitUrlError};

pub use crate::fetch::http::Timeouts;

use crate::Task;
use prowess_archive::InnerPath;
use refs::{ChosenCommit, Refs};
use tree::ObjectDatabase;
use url::GitLocation;
use wire::{GitTransport, UploadPack};

/// A repository, a reference and a directory to fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSource {
    /// The repository.
    pub url: GitUrl,
    /// The branch, tag or commit; the default branch if `None`.
    pub reference: Option<GitRef>,
    /// The directory in the repository. Only its files are listed.
    pub subdir: Option<InnerPath>,
}

/// Options for fetching.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitOptions {
    /// The timeouts.
    pub timeouts: Timeouts,
    /// The ssh program.
    pub ssh: SshProgram,
}

impl Default for GitOptions {
    /// The default timeouts, and the ssh program from the same environment variables as git.
    fn default() -> Self {
        Self { timeouts: Timeouts::default(), ssh: SshProgram::from_env() }
    }
}

/// A fetched commit and its files.
#[derive(Debug)]
pub struct FetchedCommit {
    /// The full commit id.
    pub commit: String,
    /// How the reference was resolved.
    pub resolved: ResolvedRef,
    /// The files.
    pub tree: GitTree,
}

/// Fetches one commit without its history. The data is stored in `scratch`, an empty directory that must exist while
/// the result is used. A local repository is read in place.
pub fn fetch_commit(
    source: &GitSource,
    scratch: &Path,
    options: &GitOptions,
    task: &Arc<Task>,
) -> Result<FetchedCommit, GitError> {
    let (objects, chosen) = match &source.url.0 {
        GitLocation::Local(dir) => open_local(source, dir)?,
        GitLocation::Https(_) | GitLocation::Ssh(_) => fetch_remote(source, scratch, options, task)?,
    };
    let name = source.reference.as_ref().map_or("HEAD", GitRef::as_str);
    let commit = objects.peel_to_commit(chosen.commit, name)?;
    task.begin_step("listing files", 0);
    let tree = GitTree::list(objects, &commit, source.subdir.as_ref(), task)?;
    Ok(FetchedCommit { commit: commit.to_string(), resolved: chosen.resolved, tree })
}

/// Returns the commit that would be fetched, without fetching it. A full commit id needs no request.
pub fn resolve_commit(
    source: &GitSource,
    options: &GitOptions,
    task: &Arc<Task>,
) -> Result<(String, ResolvedRef), GitError> {
    if let Some(commit) = source.reference.as_ref().and_then(GitRef::as_commit) {
        return Ok((commit, ResolvedRef::Commit));
    }
    let chosen = match &source.url.0 {
        GitLocation::Local(dir) => {
            let (objects, chosen) = open_local(source, dir)?;
            let name = source.reference.as_ref().map_or("HEAD", GitRef::as_str);
            ChosenCommit { commit: objects.peel_to_commit(chosen.commit, name)?, ..chosen }
        }
        GitLocation::Https(_) | GitLocation::Ssh(_) => {
            task.begin_step("contacting the server", 0);
            let mut link = connect(source, options, task)?;
            choose(source, &mut UploadPack::connect(link.as_mut())?)?
        }
    };
    Ok((chosen.commit.to_string(), chosen.resolved))
}

fn connect(
    source: &GitSource,
    options: &GitOptions,
    task: &Arc<Task>,
) -> Result<Box<dyn GitTransport>, GitError> {
    let url = source.url.to_string();
    match &source.url.0 {
        GitLocation::Https(https) => Ok(Box::new(https::HttpsTransport::new(https, options.timeouts, task))),
        GitLocation::Ssh(ssh) => {
            Ok(Box::new(ssh::SshTransport::open(ssh, url, &options.ssh, options.timeouts, task)?))
        }
        GitLocation::Local(_) => Err(GitError::NotGit { url, reason: "the repository is local".to_owned() }),
    }
}

fn fetch_remote(
    source: &GitSource,
    scratch: &Path,
    options: &GitOptions,
    task: &Arc<Task>,
) -> Result<(ObjectDatabase, ChosenCommit), GitError> {
    task.begin_step("contacting the server", 0);
    let mut link = connect(source, options, task)?;
    let mut server = UploadPack::connect(link.as_mut())?;
    let format = server.hash_kind();
    let chosen = match &source.reference {
        Some(reference) if reference.as_commit().is_some() => choose_commit(source, reference, format)?,
        _ => choose(source, &mut server)?,
    };
    task.begin_step("receiving", 0);
    let incoming =
        server.fetch_pack(chosen.request).map_err(|error| unknown_commit(error, source, &chosen))?;
    let filtered = incoming.filtered;
    let objects = pack::store_pack(incoming.pack, scratch, format, task);
    let objects = objects.map_err(|error| unknown_commit(error, source, &chosen))?;
    Ok((ObjectDatabase::open(objects, format, filtered)?, chosen))
}

fn open_local(source: &GitSource, dir: &Path) -> Result<(ObjectDatabase, ChosenCommit), GitError> {
    let url = source.url.to_string();
    let repository = local::LocalRepository::open(dir, url.clone())?;
    let refs = repository.refs(source.reference.as_ref(), false)?;
    let any_id = refs.head.or_else(|| refs.all.first().map(|first| first.id));
    let exact_id = source.reference.as_ref().and_then(GitRef::as_commit);
    // The length of an id determines the hash function.
    let format = match (&exact_id, any_id) {
        (_, Some(id)) => id.kind(),
        (Some(hex), None) if hex.len() == 64 => gix_hash::Kind::Sha256,
        _ => gix_hash::Kind::Sha1,
    };
    let objects = ObjectDatabase::open(repository.objects_dir(), format, false)?;
    let chosen = match &source.reference {
        Some(reference) if exact_id.is_some() => {
            let chosen = choose_commit(source, reference, format)?;
            if !objects.contains(&chosen.commit) {
                return Err(repository.refs(None, true)?.unknown_ref(url, reference));
            }
            chosen
        }
        reference => match (refs.choose(reference.as_ref()), reference) {
            (Some(chosen), _) => chosen,
            (None, Some(reference)) if reference.as_str() != "HEAD" => {
                return Err(repository.refs(None, true)?.unknown_ref(url, reference));
            }
            (None, _) => return Err(GitError::Empty { url }),
        },
    };
    Ok((objects, chosen))
}

/// Returns the commit of a server that matches the reference.
fn choose(source: &GitSource, server: &mut UploadPack<'_>) -> Result<ChosenCommit, GitError> {
    let reference = source.reference.as_ref();
    let refs = server.refs(&Refs::names_for(reference))?;
    if let Some(chosen) = refs.choose(reference) {
        return Ok(chosen);
    }
    let url = source.url.to_string();
    let all = server.refs(&["refs/heads/".to_owned(), "refs/tags/".to_owned()])?;
    match reference {
        Some(reference) if !all.all.is_empty() => Err(all.unknown_ref(url, reference)),
        // HEAD points to a branch that does not exist: suggest other branches.
        None if !all.all.is_empty() => {
            Err(all.unknown_ref(url, &GitRef::parse("HEAD").map_err(|_| GitError::damaged("HEAD"))?))
        }
        _ => Err(GitError::Empty { url }),
    }
}

/// Returns the commit with a full id.
fn choose_commit(
    source: &GitSource,
    reference: &GitRef,
    format: gix_hash::Kind,
) -> Result<ChosenCommit, GitError> {
    let id = reference.as_commit().and_then(|hex| ObjectId::from_hex(hex.as_bytes()).ok());
    match id.filter(|id| id.kind() == format) {
        Some(id) => Ok(ChosenCommit { request: id, commit: id, resolved: ResolvedRef::Commit }),
        None => Err(Refs::default().unknown_ref(source.url.to_string(), reference)),
    }
}

/// Recognizes the message of a server that does not have the requested commit.
fn unknown_commit(error: GitError, source: &GitSource, chosen: &ChosenCommit) -> GitError {
    match (&error, &source.reference) {
        (GitError::Rejected { message }, Some(reference))
            if chosen.resolved == ResolvedRef::Commit && message.contains("not our ref") =>
        {
            Refs::default().unknown_ref(source.url.to_string(), reference)
        }
        _ => error,
    }
}
