//! Prints the changes to installed skills, as text and as JSON.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use prowess::lock::{Capabilities, LockEntry};
use prowess_package::{InstallConflict, InstallTarget, PackageError, PlanAction, PlanItem, SkillChanges};
use serde_json::{Value, json};

use super::super::{SUCCESS, check_failed};
use super::display_path;
use super::links::{AgentLink, LinkList};
use super::plugin_parts::{self, PluginChanges};
use super::plugin_servers::PlannedServer;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean, first_few, format_size, pluralize};

/// Returns the error for a skill that already exists.
pub(super) fn conflict_error(conflict: &InstallConflict<'_>) -> PackageError {
    let name = conflict.prepared.name.clone();
    let message = match (conflict.installed, conflict.is_modified) {
        (Some(_), true) => format!("{name} was modified since it was installed"),
        (Some(locked), false) => format!("{name} is already installed, from {}", locked.source),
        (None, _) => format!("{name} already exists, and was not installed by prowess"),
    };
    let hint = match (conflict.installed, conflict.is_modified) {
        (Some(locked), false) if locked.source == conflict.source => format!(
            "run `prowess update {name}` to update it, or pass --yes --on-conflict overwrite, skip or rename"
        ),
        (Some(_), true) => {
            format!(
                "run `prowess verify {name}` to see the changes, or pass --yes --on-conflict overwrite to replace them"
            )
        }
        (Some(_), false) | (None, _) => {
            "pass --yes --on-conflict overwrite, skip or rename, or choose another name with --name"
                .to_owned()
        }
    };
    PackageError::ChoiceRequired { message, hint }
}

/// Returns the differences, one per line.
pub(super) fn change_lines(changes: &SkillChanges) -> Vec<String> {
    let mut lines = Vec::new();
    for (mark, paths) in [("+", &changes.added), ("-", &changes.removed), ("~", &changes.changed)] {
        lines.extend(paths.iter().map(|path| format!("{mark} {}", clean(path))));
    }
    for (label, capabilities) in [("new", &changes.gained), ("removed", &changes.lost)] {
        lines.extend(
            capability_rows(capabilities).into_iter().map(|(kind, list)| format!("{label} {kind}: {list}")),
        );
    }
    for (label, granted) in [("newly granted", &changes.granted), ("no longer granted", &changes.revoked)] {
        if !granted.is_empty() {
            lines.push(format!("{label}: {}", clean(&granted.describe())));
        }
    }
    lines
}

/// Returns the capabilities of a skill, by kind.
fn capability_rows(capabilities: &Capabilities) -> Vec<(&'static str, String)> {
    let Capabilities { scripts, hosts, tools, env } = capabilities;
    let kinds = [("scripts", scripts), ("hosts", hosts), ("tools", tools), ("variables", env)];
    let names =
        |set: &BTreeSet<String>| first_few(set.iter().map(|name| clean(name).into_owned()), 6, ", and");
    kinds.into_iter().filter(|(_, set)| !set.is_empty()).map(|(kind, set)| (kind, names(set))).collect()
}

/// Returns the source of a skill with its path and commit.
pub(in crate::commands) fn origin(locked: &LockEntry) -> String {
    format!("{}{}", clean(&locked.source), path_and_commit(locked))
}

/// Returns the path inside the source and the commit.
fn path_and_commit(locked: &LockEntry) -> String {
    let inner = locked.path.as_deref().map(|path| format!(" ({path})")).unwrap_or_default();
    let version = match (&locked.reference, &locked.commit) {
        (Some(reference), Some(commit)) => format!(" at {reference}, commit {}", short_commit(commit)),
        (None, Some(commit)) => format!(" at commit {}", short_commit(commit)),
        _ => String::new(),
    };
    clean(&format!("{inner}{version}")).into_owned()
}

