//! Updates plugins as a whole: new skills of a plugin are installed, and skills that it no longer has are removed.

use std::collections::BTreeSet;

use prowess::lock::{LockEntry, LockedPlugin};
use prowess_archive::{SourceReadError, SourceTree};

use super::plan::{InstallPlan, PlanAction, PlanItem};
use super::prepare::prepare_skill;
use super::{InstallChecks, Prompter, check_findings, new_lock_entry};
use crate::acquire::{Candidate, SelectedSkills, SourceOrigin};
use crate::agent_plugins::{
    LoadedPlugin, MarketplaceEntry, PluginSource, find_plugins, load_entry, load_plugin,
};
use crate::error::PackageError;
use crate::install_target::verify::{InstalledState, check_installed};
use crate::task::Task;

/// What a plugin contains at its source now.
pub(super) struct PluginState {
    record: LockedPlugin,
    /// The directories of its skills in the source.
    skills: BTreeSet<String>,
}

/// Loads the plugins of these skills again. A plugin is left out if it cannot be found or if not all of its skills are
/// updated; then its skills are updated one by one.
pub(super) fn load_states(
    skills: &[&LockEntry],
    locked: &[LockEntry],
    tree: &dyn SourceTree,
) -> Result<Vec<PluginState>, PackageError> {
    let mut states: Vec<PluginState> = Vec::new();
    for (skill, record) in skills.iter().filter_map(|skill| Some((skill, skill.plugin.as_ref()?))) {
        let is_part = |other: &&LockEntry| {
            let is_same = |plugin: &LockedPlugin| is_same_plugin(plugin, record);
            other.source == skill.source && other.plugin.as_ref().is_some_and(is_same)
        };
        let is_updated = |other: &LockEntry| skills.iter().any(|skill| skill.folder == other.folder);
        let is_known = states.iter().any(|state| is_same_plugin(&state.record, record));
        if is_known || !locked.iter().filter(is_part).all(is_updated) {
            continue;
        }
        let Some(plugin) = reload(record, tree)? else { continue };
        let version = plugin.manifest.version.map(|version| version.chars().take(64).collect());
        let record = LockedPlugin { version, ..record.clone() };
        states.push(PluginState { record, skills: plugin.skills.into_iter().collect() });
    }
    Ok(states)
}

/// Loads a plugin again. Of a plugin of a marketplace, the entry may name skills that are found nowhere else, so the plugin
/// is unknown without it: the marketplace may be in another repository or directory.
fn reload(record: &LockedPlugin, tree: &dyn SourceTree) -> Result<Option<LoadedPlugin>, SourceReadError> {
    let root = record.path.as_deref().unwrap_or_default();
    if record.marketplace.is_none() {
        return Ok(load_plugin(tree, root, None)?.plugin);
    }
    let marketplace = find_plugins(tree, "")?.marketplace;
    let is_entry = |entry: &&MarketplaceEntry| {
        let is_here = matches!(&entry.source, PluginSource::Local(path) if path.below("") == root);
        is_here && entry.name.as_str() == record.name
    };
    let entry = marketplace.as_ref().and_then(|marketplace| marketplace.plugins.iter().find(is_entry));
    let load = entry.map(|entry| load_entry(tree, "", entry)).transpose()?.flatten();
    Ok(load.and_then(|load| load.plugin))
}

fn is_same_plugin(a: &LockedPlugin, b: &LockedPlugin) -> bool {
    a.name == b.name && a.path == b.path && a.marketplace == b.marketplace
}

/// Returns the state of the plugin that a skill belongs to.
fn state_of<'s>(states: &'s [PluginState], locked: &LockEntry) -> Option<&'s PluginState> {
    let record = locked.plugin.as_ref()?;
    states.iter().find(|state| is_same_plugin(&state.record, record))
}

/// Returns the record of the plugin of a skill with its current version.
pub(super) fn current_record(states: &[PluginState], locked: &LockEntry) -> Option<LockedPlugin> {
    let current = state_of(states, locked).map(|state| state.record.clone());
    current.or_else(|| locked.plugin.clone())
}

