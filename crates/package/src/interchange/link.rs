//! One skill in the folders of several agents: links to where it is installed, or copies of it.
//!
//! What must always hold: nothing that is there is overwritten, unless it is a link to the same skill; a link or a copy is
//! seen whole or not at all; and only links that lead to the skill are removed.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use prowess::{ErrorCode, HashedTree};

use super::copies::{copied, staged};
use crate::agents::{AGENTS, Agent};

/// How a skill comes into an agent's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// As a relative link.
    Link,
    /// As a copy, for agents and systems that do not follow links.
    Copy,
}

/// Whose folders: those of a project or those of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'p> {
    /// Of this project.
    Project(&'p Path),
    /// Of this home.
    Home(&'p Path),
}

impl Place<'_> {
    /// Where an agent keeps skills here; `None` where it keeps none.
    pub fn folder(self, agent: &Agent) -> Option<PathBuf> {
        match self {
            Self::Project(project) => Some(project.join(agent.project)),
            Self::Home(home) => agent.home.map(|inner| home.join(inner)),
        }
    }
}

/// What is to be done, or was there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// The agent reads the folder in which the skill is.
    SameFolder,
    /// A link to the skill is there.
    There(PathBuf),
    /// A link is to be made.
    Link {
        /// Where.
        at: PathBuf,
        /// To where, relative to its folder.
        to: PathBuf,
    },
    /// A copy is to be made.
    Copy {
        /// Where.
        at: PathBuf,
    },
}

/// Why nothing was linked or unlinked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The skill is not there.
    #[error("there is no skill in {}", .0.display())]
    NoSkill(PathBuf),
    /// The agent keeps no skills in the home.
    #[error("{0} keeps no skills in the home")]
    NoFolder(&'static str),
    /// Something else is there.
    #[error("{} is there already and is not a link to this skill", .0.display())]
    Conflict(PathBuf),
    /// A step on the way is a link that leads out of the project.
    #[error("{} leads out of {}", path.display(), base.display())]
    Outside {
        /// The agent's folder.
        path: PathBuf,
        /// The project or home.
        base: PathBuf,
    },
    /// More than a skill may be.
    #[error("{} is no skill that can be copied: {why}", path.display())]
    Unfit {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl LinkError {
    /// For programs.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoSkill(_) => ErrorCode::NotFound,
            Self::NoFolder(_) => ErrorCode::InvalidParam,
            Self::Conflict(_) => ErrorCode::Conflict,
            Self::Outside { .. } => ErrorCode::AccessDenied,
            Self::Unfit { .. } => ErrorCode::TooLarge,
            Self::Io { .. } => ErrorCode::PermissionDenied,
        }
    }
}

/// Decides what it takes for an agent to have a skill. `skill` is the installed folder; the link is named after it.
pub fn plan(skill: &Path, agent: &Agent, place: Place<'_>, how: How) -> Result<Plan, LinkError> {
    if !skill.join("SKILL.md").is_file() {
        return Err(LinkError::NoSkill(skill.to_owned()));
    }
    foresee(skill, agent, place, how)
}

/// The same for a skill that is yet to be installed.
pub fn foresee(skill: &Path, agent: &Agent, place: Place<'_>, how: How) -> Result<Plan, LinkError> {
    let real = canonical(skill);
    let name = skill.file_name().ok_or_else(|| LinkError::NoSkill(skill.to_owned()))?;
    let folder = place.folder(agent).ok_or(LinkError::NoFolder(agent.id))?;
    let folder = resolved(&folder, place)?;
    if real.parent() == Some(&folder) {
        return Ok(Plan::SameFolder);
    }
    let at = folder.join(name);
    match fs::symlink_metadata(&at) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(match how {
            How::Link => Plan::Link { to: relative(&folder, &real), at },
            How::Copy => Plan::Copy { at },
        }),
        Err(source) => Err(LinkError::Io { path: at, source }),
        Ok(metadata) if metadata.is_symlink() && is_ours(&at, &folder, &real) => Ok(Plan::There(at)),
        Ok(metadata) if metadata.is_dir() && how == How::Copy && is_copy(&at, &real) => Ok(Plan::There(at)),
        Ok(_) => Err(LinkError::Conflict(at)),
    }
}

