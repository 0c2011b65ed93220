//! Brings the directories of other agents in line with the lock file: creates missing symlinks to installed skills, and
//! removes symlinks to skills that do not exist any more.

use std::path::{Path, PathBuf};

use prowess::lock::{LinkAction, LockEntry, LockFile};

use crate::agents::{AGENTS, KnownAgent};
use crate::error::PackageError;
use crate::install_target::verify::{InstalledState, check_dir, is_accepted};
use crate::install_target::{InstallTarget, LinkChange, LinkEffect, remove_dangling_links};
use crate::interchange::link::{self, AgentScope, LinkError, LinkMode, LinkPlan};

/// What [`sync_agents`] did, or would do.
#[derive(Debug, Default)]
pub struct SyncReport {
    /// The names of the installed skills.
    pub skills: Vec<String>,
    /// The state of each skill for each agent, by skill.
    pub links: Vec<SyncedLink>,
    /// Skills of the lock file without a directory.
    pub missing: Vec<String>,
}

/// A skill in the directory of an agent.
#[derive(Debug)]
pub struct SyncedLink {
    /// The name of the skill.
    pub skill: String,
    /// The agent.
    pub agent: &'static KnownAgent,
    /// The path in the agent's directory.
    pub path: PathBuf,
    /// What happened.
    pub outcome: SyncOutcome,
}

/// What happened to a skill in the directory of an agent.
#[derive(Debug)]
pub enum SyncOutcome {
    /// The agent reads the directory of the skill.
    SameDirectory,
    /// The symlink or copy existed.
    Exists,
    /// A symlink or copy was created.
    Created(LinkMode),
    /// A symlink to a skill that does not exist any more was removed.
    Removed,
    /// The skill could not be linked.
    Failed(LinkError),
}

impl SyncReport {
    /// Returns `true` if nothing was changed and nothing failed.
    pub fn is_in_line(&self) -> bool {
        let unchanged =
            |link: &SyncedLink| matches!(link.outcome, SyncOutcome::SameDirectory | SyncOutcome::Exists);
        self.missing.is_empty() && self.links.iter().all(unchanged)
    }

    /// Returns `true` if a skill is missing or could not be linked.
    pub fn has_failures(&self) -> bool {
        let failed = |link: &SyncedLink| matches!(link.outcome, SyncOutcome::Failed(_));
        !self.missing.is_empty() || self.links.iter().any(failed)
    }
}

/// Whether changes are made or only reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncMode {
    /// Make the changes.
    Apply,
    /// Only report them.
    DryRun,
}

/// Links the skills of a target for these agents, and removes symlinks of all agents to skills that are gone. A skill that
/// differs from the lock file is not linked, unless the user accepted its files. `scope` is that of the target. Can be
/// repeated.
pub fn sync_agents(
    target: &InstallTarget,
    agents: &[&'static KnownAgent],
    scope: AgentScope<'_>,
    mode: SyncMode,
) -> Result<SyncReport, PackageError> {
    let applied = mode == SyncMode::Apply;
    let _guard = match applied {
        true => {
            target.clean_up()?;
            // Without a lock file, there may still be symlinks of removed skills; only changes need the lock.
            target.lock_path.exists().then(|| target.lock()).transpose()?
        }
        false => None,
    };
    let lock = LockFile::read(&target.lock_path)?;
    let mut report = SyncReport::default();
    let mut skill_dirs: Vec<PathBuf> = Vec::new();
    for entry in &lock.skills {
        let dir = target.dir(entry)?;
        if let Some(parent) = dir.parent().filter(|parent| !skill_dirs.iter().any(|dir| dir == parent)) {
            skill_dirs.push(parent.to_owned());
        }
        report.skills.push(entry.name.clone());
        let state = check_dir(&dir, entry);
        // A directory that was replaced by a symlink is not the locked skill.
        if matches!(state, InstalledState::Missing | InstalledState::Symlink) {
            report.missing.push(entry.name.clone());
            continue;
        }
        let difference = match state {
            InstalledState::Modified(comparison) if !is_accepted(target, &dir) => {
                Some(comparison.to_string())
            }
            _ => None,
        };
        let skill = SyncedSkill { entry, dir: &dir, difference };
        let linked = agents.iter().filter_map(|agent| {
            let path = scope.agent_dir(agent)?.join(&entry.name);
            Some(skill.sync(agent, path, scope, applied.then_some((target, &lock))))
        });
        report.links.extend(linked);
    }
    report.links.extend(remove_links(target, &skill_dirs, scope, applied));
    Ok(report)
}

/// An installed skill to link.
struct SyncedSkill<'a> {
    entry: &'a LockEntry,
    dir: &'a Path,
    /// How it differs from the lock file, if it does.
    difference: Option<String>,
}

impl SyncedSkill<'_> {
    /// Links the skill for an agent at a path. Without a target, nothing is changed.
    fn sync(
        &self,
        agent: &'static KnownAgent,
        path: PathBuf,
        scope: AgentScope<'_>,
        target: Option<(&InstallTarget, &LockFile)>,
    ) -> SyncedLink {
        let name = self.entry.name.clone();
        let planned = link::plan_link(self.dir, agent, scope, LinkMode::Symlink);
        let (path, outcome) = match (planned, &self.difference) {
            (Ok(LinkPlan::SameDirectory), _) => (self.dir.to_owned(), SyncOutcome::SameDirectory),
            (Ok(LinkPlan::Exists(path)), _) => (path, SyncOutcome::Exists),
            (Ok(LinkPlan::Symlink { .. } | LinkPlan::Copy { .. }), Some(difference)) => {
                (path, SyncOutcome::Failed(LinkError::Modified(difference.clone())))
            }
            (Ok(LinkPlan::Symlink { path, .. } | LinkPlan::Copy { path }), None) => {
                let change = LinkChange { path, skill: self.dir.to_owned(), action: LinkAction::Symlink };
                let outcome = match target.map(|(target, lock)| change.perform(target, lock)) {
                    None => SyncOutcome::Created(LinkMode::Symlink),
                    Some(Ok(LinkEffect::Created(mode))) => SyncOutcome::Created(mode),
                    // Another process created it in the meantime.
                    Some(Ok(_)) => SyncOutcome::Exists,
                    Some(Err(error)) => SyncOutcome::Failed(error),
                };
                (change.path, outcome)
            }
            (Err(error), _) => (path, SyncOutcome::Failed(error)),
        };
        SyncedLink { skill: name, agent, path, outcome }
    }
}

/// Removes the symlinks of all agents to skills of this target that do not exist any more.
fn remove_links(
    target: &InstallTarget,
    skill_dirs: &[PathBuf],
    scope: AgentScope<'_>,
    applied: bool,
) -> Vec<SyncedLink> {
    let mut visited: Vec<PathBuf> = Vec::new();
    let mut removed = Vec::new();
    for agent in AGENTS {
        let Some(Ok(dir)) = scope.agent_dir(agent).map(|dir| link::resolve_agent_dir(&dir, scope)) else {
            continue;
        };
        if visited.contains(&dir) {
            continue;
        }
        let paths = remove_dangling_links(target, &dir, skill_dirs, applied);
        removed.extend(paths.into_iter().map(|path| SyncedLink {
            skill: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            agent,
            path,
            outcome: SyncOutcome::Removed,
        }));
        visited.push(dir);
    }
    removed
}
