//! `prowess import`: imports skills from another agent, lock file, directory or archive.

use std::path::Path;

use prowess::ErrorCode;
use prowess_package::interchange::link::{self, LinkMode};
use prowess_package::interchange::{agent_skills, skills_lock};
use prowess_package::source::{self, Source};
use prowess_package::{
    InstallPlan, InstallRequest, InstallScope, InstallTarget, PackageError, PlanItem, SkillChoice,
};

use super::super::CommandResult;
use super::super::audit::SuppressionLists;
use super::agents_in_use::{AgentChoice, AgentDirs, named_agents};
use super::install::{on_invalid, parse_source, report_invalid};
use super::links::LinkList;
use super::plugin_parts::PluginChanges;
use super::prompts::TerminalPrompter;
use super::{cancellable_task, display_path, failure, file_urls, install_target, links, render};
use crate::args::GlobalArgs;
use crate::args::packages::ImportArgs;
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress;

pub(in crate::commands) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &ImportArgs,
    output: &mut Output,
) -> CommandResult {
    let target = install_target(context, &args.scope)?;
    let requests = match (&args.from, &args.source) {
        (Some(agent), _) => from_agent(agent, &target, args, context, global)?,
        (None, Some(source)) if is_lock(source) => from_lock(Path::new(source), args, context)?,
        (None, Some(source)) => vec![request(parse_source(source, context)?, None, pick(args), args)],
        (None, None) => return Err(Failure::usage("no source given")),
    };
    if args.name.is_some() && requests.len() > 1 {
        let message = format!("--name applies to a single skill, but {} are selected", requests.len());
        return Err(Failure::usage(message).hint("select one with --skill"));
    }
    let task = cancellable_task();
    let lists = SuppressionLists::load(context, output)?;
    let checks = lists.install_checks(context);
    let mut prompter = TerminalPrompter::new(&args.answers, global, &task);
    let (mut plans, mut failed, total) = (Vec::new(), Vec::new(), requests.len());
    for request in requests {
        let request = InstallRequest { name: args.name.clone(), ..request };
        let plan = progress::with_task_progress(global, &task, || {
            prowess_package::plan_install(&request, &target, &checks, &mut prompter, &task)
        });
        match plan {
            Ok(plan) => plans.push(plan),
            Err(error) if total > 1 && error.concerns_one_skill() => {
                failed.push((request_name(&request), error));
            }
            Err(PackageError::SomeFailed { failed: several, .. }) if total > 1 => failed.extend(several),
            Err(error) => return Err(report_invalid(error, output)),
        }
    }
    if !failed.is_empty() && !args.skip_invalid {
        let total = plans.iter().map(|plan| plan.items.len()).sum::<usize>() + failed.len();
        return Err(report_invalid(PackageError::SomeFailed { failed, total }, output));
    }
    // Nothing is installed unless all skills could be prepared.
    task.check_cancelled().map_err(|cancelled| failure(cancelled.into()))?;
    let dirs = AgentDirs::new(&target, context, global);
    let choice = match args.no_link {
        true => AgentChoice::none(),
        false => AgentChoice::new(&[], &dirs, context)?,
    };
    let (mut items, mut link_list) = (Vec::<PlanItem>::new(), LinkList::default());
    let changes = !plans.iter().all(InstallPlan::is_empty);
    for plan in plans {
        let planned = links::plan_links(&plan, &choice, LinkMode::Symlink, &dirs)?;
        let (changed, linked) = match args.dry_run {
            true => (plan.items, planned.into_links()),
            false => planned.commit(plan).map_err(failure)?,
        };
        items.extend(changed);
        link_list.links.extend(linked);
    }
    items.extend(failed.iter().map(|(name, error)| PlanItem::failed(name, error, &target)));
    let changed = (&items[..], &PluginChanges::default());
    render::print_changes(changed, &link_list, &target, !args.dry_run, context, output)?;
    match args.dry_run {
        _ if output.json() => {}
        true => output.note("dry run: no changes made"),
        false if changes => output.note(render::lock_message(&items, &target, context)),
        false => {}
    }
    Ok(render::exit_code_for(&items, "imported", output))
}

fn request(
    source: Source,
    reference: Option<String>,
    pick: SkillChoice,
    args: &ImportArgs,
) -> InstallRequest {
    let invalid = on_invalid(args.skip_invalid);
    InstallRequest {
        source,
        reference,
        name: None,
        skills: pick,
        plugins: Vec::new(),
        file_urls: file_urls(),
        on_invalid: invalid,
    }
}

/// Returns a name for the skills of a request that failed.
fn request_name(request: &InstallRequest) -> String {
    match (&request.skills, &request.source) {
        (SkillChoice::Named(names), _) => names.join(", "),
        (_, Source::Directory(dir)) => dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        (_, source) => source.to_string(),
    }
}

fn pick(args: &ImportArgs) -> SkillChoice {
    match (args.all, args.skill.is_empty()) {
        (true, _) => SkillChoice::All,
        (false, false) => SkillChoice::Named(args.skill.clone()),
        (false, true) => SkillChoice::Ask,
    }
}

