//! `prowess remove`.

use std::path::{Path, PathBuf};

use prowess::lock::{Lock, Locked, compare};
use prowess::{HashedTree, Scope, Skill, Snapshot};
use prowess_package::{Item, Place};
use serde_json::json;

use super::super::{Outcome, YES, find};
use super::asks::Answering;
use super::links::Linked;
use super::{cancellable, failure, links, places, short, told};
use crate::args::Global;
use crate::args::packages::{Answers, Remove};
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean};

/// A skill that is to go.
struct Going {
    name: String,
    folder: PathBuf,
    place: Place,
    /// What would be lost with it that nobody can get again.
    own: Option<String>,
}

pub(in crate::commands) fn run(
    context: &Context,
    global: &Global,
    call: &Remove,
    output: &mut Output,
) -> Outcome {
    let places = places(context, &call.scope)?;
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    let mut names = call.names.clone();
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    let going =
        names.iter().map(|name| going(name, &places, &snapshot, context)).collect::<Result<Vec<_>, _>>()?;
    let answers = Answers { yes: call.yes, on_conflict: None, accept_risk: false };
    let asks = Answering::new(&answers, global, &cancellable());
    for Going { name, own, .. } in going.iter().filter(|_| !call.yes) {
        let Some(own) = own else { continue };
        if call.dry_run && asks.is_terminal() {
            output.remark(format!("{own}; it would be removed only after a question"));
            continue;
        }
        if !asks.is_terminal() {
            let failure = Failure::new(ErrorCode::Conflict, own.clone());
            return Err(failure.hint("there may be no other copy of it; --yes removes it all the same"));
        }
        if !asks.confirm(&format!("{own}. Remove it for good?")).map_err(failure)? {
            return Err(Failure::new(ErrorCode::Conflict, format!("{} was left alone", clean(name))));
        }
    }
    let (mut items, mut links): (Vec<Item>, Vec<Linked>) = (Vec::new(), Vec::new());
    for group in together(&going) {
        let Some(place) = group.first().map(|going| &going.place) else { continue };
        let skills: Vec<(&str, &Path)> =
            group.iter().map(|going| (going.name.as_str(), going.folder.as_path())).collect();
        let plan = prowess_package::plan_remove(&skills, place).map_err(failure)?;
        let removed = if call.dry_run { plan.items } else { plan.commit().map_err(failure)? };
        links.extend(removed.iter().flat_map(|item| links::leave(item, place, !call.dry_run)));
        items.extend(removed);
    }
    if output.json() {
        let skills: Vec<_> = items.iter().map(told::item_json).collect();
        let links: Vec<_> = links.iter().map(Linked::json).collect();
        let answer = json!({"schema": 1, "dry_run": call.dry_run, "skills": skills, "links": links});
        output.answer(&answer)?;
        return Ok(YES);
    }
    told::each(&items, &links, !call.dry_run, false, context, output)?;
    if call.dry_run {
        output.remark("nothing was changed");
    }
    Ok(YES)
}

/// The skills that can go in one step: those of one lock, on one file system, in folders of different names.
fn together(going: &[Going]) -> Vec<Vec<&Going>> {
    let device = |going: &Going| {
        let parent = going.folder.parent().and_then(|parent| std::fs::metadata(parent).ok());
        parent.map(|parent| prowess_fs::device(&parent))
    };
    let mut groups: Vec<Vec<&Going>> = Vec::new();
    for one in going {
        let fits = |group: &&mut Vec<&Going>| {
            group.iter().all(|other| {
                let same_place = other.place.lock == one.place.lock && device(other) == device(one);
                same_place && other.folder.file_name() != one.folder.file_name()
            })
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// Where a skill lies and what speaks for it. What was installed goes before what is only there; of several of one
/// name, the one that counts.
fn going(name: &str, places: &[Place], snapshot: &Snapshot, context: &Context) -> Result<Going, Failure> {
    let counts = snapshot.get(name).map(|skill| skill.canonical_folder());
    let mut installed: Vec<Going> = Vec::new();
    for place in places {
        let lock = Lock::read(&place.lock).map_err(|error| failure(error.into()))?;
        for locked in lock.skills.iter().filter(|locked| locked.name == name) {
            let folder = place.folder(locked).map_err(failure)?;
            let own = modified(locked, &folder);
            installed.push(Going { name: name.to_owned(), folder, place: place.clone(), own });
        }
    }
    let at = installed
        .iter()
        .position(|going| counts.is_some() && std::fs::canonicalize(&going.folder).ok() == counts)
        .unwrap_or(0);
    if at < installed.len() {
        return Ok(installed.swap_remove(at));
    }
    let skill = find(snapshot, name)?;
    let place = writable(skill, places, context)?;
    let (name, folder) = (skill.name().into_owned(), skill.folder());
    let own = format!("{} was not installed, but made: {}", clean(&name), short(&folder, context));
    Ok(Going { name, folder, place, own: Some(own) })
}

/// What somebody made of a skill since it was installed.
fn modified(locked: &Locked, folder: &Path) -> Option<String> {
    if std::fs::symlink_metadata(folder).map_or(true, |there| there.is_symlink()) {
        return None;
    }
    let difference = compare(locked, &HashedTree::of(folder));
    let told = || format!("{} was modified since it was installed: {difference}", clean(&locked.name));
    (!difference.is_same()).then(told)
}

/// The place a skill can be removed from, or why it cannot.
fn writable(skill: &Skill, places: &[Place], context: &Context) -> Result<Place, Failure> {
    let name = clean(&skill.name()).into_owned();
    let refuse = |why: String| {
        Failure::new(ErrorCode::AccessDenied, format!("{name} cannot be removed: {why}"))
            .hint(format!("prowess disable {name} switches it off"))
    };
    let root = skill.root();
    if root.is_supplied() {
        return Err(refuse(
            "it lies at its server; prowess untrust --mcp takes your approval back".to_owned(),
        ));
    }
    if root.is_embedded() {
        return Err(refuse("it is bundled with Prowess".to_owned()));
    }
    if root.scope() == Scope::Bundled {
        return Err(refuse(format!(
            "{} is read-only: it comes with the application",
            short(root.path(), context)
        )));
    }
    if skill.link().is_some() {
        return Err(refuse("it is a link; delete the link, or remove it where it leads".to_owned()));
    }
    let below = |place: &&Place| root.path().starts_with(place.base().unwrap_or(Path::new("/nowhere")));
    let place = places.iter().find(|place| place.root == root.path()).or_else(|| places.iter().find(below));
    match place {
        Some(place) => Ok(place.clone()),
        None => Err(refuse(format!(
            "it lies in {}, outside the project and the home",
            short(root.path(), context)
        ))),
    }
}
