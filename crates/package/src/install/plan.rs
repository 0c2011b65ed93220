//! What is about to change, decided and staged but not yet done.

use std::path::{Path, PathBuf};

use prowess::lock::{Capabilities, Granted, Lock, Locked, Replacement};

use super::prepare::Prepared;
use crate::error::PackageError;
use crate::place::Place;
use crate::place::clock;
use crate::place::commit::{Trusts, commit, recover};
use crate::place::stage::Stage;

/// Everything that one command changes: all of it happens, or nothing.
#[derive(Debug)]
pub struct Plan {
    /// Where.
    pub place: Place,
    /// What becomes of each skill.
    pub items: Vec<Item>,
    pub(crate) trusts: Trusts,
    pub(crate) stage: Option<Stage>,
}

/// What becomes of one skill.
#[derive(Debug)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What happens.
    pub action: Action,
    /// What the lock said of it so far.
    pub before: Option<Locked>,
    /// What it will say.
    pub after: Option<Locked>,
    /// What was staged.
    pub prepared: Option<Prepared>,
}

/// What happens to a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// It is new.
    Add,
    /// It takes the place of what is there.
    Replace,
    /// It is removed.
    Remove,
    /// It is what it should be already.
    Keep,
    /// The user left it out, or it cannot move: why.
    Skip(String),
    /// It cannot be installed or updated: why.
    Fail(String),
}

impl Action {
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

    pub(crate) fn changes(&self) -> bool {
        matches!(self, Self::Add | Self::Replace | Self::Remove)
    }
}

/// How a skill changes: what a person should see before it does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// New files.
    pub added: Vec<String>,
    /// Files that go.
    pub removed: Vec<String>,
    /// Files with other bytes.
    pub changed: Vec<String>,
    /// What it brings that it did not bring before.
    pub gained: Capabilities,
    /// What it no longer brings.
    pub lost: Capabilities,
    /// What the user grants to it and did not before, as far as the lock knows.
    pub granted: Granted,
    /// What the user no longer grants to it.
    pub revoked: Granted,
}

impl Item {
    /// A skill of a source that cannot be installed.
    pub fn failed(name: &str, error: &PackageError, place: &Place) -> Self {
        Self {
            name: name.to_owned(),
            folder: place.root.join(name),
            action: Action::Fail(error.without(name)),
            before: None,
            after: None,
            prepared: None,
        }
    }

    /// How it changes; nothing for what is new.
    pub fn changes(&self) -> Option<Changes> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        let only = |a: &Locked, b: &Locked| {
            a.files.keys().filter(|path| !b.files.contains_key(*path)).cloned().collect::<Vec<_>>()
        };
        let differs = |(path, digest): &(&String, &String)| {
            let mode = |locked: &Locked| locked.executable.contains(*path);
            before.files.get(*path).is_some_and(|old| old != *digest || mode(before) != mode(after))
        };
        Some(Changes {
            added: only(after, before),
            removed: only(before, after),
            changed: after.files.iter().filter(differs).map(|(path, _)| path.clone()).collect(),
            gained: before.capabilities.difference(&after.capabilities),
            lost: after.capabilities.difference(&before.capabilities),
            granted: before.granted.difference(&after.granted),
            revoked: after.granted.difference(&before.granted),
        })
    }
}

impl Changes {
    /// Whether it brings scripts, hosts, tools or variables that it did not bring before: then the user is asked again.
    pub fn is_increase(&self) -> bool {
        !self.gained.is_empty()
    }
}

impl Plan {
    /// Opens a place for changes: finishes what a killed process began, clears what it left, and makes a stage.
    pub(crate) fn begin(place: &Place) -> Result<Self, PackageError> {
        place.is_writable()?;
        let _guard = place.guard()?;
        place.clear()?;
        let stage = Stage::make(&place.root)?;
        Ok(Self { place: place.clone(), items: Vec::new(), trusts: Trusts::New, stage: Some(stage) })
    }

    pub(crate) fn stage(&self) -> Result<&Stage, PackageError> {
        self.stage.as_ref().ok_or(PackageError::Cancelled(crate::work::Cancelled))
    }

    /// Whether anything changes.
    pub fn is_empty(&self) -> bool {
        !self.items.iter().any(|item| item.action.changes())
    }

    /// Does it.
    pub fn commit(mut self) -> Result<Vec<Item>, PackageError> {
        let items = std::mem::take(&mut self.items);
        let _guard = self.place.guard()?;
        let now = clock::now();
        recover(&self.place, &now)?;
        let lock = Lock::read(&self.place.lock)?;
        let mut changes = Vec::new();
        for item in items.iter().filter(|item| item.action.changes()) {
            let folder = self.place.key(&item.folder);
            // Somebody else may have installed the same meanwhile: what was decided was decided about something else.
            let there = std::fs::symlink_metadata(&item.folder).is_ok();
            let fits = match item.action {
                Action::Add => !there,
                // What somebody deleted by hand can still be taken out of the lock.
                Action::Remove => there || item.before.is_some(),
                Action::Replace | Action::Keep | Action::Skip(_) | Action::Fail(_) => there,
            };
            if !fits || lock.skill(&folder) != item.before.as_ref() {
                return Err(PackageError::Taken(item.folder.clone()));
            }
            changes.push(Replacement { folder, after: item.after.clone() });
        }
        let stage = self.stage.take();
        let path = stage.as_ref().map(|stage| stage.path().to_owned()).unwrap_or_default();
        let result = commit(&self.place, &path, changes, self.trusts, &now);
        if let (Err(_), Some(stage)) = (&result, stage)
            && matches!(Lock::read(&self.place.lock), Ok(Lock { pending: Some(_), .. }))
        {
            // It could neither be finished nor be taken back: the next run needs what is staged.
            stage.keep();
        }
        result.map(|()| items)
    }
}

/// Decides to remove the skills in these folders, installed or not: all of them, or none. The folders have different
/// names and are on one file system.
pub fn plan_remove(skills: &[(&str, &Path)], place: &Place) -> Result<Plan, PackageError> {
    let mut place = place.clone();
    if let Some(root) = skills.first().and_then(|(_, folder)| folder.parent()) {
        // Folders are moved away within their file system.
        place.root = root.to_owned();
    }
    let mut plan = Plan::begin(&place)?;
    let lock = Lock::read(&place.lock)?;
    for (name, folder) in skills {
        let before = lock.skill(&place.key(folder)).cloned();
        if before.is_none() && std::fs::symlink_metadata(folder).is_err() {
            return Err(PackageError::NotFound(format!("{} is not there", folder.display())));
        }
        plan.items.push(Item {
            name: (*name).to_owned(),
            folder: (*folder).to_owned(),
            action: Action::Remove,
            before,
            after: None,
            prepared: None,
        });
    }
    Ok(plan)
}
