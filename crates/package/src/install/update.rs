//! Updating: what the sources give now, beside what is installed.

use std::sync::Arc;

use prowess::lock::{Lock, Locked};
use prowess::shell::quote;

use super::group::{Group, at_path, groups};
use super::plan::{Action, Item, Plan};
use super::prepare::prepare;
use crate::acquire::{FileUrls, Found, Origin, newest};
use crate::error::PackageError;
use crate::fetch::git::Resolved;
use crate::install::{Asks, Conflict, Judge, OnConflict, admit, locked};
use crate::place::Place;
use crate::place::commit::Trusts;
use crate::place::verify::{Standing, standing};
use crate::work::Work;

/// Fetches what changed and decides what becomes of each skill. No names means all; then one that cannot be updated is
/// left out, with the reason, and does not stop the others.
pub fn plan_update(
    names: &[String],
    place: &Place,
    judge: &Judge<'_>,
    asks: &mut dyn Asks,
    file_urls: FileUrls,
    work: &Arc<Work>,
) -> Result<Plan, PackageError> {
    let mut plan = Plan::begin(place)?;
    // In a project, the lock decides what is got: what nobody trusted so far is not trusted by that.
    plan.trusts = Trusts::Known;
    let lock = Lock::read(&place.lock)?;
    let chosen = chosen(&lock, names)?;
    let mut updater = Updater { plan: &mut plan, judge, asks, file_urls, work, strict: !names.is_empty() };
    for group in groups(chosen, |locked| locked.reference.clone()) {
        updater.group(&group)?;
    }
    plan.items.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(plan)
}

/// The skills of these names, or all.
pub(crate) fn chosen<'l>(lock: &'l Lock, names: &[String]) -> Result<Vec<&'l Locked>, PackageError> {
    if names.is_empty() {
        return Ok(lock.skills.iter().collect());
    }
    let mut chosen = Vec::new();
    for name in names {
        let found: Vec<_> = lock.skills.iter().filter(|locked| locked.name == *name).collect();
        if found.is_empty() {
            let known = lock.skills.iter().map(|locked| locked.name.as_str());
            let near = prowess_format::suggest::nearest(name, known);
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            let name = prowess_format::hidden::shown(name);
            return Err(PackageError::NotFound(format!("no installed skill is named {name}{near}")));
        }
        chosen.extend(found);
    }
    Ok(chosen)
}

struct Updater<'a> {
    plan: &'a mut Plan,
    judge: &'a Judge<'a>,
    asks: &'a mut dyn Asks,
    file_urls: FileUrls,
    work: &'a Arc<Work>,
    /// Whether a skill that cannot be updated stops everything.
    strict: bool,
}

