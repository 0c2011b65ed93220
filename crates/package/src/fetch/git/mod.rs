//! Repositories, fetched without any program `git` and never checked out.
//!
//! ```text
//! GitUrl ─ https, ssh ─► wire ─► pack ─► scratch folder ┐
//!        ─ file ───────────────► local ─────────────────┴─► GitTree, a Tree
//! ```
//!
//! What must always hold: nothing that a repository holds or says is run, here or by a program that is started here;
//! what comes from a server is hashed before it is read; every read has a bound.

mod error;
mod https;
mod local;
mod meter;
mod pack;
mod packet;
mod reference;
mod refs;
mod ssh;
mod tree;
mod url;
mod wire;

use std::path::Path;
use std::sync::Arc;

use gix_hash::ObjectId;

pub use error::GitError;
pub use reference::{GitRef, RefError};
pub use refs::Resolved;
pub use ssh::SshProgram;
pub use tree::GitTree;
pub use url::{GitUrl, Local, UrlError};

pub use crate::fetch::http::Timeouts;

use crate::Work;
use prowess_archive::InnerPath;
use refs::{Chosen, Refs};
use tree::Objects;
use url::Place;
use wire::{Link, Server};

/// What to fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSource {
    /// Where the repository is.
    pub url: GitUrl,
    /// Which branch, tag or commit; the repository's own branch if there is none.
    pub reference: Option<GitRef>,
    /// The folder in it that counts. Only that is looked through.
    pub inner: Option<InnerPath>,
}

/// How to fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitOptions {
    /// How long a server is waited for.
    pub timeouts: Timeouts,
    /// What connects by ssh.
    pub ssh: SshProgram,
}

impl Default for GitOptions {
    /// The usual times, and the `ssh` that the environment names as it does for git.
    fn default() -> Self {
        Self { timeouts: Timeouts::default(), ssh: SshProgram::from_env() }
    }
}

/// A commit and its files.
#[derive(Debug)]
pub struct Fetched {
    /// All digits of the commit.
    pub commit: String,
    /// How what was asked for was understood.
    pub resolved: Resolved,
    /// Its files.
    pub tree: GitTree,
}

/// Fetches one commit without its history. What comes is kept in `scratch`, an empty folder of the caller's, for as
/// long as the result is in use; a repository on this machine is read where it is.
pub fn fetch(
    source: &GitSource,
    scratch: &Path,
    options: &GitOptions,
    work: &Arc<Work>,
) -> Result<Fetched, GitError> {
    let (objects, chosen) = match &source.url.0 {
        Place::Local(folder) => local(source, folder)?,
        Place::Https(_) | Place::Ssh(_) => remote(source, scratch, options, work)?,
    };
    let name = source.reference.as_ref().map_or("HEAD", GitRef::as_str);
    let commit = objects.commit(chosen.commit, name)?;
    work.step("looking through the repository", 0);
    let tree = GitTree::list(objects, &commit, source.inner.as_ref(), work)?;
    Ok(Fetched { commit: commit.to_string(), resolved: chosen.resolved, tree })
}

/// Asks which commit would be fetched, and fetches nothing. A commit is itself, and nobody is asked.
pub fn resolve(
    source: &GitSource,
    options: &GitOptions,
    work: &Arc<Work>,
) -> Result<(String, Resolved), GitError> {
    if let Some(commit) = source.reference.as_ref().and_then(GitRef::as_commit) {
        return Ok((commit, Resolved::Commit));
    }
    let chosen = match &source.url.0 {
        Place::Local(folder) => {
            let (objects, chosen) = local(source, folder)?;
            let name = source.reference.as_ref().map_or("HEAD", GitRef::as_str);
            Chosen { commit: objects.commit(chosen.commit, name)?, ..chosen }
        }
        Place::Https(_) | Place::Ssh(_) => {
            work.step("asking the server", 0);
            let mut link = link(source, options, work)?;
            choose(source, &mut Server::greet(link.as_mut())?)?
        }
    };
    Ok((chosen.commit.to_string(), chosen.resolved))
}

fn link(source: &GitSource, options: &GitOptions, work: &Arc<Work>) -> Result<Box<dyn Link>, GitError> {
    let url = source.url.to_string();
    match &source.url.0 {
        Place::Https(https) => Ok(Box::new(https::Https::new(https, options.timeouts, work))),
        Place::Ssh(ssh) => {
            Ok(Box::new(ssh::Connection::open(ssh, url, &options.ssh, options.timeouts, work)?))
        }
        Place::Local(_) => Err(GitError::NotGit { url, why: "it is on this machine".to_owned() }),
    }
}