/// Does what was decided. Whoever came first with something else is not overwritten.
pub fn perform(skill: &Path, plan: &Plan) -> Result<(), LinkError> {
    let (at, how) = match plan {
        Plan::SameFolder | Plan::There(_) => return Ok(()),
        Plan::Link { at, to } => (at, Some(to)),
        Plan::Copy { at } => (at, None),
    };
    let io = |path: &Path, source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => LinkError::Conflict(at.clone()),
        _ => LinkError::Io { path: path.to_owned(), source },
    };
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder).map_err(|source| io(folder, source))?;
    }
    match how {
        // Making a link is one step, and fails where something is.
        Some(to) => prowess_fs::make_link(to, at).map_err(|source| io(at, source)),
        None => {
            let staged = staged(at);
            let copied = copied(skill, &staged).and_then(|()| match fs::symlink_metadata(at) {
                // A rename would take the place of an empty folder.
                Ok(_) => Err(LinkError::Conflict(at.clone())),
                Err(_) => fs::rename(&staged, at).map_err(|source| io(at, source)),
            });
            if copied.is_err() {
                let _ = fs::remove_dir_all(&staged);
            }
            copied
        }
    }
}

/// Removes an agent's link to a skill, and says where it was; whatever else is there stays.
pub fn unlink(skill: &Path, agent: &Agent, place: Place<'_>) -> Result<Option<PathBuf>, LinkError> {
    let Some(at) = linked(skill, agent, place)? else { return Ok(None) };
    fs::remove_file(&at).map_err(|source| LinkError::Io { path: at.clone(), source })?;
    Ok(Some(at))
}

/// Where an agent has a link to a skill.
pub fn linked(skill: &Path, agent: &Agent, place: Place<'_>) -> Result<Option<PathBuf>, LinkError> {
    let Some(folder) = place.folder(agent) else { return Ok(None) };
    let (Ok(folder), Some(name)) = (resolved(&folder, place), skill.file_name()) else { return Ok(None) };
    let at = folder.join(name);
    Ok(is_ours(&at, &folder, &canonical(skill)).then_some(at))
}

/// The agents that have a skill, through a link or because they read its folder.
pub fn agents_with(skill: &Path, place: Place<'_>) -> Vec<&'static Agent> {
    let Ok(real) = fs::canonicalize(skill) else { return Vec::new() };
    let has = |agent: &&Agent| {
        let folder = place.folder(agent);
        let at = folder.and_then(|folder| Some(folder.join(skill.file_name()?)));
        at.is_some_and(|at| leads_to(&at, &real))
    };
    AGENTS.iter().filter(has).collect()
}

/// Whether it is a link to the skill, which may not be there at the moment.
fn is_ours(at: &Path, folder: &Path, real: &Path) -> bool {
    fs::read_link(at).is_ok_and(|to| to == relative(folder, real) || leads_to(at, real))
}

/// Whether two folders hold the same.
fn is_copy(one: &Path, other: &Path) -> bool {
    let tree = |folder| HashedTree::of(folder).ok().map(|tree| tree.hash());
    tree(one).is_some_and(|hash| tree(other) == Some(hash))
}

fn leads_to(path: &Path, real: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|found| found == real)
}

/// The agent's folder without links, there or not. A project's must stay in it.
pub(super) fn resolved(folder: &Path, place: Place<'_>) -> Result<PathBuf, LinkError> {
    let resolved = canonical(folder);
    if let Place::Project(project) = place
        && !resolved.starts_with(canonical(project))
    {
        return Err(LinkError::Outside { path: folder.to_owned(), base: project.to_owned() });
    }
    Ok(resolved)
}

/// What is there of a path, without links, and the rest as it is.
pub(super) fn canonical(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
    match there {
        Some((above, real)) => real.join(path.strip_prefix(above).unwrap_or(Path::new(""))),
        None => path.to_owned(),
    }
}

/// The way from one folder to another, both without links.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(to.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests;
