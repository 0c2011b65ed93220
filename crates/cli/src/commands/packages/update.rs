//! `prowess update`: updates installed skills.

use prowess_package::{PlanAction, PlanItem};

use super::super::audit::SuppressionLists;
use super::super::{CommandResult, SUCCESS};
use super::install::report_invalid;
use super::links::AgentLink;
use super::prompts::TerminalPrompter;
use super::{cancellable_task, environments, failure, file_urls, install_targets, links, render};
use crate::args::GlobalArgs;
use crate::args::packages::UpdateArgs;
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::Output;
use crate::progress;

pub(in crate::commands) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &UpdateArgs,
    output: &mut Output,
) -> CommandResult {
    let targets = install_targets(context, &args.scope)?;
    let task = cancellable_task();
    let lists = SuppressionLists::load(context, output)?;
    let checks = lists.install_checks(context);
    let mut prompter = TerminalPrompter::new(&args.answers, global, &task);
    let mut remaining: Vec<String> = args.names.clone();
    let (mut items, mut links): (Vec<PlanItem>, Vec<AgentLink>) = (Vec::new(), Vec::new());
    let mut installed: Vec<String> = Vec::new();
    for target in &targets {
        let lock = prowess::lock::LockFile::read(&target.lock_path).map_err(|error| failure(error.into()))?;
        let names: Vec<String> = match args.names.is_empty() {
            true => lock.skills.iter().map(|locked| locked.name.clone()).collect(),
            false => {
                let (in_target, elsewhere) = remaining
                    .drain(..)
                    .partition(|name| lock.skills.iter().any(|locked| locked.name == *name));
                remaining = elsewhere;
                in_target
            }
        };
        installed.extend(lock.skills.iter().map(|locked| locked.name.clone()));
        if names.is_empty() {
            continue;
        }
        let chosen = if args.names.is_empty() { &[][..] } else { &names };
        let plan = progress::with_task_progress(global, &task, || {
            prowess_package::plan_update(chosen, target, &checks, &mut prompter, file_urls(), &task)
        });
        let plan = plan.map_err(|error| report_invalid(error, output))?;
        let updated = match args.dry_run {
            true => plan.items,
            false => {
                task.check_cancelled().map_err(|cancelled| failure(cancelled.into()))?;
                plan.commit().map_err(failure)?
            }
        };
        links.extend(links::refresh_copies(&updated, target, !args.dry_run)?);
        items.extend(updated);
    }
    if let Some(name) = remaining.first() {
        return Err(not_installed(name, &installed));
    }
    if !args.dry_run {
        let dirs: Vec<_> = items.iter().map(|item| item.dir.clone()).collect();
        environments::drop_stale_pins(&dirs, context, global);
    }
    print_result(&items, &links, &targets, args.dry_run, context, output)?;
    // Skipped skills are an error only if they were named.
    let failed = items.iter().any(|item| matches!(item.action, PlanAction::Fail(_)));
    match args.names.is_empty() && !failed {
        true => Ok(SUCCESS),
        false => Ok(render::exit_code_for(&items, "updated", output)),
    }
}

fn not_installed(name: &str, installed: &[String]) -> Failure {
    let name = crate::output::clean(name).into_owned();
    let failure = Failure::new(ErrorCode::NotFound, format!("{name} is not installed"));
    match prowess_format::suggest::nearest(&name, installed.iter().map(String::as_str)) {
        Some(similar) => failure
            .hint(format!("did you mean {similar}? run `prowess plugins` for a list of installed skills")),
        None => failure.hint("run `prowess plugins` for a list of installed skills"),
    }
}

fn print_result(
    items: &[PlanItem],
    links: &[AgentLink],
    targets: &[prowess_package::InstallTarget],
    dry_run: bool,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    if output.json() {
        let skills: Vec<_> = items.iter().map(render::item_json).collect();
        let locks: Vec<_> = targets.iter().map(|target| &target.lock_path).collect();
        return output.write_json(&serde_json::json!({
            "schema": 1, "dry_run": dry_run, "locks": locks, "skills": skills,
            "links": links.iter().map(AgentLink::json).collect::<Vec<_>>(),
        }));
    }
    render::print_items(items, links, !dry_run, false, context, output)?;
    if items.is_empty() {
        output.note("no skills installed; run `prowess install SOURCE` to install one");
    } else if dry_run {
        output.note("dry run: no changes made");
    }
    Ok(())
}