fn is_lock(source: &str) -> bool {
    Path::new(source).file_name().is_some_and(|name| name == skills_lock::FILE_NAME)
}

/// Returns a request for each source of a `skills-lock.json`.
fn from_lock(
    path: &Path,
    args: &ImportArgs,
    context: &CommandContext,
) -> Result<Vec<InstallRequest>, Failure> {
    let invalid = |error: skills_lock::ReadSkillsLockError| {
        Failure::usage(format!("cannot import {}: {error}", crate::output::clean_path(path)))
    };
    let absolute = source::absolute_path(path, &std::env::current_dir()?, context.host_env.home.as_deref());
    if source::kind_on_disk(&absolute).is_none() {
        let message = format!("file {} not found", crate::output::clean_path(path));
        return Err(Failure::missing_path(message));
    }
    let skills = skills_lock::read_skills_lock(&absolute).map_err(invalid)?;
    let mut requests: Vec<(String, InstallRequest)> = Vec::new();
    let is_selected = |name: &String| args.skill.is_empty() || args.skill.contains(name);
    for skill in skills.iter().filter(|skill| is_selected(&skill.name)) {
        let inner = skill.skill_path.as_ref().map(|path| path.as_str().trim_end_matches("SKILL.md"));
        let dir = inner.map(|path| path.trim_end_matches('/').to_owned());
        let chosen = dir.unwrap_or_else(|| skill.name.clone());
        let text = skill.install_source();
        let existing = requests
            .iter_mut()
            .find(|(existing, request)| *existing == text && request.reference == skill.reference);
        match existing {
            Some((_, InstallRequest { skills: SkillChoice::Named(names), .. })) => names.push(chosen),
            _ => {
                let source = parse_source(&text, context)?;
                let pick = SkillChoice::Named(vec![chosen]);
                requests.push((text.into_owned(), request(source, skill.reference.clone(), pick, args)));
            }
        }
    }
    if requests.is_empty() {
        let message = format!("{} does not contain these skills", crate::output::clean_path(path));
        return Err(Failure::new(ErrorCode::NotFound, message));
    }
    Ok(requests.into_iter().map(|(_, request)| request).collect())
}

/// Returns a request for each skill of another agent.
fn from_agent(
    name: &str,
    target: &InstallTarget,
    args: &ImportArgs,
    context: &CommandContext,
    global: &GlobalArgs,
) -> Result<Vec<InstallRequest>, Failure> {
    let agents = named_agents(&[name.to_owned()])?;
    let own_dirs = AgentDirs::new(target, context, global);
    let user_dirs = AgentDirs::for_scope(InstallScope::User, context, global);
    let first = own_dirs.scope();
    // Without an explicit scope, the home directory is searched as well.
    let home = user_dirs
        .scope()
        .filter(|_| target.scope == InstallScope::Project && args.scope.explicit().is_none());
    // Skip symlinks to skills that are already in the install target.
    let target_dir = std::fs::canonicalize(&target.root).ok();
    let is_new = |candidate: &agent_skills::AgentSkill| {
        candidate.link_target.as_ref().is_none_or(|target| target.parent() != target_dir.as_deref())
    };
    let mut skills: Vec<agent_skills::AgentSkill> = Vec::new();
    for dirs in first.into_iter().chain(home) {
        let is_found = |name: &String| skills.iter().any(|candidate| candidate.name == *name);
        if !skills.is_empty() && args.skill.iter().all(is_found) {
            break;
        }
        let in_root =
            agents.iter().flat_map(|agent| agent_skills::find_agent_skills(agent, dirs)).filter(is_new);
        let in_root: Vec<_> = in_root.filter(|candidate| !is_found(&candidate.name)).collect();
        skills.extend(in_root);
    }
    if skills.is_empty() {
        let dir = |dirs: link::AgentScope<'_>| agents.first().and_then(|agent| dirs.agent_dir(agent));
        let searched = first.into_iter().chain(home).filter_map(dir);
        let searched: Vec<_> = searched.map(|dir| display_path(&dir, context)).collect();
        let message = format!("{name} has no skills to import in {}", searched.join(" or "));
        return Err(Failure::new(ErrorCode::NotFound, message).hint("pass --scope to search another scope"));
    }
    let names: Vec<String> = skills.iter().map(|candidate| candidate.name.clone()).collect();
    if let Some(missing) = args.skill.iter().find(|name| !names.contains(name)) {
        let message = format!("skill {} not found in {name}", crate::output::clean(missing));
        return Err(Failure::new(ErrorCode::NotFound, message)
            .hint(format!("available skills: {}", names.join(", "))));
    }
    if args.skill.is_empty() && !args.all && skills.len() > 1 {
        let message = format!("{name} has {} skills", skills.len());
        let hint = format!("select with --skill NAME or --all; available skills: {}", names.join(", "));
        return Err(Failure::usage(message).hint(hint));
    }
    skills.retain(|candidate| args.skill.is_empty() || args.skill.contains(&candidate.name));
    let source = |candidate: agent_skills::AgentSkill| {
        Source::Directory(candidate.link_target.unwrap_or(candidate.dir))
    };
    Ok(skills.into_iter().map(|candidate| request(source(candidate), None, SkillChoice::Ask, args)).collect())
}
