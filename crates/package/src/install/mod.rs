//! Installing: a source to skills in a place, decided before anything is done.

mod collide;
mod group;
mod import;
mod plan;
mod prepare;
mod rename;
mod restore;
mod update;

use std::sync::Arc;

use prowess::HashedTree;
use prowess::lock::{Lock, Locked};
use prowess_format::Rules;

use crate::acquire::{Acquired, Candidate, FileUrls, Found, Names, Origin, acquire};
use crate::error::PackageError;
use crate::place::clock;
use crate::place::verify::{Standing, standing};
use crate::place::{For, Place};
use crate::source::Source;
use crate::work::Work;
pub(crate) use collide::no_collisions;
pub(crate) use prepare::folder_name;
use prepare::prepare;
use prowess_audit::Suppressions;
use prowess_fs::parallel;

pub use import::{Import, Known, Upload, plan_import};
pub use plan::{Action, Changes, Item, Plan, plan_remove};
pub use prepare::Prepared;
pub use restore::{Wanted, plan_restore};
pub use update::plan_update;

/// What is to be installed.
#[derive(Debug, Clone)]
pub struct Request {
    /// From where.
    pub source: Source,
    /// The branch, tag or commit, for repositories.
    pub reference: Option<String>,
    /// What the skill shall be called, if not what it calls itself.
    pub name: Option<String>,
    /// Which of several.
    pub pick: Pick,
    /// Whether `file://` repositories may be used.
    pub file_urls: FileUrls,
    /// What to do about skills that are invalid or refused, where there are several.
    pub invalid: OnInvalid,
}

/// What to do about skills of a source that are invalid or refused, where there are several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnInvalid {
    /// Install none.
    Stop,
    /// Install the others.
    Skip,
}

/// Which skills of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pick {
    /// The only one, or whichever the user chooses.
    Ask,
    /// Those of these names or folders.
    Named(Vec<String>),
    /// All.
    All,
}

/// A name that is taken.
#[derive(Debug)]
pub struct Conflict<'a> {
    /// What is to be installed.
    pub prepared: &'a Prepared,
    /// What the lock says of what is there; `None` where nobody installed it.
    pub installed: Option<&'a Locked>,
    /// Whether what is there was changed since it was installed.
    pub modified: bool,
    /// Where it is.
    pub folder: &'a std::path::Path,
    /// What is to be installed comes from here.
    pub source: &'a str,
}

/// What to do about a name that is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnConflict {
    /// Put the new one in the place of the old one.
    Overwrite,
    /// Leave what is there.
    Skip,
    /// Install it under this name.
    Rename(String),
}

/// What a skill is held against before it is installed.
#[derive(Debug, Clone)]
pub struct Judge<'a> {
    /// What its manifest must be like.
    pub manifest: &'a Rules,
    /// The findings of the audit that the user has given a reason for. Nothing of the skill itself comes in here.
    pub suppressions: Vec<&'a Suppressions>,
}

