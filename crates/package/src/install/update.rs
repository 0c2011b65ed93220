//! Updates installed skills from their sources.

use std::sync::Arc;

use prowess::lock::{LockEntry, LockFile};
use prowess::shell::quote;

use super::plan::{InstallPlan, PlanAction, PlanItem};
use super::plugin_update::{NewSkills, PluginState, current_record, load_states, plan_gone};
use super::prepare::prepare_skill;
use super::source_group::{SourceGroup, find_locked, group_by_source};
use crate::acquire::{FileUrls, SelectedSkills, SourceOrigin, latest_commit};
use crate::error::PackageError;
use crate::fetch::git::ResolvedRef;
use crate::install::{InstallChecks, InstallConflict, OnConflict, Prompter, check_findings, new_lock_entry};
use crate::install_target::InstallTarget;
use crate::install_target::commit::TrustPolicy;
use crate::install_target::verify::{InstalledState, check_installed};
use crate::task::Task;

/// Plans the update of the skills with these names. If `names` is empty, plans to update all skills, and a skill that
/// cannot be updated is skipped with the reason.
pub fn plan_update(
    names: &[String],
    target: &InstallTarget,
    checks: &InstallChecks<'_>,
    prompter: &mut dyn Prompter,
    file_urls: FileUrls,
    task: &Arc<Task>,
) -> Result<InstallPlan, PackageError> {
    let mut plan = InstallPlan::begin(target)?;
    // In a project, the lock file determines the skills, so untrusted ones do not become trusted.
    plan.trust_policy = TrustPolicy::KeepTrust;
    let lock = LockFile::read(&target.lock_path)?;
    let chosen = select_locked(&lock, names)?;
    let strict = !names.is_empty();
    let locked = &lock.skills;
    let mut updater = Updater { plan: &mut plan, checks, prompter, file_urls, task, strict, locked };
    for group in group_by_source(chosen, |locked| locked.reference.clone()) {
        updater.update_group(&group)?;
    }
    plan.items.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(plan)
}

/// Returns the lock entries of the skills and plugins with these names, or all if `names` is empty.
pub(crate) fn select_locked<'l>(
    lock: &'l LockFile,
    names: &[String],
) -> Result<Vec<&'l LockEntry>, PackageError> {
    if names.is_empty() {
        return Ok(lock.skills.iter().collect());
    }
    let mut chosen = Vec::new();
    for name in names {
        let is_named = |locked: &&LockEntry| locked.name == *name || is_of_plugin(locked, name);
        let entries: Vec<_> = lock.skills.iter().filter(is_named).collect();
        if entries.is_empty() {
            let installed_names = lock.skills.iter().map(|locked| locked.name.as_str());
            let suggestion = prowess_format::suggest::nearest(name, installed_names);
            let suggestion =
                suggestion.map(|suggestion| format!("; did you mean {suggestion}?")).unwrap_or_default();
            let name = prowess_format::hidden::escape_for_display(name);
            return Err(PackageError::NotFound(format!("no installed skill is named {name}{suggestion}")));
        }
        for entry in entries {
            // A skill may be named in addition to its plugin.
            if !chosen.iter().any(|other: &&LockEntry| other.folder == entry.folder) {
                chosen.push(entry);
            }
        }
    }
    Ok(chosen)
}

/// Returns `true` if a skill was installed with the plugin of this name.
fn is_of_plugin(locked: &LockEntry, name: &str) -> bool {
    locked.plugin.as_ref().is_some_and(|plugin| plugin.name == name)
}

struct Updater<'a> {
    plan: &'a mut InstallPlan,
    checks: &'a InstallChecks<'a>,
    prompter: &'a mut dyn Prompter,
    file_urls: FileUrls,
    task: &'a Arc<Task>,
    /// Whether a skill that cannot be updated is an error.
    strict: bool,
    /// All locked skills.
    locked: &'a [LockEntry],
}

