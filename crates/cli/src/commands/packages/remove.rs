//! `prowess remove`.

use std::path::{Path, PathBuf};

use prowess::lock::Lock;
use prowess::{Scope, Skill, Snapshot};
use prowess_package::{Item, Place};

use super::super::{Outcome, YES, find};
use super::asks::Answering;
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
    installed: bool,
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
    let going = call
        .names
        .iter()
        .map(|name| going(name, &places, &snapshot, context))
        .collect::<Result<Vec<_>, _>>()?;
    let answers = Answers { yes: call.yes, on_conflict: None, accept_risk: false };
    let asks = Answering::new(&answers, global, &cancellable());
    for going in going.iter().filter(|going| !going.installed && !call.yes && !call.dry_run) {
        let what = format!("{} was not installed, but made: {}", going.name, short(&going.folder, context));
        if !asks.is_terminal() {
            let failure = Failure::new(ErrorCode::Conflict, what);
            return Err(failure.hint("there may be no other copy of it; --yes removes it all the same"));
        }
        if !asks.confirm(&format!("{what}. Remove it for good?")).map_err(failure)? {
            return Err(Failure::new(ErrorCode::Conflict, format!("{} was left alone", going.name)));
        }
    }
    let mut items: Vec<Item> = Vec::new();
    for going in &going {
        let plan = prowess_package::plan_remove(&going.name, &going.folder, &going.place).map_err(failure)?;
        match call.dry_run {
            true => items.extend(plan.items),
            false => {
                links::unlink(&going.folder, &going.place);
                items.extend(plan.commit().map_err(failure)?);
            }
        }
    }
    if output.json() {
        let skills: Vec<_> = items.iter().map(told::item_json).collect();
        output.answer(&serde_json::json!({"schema": 1, "dry_run": call.dry_run, "skills": skills}))?;
        return Ok(YES);
    }
    for item in &items {
        told::item(item, !call.dry_run, false, context, output)?;
    }
    if call.dry_run {
        output.remark("nothing was changed");
    }
    Ok(YES)
}

/// Where a skill lies and what speaks for it. What was installed goes before what is only there.
fn going(name: &str, places: &[Place], snapshot: &Snapshot, context: &Context) -> Result<Going, Failure> {
    for place in places {
        let lock = Lock::read(&place.lock).map_err(|error| failure(error.into()))?;
        let locked = lock.skills.iter().find(|locked| locked.name == name);
        if let Some(locked) = locked {
            let folder = place.folder(locked).map_err(failure)?;
            return Ok(Going { name: name.to_owned(), folder, place: place.clone(), installed: true });
        }
    }
    let skill = find(snapshot, name)?;
    let place = writable(skill, places, context)?;
    let folder = skill.folder();
    Ok(Going { name: skill.name().into_owned(), folder, place, installed: false })
}

/// The place a skill can be removed from, or why it cannot.
fn writable(skill: &Skill, places: &[Place], context: &Context) -> Result<Place, Failure> {
    let name = clean(&skill.name()).into_owned();
    let refuse = |why: String| {
        Failure::new(ErrorCode::AccessDenied, format!("{name} cannot be removed: {why}"))
            .hint(format!("prowess disable {name} switches it off"))
    };
    let root = skill.root();
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
