//! Symlinks and copies of skills in the directories of other agents, as part of a change of installed skills.
//!
//! The lock file announces them together with the change, so that the next command completes those of a killed process. A
//! symlink or copy that cannot be created or removed does not stop the change: the skill itself is complete without it.

use std::fs;
use std::path::{Path, PathBuf};

use prowess::lock::{LinkAction, LockFile, PendingLink};

use super::InstallTarget;
use crate::interchange::copies::{is_copy_of, refresh_copy, remove_copy};
use crate::interchange::link::{self, LinkError, LinkMode};

/// A symlink or copy to create, replace or remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkChange {
    /// The path, in the directory of an agent.
    pub path: PathBuf,
    /// The directory of the skill.
    pub skill: PathBuf,
    /// What happens to it.
    pub action: LinkAction,
}

/// What happened to a symlink or copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkEffect {
    /// Nothing: it was as it should be.
    Unchanged,
    /// It was created.
    Created(LinkMode),
    /// The copy was replaced by the current files.
    Refreshed,
    /// It was removed.
    Removed(LinkMode),
}

impl LinkChange {
    pub(super) fn to_pending(&self, target: &InstallTarget) -> PendingLink {
        PendingLink {
            path: target.lock_key(&self.path),
            folder: target.lock_key(&self.skill),
            action: self.action,
        }
    }

    /// Returns the change that a lock file announces; `None` if one of its paths is not allowed.
    pub(super) fn from_pending(pending: &PendingLink, target: &InstallTarget) -> Option<Self> {
        let path = target.dir_for_key(&pending.path).ok()?;
        let skill = target.dir_for_key(&pending.folder).ok()?;
        Some(Self { path, skill, action: pending.action })
    }

    /// Performs the change. `before` has the tree hashes of unmodified copies. Can be repeated.
    pub(crate) fn perform(&self, target: &InstallTarget, before: &LockFile) -> Result<LinkEffect, LinkError> {
        // A symlink may have appeared on the path after the link was planned.
        target.check_contained(&self.path)?;
        let old_tree = before.entry(&target.lock_key(&self.skill)).map(|entry| entry.tree.as_str());
        let is_old_copy = || old_tree.is_some_and(|tree| is_copy_of(&self.path, tree));
        let mode = match self.action {
            LinkAction::Remove if link::is_link_to(&self.path, &self.skill) => {
                let failed = |source| LinkError::Io { path: self.path.clone(), source };
                fs::remove_file(&self.path).map_err(failed)?;
                return Ok(LinkEffect::Removed(LinkMode::Symlink));
            }
            LinkAction::Remove if is_old_copy() => {
                remove_copy(&self.path)?;
                return Ok(LinkEffect::Removed(LinkMode::Copy));
            }
            LinkAction::Remove => return Ok(LinkEffect::Unchanged),
            LinkAction::Symlink => LinkMode::Symlink,
            LinkAction::Copy => LinkMode::Copy,
        };
        // Another process may have removed the skill after the link was planned.
        if !self.skill.join("SKILL.md").is_file() {
            return Err(LinkError::NoSkill(self.skill.clone()));
        }
        match link::plan_link_at(&self.skill, &self.path, mode) {
            Ok(plan) => Ok(match link::apply_link(&self.skill, &plan)? {
                Some(mode) => LinkEffect::Created(mode),
                None => LinkEffect::Unchanged,
            }),
            Err(LinkError::Conflict(_)) if is_old_copy() => {
                refresh_copy(&self.path, &self.skill)?;
                Ok(LinkEffect::Refreshed)
            }
            Err(error) => Err(error),
        }
    }

    /// Restores the state before [`perform`](Self::perform), after the change of the skill was undone. Errors are ignored: the
    /// original error is reported.
    pub(super) fn undo(&self, effect: LinkEffect) {
        match effect {
            LinkEffect::Unchanged => {}
            LinkEffect::Created(LinkMode::Symlink) => drop(fs::remove_file(&self.path)),
            LinkEffect::Created(LinkMode::Copy) => drop(remove_copy(&self.path)),
            LinkEffect::Refreshed => drop(refresh_copy(&self.path, &self.skill)),
            LinkEffect::Removed(mode) => {
                let plan = link::plan_link_at(&self.skill, &self.path, mode);
                drop(plan.and_then(|plan| link::apply_link(&self.skill, &plan)));
            }
        }
    }
}

/// Removes the symlinks in a directory of an agent that lead to skills of this target which do not exist any more, and
/// returns their paths; if `applied` is `false`, only returns them. Other symlinks, even dangling ones, are left alone.
pub(crate) fn remove_dangling_links(
    target: &InstallTarget,
    agent_dir: &Path,
    skill_dirs: &[PathBuf],
    applied: bool,
) -> Vec<PathBuf> {
    let entries = fs::read_dir(agent_dir).into_iter().flatten().filter_map(Result::ok);
    let is_ours = |path: &PathBuf| {
        let (Some(name), Ok(link_target)) = (path.file_name(), fs::read_link(path)) else { return false };
        let leads_to = |dir: &PathBuf| {
            let skill = link::canonicalize_existing_part(&dir.join(name));
            link_target == link::relative_path(agent_dir, &skill)
        };
        !path.exists() && (leads_to(&target.root) || skill_dirs.iter().any(leads_to))
    };
    let mut dangling: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_ours).collect();
    dangling.sort();
    dangling.retain(|path| !applied || fs::remove_file(path).is_ok());
    dangling
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use prowess::{HostEnv, Policy, Preset};

    use super::*;
    use crate::install_target::InstallScope;

    /// The directory of the agent was planned as a directory, and is a symlink when the link is made.
    #[test]
    fn a_symlink_that_appears_after_planning_is_not_followed() {
        let temp_dir = tempfile::tempdir().unwrap();
        let project = temp_dir.path().canonicalize().unwrap();
        let skill = project.join(".agents/skills/hooks");
        for dir in [&skill, &project.join(".git/hooks"), &project.join(".claude")] {
            fs::create_dir_all(dir).unwrap();
        }
        fs::write(skill.join("SKILL.md"), "x").unwrap();
        symlink("../.git", project.join(".claude/skills")).unwrap();
        let host = HostEnv { project: project.clone(), home: None, path: Default::default() };
        let policy = Policy::from_preset(Preset::Standard);
        let target = InstallTarget::new(InstallScope::Project, &policy, &host).unwrap();
        for (name, action) in
            [("hooks", LinkAction::Remove), ("new", LinkAction::Symlink), ("new", LinkAction::Copy)]
        {
            let path = project.join(".claude/skills").join(name);
            let change = LinkChange { path, skill: skill.clone(), action };
            let result = change.perform(&target, &LockFile::default());
            assert!(matches!(result, Err(LinkError::Outside { .. })), "{action:?}: {result:?}");
        }
        assert_eq!(fs::read_dir(project.join(".git")).unwrap().count(), 1);
    }
}