impl Updater<'_> {
    fn update_group(&mut self, group: &SourceGroup<'_>) -> Result<(), PackageError> {
        match self.try_update_group(group) {
            Err(error) if !self.strict && is_isolated(&error) => {
                group.skills.iter().try_for_each(|locked| self.add_failed(locked, &error))
            }
            result => result,
        }
    }

    fn try_update_group(&mut self, group: &SourceGroup<'_>) -> Result<(), PackageError> {
        let source = group.source(&self.plan.target)?;
        let (current, outdated): (Vec<&LockEntry>, Vec<&LockEntry>) =
            match latest_commit(&source, group.reference.as_deref(), self.file_urls, self.task)? {
                None => (Vec::new(), group.skills.clone()),
                Some((commit, resolved)) => {
                    let pin = describe_pin(&resolved);
                    // A tag that has moved is not followed, not even to restore missing files.
                    let is_current = |locked: &&LockEntry| {
                        let is_same = locked.commit.as_deref() == Some(commit.as_str());
                        let is_intact = || {
                            let installed = check_installed(&self.plan.target, locked);
                            matches!(installed, Ok((_, InstalledState::Unchanged)))
                        };
                        if is_same { is_intact() } else { pin.is_some() }
                    };
                    let (current, outdated): (Vec<&LockEntry>, _) =
                        group.skills.iter().copied().partition(is_current);
                    match pin {
                        None => (current, outdated),
                        Some(pin) => {
                            for locked in current {
                                self.add_skipped(locked, pin_reason(&pin, locked, &commit))?;
                            }
                            (Vec::new(), outdated)
                        }
                    }
                }
            };
        for locked in current {
            self.add_unchanged(locked)?;
        }
        if outdated.is_empty() {
            return Ok(());
        }
        let scratch = self.plan.stage()?.scratch().join(self.plan.items.len().to_string());
        let target = &self.plan.target;
        let (selected, origin) = group.acquire(&outdated, &scratch, target, self.file_urls, self.task)?;
        let states = load_states(&outdated, self.locked, &*selected.tree)?;
        self.task.begin_step("checking", outdated.len() as u64);
        for locked in outdated {
            if let Some(item) = plan_gone(&states, locked, self.plan, self.prompter)? {
                self.plan.items.push(item);
                continue;
            }
            match self.update_skill(locked, &selected, &origin, &states) {
                Ok(item) => self.plan.items.push(item),
                Err(error) if !self.strict && is_isolated(&error) => {
                    self.add_failed(locked, &error)?;
                }
                Err(error) => return Err(error),
            }
            self.task.advance(1);
        }
        let source = group.skills.first().map_or("", |locked| locked.source.as_str());
        let (states, selected, origin) = (&states[..], &selected, &origin);
        let (locked, checks, task) = (self.locked, self.checks, &**self.task);
        let new = NewSkills { states, locked, selected, origin, source, checks, task };
        let items = new.plan(self.plan, self.prompter)?;
        self.plan.items.extend(items);
        Ok(())
    }

    fn update_skill(
        &mut self,
        before: &LockEntry,
        selected: &SelectedSkills,
        origin: &SourceOrigin,
        states: &[PluginState],
    ) -> Result<PlanItem, PackageError> {
        let target = &self.plan.target;
        let candidate = find_locked(selected, before)?;
        let stage = self.plan.stage()?;
        let name = Some(before.name.as_str());
        let prepared = prepare_skill(&*selected.tree, candidate, name, self.checks, stage, self.task)?;
        if let Some(new_name) =
            prepared.renamed_from.as_ref().filter(|name| before.renamed_from.as_ref() != Some(*name))
        {
            return Err(renamed_at_source(before, new_name));
        }
        let mut after = new_lock_entry(origin, &prepared, target);
        after.folder.clone_from(&before.folder);
        after.path.clone_from(&before.path);
        after.source.clone_from(&before.source);
        after.plugin = current_record(states, before);
        // They are used only if the requirements are unchanged.
        after.environments.clone_from(&before.environments);
        let (dir, state) = check_installed(target, before)?;
        let mut action = match &state {
            InstalledState::Unchanged if after.tree == before.tree && after.plugin == before.plugin => {
                PlanAction::Keep
            }
            InstalledState::Unchanged => PlanAction::Replace,
            InstalledState::Missing => PlanAction::Add,
            InstalledState::Modified(_) | InstalledState::Symlink => {
                let difference = match &state {
                    InstalledState::Modified(comparison) => comparison.to_string(),
                    _ => "it is a symlink".to_owned(),
                };
                if !self.strict {
                    let reason = format!("modified locally: {difference}");
                    return self.item(before, PlanAction::Skip(reason));
                }
                let conflict = InstallConflict {
                    prepared: &prepared,
                    installed: Some(before),
                    is_modified: true,
                    dir: &dir,
                    source: &before.source,
                };
                match self.prompter.resolve_conflict(&conflict)? {
                    OnConflict::Overwrite => PlanAction::Replace,
                    OnConflict::Skip | OnConflict::Rename(_) => {
                        PlanAction::Skip("modified locally".to_owned())
                    }
                }
            }
        };
        let changes = matches!(action, PlanAction::Replace | PlanAction::Add);
        if changes {
            check_findings(&prepared, self.prompter)?;
        }
        let mut item = PlanItem {
            name: before.name.clone(),
            dir,
            action: action.clone(),
            before: Some(before.clone()),
            after: Some(after),
            prepared: Some(prepared),
        };
        let increases = item.changes().is_some_and(|changes| changes.is_increase());
        if changes && increases && !self.prompter.accept_increase(&item)? {
            action = PlanAction::Skip(
                "it requires more capabilities than before; pass --yes to accept them".to_owned(),
            );
            item.action = action;
        }
        Ok(item)
    }

    fn add_unchanged(&mut self, locked: &LockEntry) -> Result<(), PackageError> {
        let item = self.item(locked, PlanAction::Keep)?;
        self.plan.items.push(item);
        Ok(())
    }

    fn add_skipped(&mut self, locked: &LockEntry, reason: String) -> Result<(), PackageError> {
        let item = self.item(locked, PlanAction::Skip(reason))?;
        self.plan.items.push(item);
        Ok(())
    }

    fn add_failed(&mut self, locked: &LockEntry, error: &PackageError) -> Result<(), PackageError> {
        let hint = match error {
            // Only the hint of this error concerns a single skill.
            PackageError::RenamedAtSource { .. } => error.hint().map(|hint| format!("; {hint}")),
            _ => None,
        };
        let reason = format!("{}{}", error.message_without_name(&locked.name), hint.unwrap_or_default());
        let item = self.item(locked, PlanAction::Fail(reason))?;
        self.plan.items.push(item);
        Ok(())
    }

    fn item(&self, locked: &LockEntry, action: PlanAction) -> Result<PlanItem, PackageError> {
        let (before, after) = (Some(locked.clone()), Some(locked.clone()));
        let dir = self.plan.target.dir(locked)?;
        Ok(PlanItem { name: locked.name.clone(), dir, action, before, after, prepared: None })
    }
}

