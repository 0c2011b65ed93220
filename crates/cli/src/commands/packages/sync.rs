//! `prowess sync`: brings the directories of other agents in line with the lock file.

use prowess::shell::quote;
use prowess_package::InstallTarget;
use prowess_package::interchange::link::{LinkError, LinkMode};
use prowess_package::sync::{SyncMode, SyncOutcome, SyncReport, SyncedLink, sync_agents};
use serde_json::{Value, json};

use super::super::{CommandResult, SUCCESS, check_failed};
use super::agents_in_use::{AgentChoice, AgentDirs};
use super::agents_md::{SyncedAgentsMd, sync_agents_md};
use super::{display_path, failure, install_targets};
use crate::args::GlobalArgs;
use crate::args::packages::SyncArgs;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean, pluralize};
use crate::scope::ScopeChoice;

/// The result for one lock file.
struct SyncedTarget {
    target: InstallTarget,
    agents: Vec<&'static str>,
    report: SyncReport,
}

pub(in crate::commands) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &SyncArgs,
    output: &mut Output,
) -> CommandResult {
    let mode = if args.dry_run { SyncMode::DryRun } else { SyncMode::Apply };
    let mut synced: Vec<SyncedTarget> = Vec::new();
    for target in install_targets(context, &args.scope)? {
        let dirs = AgentDirs::new(&target, context, global);
        let choice = AgentChoice::new(&args.agent, &dirs, context)?;
        let Some(scope) = dirs.scope() else { continue };
        let report = sync_agents(&target, &choice.agents, scope, mode).map_err(failure)?;
        let agents = choice.agents.iter().map(|agent| agent.id).collect();
        synced.push(SyncedTarget { target, agents, report });
    }
    let agents_md = match args.scope.explicit() {
        Some(ScopeChoice::User) => None,
        Some(ScopeChoice::Project) | None => sync_agents_md(context, global, args)?,
    };
    let exit = match synced.iter().any(|target| target.report.has_failures()) {
        true => check_failed(),
        false => SUCCESS,
    };
    if output.json() {
        let links: Vec<Value> =
            synced.iter().flat_map(|target| target.report.links.iter().map(link_json)).collect();
        let targets: Vec<Value> = synced.iter().map(target_json).collect();
        let agents_md = agents_md.as_ref().map(SyncedAgentsMd::json);
        output.write_json(&json!({
            "schema": 1, "dry_run": args.dry_run, "targets": targets, "links": links, "agents_md": agents_md,
        }))?;
        return Ok(exit);
    }
    for target in &synced {
        print_links(target, args.dry_run, context, output)?;
    }
    if let Some(text) = agents_md.as_ref().and_then(|synced| synced.describe(args.dry_run, context)) {
        let mark = output.styled_text(TextStyle::Good, "✓");
        output.line(format!("{mark} {text}"))?;
    }
    agents_md.and_then(|synced| synced.note(context)).into_iter().for_each(|note| output.note(note));
    print_summary(&synced, output);
    let is_conflict = |link: &SyncedLink| matches!(link.outcome, SyncOutcome::Failed(LinkError::Conflict(_)));
    if synced.iter().any(|target| target.report.links.iter().any(is_conflict)) {
        output.note("move the other files away, then run `prowess sync` again");
    }
    let is_modified = |link: &SyncedLink| matches!(link.outcome, SyncOutcome::Failed(LinkError::Modified(_)));
    if synced.iter().any(|target| target.report.links.iter().any(is_modified)) {
        output.note("run `prowess verify` to see how to restore or accept modified skills");
    }
    if args.dry_run {
        output.note("dry run: no changes made");
    }
    Ok(exit)
}

fn print_links(
    synced: &SyncedTarget,
    dry_run: bool,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    for link in &synced.report.links {
        let (skill, agent, path) = (clean(&link.skill), link.agent.id, display_path(&link.path, context));
        let text = match (&link.outcome, dry_run) {
            (SyncOutcome::SameDirectory | SyncOutcome::Exists, _) => continue,
            (SyncOutcome::Created(LinkMode::Symlink), false) => format!("linked {skill} for {agent}: {path}"),
            (SyncOutcome::Created(LinkMode::Copy), false) => format!("copied {skill} for {agent}: {path}"),
            (SyncOutcome::Created(_), true) => format!("would link {skill} for {agent}: {path}"),
            (SyncOutcome::Removed, false) => format!("removed {skill} for {agent}: {path}"),
            (SyncOutcome::Removed, true) => format!("would remove {skill} for {agent}: {path}"),
            (SyncOutcome::Failed(error), _) => {
                let mark = output.styled_text(TextStyle::Bad, "✗");
                output.line(format!(
                    "{mark} {skill} is not linked for {agent}: {}",
                    clean(&error.to_string())
                ))?;
                continue;
            }
        };
        let mark = output.styled_text(TextStyle::Good, "✓");
        output.line(format!("{mark} {text}"))?;
    }
    for name in &synced.report.missing {
        let mark = output.styled_text(TextStyle::Bad, "✗");
        let (scope, quoted) = (synced.target.scope.as_str(), quote(name));
        let (name, quoted) = (clean(name), clean(&quoted));
        output.line(format!(
            "{mark} {name} is missing; to restore it: prowess install --locked --skill {quoted} --scope {scope}"
        ))?;
    }
    Ok(())
}

/// Prints how many skills are available to which agents.
fn print_summary(synced: &[SyncedTarget], output: &mut Output) {
    let installed: usize = synced.iter().map(|target| target.report.skills.len()).sum();
    let mut agents: Vec<&str> = synced.iter().flat_map(|target| target.agents.iter().copied()).collect();
    agents.sort_unstable();
    agents.dedup();
    let skills = pluralize(installed, "installed skill");
    output.note(match (installed, agents.is_empty()) {
        (0, _) => "no skills installed; run `prowess install SOURCE` to install one".to_owned(),
        (_, true) => format!("{skills}; no agents in use found, pass --agent NAME to link for one"),
        (_, false) if synced.iter().all(|target| target.report.is_in_line()) => {
            format!("{skills}; up to date for {}", agents.join(", "))
        }
        (_, false) => format!("{skills}; agents: {}", agents.join(", ")),
    });
}

fn target_json(synced: &SyncedTarget) -> Value {
    json!({
        "scope": synced.target.scope.as_str(), "lock": synced.target.lock_path, "agents": synced.agents,
        "skills": synced.report.skills, "missing": synced.report.missing,
    })
}

fn link_json(link: &SyncedLink) -> Value {
    let kind = match &link.outcome {
        SyncOutcome::SameDirectory => "same",
        SyncOutcome::Exists => "there",
        SyncOutcome::Created(LinkMode::Symlink) => "link",
        SyncOutcome::Created(LinkMode::Copy) => "copy",
        SyncOutcome::Removed => "removed",
        SyncOutcome::Failed(_) => "failed",
    };
    let mut value = json!({"skill": link.skill, "agent": link.agent.id, "kind": kind, "path": link.path});
    if let SyncOutcome::Failed(error) = &link.outcome {
        value["reason"] = error.to_string().into();
    }
    value
}