/// Whoever decides: a person at a terminal, or the flags of a call.
pub trait Asks {
    /// Which of several skills; places in the list.
    fn pick(&mut self, source: &str, there: &[Candidate]) -> Result<Vec<usize>, PackageError>;
    /// What to do about a name that is taken.
    fn conflict(&mut self, conflict: &Conflict<'_>) -> Result<OnConflict, PackageError>;
    /// Whether to install what the audit refuses.
    fn risk(&mut self, prepared: &Prepared) -> Result<bool, PackageError>;
    /// Whether to install what has findings of high severity, which the user must see first.
    fn confirm_findings(&mut self, prepared: &Prepared) -> Result<bool, PackageError>;
    /// Whether an update may bring more than before.
    fn increase(&mut self, item: &Item) -> Result<bool, PackageError>;
}

/// Fetches a source and decides what becomes of each skill in it. Nothing is changed before [`Plan::commit`].
pub fn plan_install(
    request: &Request,
    place: &Place,
    judge: &Judge<'_>,
    asks: &mut dyn Asks,
    work: &Arc<Work>,
) -> Result<Plan, PackageError> {
    if let Some(name) = &request.name {
        // Whoever typed it can type another.
        let wrong = |error: PackageError| PackageError::Call {
            message: error.to_string(),
            hint: "a name is made of small letters, digits and hyphens".to_owned(),
        };
        folder_name(name).map_err(wrong)?;
    }
    let mut plan = Plan::begin(place)?;
    let reference = request.reference.as_deref();
    let scratch = plan.stage()?.scratch();
    let acquired = acquire(&request.source, reference, request.file_urls, &scratch, work)?;
    let origin = Origin {
        reference: request.reference.clone().or(acquired.reference.clone()),
        ..acquired.origin(place)
    };
    let chosen = choose(request, &acquired, asks)?;
    let Found { tree, skills } = acquired.take(chosen)?;
    if request.name.is_some() && skills.len() > 1 {
        return Err(PackageError::Call {
            message: format!("--name is for one skill, and {} were chosen", skills.len()),
            hint: "choose one with --skill".to_owned(),
        });
    }
    let lock = Lock::read(&place.lock)?;
    work.step("checking", skills.len() as u64);
    let stage = plan.stage()?;
    let prepare =
        |candidate: &Candidate, name: Option<&str>| prepare(&*tree, candidate, name, judge, stage, work);
    // Everything is known to be sound before the first question is asked.
    let all = parallel(&skills, 1, |candidate| {
        let prepared = prepare(candidate, request.name.as_deref());
        work.add(1);
        prepared
    });
    let mut outcomes: Vec<Result<Item, (&Candidate, PackageError)>> = Vec::with_capacity(all.len());
    for (candidate, prepared) in skills.iter().zip(all) {
        let mut item_of = |mut prepared: Prepared| loop {
            let locked = locked(&origin, &prepared, place);
            match decide(prepared, locked, &lock, place, asks)? {
                Decided::Item(item) => {
                    if let Some(prepared) = item.prepared.as_ref().filter(|_| item.action.changes()) {
                        admit(prepared, asks)?;
                    }
                    return Ok(*item);
                }
                Decided::Again(other) => prepared = prepare(candidate, Some(&other))?,
            }
        };
        match prepared.and_then(&mut item_of) {
            Err(error) if skills.len() > 1 && error.is_about_one_skill() => {
                outcomes.push(Err((candidate, error)));
            }
            outcome => outcomes.push(Ok(outcome?)),
        }
    }
    if request.invalid == OnInvalid::Stop && outcomes.iter().any(Result::is_err) {
        let failed = outcomes.into_iter().filter_map(Result::err);
        let failed = failed.map(|(candidate, error)| (candidate.name.clone(), error)).collect();
        return Err(PackageError::Several { failed, total: skills.len() });
    }
    let failed =
        |(candidate, error): (&Candidate, PackageError)| Item::failed(&candidate.name, &error, place);
    plan.items = outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(failed)).collect();
    Ok(plan)
}

/// Refuses a skill with critical findings, and one with findings of high severity that the user does not confirm.
pub(crate) fn admit(prepared: &Prepared, asks: &mut dyn Asks) -> Result<(), PackageError> {
    let findings = || {
        let serious = prepared.verdict.serious();
        let lines =
            serious.map(|found| format!("{}:{} {} ({})", found.path, found.line, found.message, found.rule));
        lines.collect::<Vec<_>>().join("; ")
    };
    let name = || prepared.name.clone();
    if prepared.verdict.is_refused() && !asks.risk(prepared)? {
        return Err(PackageError::Refused { name: name(), findings: findings() });
    }
    if prepared.verdict.needs_confirmation() && !asks.confirm_findings(prepared)? {
        return Err(PackageError::Unconfirmed { name: name(), findings: findings() });
    }
    Ok(())
}

