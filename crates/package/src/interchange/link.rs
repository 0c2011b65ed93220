//! Makes an installed skill available to other agents with symlinks or copies.
//!
//! Invariants: nothing is overwritten, except a symlink to the same skill; a symlink or copy appears completely or
//! not at all; only symlinks to the skill are removed.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use prowess::{ErrorCode, HashedTree};

use super::copies::{copy_to_staging, staging_path};
use crate::agents::{AGENTS, KnownAgent};

/// How a skill is made available to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkMode {
    /// With a relative symlink.
    Symlink,
    /// With a copy, for agents and systems that do not follow symlinks.
    Copy,
}

/// The scope of an agent's directory: a project or a home directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentScope<'p> {
    /// This project.
    Project(&'p Path),
    /// This home directory.
    Home(&'p Path),
}

impl AgentScope<'_> {
    /// Returns the skill directory of an agent; `None` if it has none in this scope.
    pub fn agent_dir(self, agent: &KnownAgent) -> Option<PathBuf> {
        match self {
            Self::Project(project) => Some(project.join(agent.project)),
            Self::Home(home) => agent.home.map(|inner| home.join(inner)),
        }
    }
}

/// The step that makes a skill available to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkPlan {
    /// Nothing to do: the agent reads the directory of the skill.
    SameDirectory,
    /// Nothing to do: the symlink or copy exists.
    Exists(PathBuf),
    /// Create a symlink.
    Symlink {
        /// The path of the symlink.
        path: PathBuf,
        /// The target, relative to the directory of the symlink.
        target: PathBuf,
    },
    /// Create a copy.
    Copy {
        /// The path of the copy.
        path: PathBuf,
    },
}

/// The reason why a skill was not linked or unlinked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The directory contains no skill.
    #[error("no skill in {}", .0.display())]
    NoSkill(PathBuf),
    /// The agent has no skill directory in the home directory.
    #[error("{0} has no skill directory in the home directory")]
    NoHomeDir(&'static str),
    /// The path is in use.
    #[error("{} already exists and is not a symlink to this skill", .0.display())]
    Conflict(PathBuf),
    /// A symlink on the path points out of the project.
    #[error("{} is outside of {}", path.display(), base.display())]
    Outside {
        /// The agent's directory.
        path: PathBuf,
        /// The project or home directory.
        base: PathBuf,
    },
    /// The skill cannot be copied.
    #[error("cannot copy {}: {reason}", path.display())]
    NotCopyable {
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// An I/O error.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl LinkError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoSkill(_) => ErrorCode::NotFound,
            Self::NoHomeDir(_) => ErrorCode::InvalidParam,
            Self::Conflict(_) => ErrorCode::Conflict,
            Self::Outside { .. } => ErrorCode::AccessDenied,
            Self::NotCopyable { .. } => ErrorCode::TooLarge,
            Self::Io { .. } => ErrorCode::PermissionDenied,
        }
    }
}

/// Plans how to make a skill available to an agent. `skill` is the installed directory; the symlink has its name.
pub fn plan_link(
    skill: &Path,
    agent: &KnownAgent,
    scope: AgentScope<'_>,
    mode: LinkMode,
) -> Result<LinkPlan, LinkError> {
    if !skill.join("SKILL.md").is_file() {
        return Err(LinkError::NoSkill(skill.to_owned()));
    }
    plan_link_before_install(skill, agent, scope, mode)
}

/// Plans how to make a skill available that is not installed yet; see [`plan_link`].
pub fn plan_link_before_install(
    skill: &Path,
    agent: &KnownAgent,
    scope: AgentScope<'_>,
    mode: LinkMode,
) -> Result<LinkPlan, LinkError> {
    let real = canonicalize_existing_part(skill);
    let name = skill.file_name().ok_or_else(|| LinkError::NoSkill(skill.to_owned()))?;
    let dir = scope.agent_dir(agent).ok_or(LinkError::NoHomeDir(agent.id))?;
    let dir = resolve_agent_dir(&dir, scope)?;
    if real.parent() == Some(&dir) {
        return Ok(LinkPlan::SameDirectory);
    }
    let at = dir.join(name);
    match fs::symlink_metadata(&at) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(match mode {
            LinkMode::Symlink => LinkPlan::Symlink { target: relative_path(&dir, &real), path: at },
            LinkMode::Copy => LinkPlan::Copy { path: at },
        }),
        Err(source) => Err(LinkError::Io { path: at, source }),
        Ok(metadata) if metadata.is_symlink() && is_ours(&at, &dir, &real) => Ok(LinkPlan::Exists(at)),
        Ok(metadata) if metadata.is_dir() && mode == LinkMode::Copy && is_copy(&at, &real) => {
            Ok(LinkPlan::Exists(at))
        }
        Ok(_) => Err(LinkError::Conflict(at)),
    }
}