fn remote(
    source: &GitSource,
    scratch: &Path,
    options: &GitOptions,
    work: &Arc<Work>,
) -> Result<(Objects, Chosen), GitError> {
    work.step("asking the server", 0);
    let mut link = link(source, options, work)?;
    let mut server = Server::greet(link.as_mut())?;
    let format = server.format();
    let chosen = match &source.reference {
        Some(reference) if reference.as_commit().is_some() => exact(source, reference, format)?,
        _ => choose(source, &mut server)?,
    };
    work.step("receiving", 0);
    let incoming = server.pack(chosen.want).map_err(|error| unknown_commit(error, source, &chosen))?;
    let filtered = incoming.filtered;
    let objects = pack::keep(incoming.pack, scratch, format, work);
    let objects = objects.map_err(|error| unknown_commit(error, source, &chosen))?;
    Ok((Objects::open(objects, format, filtered)?, chosen))
}

fn local(source: &GitSource, folder: &Path) -> Result<(Objects, Chosen), GitError> {
    let url = source.url.to_string();
    let repository = local::Repository::open(folder, url.clone())?;
    let refs = repository.refs(source.reference.as_ref(), false)?;
    let some = refs.head.or_else(|| refs.all.first().map(|one| one.id));
    let exact_id = source.reference.as_ref().and_then(GitRef::as_commit);
    // The length of a hash says which it is.
    let format = match (&exact_id, some) {
        (_, Some(id)) => id.kind(),
        (Some(hex), None) if hex.len() == 64 => gix_hash::Kind::Sha256,
        _ => gix_hash::Kind::Sha1,
    };
    let objects = Objects::open(repository.objects(), format, false)?;
    let chosen = match &source.reference {
        Some(reference) if exact_id.is_some() => {
            let chosen = exact(source, reference, format)?;
            if !objects.has(&chosen.commit) {
                return Err(repository.refs(None, true)?.unknown(url, reference));
            }
            chosen
        }
        reference => match (refs.choose(reference.as_ref()), reference) {
            (Some(chosen), _) => chosen,
            (None, Some(reference)) if reference.as_str() != "HEAD" => {
                return Err(repository.refs(None, true)?.unknown(url, reference));
            }
            (None, _) => return Err(GitError::Empty { url }),
        },
    };
    Ok((objects, chosen))
}

/// Which commit a server has for what is asked for.
fn choose(source: &GitSource, server: &mut Server<'_>) -> Result<Chosen, GitError> {
    let reference = source.reference.as_ref();
    let refs = server.refs(&Refs::wanted(reference))?;
    if let Some(chosen) = refs.choose(reference) {
        return Ok(chosen);
    }
    let url = source.url.to_string();
    let all = server.refs(&["refs/heads/".to_owned(), "refs/tags/".to_owned()])?;
    match reference {
        Some(reference) if !all.all.is_empty() => Err(all.unknown(url, reference)),
        // A branch that HEAD names and nobody has made: there are others to name.
        None if !all.all.is_empty() => {
            Err(all.unknown(url, &GitRef::parse("HEAD").map_err(|_| GitError::damaged("HEAD"))?))
        }
        _ => Err(GitError::Empty { url }),
    }
}

/// A commit that was named by its hash.
fn exact(source: &GitSource, reference: &GitRef, format: gix_hash::Kind) -> Result<Chosen, GitError> {
    let id = reference.as_commit().and_then(|hex| ObjectId::from_hex(hex.as_bytes()).ok());
    match id.filter(|id| id.kind() == format) {
        Some(id) => Ok(Chosen { want: id, commit: id, resolved: Resolved::Commit }),
        None => Err(Refs::default().unknown(source.url.to_string(), reference)),
    }
}

/// A server that does not have what was asked for by its hash says so in words.
fn unknown_commit(error: GitError, source: &GitSource, chosen: &Chosen) -> GitError {
    match (&error, &source.reference) {
        (GitError::Refused { message }, Some(reference))
            if chosen.resolved == Resolved::Commit && message.contains("not our ref") =>
        {
            Refs::default().unknown(source.url.to_string(), reference)
        }
        _ => error,
    }
}
