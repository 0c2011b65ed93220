//! `prowess install`: installs skills.

use std::path::Path;
use std::sync::Arc;

use prowess::SkillStatus;
use prowess_package::interchange::link::LinkMode;
use prowess_package::source::{self, ParseSourceError, Source};
use prowess_package::{
    InstallPlan, InstallRequest, InstallTarget, OnInvalid, PackageError, RestoreFilter, SkillChoice, Task,
};

use super::super::audit::SuppressionLists;
use super::super::{CommandResult, check_failed};
use super::agents_in_use::{AgentChoice, AgentDirs};
use super::links::{AgentLink, LinkList, PlannedLinks};
use super::plugin_parts::PluginChanges;
use super::plugin_servers::{self, PlannedServer};
use super::prompts::TerminalPrompter;
use super::{cancellable_task, environments, failure, file_urls, install_target, links, render};
use crate::args::GlobalArgs;
use crate::args::packages::InstallArgs;
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, clean, pluralize};
use crate::progress;

pub(in crate::commands) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &InstallArgs,
    output: &mut Output,
) -> CommandResult {
    let target = install_target(context, &args.scope)?;
    let task = cancellable_task();
    let mut prompter = TerminalPrompter::new(&args.answers, global, &task);
    let lists = SuppressionLists::load(context, output)?;
    let checks = lists.install_checks(context);
    let source = args.source.as_deref().map(|text| parse_source(text, context)).transpose()?;
    let dirs = AgentDirs::new(&target, context, global);
    let agents = match args.no_link {
        true => AgentChoice::none(),
        false => AgentChoice::new(&args.agent, &dirs, context)?,
    };
    let plan = match (&source, args.locked) {
        (source, true) => progress::with_task_progress(global, &task, || {
            let filter = RestoreFilter { source: source.as_ref(), names: &args.skill };
            prowess_package::plan_restore(&filter, &target, &checks, &mut prompter, file_urls(), &task)
        }),
        (Some(source), false) => {
            let request = request(source, args);
            progress::with_task_progress(global, &task, || {
                prowess_package::plan_install(&request, &target, &checks, &mut prompter, &task)
            })
        }
        (None, false) => return Err(Failure::usage("no source given")),
    };
    let plan = plan.map_err(|error| report_invalid(error, output))?;
    let link_mode = if args.copy { LinkMode::Copy } else { LinkMode::Symlink };
    let agent_links = links::plan_links(&plan, &agents, link_mode, &dirs)?;
    let names: Vec<String> = plan.items.iter().map(|item| item.name.clone()).collect();
    let planned = plugin_servers::plan(&plan.plugins, &args.mcp_client, &target, context, global, output)?;
    let servers = match args.dry_run || plugin_servers::confirm(&planned, &prompter, output)? {
        true => planned,
        false => Vec::new(),
    };
    let exit = finish(plan, (agent_links, &servers), &target, args, (context, global), output, &task)?;
    if args.dry_run {
        return Ok(exit);
    }
    let dirs: Vec<_> = names.iter().map(|name| target.root.join(name)).collect();
    environments::drop_stale_pins(&dirs, context, global);
    if !args.locked {
        return Ok(exit);
    }
    if !output.json() {
        print_untrusted(&target, context, global, output);
    }
    match environments::build_pinned(&target, &dirs, args.answers.yes, context, global, output) {
        true => Ok(exit),
        false => Ok(check_failed()),
    }
}

fn request(source: &Source, args: &InstallArgs) -> InstallRequest {
    let pick = match (args.all, args.skill.is_empty(), source) {
        (true, _, _) => SkillChoice::All,
        (false, false, _) => SkillChoice::Named(args.skill.clone()),
        (false, true, Source::Git { skill: Some(skill), .. }) => SkillChoice::Named(vec![skill.clone()]),
        (false, true, _) => SkillChoice::Ask,
    };
    let (reference, name) = (args.reference.clone(), args.name.clone());
    let invalid = on_invalid(args.skip_invalid);
    InstallRequest {
        source: source.clone(),
        reference,
        name,
        skills: pick,
        plugins: args.plugin.clone(),
        file_urls: file_urls(),
        on_invalid: invalid,
    }
}

/// Converts `--skip-invalid`.
pub(super) fn on_invalid(skip: bool) -> OnInvalid {
    match skip {
        true => OnInvalid::Skip,
        false => OnInvalid::Stop,
    }
}

