//! Installs skills from a source. A plan is made before anything is changed.

mod collisions;
mod import;
mod plan;
mod plugin_update;
mod plugins;
mod prepare;
mod rename;
mod restore;
mod source_group;
mod update;

use std::sync::Arc;

use prowess::HashedTree;
use prowess::lock::{LockEntry, LockFile, LockedPlugin};
use prowess_format::Rules;

use crate::acquire::{Candidate, FileUrls, NameSource, SelectedSkills, SourceOrigin, acquire_source};
use crate::error::PackageError;
use crate::install_target::clock;
use crate::install_target::verify::{InstalledState, check_installed};
use crate::install_target::{InstallScope, InstallTarget};
use crate::source::Source;
use crate::task::Task;
pub(crate) use collisions::check_collisions;
use plugins::{FollowedSource, follow_marketplace, plugin_records};
pub(crate) use prepare::parse_dir_name;
use prepare::prepare_skill;
use prowess_audit::Suppressions;
use prowess_fs::parallel_map;

pub use import::{IdentifiedBy, ImportRequest, Upload, plan_import};
pub use plan::{CommittedPlan, InstallPlan, PlanAction, PlanItem, SkillChanges, plan_remove};
pub use plugins::PlannedPlugin;
pub use prepare::PreparedSkill;
pub use restore::{RestoreFilter, plan_restore};
pub use update::plan_update;

/// A request to install skills.
#[derive(Debug, Clone)]
pub struct InstallRequest {
    /// The source.
    pub source: Source,
    /// The branch, tag or commit, for repositories.
    pub reference: Option<String>,
    /// The name under which the skill is installed, if not its own.
    pub name: Option<String>,
    /// Which of several skills to install. Not used if plugins are named.
    pub skills: SkillChoice,
    /// The plugins to install with all their skills.
    pub plugins: Vec<String>,
    /// Whether `file://` repositories are allowed.
    pub file_urls: FileUrls,
    /// What to do if some of several skills are invalid or rejected.
    pub on_invalid: OnInvalid,
}

/// What to do if some of several skills are invalid or rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnInvalid {
    /// Install none.
    Stop,
    /// Install the others.
    Skip,
}

/// Which skills of a source to install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillChoice {
    /// The only one, or those that the user chooses.
    Ask,
    /// Those with these names or directories.
    Named(Vec<String>),
    /// All.
    All,
}

/// A skill to install whose name is already in use.
#[derive(Debug)]
pub struct InstallConflict<'a> {
    /// The skill to install.
    pub prepared: &'a PreparedSkill,
    /// The lock entry of the existing skill; `None` if it was not installed by Prowess.
    pub installed: Option<&'a LockEntry>,
    /// Whether the existing skill was modified after it was installed.
    pub is_modified: bool,
    /// The directory of the existing skill.
    pub dir: &'a std::path::Path,
    /// The source of the skill to install.
    pub source: &'a str,
}

/// What to do if the name of a skill is already in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnConflict {
    /// Replace the existing skill.
    Overwrite,
    /// Keep the existing skill.
    Skip,
    /// Install under this name.
    Rename(String),
}

/// The checks of a skill before it is installed.
#[derive(Debug, Clone)]
pub struct InstallChecks<'a> {
    /// The rules for its manifest.
    pub rules: &'a Rules,
    /// The audit findings that the user accepted with a reason. Skills cannot suppress findings.
    pub suppressions: Vec<&'a Suppressions>,
}

