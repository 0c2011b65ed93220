//! `prowess update`: updates installed skills.

use prowess::lock::LockEntry;
use prowess_package::connect::ServerRecord;
use prowess_package::{PlanAction, PlanItem};

use super::super::audit::SuppressionLists;
use super::super::{CommandResult, SUCCESS, did_you_mean};
use super::agents_in_use::AgentDirs;
use super::install::report_invalid;
use super::links::{AgentLink, LinkList};
use super::prompts::TerminalPrompter;
use super::{
    cancellable_task, environments, failure, file_urls, install_targets, links, plugin_servers, render,
};
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
    let (mut items, mut links) =
        (Vec::<PlanItem>::new(), LinkList { is_explicit: true, ..LinkList::default() });
    let (mut installed, mut servers): (Vec<String>, Vec<ServerRecord>) = (Vec::new(), Vec::new());
    for target in &targets {
        let lock = prowess::lock::LockFile::read(&target.lock_path).map_err(|error| failure(error.into()))?;
        let names: Vec<String> = match args.names.is_empty() {
            true => lock.skills.iter().map(|locked| locked.name.clone()).collect(),
            false => {
                let (in_target, elsewhere) = remaining
                    .drain(..)
                    .partition(|name| lock.skills.iter().any(|locked| is_named(locked, name)));
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
        let dirs = AgentDirs::new(target, context, global);
        let planned = links::plan_updated_links(&plan.items, &dirs);
        let removals = plugin_servers::plan_removals([(&plan.items[..], target)], context, global)?;
        let (updated, changed_links) = match args.dry_run {
            true => (plan.items, planned.into_links()),
            false => {
                task.check_cancelled().map_err(|cancelled| failure(cancelled.into()))?;
                planned.commit(plan).map_err(failure)?
            }
        };
        links.links.extend(changed_links);
        servers.extend(removals.perform(!args.dry_run, context, global, output)?);
        items.extend(updated);
    }
    if let Some(name) = remaining.first() {
        return Err(not_installed(name, &installed));
    }
    if !args.dry_run {
        let dirs: Vec<_> = items.iter().map(|item| item.dir.clone()).collect();
        environments::drop_stale_pins(&dirs, context, global);
    }
    print_result((&items, &servers), &links, &targets, args.dry_run, context, output)?;
    // Skipped skills are an error only if they were named.
    let failed = items.iter().any(|item| matches!(item.action, PlanAction::Fail(_)));
    match args.names.is_empty() && !failed {
        true => Ok(SUCCESS),
        false => Ok(render::exit_code_for(&items, "updated", output)),
    }
}

/// Returns `true` if a skill or its plugin has this name.
fn is_named(locked: &LockEntry, name: &str) -> bool {
    locked.name == name || locked.plugin.as_ref().is_some_and(|plugin| plugin.name == name)
}

/// Returns the failure for a skill that is not in a lock file.
pub(super) fn not_installed(name: &str, installed: &[String]) -> Failure {
    let message = format!("{} is not installed", crate::output::clean(name));
    Failure::new(ErrorCode::NotFound, message).hint(did_you_mean(
        name,
        installed.iter().map(String::as_str),
        "run `prowess plugins` for a list of installed skills",
    ))
}

fn print_result(
    (items, servers): (&[PlanItem], &[ServerRecord]),
    links: &LinkList,
    targets: &[prowess_package::InstallTarget],
    dry_run: bool,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    if output.json() {
        let skills: Vec<_> = items.iter().map(render::item_json).collect();
        let locks: Vec<_> = targets.iter().map(|target| &target.lock_path).collect();
        let mut value = serde_json::json!({
            "schema": 1, "dry_run": dry_run, "locks": locks, "skills": skills,
            "links": links.links.iter().map(AgentLink::json).collect::<Vec<_>>(),
        });
        if !servers.is_empty() {
            value["mcp_entries"] = servers.iter().map(plugin_servers::record_json).collect();
        }
        return output.write_json(&value);
    }
    render::print_items(items, links, !dry_run, false, context, output)?;
    for record in servers {
        output.line(plugin_servers::describe_removed(record, !dry_run, context))?;
    }
    if items.is_empty() {
        output.note("no skills installed; run `prowess install SOURCE` to install one");
    } else if dry_run {
        output.note("dry run: no changes made");
    }
    Ok(())
}