fn short_commit(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// Prints the change of a skill, with all details if `in_full` is set.
fn print_item(
    item: &PlanItem,
    applied: bool,
    in_full: bool,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    let (mark, tone) = match &item.action {
        PlanAction::Add | PlanAction::Replace | PlanAction::Remove => ("✓", TextStyle::Good),
        PlanAction::Keep => ("=", TextStyle::Faint),
        PlanAction::Skip(_) => ("○", TextStyle::Caution),
        PlanAction::Fail(_) => ("✗", TextStyle::Bad),
    };
    let verb = match (&item.action, applied) {
        (action, true) => action.as_str(),
        (PlanAction::Add, false) => "would install",
        (PlanAction::Replace, false) => "would update",
        (PlanAction::Remove, false) => "would remove",
        (action, false) => action.as_str(),
    };
    let details = match &item.action {
        PlanAction::Skip(reason) | PlanAction::Fail(reason) => format!(": {}", clean(reason)),
        PlanAction::Keep => format!(" ({})", display_path(&item.dir, context)),
        PlanAction::Add if !in_full => format!(" ({})", display_path(&item.dir, context)),
        PlanAction::Add | PlanAction::Replace | PlanAction::Remove => String::new(),
    };
    let mark = output.styled_text(tone, mark);
    let name = output.styled_text(TextStyle::Strong, &item.name);
    output.line(format!("{mark} {verb} {name}{details}"))?;
    if !matches!(item.action, PlanAction::Add | PlanAction::Replace) && !is_refused_increase(item) {
        return Ok(());
    }
    if in_full {
        print_details(item, context, output)?;
    } else if let Some(moved) = commit_change(item) {
        output.line(format!("    {moved}"))?;
    } else if let (PlanAction::Add, Some(prepared)) = (&item.action, &item.prepared) {
        for (kind, list) in capability_rows(&prepared.capabilities) {
            output.line(format!("    {kind:<9} {list}"))?;
        }
    }
    if let Some(changed) = item.changes().filter(|_| item.action != PlanAction::Add) {
        for line in change_lines(&changed) {
            output.line(format!("    {line}"))?;
        }
    }
    print_findings(item, output)
}

/// Prints the number of failures and returns the exit code, which is 1 if any skill failed or all were skipped.
pub(super) fn exit_code_for(items: &[PlanItem], participle: &str, output: &mut Output) -> ExitCode {
    let failed = items.iter().filter(|item| matches!(item.action, PlanAction::Fail(_))).count();
    let is_skipped = |item: &PlanItem| matches!(item.action, PlanAction::Skip(_) | PlanAction::Fail(_));
    if failed > 0 && !output.json() {
        output.note(format!("{} of {} could not be {participle}", failed, pluralize(items.len(), "skill")));
    }
    match failed > 0 || (!items.is_empty() && items.iter().all(is_skipped)) {
        true => check_failed(),
        false => SUCCESS,
    }
}

/// Returns `true` if an update was skipped because it adds capabilities, which are then shown.
fn is_refused_increase(item: &PlanItem) -> bool {
    let increases = || item.changes().is_some_and(|changes| changes.is_increase());
    matches!(item.action, PlanAction::Skip(_)) && item.prepared.is_some() && increases()
}

/// Returns the commits before and after an update.
fn commit_change(item: &PlanItem) -> Option<String> {
    let commit = |locked: &Option<LockEntry>| locked.as_ref()?.commit.clone();
    let (before, after) = (commit(&item.before)?, commit(&item.after)?);
    (before != after).then(|| format!("commit {} → {}", short_commit(&before), short_commit(&after)))
}

fn print_details(item: &PlanItem, context: &CommandContext, output: &mut Output) -> std::io::Result<()> {
    let (Some(after), Some(prepared)) = (&item.after, &item.prepared) else { return Ok(()) };
    let bytes: u64 = prepared.tree.files().iter().map(|file| file.bytes).sum();
    let files = format!("{}, {}", pluralize(prepared.tree.files().len(), "file"), format_size(bytes));
    let from = match Path::new(&after.source) {
        path if path.is_absolute() => display_path(path, context) + &path_and_commit(after),
        _ => origin(after),
    };
    let mut rows = vec![("to", display_path(&item.dir, context)), ("from", from), ("files", files)];
    rows.extend(after.plugin.as_ref().map(|plugin| ("plugin", clean(&plugin.describe()).into_owned())));
    rows.extend(capability_rows(&prepared.capabilities));
    if !after.granted.is_empty() {
        rows.push(("granted", clean(&after.granted.describe()).into_owned()));
    }
    rows.push(("tree", prepared.tree.hash()));
    let verdict = &prepared.verdict;
    let suppressed = match verdict.findings.len() - verdict.unsuppressed().count() {
        0 => String::new(),
        count => format!(", {count} suppressed"),
    };
    rows.push(("audit", format!("{}{suppressed} (rules {})", verdict.as_str(), verdict.rules_version)));
    for (key, value) in rows {
        output.line(format!("    {key:<9} {value}"))?;
    }
    Ok(())
}

/// Prints the findings of the audit.
fn print_findings(item: &PlanItem, output: &mut Output) -> std::io::Result<()> {
    let Some(prepared) = &item.prepared else { return Ok(()) };
    let serious = |finding: &&prowess_package::audit::Finding| {
        finding.severity >= prowess_package::audit::FindingSeverity::Medium
    };
    for finding in prepared.verdict.unsuppressed().filter(serious).take(10) {
        let severity = output.styled_text(TextStyle::Caution, finding.severity.as_str());
        let location = clean(&format!("{}:{}", finding.path, finding.line)).into_owned();
        output.line(format!("    {severity} {location} {} ({})", clean(&finding.message), finding.rule))?;
    }
    Ok(())
}

/// Returns the change of a skill as JSON.
pub(super) fn item_json(item: &PlanItem) -> Value {
    let entry = item.after.as_ref().or(item.before.as_ref());
    let mut value = json!({
        "name": item.name,
        "action": item.action.as_str(),
        "folder": item.dir,
        "source": entry.map(|locked| &locked.source),
        "ref": entry.and_then(|locked| locked.reference.as_ref()),
        "commit": entry.and_then(|locked| locked.commit.as_ref()),
        "path": entry.and_then(|locked| locked.path.as_ref()),
        "tree": entry.map(|locked| &locked.tree),
        "audit": entry.map(|locked| &locked.audit.verdict),
    });
    if let Some(plugin) = entry.and_then(|locked| locked.plugin.as_ref()) {
        value["plugin"] = json!(plugin);
    }
    if let PlanAction::Skip(reason) | PlanAction::Fail(reason) = &item.action {
        value["reason"] = json!(reason);
    }
    if let Some(locked) = entry {
        value["capabilities"] = json!(locked.capabilities);
        value["granted"] = json!(locked.granted);
    }
    let shows_changes = item.action == PlanAction::Replace || is_refused_increase(item);
    if let Some(changes) = item.changes().filter(|_| shows_changes) {
        value["changes"] = json!({
            "added": changes.added, "removed": changes.removed, "changed": changes.changed,
            "gained": changes.gained, "lost": changes.lost,
            "granted": changes.granted, "revoked": changes.revoked,
        });
    }
    if let Some(prepared) = &item.prepared {
        let finding_json = |finding: &prowess_package::audit::Finding| {
            json!({"rule": finding.rule, "severity": finding.severity.as_str(), "path": finding.path,
                   "line": finding.line, "message": finding.message})
        };
        value["findings"] = prepared.verdict.unsuppressed().map(finding_json).collect();
    }
    value
}

/// Prints the change of each skill and its links for other agents.
pub(super) fn print_items(
    items: &[PlanItem],
    links: &LinkList,
    applied: bool,
    in_full: bool,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    for item in items {
        print_item(item, applied, in_full, context, output)?;
        for link in links.shown_for(&item.dir, in_full) {
            output.line(format!("    {}", link.describe(applied, context)))?;
        }
    }
    Ok(())
}

/// Prints all changes of a command.
pub(super) fn print_changes(
    (items, plugins): (&[PlanItem], &PluginChanges<'_>),
    links: &LinkList,
    target: &InstallTarget,
    applied: bool,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    if output.json() {
        let skills: Vec<Value> = items.iter().map(item_json).collect();
        let mut value = json!({
            "schema": 1, "scope": target.scope.as_str(), "root": target.root, "lock": target.lock_path,
            "dry_run": !applied, "skills": skills, "agents": links.agents(),
            "links": links.links.iter().map(AgentLink::json).collect::<Vec<_>>(),
        });
        if !plugins.plugins.is_empty() {
            value["plugins"] = json!(plugin_parts::plugins_json(plugins.plugins));
        }
        if !plugins.servers.is_empty() {
            value["mcp_entries"] = plugins.servers.iter().map(PlannedServer::json).collect();
        }
        return output.write_json(&value);
    }
    print_items(items, links, applied, items.len() == 1, context, output)?;
    plugin_parts::print_plugins(plugins, applied, context, output)?;
    let agents = links.agents();
    if !links.is_explicit && !agents.is_empty() {
        let verb = if applied { "Available to" } else { "Would be available to" };
        output.note(format!("{verb} {}", agents.join(", ")));
    }
    Ok(())
}

/// Returns the message about the updated lock file.
pub(super) fn lock_message(items: &[PlanItem], target: &InstallTarget, context: &CommandContext) -> String {
    let lock = display_path(&target.lock_path, context);
    let local =
        |item: &&PlanItem| item.after.as_ref().is_some_and(|after| Path::new(&after.source).is_absolute());
    match (target.scope, items.iter().find(local)) {
        (prowess_package::InstallScope::User, _) => format!("Updated {lock}"),
        (prowess_package::InstallScope::Project, None) => {
            format!("Updated {lock} (commit this file)")
        }
        (prowess_package::InstallScope::Project, Some(item)) => format!(
            "Updated {lock} (commit this file)\n\
             {} cannot be installed on other machines: its source is a local path outside the project",
            clean(&item.name)
        ),
    }
}