/// Makes decisions during an installation: prompts on a terminal, or uses command-line flags.
pub trait Prompter {
    /// Chooses among several skills; returns indexes into `candidates`.
    fn pick_skills(&mut self, source: &str, candidates: &[Candidate]) -> Result<Vec<usize>, PackageError>;
    /// Decides what to do about a name that is in use.
    fn resolve_conflict(&mut self, conflict: &InstallConflict<'_>) -> Result<OnConflict, PackageError>;
    /// Returns whether to install a skill that the audit rejects.
    fn accept_risk(&mut self, prepared: &PreparedSkill) -> Result<bool, PackageError>;
    /// Returns whether to install a skill with findings of high severity. The user must see them first.
    fn confirm_findings(&mut self, prepared: &PreparedSkill) -> Result<bool, PackageError>;
    /// Returns whether an update may add capabilities.
    fn accept_increase(&mut self, item: &PlanItem) -> Result<bool, PackageError>;
    /// Returns whether an update may remove a skill that its plugin no longer has.
    fn accept_removal(&mut self, item: &PlanItem) -> Result<bool, PackageError>;
}

/// Fetches a source and plans the installation of its skills. Nothing is changed before [`InstallPlan::commit`].
pub fn plan_install(
    request: &InstallRequest,
    target: &InstallTarget,
    checks: &InstallChecks<'_>,
    prompter: &mut dyn Prompter,
    task: &Arc<Task>,
) -> Result<InstallPlan, PackageError> {
    if let Some(name) = &request.name {
        let invalid = |error: PackageError| PackageError::InvalidArgument {
            message: error.to_string(),
            hint: "use lower-case letters, digits and hyphens".to_owned(),
        };
        parse_dir_name(name).map_err(invalid)?;
    }
    let mut plan = InstallPlan::begin(target)?;
    let reference = request.reference.as_deref();
    let scratch = plan.stage()?.scratch();
    let acquired = acquire_source(&request.source, reference, request.file_urls, &scratch, task)?;
    let followed = follow_marketplace(request, acquired, &scratch, task)?;
    let acquired_reference = followed.acquired.reference.clone();
    let requested_reference = request.reference.clone().filter(|_| !followed.is_elsewhere());
    let origin = SourceOrigin {
        reference: requested_reference.or(acquired_reference),
        ..followed.acquired.origin(target)
    };
    plan.plugins = followed.choose_plugins(request)?.unwrap_or_default();
    // With `--all`, plugins are only recorded.
    let chosen =
        match request.plugins.is_empty() && (request.skills == SkillChoice::All || plan.plugins.is_empty()) {
            true => choose_skills(request, &followed, prompter)?,
            false => followed.skills_of(&plan.plugins)?,
        };
    let SelectedSkills { tree, skills } = followed.acquired.select(chosen)?;
    if request.name.is_some() && skills.len() > 1 {
        return Err(PackageError::InvalidArgument {
            message: format!("--name requires one skill, but {} were selected", skills.len()),
            hint: "select one with --skill NAME".to_owned(),
        });
    }
    let lock = LockFile::read(&target.lock_path)?;
    task.begin_step("checking", skills.len() as u64);
    let stage = plan.stage()?;
    let prepare = |candidate: &Candidate, name: Option<&str>| {
        prepare_skill(&*tree, candidate, name, checks, stage, task)
    };
    let records = plugin_records(&plan.plugins);
    // All skills are checked before the first prompt.
    let results = parallel_map(&skills, 1, |candidate| {
        let prepared = prepare(candidate, request.name.as_deref());
        task.advance(1);
        prepared
    });
    let mut outcomes: Vec<Result<PlanItem, (&Candidate, PackageError)>> = Vec::with_capacity(results.len());
    for (candidate, prepared) in skills.iter().zip(results) {
        let mut plan_item = |mut prepared: PreparedSkill| loop {
            let mut locked = new_lock_entry(&origin, &prepared, target);
            locked.plugin = records.get(candidate.dir.as_str()).map(|record| (*record).clone());
            match decide_action(prepared, locked, &lock, target, prompter)? {
                Decision::Item(item) => {
                    if let Some(prepared) = item.prepared.as_ref().filter(|_| item.action.is_change()) {
                        check_findings(prepared, prompter)?;
                    }
                    return Ok(*item);
                }
                Decision::RetryAs(name) => prepared = prepare(candidate, Some(&name))?,
            }
        };
        match prepared.and_then(&mut plan_item) {
            Err(error) if skills.len() > 1 && error.concerns_one_skill() => {
                outcomes.push(Err((candidate, error)));
            }
            outcome => outcomes.push(Ok(outcome?)),
        }
    }
    if request.on_invalid == OnInvalid::Stop && outcomes.iter().any(Result::is_err) {
        let failed = outcomes.into_iter().filter_map(Result::err);
        let failed = failed.map(|(candidate, error)| (candidate.name.clone(), error)).collect();
        return Err(PackageError::SomeFailed { failed, total: skills.len() });
    }
    let failed =
        |(candidate, error): (&Candidate, PackageError)| PlanItem::failed(&candidate.name, &error, target);
    plan.items = outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(failed)).collect();
    Ok(plan)
}

