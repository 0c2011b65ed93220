//! `prowess install`.

use std::path::Path;
use std::sync::Arc;

use prowess::Status;
use prowess_package::interchange::link::How;
use prowess_package::source::{self, Source, SourceError};
use prowess_package::{OnInvalid, PackageError, Pick, Place, Plan, Request, Wanted, Work};

use super::super::Outcome;
use super::super::audit::Lists;
use super::asks::Answering;
use super::links::Planned;
use super::{cancellable, failure, file_urls, links, place, told};
use crate::args::Global;
use crate::args::packages::Install;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Output, clean, counted};
use crate::progress;

pub(in crate::commands) fn run(
    context: &Context,
    global: &Global,
    call: &Install,
    output: &mut Output,
) -> Outcome {
    let place = place(context, &call.scope)?;
    let work = cancellable();
    let mut asks = Answering::new(&call.answers, global, &work);
    let lists = Lists::load(context, output)?;
    let judge = lists.judge(context);
    let source = call.source.as_deref().map(|text| read_source(text, context)).transpose()?;
    let agents = links::agents(&call.agent)?;
    let plan = match (&source, call.locked) {
        (source, true) => progress::of_work(global, &work, || {
            let wanted = Wanted { source: source.as_ref(), names: &call.skill };
            prowess_package::plan_restore(&wanted, &place, &judge, &mut asks, file_urls(), &work)
        }),
        (Some(source), false) => {
            let request = request(source, call);
            progress::of_work(global, &work, || {
                prowess_package::plan_install(&request, &place, &judge, &mut asks, &work)
            })
        }
        (None, false) => return Err(Failure::call("there is no source to install from")),
    };
    let plan = plan.map_err(|error| invalid(error, output))?;
    let how = if call.copy { How::Copy } else { How::Link };
    let planned = links::planned(&plan, &agents, how)?;
    let exit = finish(plan, &planned, &place, call, context, output, &work)?;
    if call.locked && !output.json() {
        not_offered(&place, context, global, output);
    }
    Ok(exit)
}

fn request(source: &Source, call: &Install) -> Request {
    let pick = match (call.all, call.skill.is_empty(), source) {
        (true, _, _) => Pick::All,
        (false, false, _) => Pick::Named(call.skill.clone()),
        (false, true, Source::Git { skill: Some(skill), .. }) => Pick::Named(vec![skill.clone()]),
        (false, true, _) => Pick::Ask,
    };
    let (reference, name) = (call.reference.clone(), call.name.clone());
    let invalid = on_invalid(call.skip_invalid);
    Request { source: source.clone(), reference, name, pick, file_urls: file_urls(), invalid }
}

/// What `--skip-invalid` means.
pub(super) fn on_invalid(skip: bool) -> OnInvalid {
    match skip {
        true => OnInvalid::Skip,
        false => OnInvalid::Stop,
    }
}

/// What was typed, with paths made absolute.
pub(super) fn read_source(text: &str, context: &Context) -> Result<Source, Failure> {
    let home = context.surroundings.home.as_deref();
    let here = std::env::current_dir()?;
    let on_disk = |path: &Path| source::kind_on_disk(&source::absolute(path, &here, home));
    let source = source::parse(text, on_disk).map_err(|error| match (&error, error.hint()) {
        (SourceError::Missing(_), Some(hint)) => Failure::missing_path(error.to_string()).hint(hint),
        _ => failure(error.into()),
    })?;
    Ok(source.resolved(&here, home))
}

/// A manifest that does not load is shown as `check` shows it; the failure says the rest.
pub(super) fn invalid(error: PackageError, output: &mut Output) -> Failure {
    if output.json() {
        return failure(error);
    }
    match &error {
        PackageError::Several { failed, total } => {
            for (name, error) in failed {
                show_invalid(error, output);
                output.remark(format!("✗ failed {}: {}", clean(name), clean(&error.without(name))));
            }
            let message = format!("{} of {} cannot be installed", failed.len(), counted(*total, "skill"));
            let failure = Failure::new(error.code(), message);
            error.hint().into_iter().fold(failure, Failure::hint)
        }
        _ => {
            show_invalid(&error, output);
            failure(error)
        }
    }
}

/// Shows the lines of a manifest that does not load.
fn show_invalid(error: &PackageError, output: &mut Output) {
    if let PackageError::Invalid { path, diagnostics, text } = error {
        let (err, styled) = output.err();
        let colour = if styled { crate::report::Colour::Styled } else { crate::report::Colour::Plain };
        let source = |_: &Path| Some(text.clone());
        // Standard error is for people; if it is gone, so are they.
        let _ = crate::report::human(err, Path::new(path), diagnostics, &source, colour);
    }
}

/// Says which locked skills are not offered because they are not trusted yet.
fn not_offered(place: &Place, context: &Context, global: &Global, output: &mut Output) {
    let lock = prowess::lock::Lock::read(&place.lock).unwrap_or_default();
    let folders: Vec<_> = lock.skills.iter().filter_map(|locked| place.folder(locked).ok()).collect();
    let snapshot = context.registry(global).snapshot();
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for skill in snapshot.all().iter().filter(|skill| matches!(skill.status(), Status::Untrusted(_))) {
        let Some(reason) = skill.reason().filter(|_| folders.contains(&skill.folder())) else { continue };
        let name = clean(&skill.name()).into_owned();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    for (reason, names) in reasons {
        let are = if names.len() == 1 { "is" } else { "are" };
        output.remark(format!("{} {are} not offered: {}", names.join(", "), clean(&reason)));
    }
}

/// Does what was decided, unless it is only to be told, and tells it.
fn finish(
    plan: Plan,
    planned: &Planned,
    place: &Place,
    call: &Install,
    context: &Context,
    output: &mut Output,
    work: &Arc<Work>,
) -> Outcome {
    let changes = !plan.is_empty();
    if call.dry_run {
        told::all(&plan.items, &planned.foreseen()?, place, false, context, output)?;
        if !output.json() {
            output.remark("nothing was changed");
        }
        return Ok(told::outcome(&plan.items, "installed", output));
    }
    work.go_on().map_err(|cancelled| failure(cancelled.into()))?;
    let items = plan.commit().map_err(failure)?;
    told::all(&items, &planned.perform()?, place, true, context, output)?;
    // Where the lock is followed, it does not change.
    if changes && !call.locked && !output.json() {
        output.remark(told::lock_remark(&items, place, context));
    }
    Ok(told::outcome(&items, "installed", output))
}
