//! Makes an installed skill available to other agents with symlinks or copies.
//!
//! Invariants: nothing is overwritten, except a symlink to the same skill; a symlink or copy appears completely or
//! not at all; only symlinks to the skill are removed.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use prowess::{ErrorCode, HashedTree};

use super::copies::{copy_to_staging, staging_path};
use crate::agents::{AGENTS, AgentHome, KnownAgent};
use crate::containment::{NotContained, resolve_within};

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
    Home(&'p AgentHome),
}

impl AgentScope<'_> {
    /// Returns the skill directory of an agent; `None` if it has none in this scope.
    pub fn agent_dir(self, agent: &KnownAgent) -> Option<PathBuf> {
        match self {
            Self::Project(project) => Some(project.join(agent.project)),
            Self::Home(home) => agent.home_dir(home),
        }
    }

    /// Returns the directories in which an agent finds skills, its own first.
    pub fn read_dirs(self, agent: &KnownAgent) -> Vec<PathBuf> {
        match self {
            Self::Project(project) => agent.project_dirs(project),
            Self::Home(home) => agent.home_dirs(home),
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
    /// A symlink on the path points out of the project, or into its `.git`.
    #[error("cannot write to {}: {reason}", path.display())]
    Outside {
        /// The agent's directory.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// The skill is not as it was installed.
    #[error("it was modified since it was installed: {0}")]
    Modified(String),
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

impl From<NotContained> for LinkError {
    fn from(NotContained { path, reason }: NotContained) -> Self {
        Self::Outside { path, reason }
    }
}

impl LinkError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoSkill(_) => ErrorCode::NotFound,
            Self::NoHomeDir(_) => ErrorCode::InvalidParam,
            Self::Conflict(_) | Self::Modified(_) => ErrorCode::Conflict,
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
    let canonical = canonicalize_existing_part(skill);
    let name = skill.file_name().ok_or_else(|| LinkError::NoSkill(skill.to_owned()))?;
    let contains_skill = |dir: &PathBuf| {
        resolve_agent_dir(dir, scope).is_ok_and(|dir| canonical.parent() == Some(dir.as_path()))
    };
    if scope.read_dirs(agent).iter().any(contains_skill) {
        return Ok(LinkPlan::SameDirectory);
    }
    let dir = scope.agent_dir(agent).ok_or(LinkError::NoHomeDir(agent.id))?;
    plan_link_at(skill, &resolve_agent_dir(&dir, scope)?.join(name), mode)
}

/// Plans a symlink or copy of a skill at a path, whose directory must be without symlinks.
pub(crate) fn plan_link_at(skill: &Path, path: &Path, mode: LinkMode) -> Result<LinkPlan, LinkError> {
    let canonical = canonicalize_existing_part(skill);
    let (path, dir) = (path.to_owned(), path.parent().unwrap_or(path));
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(match mode {
            LinkMode::Symlink => LinkPlan::Symlink { target: relative_path(dir, &canonical), path },
            LinkMode::Copy => LinkPlan::Copy { path },
        }),
        Err(source) => Err(LinkError::Io { path, source }),
        Ok(metadata) if metadata.is_symlink() && is_ours(&path, dir, &canonical) => {
            Ok(LinkPlan::Exists(path))
        }
        Ok(metadata) if metadata.is_dir() && is_copy(&path, &canonical) => Ok(LinkPlan::Exists(path)),
        Ok(_) => Err(LinkError::Conflict(path)),
    }
}

/// Returns `true` if the path is a symlink to a skill, which may not exist.
pub(crate) fn is_link_to(path: &Path, skill: &Path) -> bool {
    path.parent().is_some_and(|dir| is_ours(path, dir, &canonicalize_existing_part(skill)))
}

/// Performs a plan, and returns what was created. Does not overwrite a path that was created in the meantime. On file systems
/// without symlinks, the skill is copied instead.
pub fn apply_link(skill: &Path, plan: &LinkPlan) -> Result<Option<LinkMode>, LinkError> {
    apply_link_with(skill, plan, prowess_fs::create_symlink)
}

/// Performs a plan with this function for symlinks; see [`apply_link`].
fn apply_link_with(
    skill: &Path,
    plan: &LinkPlan,
    create_symlink: impl Fn(&Path, &Path) -> io::Result<()>,
) -> Result<Option<LinkMode>, LinkError> {
    let (path, link_target) = match plan {
        LinkPlan::SameDirectory | LinkPlan::Exists(_) => return Ok(None),
        LinkPlan::Symlink { path, target } => (path, Some(target)),
        LinkPlan::Copy { path } => (path, None),
    };
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(|source| link_error(path, dir, source))?;
    }
    // Creating a symlink is atomic and fails if the path exists.
    let failed = match link_target.map(|target| create_symlink(target, path)) {
        Some(Ok(())) => return Ok(Some(LinkMode::Symlink)),
        Some(Err(error)) => match link_error(path, path, error) {
            error @ LinkError::Conflict(_) => return Err(error),
            error => Some(error),
        },
        None => None,
    };
    match (create_copy(skill, path), failed) {
        (Ok(()), _) => Ok(Some(LinkMode::Copy)),
        (Err(_), Some(error)) | (Err(error), None) => Err(error),
    }
}