/// Rejects a skill with critical findings, or with findings of high severity that the user does not confirm.
pub(crate) fn check_findings(
    prepared: &PreparedSkill,
    prompter: &mut dyn Prompter,
) -> Result<(), PackageError> {
    let findings = || {
        let serious = prepared.verdict.serious();
        let lines = serious.map(|finding| {
            format!("{}:{} {} ({})", finding.path, finding.line, finding.message, finding.rule)
        });
        lines.collect::<Vec<_>>().join("; ")
    };
    let name = || prepared.name.clone();
    if prepared.verdict.blocks_install() && !prompter.accept_risk(prepared)? {
        return Err(PackageError::AuditRejected { name: name(), findings: findings() });
    }
    if prepared.verdict.needs_confirmation() && !prompter.confirm_findings(prepared)? {
        return Err(PackageError::AuditUnconfirmed { name: name(), findings: findings() });
    }
    Ok(())
}

fn choose_skills(
    request: &InstallRequest,
    followed: &FollowedSource,
    prompter: &mut dyn Prompter,
) -> Result<Vec<Candidate>, PackageError> {
    let (source, acquired) = (request.source.to_string(), &followed.acquired);
    let names = if request.skills == SkillChoice::All { NameSource::Directory } else { NameSource::Manifest };
    let candidates = acquired.candidates(false, names)?;
    if candidates.is_empty() {
        return Err(PackageError::NoSkills(source));
    }
    let requested = match &request.skills {
        SkillChoice::All => return Ok(candidates),
        SkillChoice::Named(names) => names,
        SkillChoice::Ask if candidates.len() == 1 => return Ok(candidates),
        SkillChoice::Ask => {
            let chosen = prompter.pick_skills(&source, &candidates);
            let chosen = chosen.map_err(|error| followed.name_plugins(error))?;
            return Ok(chosen.into_iter().filter_map(|index| candidates.get(index).cloned()).collect());
        }
    };
    // A skill that is selected by name may be inside another one.
    let nested = acquired.candidates(true, names)?;
    let mut chosen: Vec<Candidate> = Vec::new();
    for name in requested {
        let matches = |candidate: &&Candidate| {
            let last = candidate.dir.rsplit('/').next().unwrap_or_default();
            candidate.name == *name || last == name || candidate.dir == *name
        };
        let mut matching = candidates.iter().filter(matches).chain(nested.iter().filter(matches));
        let Some(first) = matching.next() else {
            let available = nested.into_iter().map(|candidate| candidate.name).collect();
            return Err(PackageError::SkillNotInSource {
                name: name.clone(),
                source_text: source,
                available,
            });
        };
        if !chosen.contains(first) {
            chosen.push(first.clone());
        }
    }
    Ok(chosen)
}

