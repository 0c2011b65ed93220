//! A planned change of installed skills, staged but not yet performed.

use std::path::{Path, PathBuf};

use prowess::lock::{Capabilities, GrantedAccess, LockEntry, LockFile, Replacement};

use super::plugins::PlannedPlugin;
use super::prepare::PreparedSkill;
use crate::error::PackageError;
use crate::install_target::clock;
use crate::install_target::commit::{TrustPolicy, commit_changes, recover_pending};
use crate::install_target::stage::Stage;
use crate::install_target::{InstallTarget, LinkChange, LinkEffect};
use crate::interchange::link::LinkError;

/// The changes of one command. All are performed, or none.
#[derive(Debug)]
pub struct InstallPlan {
    /// The target.
    pub target: InstallTarget,
    /// The planned change of each skill.
    pub items: Vec<PlanItem>,
    /// The plugins that the skills are installed with.
    pub plugins: Vec<PlannedPlugin>,
    pub(crate) trust_policy: TrustPolicy,
    pub(crate) stage: Option<Stage>,
}

/// The result of a plan.
#[derive(Debug)]
pub struct CommittedPlan {
    /// The change of each skill.
    pub items: Vec<PlanItem>,
    /// The result of each symlink and copy, in the order in which they were given.
    pub links: Vec<Result<LinkEffect, LinkError>>,
}

/// The planned change of one skill.
#[derive(Debug)]
pub struct PlanItem {
    /// The name.
    pub name: String,
    /// The directory.
    pub dir: PathBuf,
    /// The action.
    pub action: PlanAction,
    /// The current lock entry.
    pub before: Option<LockEntry>,
    /// The new lock entry.
    pub after: Option<LockEntry>,
    /// The staged skill.
    pub prepared: Option<PreparedSkill>,
}

/// The action for a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanAction {
    /// The skill is installed.
    Add,
    /// The existing skill is replaced.
    Replace,
    /// The skill is removed.
    Remove,
    /// The skill is up to date.
    Keep,
    /// The skill is skipped, with the reason.
    Skip(String),
    /// The skill cannot be installed or updated, with the reason.
    Fail(String),
}

impl PlanAction {
    /// The name used in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Add => "installed",
            Self::Replace => "updated",
            Self::Remove => "removed",
            Self::Keep => "unchanged",
            Self::Skip(_) => "skipped",
            Self::Fail(_) => "failed",
        }
    }

    /// Returns `true` if a skill is added, replaced or removed.
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Add | Self::Replace | Self::Remove)
    }
}

/// The differences between two versions of a skill, to show before an update.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillChanges {
    /// New files.
    pub added: Vec<String>,
    /// Removed files.
    pub removed: Vec<String>,
    /// Files with different contents.
    pub changed: Vec<String>,
    /// New capabilities.
    pub gained: Capabilities,
    /// Removed capabilities.
    pub lost: Capabilities,
    /// New grants, compared with the lock file.
    pub granted: GrantedAccess,
    /// Revoked grants.
    pub revoked: GrantedAccess,
}

impl PlanItem {
    /// Creates the item for a skill that cannot be installed.
    pub fn failed(name: &str, error: &PackageError, target: &InstallTarget) -> Self {
        Self {
            name: name.to_owned(),
            dir: target.root.join(name),
            action: PlanAction::Fail(error.message_without_name(name)),
            before: None,
            after: None,
            prepared: None,
        }
    }

    /// Returns the differences; `None` for a new skill.
    pub fn changes(&self) -> Option<SkillChanges> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        let missing_in = |a: &LockEntry, b: &LockEntry| {
            a.files.keys().filter(|path| !b.files.contains_key(*path)).cloned().collect::<Vec<_>>()
        };
        let differs = |(path, digest): &(&String, &String)| {
            let is_executable = |locked: &LockEntry| locked.executable.contains(*path);
            before
                .files
                .get(*path)
                .is_some_and(|old| old != *digest || is_executable(before) != is_executable(after))
        };
        Some(SkillChanges {
            added: missing_in(after, before),
            removed: missing_in(before, after),
            changed: after.files.iter().filter(differs).map(|(path, _)| path.clone()).collect(),
            gained: before.capabilities.added_in(&after.capabilities),
            lost: after.capabilities.added_in(&before.capabilities),
            granted: before.granted.added_in(&after.granted),
            revoked: after.granted.added_in(&before.granted),
        })
    }
}

impl SkillChanges {
    /// Returns `true` if there are new scripts, hosts, tools or variables, which the user must accept.
    pub fn is_increase(&self) -> bool {
        !self.gained.is_empty()
    }
}

