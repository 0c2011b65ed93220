//! `prowess update`.

use prowess_package::{Action, Item};

use super::super::audit::Lists;
use super::super::{Outcome, YES};
use super::asks::Answering;
use super::install::invalid;
use super::links::Linked;
use super::{cancellable, failure, file_urls, links, places, told};
use crate::args::Global;
use crate::args::packages::Update;
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::Output;
use crate::progress;

pub(in crate::commands) fn run(
    context: &Context,
    global: &Global,
    call: &Update,
    output: &mut Output,
) -> Outcome {
    let places = places(context, &call.scope)?;
    let work = cancellable();
    let lists = Lists::load(context, output)?;
    let judge = lists.judge(context);
    let mut asks = Answering::new(&call.answers, global, &work);
    let mut left: Vec<String> = call.names.clone();
    let (mut items, mut links): (Vec<Item>, Vec<Linked>) = (Vec::new(), Vec::new());
    let mut known: Vec<String> = Vec::new();
    for place in &places {
        let lock = prowess::lock::Lock::read(&place.lock).map_err(|error| failure(error.into()))?;
        let names: Vec<String> = match call.names.is_empty() {
            true => lock.skills.iter().map(|locked| locked.name.clone()).collect(),
            false => {
                let (here, elsewhere) =
                    left.drain(..).partition(|name| lock.skills.iter().any(|locked| locked.name == *name));
                left = elsewhere;
                here
            }
        };
        known.extend(lock.skills.iter().map(|locked| locked.name.clone()));
        if names.is_empty() {
            continue;
        }
        let chosen = if call.names.is_empty() { &[][..] } else { &names };
        let plan = progress::of_work(global, &work, || {
            prowess_package::plan_update(chosen, place, &judge, &mut asks, file_urls(), &work)
        });
        let plan = plan.map_err(|error| invalid(error, output))?;
        let done = match call.dry_run {
            true => plan.items,
            false => {
                work.go_on().map_err(|cancelled| failure(cancelled.into()))?;
                plan.commit().map_err(failure)?
            }
        };
        links.extend(links::follow(&done, place, !call.dry_run)?);
        items.extend(done);
    }
    if let Some(name) = left.first() {
        return Err(unknown(name, &known));
    }
    tell(&items, &links, &places, call.dry_run, context, output)?;
    // That skills are pinned or were modified here is an error only for those that were named.
    let failed = items.iter().any(|item| matches!(item.action, Action::Fail(_)));
    match call.names.is_empty() && !failed {
        true => Ok(YES),
        false => Ok(told::outcome(&items, "updated", output)),
    }
}

fn unknown(name: &str, known: &[String]) -> Failure {
    let name = crate::output::clean(name).into_owned();
    let failure = Failure::new(ErrorCode::NotFound, format!("no installed skill is named {name}"));
    match prowess_format::suggest::nearest(&name, known.iter().map(String::as_str)) {
        Some(near) => failure.hint(format!("did you mean {near}? prowess plugins lists what was installed")),
        None => failure.hint("prowess plugins lists what was installed"),
    }
}

fn tell(
    items: &[Item],
    links: &[Linked],
    places: &[prowess_package::Place],
    dry_run: bool,
    context: &Context,
    output: &mut Output,
) -> std::io::Result<()> {
    if output.json() {
        let skills: Vec<_> = items.iter().map(told::item_json).collect();
        let locks: Vec<_> = places.iter().map(|place| &place.lock).collect();
        return output.answer(&serde_json::json!({
            "schema": 1, "dry_run": dry_run, "locks": locks, "skills": skills,
            "links": links.iter().map(Linked::json).collect::<Vec<_>>(),
        }));
    }
    told::each(items, links, !dry_run, false, context, output)?;
    if items.is_empty() {
        output.remark("nothing is installed; prowess install SOURCE installs a skill");
    } else if dry_run {
        output.remark("nothing was changed");
    }
    Ok(())
}
