//! `prowess import`: skills that are elsewhere already.

use std::path::Path;

use prowess::ErrorCode;
use prowess_package::interchange::{import, link, skills_lock};
use prowess_package::source::{self, Source};
use prowess_package::{For, Item, PackageError, Pick, Place, Plan, Request};

use super::super::Outcome;
use super::super::audit::Lists;
use super::asks::Answering;
use super::install::{invalid, on_invalid, read_source};
use super::{cancellable, failure, file_urls, links, place, short, told};
use crate::args::Global;
use crate::args::packages::Import;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress;

pub(in crate::commands) fn run(
    context: &Context,
    global: &Global,
    call: &Import,
    output: &mut Output,
) -> Outcome {
    let place = place(context, &call.scope)?;
    let requests = match (&call.from, &call.source) {
        (Some(agent), _) => from_agent(agent, &place, call, context)?,
        (None, Some(source)) if is_lock(source) => from_lock(Path::new(source), call, context)?,
        (None, Some(source)) => vec![request(read_source(source, context)?, None, pick(call), call)],
        (None, None) => return Err(Failure::call("there is nothing to import")),
    };
    if call.name.is_some() && requests.len() > 1 {
        let message = format!("--name is for one skill, and {} were chosen", requests.len());
        return Err(Failure::call(message).hint("choose one with --skill"));
    }
    let work = cancellable();
    let lists = Lists::load(context, output)?;
    let judge = lists.judge(context);
    let mut asks = Answering::new(&call.answers, global, &work);
    let (mut plans, mut failed, total) = (Vec::new(), Vec::new(), requests.len());
    for request in requests {
        let request = Request { name: call.name.clone(), ..request };
        let plan = progress::of_work(global, &work, || {
            prowess_package::plan_install(&request, &place, &judge, &mut asks, &work)
        });
        match plan {
            Ok(plan) => plans.push(plan),
            Err(error) if total > 1 && error.is_about_one_skill() => {
                failed.push((called(&request), error));
            }
            Err(PackageError::Several { failed: several, .. }) if total > 1 => failed.extend(several),
            Err(error) => return Err(invalid(error, output)),
        }
    }
    if !failed.is_empty() && !call.skip_invalid {
        let total = plans.iter().map(|plan| plan.items.len()).sum::<usize>() + failed.len();
        return Err(invalid(PackageError::Several { failed, total }, output));
    }
    // All are ready before the first is done: what cannot be got stops the others, too.
    work.go_on().map_err(|cancelled| failure(cancelled.into()))?;
    let mut items: Vec<Item> = Vec::new();
    let changes = !plans.iter().all(Plan::is_empty);
    for plan in plans {
        items.extend(if call.dry_run { plan.items } else { plan.commit().map_err(failure)? });
    }
    items.extend(failed.iter().map(|(name, error)| Item::failed(name, error, &place)));
    told::all(&items, &[], &place, !call.dry_run, context, output)?;
    match call.dry_run {
        _ if output.json() => {}
        true => output.remark("nothing was changed"),
        false if changes => output.remark(told::lock_remark(&items, &place, context)),
        false => {}
    }
    Ok(told::outcome(&items, "imported", output))
}

fn request(source: Source, reference: Option<String>, pick: Pick, call: &Import) -> Request {
    let invalid = on_invalid(call.skip_invalid);
    Request { source, reference, name: None, pick, file_urls: file_urls(), invalid }
}

/// The name of a skill that could not be prepared: its folder's, or what was asked for.
fn called(request: &Request) -> String {
    match (&request.pick, &request.source) {
        (Pick::Named(names), _) => names.join(", "),
        (_, Source::Folder(folder)) => folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        (_, source) => source.to_string(),
    }
}

fn pick(call: &Import) -> Pick {
    match (call.all, call.skill.is_empty()) {
        (true, _) => Pick::All,
        (false, false) => Pick::Named(call.skill.clone()),
        (false, true) => Pick::Ask,
    }
}

fn is_lock(source: &str) -> bool {
    Path::new(source).file_name().is_some_and(|name| name == skills_lock::FILE_NAME)
}