impl InstallPlan {
    /// Starts a plan: completes the changes of a killed process, removes its leftovers, and creates a stage.
    pub(crate) fn begin(target: &InstallTarget) -> Result<Self, PackageError> {
        target.check_writable()?;
        let _guard = target.lock()?;
        target.clean_up_locked()?;
        let stage = Stage::create(&target.root)?;
        Ok(Self {
            target: target.clone(),
            items: Vec::new(),
            plugins: Vec::new(),
            trust_policy: TrustPolicy::TrustNew,
            stage: Some(stage),
        })
    }

    pub(crate) fn stage(&self) -> Result<&Stage, PackageError> {
        self.stage.as_ref().ok_or(PackageError::Cancelled(crate::task::Cancelled))
    }

    /// Returns the directory with the staged files of a skill; `None` if nothing was staged for it.
    pub fn staged_dir(&self, item: &PlanItem) -> Option<PathBuf> {
        let dir = self.stage.as_ref()?.new_dir(&item.name);
        item.prepared.as_ref().map(|_| dir)
    }

    /// Returns `true` if nothing changes.
    pub fn is_empty(&self) -> bool {
        !self.items.iter().any(|item| item.action.is_change())
    }

    /// Performs the changes.
    pub fn commit(self) -> Result<Vec<PlanItem>, PackageError> {
        self.commit_with_links(&[]).map(|committed| committed.items)
    }

    /// Performs the changes, and creates and removes symlinks and copies for other agents.
    pub fn commit_with_links(mut self, links: &[LinkChange]) -> Result<CommittedPlan, PackageError> {
        let items = std::mem::take(&mut self.items);
        let _guard = self.target.lock()?;
        let now = clock::iso_now();
        recover_pending(&self.target, &now)?;
        let lock = LockFile::read(&self.target.lock_path)?;
        let mut changes = Vec::new();
        for item in items.iter().filter(|item| item.action.is_change()) {
            let dir = self.target.lock_key(&item.dir);
            // Another process may have changed the skill after it was planned.
            let exists = std::fs::symlink_metadata(&item.dir).is_ok();
            let is_applicable = match item.action {
                PlanAction::Add => !exists,
                // A skill that was deleted by hand can still be removed from the lock file.
                PlanAction::Remove => exists || item.before.is_some(),
                PlanAction::Replace | PlanAction::Keep | PlanAction::Skip(_) | PlanAction::Fail(_) => exists,
            };
            if !is_applicable || lock.entry(&dir) != item.before.as_ref() {
                return Err(match item.action {
                    PlanAction::Add if exists => PackageError::AlreadyExists(item.dir.clone()),
                    _ => PackageError::ChangedMeanwhile(item.dir.clone()),
                });
            }
            changes.push(Replacement { folder: dir, after: item.after.clone() });
        }
        let stage = self.stage.take();
        let path = stage.as_ref().map(|stage| stage.path().to_owned()).unwrap_or_default();
        let result = commit_changes(&self.target, &path, changes, links, self.trust_policy, &now);
        if let (Err(_), Some(stage)) = (&result, stage)
            && !matches!(LockFile::read(&self.target.lock_path), Ok(LockFile { pending: None, .. }))
        {
            // The change may be neither complete nor rolled back: the next run needs the staged files.
            stage.keep();
        }
        result.map(|links| CommittedPlan { items, links })
    }
}

/// Plans to remove the skills in these directories, installed by Prowess or not: all of them, or none. The
/// directories must have different names and be on the same file system.
pub fn plan_remove(skills: &[(&str, &Path)], target: &InstallTarget) -> Result<InstallPlan, PackageError> {
    let mut target = target.clone();
    if let Some(root) = skills.first().and_then(|(_, dir)| dir.parent()) {
        // Directories are moved away within their file system.
        target.root = root.to_owned();
    }
    let mut plan = InstallPlan::begin(&target)?;
    let lock = LockFile::read(&target.lock_path)?;
    for (name, dir) in skills {
        let before = lock.entry(&target.lock_key(dir)).cloned();
        if before.is_none() && std::fs::symlink_metadata(dir).is_err() {
            return Err(PackageError::NotFound(format!("{} does not exist", dir.display())));
        }
        plan.items.push(PlanItem {
            name: (*name).to_owned(),
            dir: (*dir).to_owned(),
            action: PlanAction::Remove,
            before,
            after: None,
            prepared: None,
        });
    }
    Ok(plan)
}