fn create_copy(skill: &Path, path: &Path) -> Result<(), LinkError> {
    let staging = staging_path(path);
    let result = copy_to_staging(skill, &staging).and_then(|()| match fs::symlink_metadata(path) {
        // A rename would replace an empty directory.
        Ok(_) => Err(LinkError::Conflict(path.to_owned())),
        Err(_) => fs::rename(&staging, path).map_err(|source| link_error(path, path, source)),
    });
    if result.is_err() {
        let _ = fs::remove_dir_all(&staging);
    }
    result
}

/// Returns the error for a path that could not be created. `failed` is the path of the call.
fn link_error(path: &Path, failed: &Path, source: io::Error) -> LinkError {
    match source.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => {
            LinkError::Conflict(path.to_owned())
        }
        _ => LinkError::Io { path: failed.to_owned(), source },
    }
}

/// Removes an agent's symlink to a skill and returns its path. Anything else is not removed.
pub fn unlink(skill: &Path, agent: &KnownAgent, scope: AgentScope<'_>) -> Result<Option<PathBuf>, LinkError> {
    let Some(path) = find_link(skill, agent, scope)? else { return Ok(None) };
    fs::remove_file(&path).map_err(|source| LinkError::Io { path: path.clone(), source })?;
    Ok(Some(path))
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
    let path = dir.join(name);
    Ok(is_ours(&path, &dir, &canonicalize_existing_part(skill)).then_some(path))
}

/// Returns the agents that have a skill through a symlink or because they read its directory.
pub fn agents_with(skill: &Path, scope: AgentScope<'_>) -> Vec<&'static KnownAgent> {
    let Ok(canonical) = fs::canonicalize(skill) else { return Vec::new() };
    let Some(name) = skill.file_name() else { return Vec::new() };
    let has_skill = |agent: &&KnownAgent| {
        scope.read_dirs(agent).iter().any(|dir| resolves_to(&dir.join(name), &canonical))
    };
    AGENTS.iter().filter(has_skill).collect()
}

/// Returns `true` if the path is a symlink to the skill, which may not exist.
fn is_ours(path: &Path, dir: &Path, canonical: &Path) -> bool {
    fs::read_link(path)
        .is_ok_and(|target| target == relative_path(dir, canonical) || resolves_to(path, canonical))
}

/// Returns `true` if two directories have the same contents.
fn is_copy(a: &Path, b: &Path) -> bool {
    let tree = |dir| HashedTree::from_dir(dir).ok().map(|tree| tree.hash());
    tree(a).is_some_and(|hash| tree(b) == Some(hash))
}

fn resolves_to(path: &Path, canonical: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|resolved| resolved == canonical)
}

/// Returns the agent's directory without symlinks; it may not exist. In a project, it must be inside the project, and not in
/// its `.git`.
pub(crate) fn resolve_agent_dir(dir: &Path, scope: AgentScope<'_>) -> Result<PathBuf, LinkError> {
    match scope {
        AgentScope::Project(project) => Ok(resolve_within(project, dir)?),
        AgentScope::Home(_) => Ok(canonicalize_existing_part(dir)),
    }
}

/// Resolves symlinks in the existing part of a path.
pub(crate) fn canonicalize_existing_part(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|ancestor| Some((ancestor, fs::canonicalize(ancestor).ok()?)));
    match existing {
        Some((ancestor, canonical)) => canonical.join(path.strip_prefix(ancestor).unwrap_or(Path::new(""))),
        None => path.to_owned(),
    }
}

/// Returns the relative path from one directory to another, both without symlinks.
pub(crate) fn relative_path(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(to.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests;
