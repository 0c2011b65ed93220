//! Restores exactly the locked skills (`install --locked`).

use std::sync::Arc;

use prowess::lock::{LockEntry, LockFile};

use super::plan::{InstallPlan, PlanAction, PlanItem};
use super::prepare::prepare_skill;
use super::source_group::{find_locked, group_by_source, parse_locked_source};
use super::update::select_locked;
use crate::acquire::FileUrls;
use crate::error::PackageError;
use crate::install::{InstallChecks, InstallConflict, OnConflict, Prompter, check_findings};
use crate::install_target::InstallTarget;
use crate::install_target::commit::TrustPolicy;
use crate::install_target::verify::{InstalledState, check_installed};
use crate::source::Source;
use crate::task::Task;

/// Which locked skills to restore.
#[derive(Debug, Clone, Copy)]
pub struct RestoreFilter<'a> {
    /// Only those from this source.
    pub source: Option<&'a Source>,
    /// Only those with these names; all if empty.
    pub names: &'a [String],
}

/// Plans to fetch missing and modified skills at the locked commit. Fails if the files differ from the lock file.
pub fn plan_restore(
    filter: &RestoreFilter<'_>,
    target: &InstallTarget,
    checks: &InstallChecks<'_>,
    prompter: &mut dyn Prompter,
    file_urls: FileUrls,
    task: &Arc<Task>,
) -> Result<InstallPlan, PackageError> {
    let mut plan = InstallPlan::begin(target)?;
    // The lock file of a project selects the skills, not the user, so untrusted ones must not become trusted.
    plan.trust_policy = TrustPolicy::KeepTrust;
    let lock = LockFile::read(&target.lock_path)?;
    if lock.skills.is_empty() {
        return Err(PackageError::FetchFailed {
            code: prowess::ErrorCode::NotFound,
            message: format!("no locked skills: {} does not exist", target.lock_path.display()),
            hint: Some(
                "run `prowess install SOURCE` to create it; use --project or --user to choose the scope"
                    .to_owned(),
            ),
        });
    }
    let RestoreFilter { source, names } = *filter;
    let is_wanted = |locked: &&LockEntry| source.is_none_or(|source| is_from(locked, source, target));
    if let (Some(source), None) = (source, lock.skills.iter().find(is_wanted)) {
        return Err(PackageError::NotFound(format!("no locked skill comes from {source}")));
    }
    let selected = select_locked(&lock, names)?;
    if let (Some(source), false, Some(other)) =
        (source, names.is_empty(), selected.iter().find(|locked| !is_wanted(locked)))
    {
        let LockEntry { name, source: actual, .. } = other;
        let message = format!("skill {name} is locked from {actual}, not from {source}");
        return Err(PackageError::NotFound(message));
    }
    let mut to_fetch: Vec<&LockEntry> = Vec::new();
    for locked in selected.into_iter().filter(is_wanted) {
        match check_installed(target, locked)? {
            (dir, InstalledState::Unchanged) => plan.items.push(locked_item(locked, dir, PlanAction::Keep)),
            _ => to_fetch.push(locked),
        }
    }
    let pinned_reference = |locked: &LockEntry| locked.commit.clone().or_else(|| locked.reference.clone());
    for (number, group) in group_by_source(to_fetch, pinned_reference).into_iter().enumerate() {
        let scratch = plan.stage()?.scratch().join(number.to_string());
        let (selected, _) = group.acquire(&group.skills, &scratch, target, file_urls, task)?;
        for locked in group.skills {
            let candidate = find_locked(&selected, locked)?;
            let name = Some(locked.name.as_str());
            let stage = plan.stage()?;
            let prepared = prepare_skill(&*selected.tree, candidate, name, checks, stage, task)?;
            if prepared.tree.hash() != locked.tree {
                let comparison = prowess::lock::compare_with_lock(locked, &Ok(prepared.tree));
                return Err(PackageError::SourceChanged {
                    name: locked.name.clone(),
                    reason: comparison.to_string(),
                });
            }
            check_findings(&prepared, prompter)?;
            let (dir, state) = check_installed(target, locked)?;
            let action = match state {
                InstalledState::Missing => PlanAction::Add,
                InstalledState::Unchanged => PlanAction::Keep,
                InstalledState::Modified(_) | InstalledState::Symlink => {
                    let installed = Some(locked);
                    let (dir, source) = (dir.as_path(), locked.source.as_str());
                    let conflict =
                        InstallConflict { prepared: &prepared, installed, is_modified: true, dir, source };
                    match prompter.resolve_conflict(&conflict)? {
                        OnConflict::Overwrite => PlanAction::Replace,
                        OnConflict::Skip | OnConflict::Rename(_) => {
                            return Err(PackageError::SourceChanged {
                                name: locked.name.clone(),
                                reason: "it was modified locally".to_owned(),
                            });
                        }
                    }
                }
            };
            plan.items.push(PlanItem { prepared: Some(prepared), ..locked_item(locked, dir, action) });
        }
    }
    plan.items.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(plan)
}

/// Returns `true` if a locked skill comes from a source, ignoring the reference.
fn is_from(locked: &LockEntry, source: &Source, target: &InstallTarget) -> bool {
    match (parse_locked_source(&locked.source, target), source) {
        (Ok(Source::Git { url: locked_url, .. }), Source::Git { url, .. }) => locked_url == *url,
        (Ok(locked_source), source) => locked_source == *source,
        (Err(_), _) => false,
    }
}

fn locked_item(locked: &LockEntry, dir: std::path::PathBuf, action: PlanAction) -> PlanItem {
    let (before, after) = (Some(locked.clone()), Some(locked.clone()));
    PlanItem { name: locked.name.clone(), dir, action, before, after, prepared: None }
}