/// Returns `true` if an error concerns one skill or source, unlike a full disk.
fn is_isolated(error: &PackageError) -> bool {
    !matches!(error, PackageError::Cancelled(_) | PackageError::Io { .. })
}

/// Returns the error for a skill that was renamed at its source.
fn renamed_at_source(before: &LockEntry, new_name: &str) -> PackageError {
    let (name, new_name) = (before.name.clone(), new_name.to_owned());
    let mut install = format!("prowess install {}", quote(&before.source));
    if let Some(path) = &before.path {
        install.push_str(&format!(" --skill {}", quote(path)));
    }
    if let Some(reference) = &before.reference {
        install.push_str(&format!(" --ref {}", quote(reference)));
    }
    PackageError::RenamedAtSource { name, new_name, install }
}

/// Returns a description of a reference that is pinned, that is, not updated: a tag or a commit. `None` for a branch.
fn describe_pin(resolved: &ResolvedRef) -> Option<String> {
    match resolved {
        ResolvedRef::Head(_) | ResolvedRef::Branch(_) => None,
        ResolvedRef::Tag(name) => Some(format!("pinned to the tag {name}")),
        ResolvedRef::Commit => Some("pinned to a commit".to_owned()),
    }
}

fn pin_reason(pin: &str, locked: &LockEntry, commit: &str) -> String {
    let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
    match &locked.commit {
        Some(locked_commit) if locked_commit != commit => {
            format!(
                "{pin}, which has moved from {} to {}; install it again to update",
                short(locked_commit),
                short(commit)
            )
        }
        _ => pin.to_owned(),
    }
}