/// Returns the item that removes a skill which its plugin no longer has; `None` if the plugin still has it. The user must
/// accept the removal.
pub(super) fn plan_gone(
    states: &[PluginState],
    locked: &LockEntry,
    plan: &InstallPlan,
    prompter: &mut dyn Prompter,
) -> Result<Option<PlanItem>, PackageError> {
    let is_gone = |state: &PluginState| !state.skills.contains(locked.path.as_deref().unwrap_or_default());
    if !state_of(states, locked).is_some_and(is_gone) {
        return Ok(None);
    }
    let (dir, state) = check_installed(&plan.target, locked)?;
    let (action, after) = match state {
        InstalledState::Unchanged | InstalledState::Missing => (PlanAction::Remove, None),
        InstalledState::Modified(_) | InstalledState::Symlink => {
            let reason = "the plugin no longer has it, but it was modified locally".to_owned();
            (PlanAction::Skip(reason), Some(locked.clone()))
        }
    };
    let (name, before) = (locked.name.clone(), Some(locked.clone()));
    let mut item = PlanItem { name, dir, action, before, after, prepared: None };
    if item.action == PlanAction::Remove && !prompter.accept_removal(&item)? {
        item.action = PlanAction::Skip("the plugin no longer has it; pass --yes to remove it".to_owned());
        item.after.clone_from(&item.before);
    }
    Ok(Some(item))
}

/// What is needed to install the new skills of plugins.
pub(super) struct NewSkills<'a> {
    pub(super) states: &'a [PluginState],
    /// All locked skills, of any source.
    pub(super) locked: &'a [LockEntry],
    pub(super) selected: &'a SelectedSkills,
    pub(super) origin: &'a SourceOrigin,
    /// The source, as recorded in the lock file.
    pub(super) source: &'a str,
    pub(super) checks: &'a InstallChecks<'a>,
    pub(super) task: &'a Task,
}

impl NewSkills<'_> {
    /// Returns the items for skills that the plugins have now and had not before. The user must accept each.
    pub(super) fn plan(
        &self,
        plan: &InstallPlan,
        prompter: &mut dyn Prompter,
    ) -> Result<Vec<PlanItem>, PackageError> {
        let mut items = Vec::new();
        for state in self.states {
            for dir in state.skills.iter().filter(|dir| !self.is_installed(dir)) {
                let found =
                    self.selected.skills.binary_search_by(|candidate| candidate.dir.as_str().cmp(dir));
                let Some(candidate) = found.ok().and_then(|index| self.selected.skills.get(index)) else {
                    continue;
                };
                items.push(match self.plan_skill(candidate, &state.record, plan, prompter) {
                    Ok(item) => item,
                    // Another skill of the plugin may have the same name.
                    Err(error @ PackageError::ChoiceRequired { .. }) => {
                        PlanItem::failed(&candidate.name, &error, &plan.target)
                    }
                    Err(error) if error.concerns_one_skill() => {
                        PlanItem::failed(&candidate.name, &error, &plan.target)
                    }
                    Err(error) => return Err(error),
                });
            }
        }
        Ok(items)
    }

    fn is_installed(&self, dir: &str) -> bool {
        let dir = Some(dir).filter(|dir| !dir.is_empty());
        self.locked.iter().any(|locked| locked.source == self.source && locked.path.as_deref() == dir)
    }

    fn plan_skill(
        &self,
        candidate: &Candidate,
        record: &LockedPlugin,
        plan: &InstallPlan,
        prompter: &mut dyn Prompter,
    ) -> Result<PlanItem, PackageError> {
        let tree = &*self.selected.tree;
        let prepared = prepare_skill(tree, candidate, None, self.checks, plan.stage()?, self.task)?;
        let mut after = new_lock_entry(self.origin, &prepared, &plan.target);
        after.source = self.source.to_owned();
        after.plugin = Some(record.clone());
        let mut item = PlanItem {
            name: prepared.name.clone(),
            dir: plan.target.root.join(&prepared.name),
            action: PlanAction::Add,
            before: None,
            after: Some(after),
            prepared: None,
        };
        if std::fs::symlink_metadata(&item.dir).is_ok() {
            item.action = PlanAction::Skip("new in the plugin, but the name is already in use".to_owned());
            return Ok(item);
        }
        check_findings(&prepared, prompter)?;
        item.prepared = Some(prepared);
        if !prompter.accept_increase(&item)? {
            let name = &record.name;
            item.action = PlanAction::Skip(format!("new in plugin {name}; pass --yes to install it"));
        }
        Ok(item)
    }
}
