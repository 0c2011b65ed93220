//! `prowess remove`: removes skills.

use std::path::{Path, PathBuf};

use prowess::lock::{LockEntry, LockFile, compare_with_lock};
use prowess::{HashedTree, Scope, Skill, Snapshot};
use prowess_package::{InstallTarget, PlanItem};
use serde_json::json;

use super::super::{CommandResult, SUCCESS, find_skill};
use super::agents_in_use::AgentDirs;
use super::links::{AgentLink, LinkList};
use super::prompts::TerminalPrompter;
use super::{cancellable_task, display_path, failure, install_targets, links, plugin_servers, render};
use crate::args::GlobalArgs;
use crate::args::packages::{AnswerArgs, RemoveArgs};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean};

/// A skill to remove.
struct RemovalTarget {
    name: String,
    dir: PathBuf,
    install_target: InstallTarget,
    /// A warning if there may be no other copy of it.
    warning: Option<String>,
}

pub(in crate::commands) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &RemoveArgs,
    output: &mut Output,
) -> CommandResult {
    let install_targets = install_targets(context, &args.scope)?;
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    let mut names = args.names.clone();
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    let mut targets = Vec::new();
    for name in &names {
        targets.extend(find_targets(name, args.plugin, &install_targets, &snapshot, context)?);
    }
    // A skill may be named in addition to its plugin.
    let mut dirs = std::collections::HashSet::new();
    targets.retain(|target| dirs.insert(target.dir.clone()));
    let answers = AnswerArgs { yes: args.yes, on_conflict: None, accept_risk: false };
    let prompter = TerminalPrompter::new(&answers, global, &cancellable_task());
    for RemovalTarget { name, warning, .. } in targets.iter().filter(|_| !args.yes) {
        let Some(warning) = warning else { continue };
        if args.dry_run && prompter.is_terminal() {
            output.note(format!("{warning}; removing it requires confirmation"));
            continue;
        }
        if !prompter.is_terminal() {
            let failure = Failure::new(ErrorCode::Conflict, warning.clone());
            return Err(failure.hint("there may be no other copy; pass --yes to remove it anyway"));
        }
        if !prompter.confirm(&format!("{warning}. Remove it permanently?")).map_err(failure)? {
            return Err(Failure::new(ErrorCode::Conflict, format!("{} was not removed", clean(name))));
        }
    }
    let (mut items, mut links) =
        (Vec::<PlanItem>::new(), LinkList { is_explicit: true, ..LinkList::default() });
    let mut plans = Vec::new();
    for group in group_removals(&targets) {
        let Some(install_target) = group.first().map(|target| &target.install_target) else { continue };
        let skills: Vec<(&str, &Path)> =
            group.iter().map(|target| (target.name.as_str(), target.dir.as_path())).collect();
        let plan = prowess_package::plan_remove(&skills, install_target).map_err(failure)?;
        plans.push((plan, install_target));
    }
    // If the file of a client cannot be changed, nothing is removed.
    let planned = plans.iter().map(|(plan, target)| (&plan.items[..], *target));
    let servers = plugin_servers::plan_removals(planned, context, global)?;
    for (plan, install_target) in plans {
        let removals = links::plan_removals(&plan.items, &AgentDirs::new(install_target, context, global));
        let (removed, removed_links) = match args.dry_run {
            true => (plan.items, removals.into_links()),
            false => removals.commit(plan).map_err(failure)?,
        };
        links.links.extend(removed_links);
        items.extend(removed);
    }
    let servers = servers.perform(!args.dry_run, context, global, output)?;
    if output.json() {
        let skills: Vec<_> = items.iter().map(render::item_json).collect();
        let links: Vec<_> = links.links.iter().map(AgentLink::json).collect();
        let mut value = json!({"schema": 1, "dry_run": args.dry_run, "skills": skills, "links": links});
        if !servers.is_empty() {
            value["mcp_entries"] = servers.iter().map(plugin_servers::record_json).collect();
        }
        output.write_json(&value)?;
        return Ok(SUCCESS);
    }
    render::print_items(&items, &links, !args.dry_run, false, context, output)?;
    for record in &servers {
        output.line(plugin_servers::describe_removed(record, !args.dry_run, context))?;
    }
    if args.dry_run {
        output.note("dry run: no changes made");
    }
    Ok(SUCCESS)
}

/// Groups the skills that can be removed in one step: same lock file, same file system, different directory names.
fn group_removals(targets: &[RemovalTarget]) -> Vec<Vec<&RemovalTarget>> {
    let device = |target: &RemovalTarget| {
        let parent = target.dir.parent().and_then(|parent| std::fs::metadata(parent).ok());
        parent.map(|parent| prowess_fs::device_id(&parent))
    };
    let mut groups: Vec<Vec<&RemovalTarget>> = Vec::new();
    for target in targets {
        let fits = |group: &&mut Vec<&RemovalTarget>| {
            group.iter().all(|other| {
                let is_same_target = other.install_target.lock_path == target.install_target.lock_path
                    && device(other) == device(target);
                is_same_target && other.dir.file_name() != target.dir.file_name()
            })
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(target),
            None => groups.push(vec![target]),
        }
    }
    groups
}