/// One request for each source of another installer's lock.
fn from_lock(path: &Path, call: &Import, context: &Context) -> Result<Vec<Request>, Failure> {
    let wrong = |error: skills_lock::LockError| {
        Failure::call(format!("{} cannot be imported: {error}", crate::output::clean_path(path)))
    };
    let whole = source::absolute(path, &std::env::current_dir()?, context.surroundings.home.as_deref());
    if source::kind_on_disk(&whole).is_none() {
        let message = format!("there is no file {}", crate::output::clean_path(path));
        return Err(Failure::missing_path(message));
    }
    let skills = skills_lock::read(&whole).map_err(wrong)?;
    let mut requests: Vec<(String, Request)> = Vec::new();
    let wanted = |name: &String| call.skill.is_empty() || call.skill.contains(name);
    for skill in skills.iter().filter(|skill| wanted(&skill.name)) {
        let inner = skill.skill_path.as_ref().map(|path| path.as_str().trim_end_matches("SKILL.md"));
        let folder = inner.map(|path| path.trim_end_matches('/').to_owned());
        let chosen = folder.unwrap_or_else(|| skill.name.clone());
        let text = skill.install_source();
        let known = requests
            .iter_mut()
            .find(|(known, request)| known == text && request.reference == skill.reference);
        match known {
            Some((_, Request { pick: Pick::Named(names), .. })) => names.push(chosen),
            _ => {
                let source = read_source(text, context)?;
                let pick = Pick::Named(vec![chosen]);
                requests.push((text.to_owned(), request(source, skill.reference.clone(), pick, call)));
            }
        }
    }
    if requests.is_empty() {
        let message = format!("{} names no such skills", crate::output::clean_path(path));
        return Err(Failure::new(ErrorCode::NotFound, message));
    }
    Ok(requests.into_iter().map(|(_, request)| request).collect())
}

/// One request for each skill in another agent's folder.
fn from_agent(name: &str, place: &Place, call: &Import, context: &Context) -> Result<Vec<Request>, Failure> {
    let agents = links::agents(&[name.to_owned()])?;
    let base = place.base().unwrap_or(&context.surroundings.project);
    let first = match place.scope {
        For::Project => link::Place::Project(base),
        For::User => link::Place::Home(base),
    };
    // Where the scope was not chosen, it says only where the skills go, and the home is searched as well.
    let home = context.surroundings.home.as_deref();
    let home =
        home.filter(|_| place.scope == For::Project && call.scope.said().is_none()).map(link::Place::Home);
    // What is linked to where it would go is there already.
    let there = std::fs::canonicalize(&place.root).ok();
    let is_new = |candidate: &import::Candidate| {
        candidate.link.as_ref().is_none_or(|target| target.parent() != there.as_deref())
    };
    let mut found: Vec<import::Candidate> = Vec::new();
    for folders in std::iter::once(first).chain(home) {
        let has = |name: &String| found.iter().any(|candidate| candidate.name == *name);
        if !found.is_empty() && call.skill.iter().all(has) {
            break;
        }
        let here = agents.iter().flat_map(|agent| import::candidates(agent, folders)).filter(is_new);
        let here: Vec<_> = here.filter(|candidate| !has(&candidate.name)).collect();
        found.extend(here);
    }
    if found.is_empty() {
        let folder = |folders: link::Place<'_>| agents.first().and_then(|agent| folders.folder(agent));
        let searched = std::iter::once(first).chain(home).filter_map(folder);
        let searched: Vec<_> = searched.map(|folder| short(&folder, context)).collect();
        let message = format!("{name} has no skills of its own in {}", searched.join(" or "));
        return Err(Failure::new(ErrorCode::NotFound, message).hint("--scope says where to look"));
    }
    let names: Vec<String> = found.iter().map(|candidate| candidate.name.clone()).collect();
    if let Some(missing) = call.skill.iter().find(|name| !names.contains(name)) {
        let message = format!("{name} has no skill named {}", crate::output::clean(missing));
        return Err(Failure::new(ErrorCode::NotFound, message).hint(format!("it has {}", names.join(", "))));
    }
    if call.skill.is_empty() && !call.all && found.len() > 1 {
        let message = format!("{name} has {} skills", found.len());
        let hint = format!("choose with --skill NAME, or take them with --all; it has {}", names.join(", "));
        return Err(Failure::call(message).hint(hint));
    }
    found.retain(|candidate| call.skill.is_empty() || call.skill.contains(&candidate.name));
    let source = |candidate: import::Candidate| Source::Folder(candidate.link.unwrap_or(candidate.folder));
    Ok(found.into_iter().map(|candidate| request(source(candidate), None, Pick::Ask, call)).collect())
}