/// Parses a source and makes its path absolute.
pub(super) fn parse_source(text: &str, context: &CommandContext) -> Result<Source, Failure> {
    let home = context.host_env.home.as_deref();
    let current_dir = std::env::current_dir()?;
    let on_disk = |path: &Path| source::kind_on_disk(&source::absolute_path(path, &current_dir, home));
    let source = source::parse_source(text, on_disk).map_err(|error| match (&error, error.hint()) {
        (ParseSourceError::Missing(_), Some(hint)) => Failure::missing_path(error.to_string()).hint(hint),
        _ => failure(error.into()),
    })?;
    Ok(source.resolved(&current_dir, home))
}

/// Converts an error. Diagnostics of invalid manifests are printed in the format of `check`.
pub(super) fn report_invalid(error: PackageError, output: &mut Output) -> Failure {
    if output.json() {
        return failure(error);
    }
    match &error {
        PackageError::SomeFailed { failed, total } => {
            for (name, error) in failed {
                show_invalid(error, output);
                output.note(format!(
                    "✗ failed {}: {}",
                    clean(name),
                    clean(&error.message_without_name(name))
                ));
            }
            let message = format!("cannot install {} of {}", failed.len(), pluralize(*total, "skill"));
            let failure = Failure::new(error.code(), message);
            error.hint().into_iter().fold(failure, Failure::hint)
        }
        _ => {
            show_invalid(&error, output);
            failure(error)
        }
    }
}

/// Prints the diagnostics of an invalid manifest.
fn show_invalid(error: &PackageError, output: &mut Output) {
    if let PackageError::InvalidManifest { path, diagnostics, text } = error {
        let (err, styled) = output.err();
        let colour = if styled { crate::report::ColorMode::Styled } else { crate::report::ColorMode::Plain };
        let source = |_: &Path| Some(text.clone());
        let _ = crate::report::write_human(err, Path::new(path), diagnostics, &source, colour);
    }
}

/// Prints which locked skills are not available because they are not trusted.
fn print_untrusted(
    target: &InstallTarget,
    context: &CommandContext,
    global: &GlobalArgs,
    output: &mut Output,
) {
    let lock = prowess::lock::LockFile::read(&target.lock_path).unwrap_or_default();
    let dirs: Vec<_> = lock.skills.iter().filter_map(|locked| target.dir(locked).ok()).collect();
    let snapshot = context.registry(global).snapshot();
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for skill in snapshot.all().iter().filter(|skill| matches!(skill.status(), SkillStatus::Untrusted(_))) {
        let Some(reason) = skill.reason().filter(|_| dirs.contains(&skill.dir())) else { continue };
        let name = clean(&skill.name()).into_owned();
        match reasons.iter_mut().find(|(listed, _)| *listed == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    for (reason, names) in reasons {
        let verb = if names.len() == 1 { "is" } else { "are" };
        output.note(format!("{} {verb} not available: {}", names.join(", "), clean(&reason)));
    }
}

/// Makes the planned changes, unless it is a dry run, and prints them.
fn finish(
    mut plan: InstallPlan,
    (agent_links, servers): (PlannedLinks, &[PlannedServer]),
    target: &InstallTarget,
    args: &InstallArgs,
    (context, global): (&CommandContext, &GlobalArgs),
    output: &mut Output,
    task: &Arc<Task>,
) -> CommandResult {
    let changes = !plan.is_empty();
    let is_explicit = agent_links.is_explicit();
    if args.dry_run {
        let links = LinkList { links: agent_links.into_links(), is_explicit };
        let plugins = PluginChanges { plugins: &plan.plugins, servers };
        render::print_changes((&plan.items, &plugins), &links, target, false, context, output)?;
        if !output.json() {
            output.note("dry run: no changes made");
        }
        return Ok(render::exit_code_for(&plan.items, "installed", output));
    }
    task.check_cancelled().map_err(|cancelled| failure(cancelled.into()))?;
    let plugins = std::mem::take(&mut plan.plugins);
    let (items, links) = agent_links.commit(plan).map_err(failure)?;
    plugin_servers::perform(servers, target, context, global)?;
    let links = LinkList { links, is_explicit };
    let plugins = PluginChanges { plugins: &plugins, servers };
    render::print_changes((&items, &plugins), &links, target, true, context, output)?;
    // With `--locked`, the lock file does not change.
    if changes && !args.locked && !output.json() {
        output.note(render::lock_message(&items, target, context));
    }
    if is_explicit && links.links.iter().any(AgentLink::is_failed) {
        return Ok(check_failed());
    }
    Ok(render::exit_code_for(&items, "installed", output))
}