/// Finds the skill of this name, or the skills of the plugin of this name if no skill has it.
fn find_targets(
    name: &str,
    is_plugin: bool,
    install_targets: &[InstallTarget],
    snapshot: &Snapshot,
    context: &CommandContext,
) -> Result<Vec<RemovalTarget>, Failure> {
    let error = match (!is_plugin).then(|| find_target(name, install_targets, snapshot, context)) {
        Some(Ok(skill)) => return Ok(vec![skill]),
        Some(Err(error)) => Some(error),
        None => None,
    };
    for install_target in install_targets {
        let lock = LockFile::read(&install_target.lock_path).map_err(|error| failure(error.into()))?;
        let is_part = |locked: &&LockEntry| locked.plugin.as_ref().is_some_and(|plugin| plugin.name == name);
        let mut skills = Vec::new();
        for locked in lock.skills.iter().filter(is_part) {
            let dir = install_target.dir(locked).map_err(failure)?;
            let (name, install_target) = (locked.name.clone(), install_target.clone());
            skills.push(RemovalTarget { name, warning: modified_warning(locked, &dir), dir, install_target });
        }
        if !skills.is_empty() {
            return Ok(skills);
        }
    }
    Err(error.unwrap_or_else(|| {
        let failure = Failure::new(ErrorCode::NotFound, format!("plugin {} is not installed", clean(name)));
        failure.hint("run `prowess plugins` for a list of installed skills and their plugins")
    }))
}

/// Finds the skill to remove. Installed skills have priority over others, and of several with the same name, the one that
/// the name resolves to.
fn find_target(
    name: &str,
    install_targets: &[InstallTarget],
    snapshot: &Snapshot,
    context: &CommandContext,
) -> Result<RemovalTarget, Failure> {
    let resolved = snapshot.get(name).map(|skill| skill.canonical_dir());
    let mut installed: Vec<RemovalTarget> = Vec::new();
    for install_target in install_targets {
        let lock = LockFile::read(&install_target.lock_path).map_err(|error| failure(error.into()))?;
        for locked in lock.skills.iter().filter(|locked| locked.name == name) {
            let dir = install_target.dir(locked).map_err(failure)?;
            let warning = modified_warning(locked, &dir);
            installed.push(RemovalTarget {
                name: name.to_owned(),
                dir,
                install_target: install_target.clone(),
                warning,
            });
        }
    }
    let index = installed
        .iter()
        .position(|target| resolved.is_some() && std::fs::canonicalize(&target.dir).ok() == resolved)
        .unwrap_or(0);
    if index < installed.len() {
        return Ok(installed.swap_remove(index));
    }
    let skill = find_skill(snapshot, name)?;
    let install_target = removable_from(skill, install_targets, context)?;
    let (name, dir) = (skill.name().into_owned(), skill.dir());
    let warning = format!("{} was not installed by prowess: {}", clean(&name), display_path(&dir, context));
    Ok(RemovalTarget { name, dir, install_target, warning: Some(warning) })
}

/// Returns a warning if a skill was modified since it was installed.
fn modified_warning(locked: &LockEntry, dir: &Path) -> Option<String> {
    if std::fs::symlink_metadata(dir).map_or(true, |metadata| metadata.is_symlink()) {
        return None;
    }
    let difference = compare_with_lock(locked, &HashedTree::from_dir(dir));
    let message = || format!("{} was modified since it was installed: {difference}", clean(&locked.name));
    (!difference.is_unchanged()).then(message)
}

/// Returns the install target of a skill, or a failure if the skill cannot be removed.
fn removable_from(
    skill: &Skill,
    install_targets: &[InstallTarget],
    context: &CommandContext,
) -> Result<InstallTarget, Failure> {
    let name = clean(&skill.name()).into_owned();
    let refuse = |reason: String| {
        Failure::new(ErrorCode::AccessDenied, format!("cannot remove {name}: {reason}"))
            .hint(format!("to disable it instead: prowess disable {name}"))
    };
    let root = skill.root();
    if root.is_remote() {
        return Err(refuse(format!(
            "it comes from an MCP server; run `prowess untrust --mcp {name}` to revoke your approval"
        )));
    }
    if root.is_embedded() {
        return Err(refuse("it is bundled with Prowess".to_owned()));
    }
    if root.scope() == Scope::Bundled {
        return Err(refuse(format!(
            "{} is read-only, because it is bundled with the application",
            display_path(root.path(), context)
        )));
    }
    if skill.is_command() {
        let path = display_path(&skill.skill_md_path(), context);
        return Err(refuse(format!("it is a custom command of another agent; delete {path}")));
    }
    if skill.link().is_some() {
        return Err(refuse("it is a symlink; delete the symlink, or remove its target".to_owned()));
    }
    let below = |install_target: &&InstallTarget| {
        root.path().starts_with(install_target.base().unwrap_or(Path::new("/nowhere")))
    };
    let install_target = install_targets
        .iter()
        .find(|install_target| install_target.root == root.path())
        .or_else(|| install_targets.iter().find(below));
    match install_target {
        Some(install_target) => Ok(install_target.clone()),
        None => Err(refuse(format!(
            "it is in {}, outside the project and the home directory",
            display_path(root.path(), context)
        ))),
    }
}