impl Updater<'_> {
    fn group(&mut self, group: &Group<'_>) -> Result<(), PackageError> {
        match self.try_group(group) {
            Err(error) if !self.strict && is_its_own(&error) => {
                group.skills.iter().try_for_each(|locked| self.fail(locked, &error))
            }
            result => result,
        }
    }

    fn try_group(&mut self, group: &Group<'_>) -> Result<(), PackageError> {
        let source = group.source(&self.plan.place)?;
        let (fixed, moving): (Vec<&Locked>, Vec<&Locked>) =
            match newest(&source, group.at.as_deref(), self.file_urls, self.work)? {
                None => (Vec::new(), group.skills.clone()),
                Some((commit, resolved)) => {
                    let is_there = |locked: &&Locked| {
                        let same = locked.commit.as_deref() == Some(commit.as_str());
                        let whole = matches!(standing(&self.plan.place, locked), Ok((_, Standing::Same)));
                        whole && (same || pinned(&resolved).is_some())
                    };
                    let (there, moving) = group.skills.iter().copied().partition(is_there);
                    if let Some(what) = pinned(&resolved) {
                        let there: Vec<&Locked> = there;
                        for locked in there {
                            self.skip(locked, told(&what, locked, &commit))?;
                        }
                        (Vec::new(), moving)
                    } else {
                        (there, moving)
                    }
                }
            };
        for locked in fixed {
            self.keep(locked)?;
        }
        if moving.is_empty() {
            return Ok(());
        }
        let scratch = self.plan.stage()?.scratch().join(self.plan.items.len().to_string());
        let place = &self.plan.place;
        let (found, origin) = group.acquire(&moving, &scratch, place, self.file_urls, self.work)?;
        self.work.step("checking", moving.len() as u64);
        for locked in moving {
            match self.one(locked, &found, &origin) {
                Ok(item) => self.plan.items.push(item),
                Err(error) if !self.strict && is_its_own(&error) => {
                    self.fail(locked, &error)?;
                }
                Err(error) => return Err(error),
            }
            self.work.add(1);
        }
        Ok(())
    }

    fn one(&mut self, before: &Locked, found: &Found, origin: &Origin) -> Result<Item, PackageError> {
        let place = &self.plan.place;
        let candidate = at_path(found, before)?;
        let stage = self.plan.stage()?;
        let name = Some(before.name.as_str());
        let prepared = prepare(&*found.tree, candidate, name, self.judge, stage, self.work)?;
        if let Some(now) =
            prepared.renamed_from.as_ref().filter(|now| before.renamed_from.as_ref() != Some(*now))
        {
            return Err(renamed(before, now));
        }
        let mut after = locked(origin, &prepared, place);
        after.folder.clone_from(&before.folder);
        after.path.clone_from(&before.path);
        after.source.clone_from(&before.source);
        let (folder, now) = standing(place, before)?;
        let mut action = match &now {
            Standing::Same if after.tree == before.tree => Action::Keep,
            Standing::Same => Action::Replace,
            Standing::Missing => Action::Add,
            Standing::Modified(_) | Standing::Link => {
                let difference = match &now {
                    Standing::Modified(comparison) => comparison.to_string(),
                    _ => "it is a link now".to_owned(),
                };
                if !self.strict {
                    let why = format!("modified here: {difference}");
                    return self.item(before, Action::Skip(why));
                }
                let conflict = Conflict {
                    prepared: &prepared,
                    installed: Some(before),
                    modified: true,
                    folder: &folder,
                    source: &before.source,
                };
                match self.asks.conflict(&conflict)? {
                    OnConflict::Overwrite => Action::Replace,
                    OnConflict::Skip | OnConflict::Rename(_) => Action::Skip("modified here".to_owned()),
                }
            }
        };
        let changes = matches!(action, Action::Replace | Action::Add);
        if changes {
            admit(&prepared, self.asks)?;
        }
        let mut item = Item {
            name: before.name.clone(),
            folder,
            action: action.clone(),
            before: Some(before.clone()),
            after: Some(after),
            prepared: Some(prepared),
        };
        let increases = item.changes().is_some_and(|changes| changes.is_increase());
        if changes && increases && !self.asks.increase(&item)? {
            action = Action::Skip("it would bring more than before; --yes takes it".to_owned());
            item.action = action;
        }
        Ok(item)
    }

    fn keep(&mut self, locked: &Locked) -> Result<(), PackageError> {
        let item = self.item(locked, Action::Keep)?;
        self.plan.items.push(item);
        Ok(())
    }

    fn skip(&mut self, locked: &Locked, why: String) -> Result<(), PackageError> {
        let item = self.item(locked, Action::Skip(why))?;
        self.plan.items.push(item);
        Ok(())
    }

    fn fail(&mut self, locked: &Locked, error: &PackageError) -> Result<(), PackageError> {
        let hint = match error {
            // Only this error's hint is about this skill alone.
            PackageError::RenamedAtSource { .. } => error.hint().map(|hint| format!("; {hint}")),
            _ => None,
        };
        let why = format!("{}{}", error.without(&locked.name), hint.unwrap_or_default());
        let item = self.item(locked, Action::Fail(why))?;
        self.plan.items.push(item);
        Ok(())
    }

    fn item(&self, locked: &Locked, action: Action) -> Result<Item, PackageError> {
        let (before, after) = (Some(locked.clone()), Some(locked.clone()));
        let folder = self.plan.place.folder(locked)?;
        Ok(Item { name: locked.name.clone(), folder, action, before, after, prepared: None })
    }
}

/// Whether a failure is about one skill or source. A full disk is everybody's.
fn is_its_own(error: &PackageError) -> bool {
    !matches!(error, PackageError::Cancelled(_) | PackageError::Io { .. })
}

/// The error for a skill that has another name at its source than when it was installed.
fn renamed(before: &Locked, now: &str) -> PackageError {
    let (name, now) = (before.name.clone(), now.to_owned());
    let mut install = format!("prowess install {}", quote(&before.source));
    if let Some(path) = &before.path {
        install.push_str(&format!(" --skill {}", quote(path)));
    }
    if let Some(reference) = &before.reference {
        install.push_str(&format!(" --ref {}", quote(reference)));
    }
    PackageError::RenamedAtSource { name, now, install }
}

/// What a skill is pinned to, in words; `None` for what is meant to move.
fn pinned(resolved: &Resolved) -> Option<String> {
    match resolved {
        Resolved::Head(_) | Resolved::Branch(_) => None,
        Resolved::Tag(name) => Some(format!("pinned to the tag {name}")),
        Resolved::Commit => Some("pinned to a commit".to_owned()),
    }
}

fn told(what: &str, locked: &Locked, commit: &str) -> String {
    let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
    match &locked.commit {
        Some(known) if known != commit => {
            format!(
                "{what}, which has moved from {} to {}; install it again to take that",
                short(known),
                short(commit)
            )
        }
        _ => what.to_owned(),
    }
}
