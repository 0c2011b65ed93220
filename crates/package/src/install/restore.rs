//! `install --locked`: exactly what the lock says, or nothing.

use std::sync::Arc;

use prowess::lock::{Lock, Locked};

use super::group::{at_path, from_lock, groups};
use super::plan::{Action, Item, Plan};
use super::prepare::prepare;
use super::update::chosen;
use crate::acquire::FileUrls;
use crate::error::PackageError;
use crate::install::{Asks, Conflict, Judge, OnConflict, admit};
use crate::place::Place;
use crate::place::commit::Trusts;
use crate::place::verify::{Standing, standing};
use crate::source::Source;
use crate::work::Work;

/// Which of the locked skills to restore.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Only those from this source.
    pub source: Option<&'a Source>,
    /// Only those with these names; all where there are none.
    pub names: &'a [String],
}

/// Fetches what is missing or modified, at the commit that the lock names, and refuses whatever is not what the lock
/// says.
pub fn plan_restore(
    wanted: &Wanted<'_>,
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
    if lock.skills.is_empty() {
        return Err(PackageError::Acquire {
            code: prowess::ErrorCode::NotFound,
            message: format!("nothing is locked: {} is not there", place.lock.display()),
            hint: Some("prowess install SOURCE writes it; --project and --user say whose".to_owned()),
        });
    }
    let Wanted { source, names } = *wanted;
    let is_wanted = |locked: &&Locked| source.is_none_or(|source| is_from(locked, source, place));
    if let (Some(source), None) = (source, lock.skills.iter().find(is_wanted)) {
        return Err(PackageError::NotFound(format!("nothing that is locked comes from {source}")));
    }
    let mut missing: Vec<&Locked> = Vec::new();
    for locked in chosen(&lock, names)?.into_iter().filter(is_wanted) {
        match standing(place, locked)? {
            (folder, Standing::Same) => plan.items.push(item(locked, folder, Action::Keep)),
            _ => missing.push(locked),
        }
    }
    let at = |locked: &Locked| locked.commit.clone().or_else(|| locked.reference.clone());
    for (number, group) in groups(missing, at).into_iter().enumerate() {
        let scratch = plan.stage()?.scratch().join(number.to_string());
        let (found, _) = group.acquire(&group.skills, &scratch, place, file_urls, work)?;
        for locked in group.skills {
            let candidate = at_path(&found, locked)?;
            let name = Some(locked.name.as_str());
            let stage = plan.stage()?;
            let prepared = prepare(&*found.tree, candidate, name, judge, stage, work)?;
            if prepared.tree.hash() != locked.tree {
                let comparison = prowess::lock::compare(locked, &Ok(prepared.tree));
                return Err(PackageError::Drift { name: locked.name.clone(), why: comparison.to_string() });
            }
            admit(&prepared, asks)?;
            let (folder, now) = standing(place, locked)?;
            let action = match now {
                Standing::Missing => Action::Add,
                Standing::Same => Action::Keep,
                Standing::Modified(_) | Standing::Link => {
                    let installed = Some(locked);
                    let (folder, source) = (folder.as_path(), locked.source.as_str());
                    let conflict =
                        Conflict { prepared: &prepared, installed, modified: true, folder, source };
                    match asks.conflict(&conflict)? {
                        OnConflict::Overwrite => Action::Replace,
                        OnConflict::Skip | OnConflict::Rename(_) => {
                            return Err(PackageError::Drift {
                                name: locked.name.clone(),
                                why: "it was modified here".to_owned(),
                            });
                        }
                    }
                }
            };
            plan.items.push(Item { prepared: Some(prepared), ..item(locked, folder, action) });
        }
    }
    plan.items.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(plan)
}

/// Whether a locked skill comes from a source, whatever else was said of it.
fn is_from(locked: &Locked, source: &Source, place: &Place) -> bool {
    match (from_lock(&locked.source, place), source) {
        (Ok(Source::Git { url: own, .. }), Source::Git { url, .. }) => own == *url,
        (Ok(own), source) => own == *source,
        (Err(_), _) => false,
    }
}

fn item(locked: &Locked, folder: std::path::PathBuf, action: Action) -> Item {
    let (before, after) = (Some(locked.clone()), Some(locked.clone()));
    Item { name: locked.name.clone(), folder, action, before, after, prepared: None }
}