fn choose(
    request: &Request,
    acquired: &Acquired,
    asks: &mut dyn Asks,
) -> Result<Vec<Candidate>, PackageError> {
    let source = request.source.to_string();
    let names = if request.pick == Pick::All { Names::OfFolders } else { Names::OfManifests };
    let there = acquired.there(false, names)?;
    if there.is_empty() {
        return Err(PackageError::NoSkill(source));
    }
    let wanted = match &request.pick {
        Pick::All => return Ok(there),
        Pick::Named(names) => names,
        Pick::Ask if there.len() == 1 => return Ok(there),
        Pick::Ask => {
            let chosen = asks.pick(&source, &there)?;
            return Ok(chosen.into_iter().filter_map(|at| there.get(at).cloned()).collect());
        }
    };
    // Whoever names a skill may mean one inside another.
    let nested = acquired.there(true, names)?;
    let mut chosen: Vec<Candidate> = Vec::new();
    for name in wanted {
        let named = |candidate: &&Candidate| {
            let last = candidate.folder.rsplit('/').next().unwrap_or_default();
            candidate.name == *name || last == name || candidate.folder == *name
        };
        let mut found = there.iter().filter(named).chain(nested.iter().filter(named));
        let Some(first) = found.next() else {
            let there = nested.into_iter().map(|candidate| candidate.name).collect();
            return Err(PackageError::NoSuchSkill { name: name.clone(), source_text: source, there });
        };
        if !chosen.contains(first) {
            chosen.push(first.clone());
        }
    }
    Ok(chosen)
}

/// What the lock will say.
pub(crate) fn locked(origin: &Origin, prepared: &Prepared, place: &Place) -> Locked {
    Locked {
        name: prepared.name.clone(),
        folder: place.key(&place.root.join(&prepared.name)),
        source: origin.source.clone(),
        reference: origin.reference.clone(),
        commit: origin.commit.clone(),
        path: (!prepared.inner.is_empty()).then(|| prepared.inner.clone()),
        renamed_from: prepared.renamed_from.clone(),
        audit: prepared.audit_record(),
        capabilities: prepared.capabilities.clone(),
        granted: place.granted(&prepared.name, &prepared.needs),
        installed_at: (place.scope == For::User).then(clock::now),
        ..Locked::default()
    }
    .with_tree(&prepared.tree)
}

pub(crate) enum Decided {
    Item(Box<Item>),
    Again(String),
}

pub(crate) fn decide(
    prepared: Prepared,
    after: Locked,
    lock: &Lock,
    place: &Place,
    asks: &mut dyn Asks,
) -> Result<Decided, PackageError> {
    let folder = place.root.join(&prepared.name);
    let before = lock.skill(&after.folder).cloned();
    let there = std::fs::symlink_metadata(&folder).is_ok();
    let modified = match &before {
        Some(before) if there => standing(place, before)?.1 != Standing::Same,
        _ => false,
    };
    let same = |before: &Locked| {
        // When it was, and what the user has granted since, says nothing about what is installed.
        let (installed_at, granted) = (after.installed_at.clone(), after.granted.clone());
        let known = Locked { installed_at, granted, ..before.clone() };
        !modified && there && known == after
    };
    // The same bytes from elsewhere are what the user asked for. Another reference of the same source is not: it decides
    // what later updates bring.
    let same_bytes = |before: &Locked| {
        let other_source = before.source != after.source;
        !modified
            && there
            && before.tree == after.tree
            && (other_source || before.reference == after.reference)
    };
    let is_copy = || {
        let is_link = std::fs::symlink_metadata(&folder).is_ok_and(|there| there.is_symlink());
        !is_link && HashedTree::of(&folder).is_ok_and(|tree| tree.hash() == after.tree)
    };
    let action = match (there, &before) {
        (_, Some(before)) if same(before) || same_bytes(before) => Action::Keep,
        (false, _) => Action::Add,
        // Only the lock changes.
        (true, None) if is_copy() => Action::Replace,
        (true, installed) => {
            let conflict = Conflict {
                prepared: &prepared,
                installed: installed.as_ref(),
                modified,
                folder: &folder,
                source: &after.source,
            };
            match asks.conflict(&conflict)? {
                OnConflict::Overwrite => Action::Replace,
                OnConflict::Skip => Action::Skip("the name is taken".to_owned()),
                OnConflict::Rename(name) => return Ok(Decided::Again(folder_name(&name)?)),
            }
        }
    };
    let name = prepared.name.clone();
    let (after, prepared) = (Some(after), Some(prepared));
    Ok(Decided::Item(Box::new(Item { name, folder, action, before, after, prepared })))
}