/// Performs a plan. Does not overwrite a path that was created in the meantime.
pub fn apply_link(skill: &Path, plan: &LinkPlan) -> Result<(), LinkError> {
    let (at, link_target) = match plan {
        LinkPlan::SameDirectory | LinkPlan::Exists(_) => return Ok(()),
        LinkPlan::Symlink { path: at, target: to } => (at, Some(to)),
        LinkPlan::Copy { path: at } => (at, None),
    };
    let io = |path: &Path, source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => LinkError::Conflict(at.clone()),
        _ => LinkError::Io { path: path.to_owned(), source },
    };
    if let Some(dir) = at.parent() {
        fs::create_dir_all(dir).map_err(|source| io(dir, source))?;
    }
    match link_target {
        // Creating a symlink is atomic and fails if the path exists.
        Some(to) => prowess_fs::create_symlink(to, at).map_err(|source| io(at, source)),
        None => {
            let staging = staging_path(at);
            let result = copy_to_staging(skill, &staging).and_then(|()| match fs::symlink_metadata(at) {
                // A rename would replace an empty directory.
                Ok(_) => Err(LinkError::Conflict(at.clone())),
                Err(_) => fs::rename(&staging, at).map_err(|source| io(at, source)),
            });
            if result.is_err() {
                let _ = fs::remove_dir_all(&staging);
            }
            result
        }
    }
}

/// Removes an agent's symlink to a skill and returns its path. Anything else is not removed.
pub fn unlink(skill: &Path, agent: &KnownAgent, scope: AgentScope<'_>) -> Result<Option<PathBuf>, LinkError> {
    let Some(at) = find_link(skill, agent, scope)? else { return Ok(None) };
    fs::remove_file(&at).map_err(|source| LinkError::Io { path: at.clone(), source })?;
    Ok(Some(at))
}

/// Returns the path of an agent's symlink to a skill.
pub fn find_link(
    skill: &Path,
    agent: &KnownAgent,
    scope: AgentScope<'_>,
) -> Result<Option<PathBuf>, LinkError> {
    let Some(dir) = scope.agent_dir(agent) else { return Ok(None) };
    let (Ok(dir), Some(name)) = (resolve_agent_dir(&dir, scope), skill.file_name()) else {
        return Ok(None);
    };
    let at = dir.join(name);
    Ok(is_ours(&at, &dir, &canonicalize_existing_part(skill)).then_some(at))
}

/// Returns the agents that have a skill through a symlink or because they read its directory.
pub fn agents_with(skill: &Path, scope: AgentScope<'_>) -> Vec<&'static KnownAgent> {
    let Ok(real) = fs::canonicalize(skill) else { return Vec::new() };
    let has = |agent: &&KnownAgent| {
        let dir = scope.agent_dir(agent);
        let at = dir.and_then(|dir| Some(dir.join(skill.file_name()?)));
        at.is_some_and(|at| resolves_to(&at, &real))
    };
    AGENTS.iter().filter(has).collect()
}

/// Returns `true` if the path is a symlink to the skill, which may not exist.
fn is_ours(at: &Path, dir: &Path, real: &Path) -> bool {
    fs::read_link(at).is_ok_and(|target| target == relative_path(dir, real) || resolves_to(at, real))
}

/// Returns `true` if two directories have the same contents.
fn is_copy(one: &Path, other: &Path) -> bool {
    let tree = |dir| HashedTree::from_dir(dir).ok().map(|tree| tree.hash());
    tree(one).is_some_and(|hash| tree(other) == Some(hash))
}

fn resolves_to(path: &Path, real: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|found| found == real)
}

/// Returns the agent's directory without symlinks; it may not exist. In a project, it must be inside the project.
pub(super) fn resolve_agent_dir(dir: &Path, scope: AgentScope<'_>) -> Result<PathBuf, LinkError> {
    let resolved = canonicalize_existing_part(dir);
    if let AgentScope::Project(project) = scope
        && !resolved.starts_with(canonicalize_existing_part(project))
    {
        return Err(LinkError::Outside { path: dir.to_owned(), base: project.to_owned() });
    }
    Ok(resolved)
}

/// Resolves symlinks in the existing part of a path.
pub(super) fn canonicalize_existing_part(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|ancestor| Some((ancestor, fs::canonicalize(ancestor).ok()?)));
    match existing {
        Some((ancestor, real)) => real.join(path.strip_prefix(ancestor).unwrap_or(Path::new(""))),
        None => path.to_owned(),
    }
}

/// Returns the relative path from one directory to another, both without symlinks.
fn relative_path(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(to.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests;