pub(crate) fn new_lock_entry(
    origin: &SourceOrigin,
    prepared: &PreparedSkill,
    target: &InstallTarget,
) -> LockEntry {
    LockEntry {
        name: prepared.name.clone(),
        folder: target.lock_key(&target.root.join(&prepared.name)),
        source: origin.source.clone(),
        reference: origin.reference.clone(),
        commit: origin.commit.clone(),
        path: (!prepared.dir_in_source.is_empty()).then(|| prepared.dir_in_source.clone()),
        renamed_from: prepared.renamed_from.clone(),
        audit: prepared.audit_record(),
        capabilities: prepared.capabilities.clone(),
        granted: target.grants_for(&prepared.name, &prepared.required_variables),
        installed_at: (target.scope == InstallScope::User).then(clock::iso_now),
        ..LockEntry::default()
    }
    .with_tree(&prepared.tree)
}

pub(crate) enum Decision {
    Item(Box<PlanItem>),
    /// The skill has to be prepared again under this name.
    RetryAs(String),
}

pub(crate) fn decide_action(
    prepared: PreparedSkill,
    mut after: LockEntry,
    lock: &LockFile,
    target: &InstallTarget,
    prompter: &mut dyn Prompter,
) -> Result<Decision, PackageError> {
    let dir = target.root.join(&prepared.name);
    let before = lock.entry(&after.folder).cloned();
    if let Some(before) = &before {
        // Pinned packages are used only for the same requirements, so those of other versions of the skill do no harm.
        after.environments.clone_from(&before.environments);
    }
    let exists = std::fs::symlink_metadata(&dir).is_ok();
    let modified = match &before {
        Some(before) if exists => check_installed(target, before)?.1 != InstalledState::Unchanged,
        _ => false,
    };
    let is_other =
        |plugin: &LockedPlugin| after.plugin.as_ref().is_none_or(|after| after.name != plugin.name);
    if let Some(before) = &before
        && before.tree == after.tree
        && before.source == after.source
        && before.plugin.as_ref().is_some_and(is_other)
    {
        // The same skill may be in several plugins. It belongs to the one that installed it.
        after.plugin.clone_from(&before.plugin);
    }
    let is_same = |before: &LockEntry| {
        // The time of the installation and later grants do not matter.
        let (installed_at, granted) = (after.installed_at.clone(), after.granted.clone());
        let comparable = LockEntry { installed_at, granted, ..before.clone() };
        !modified && exists && comparable == after
    };
    // The same bytes from another source need no change. Another reference of the same source does, because it
    // determines later updates.
    let same_bytes = |before: &LockEntry| {
        let other_source = before.source != after.source;
        !modified
            && exists
            && before.tree == after.tree
            && (other_source || (before.reference == after.reference && before.plugin == after.plugin))
    };
    // Only the record of the plugin changes.
    let same_files = |before: &LockEntry| {
        !modified
            && before.tree == after.tree
            && before.source == after.source
            && before.reference == after.reference
    };
    let is_copy = || {
        let is_link = std::fs::symlink_metadata(&dir).is_ok_and(|metadata| metadata.is_symlink());
        !is_link && HashedTree::from_dir(&dir).is_ok_and(|tree| tree.hash() == after.tree)
    };
    let action = match (exists, &before) {
        (_, Some(before)) if is_same(before) || same_bytes(before) => PlanAction::Keep,
        (false, _) => PlanAction::Add,
        // The directory has the same files; only the lock file changes.
        (true, None) if is_copy() => PlanAction::Replace,
        (true, Some(before)) if same_files(before) => PlanAction::Replace,
        (true, installed) => {
            let conflict = InstallConflict {
                prepared: &prepared,
                installed: installed.as_ref(),
                is_modified: modified,
                dir: &dir,
                source: &after.source,
            };
            match prompter.resolve_conflict(&conflict)? {
                OnConflict::Overwrite => PlanAction::Replace,
                OnConflict::Skip => PlanAction::Skip("the name is already in use".to_owned()),
                OnConflict::Rename(name) => return Ok(Decision::RetryAs(parse_dir_name(&name)?)),
            }
        }
    };
    let name = prepared.name.clone();
    let (after, prepared) = (Some(after), Some(prepared));
    Ok(Decision::Item(Box::new(PlanItem { name, dir, action, before, after, prepared })))
}
