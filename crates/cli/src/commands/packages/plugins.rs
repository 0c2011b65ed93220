//! `prowess plugins` and `prowess skill manage list`: lists installed skills, with the marks of document 002.
//!
//! A plugin is an installed skill. In preset `harness`, the configuration lists plugins under `skills.plugins`.

use prowess::Snapshot;
use prowess::lock::{LockEntry, LockFile};
use prowess_package::InstallTarget;
use prowess_package::interchange::link;
use prowess_package::plugins::{ListedPlugin, PluginStatus, list_plugins};
use serde_json::{Value, json};

use super::super::{CommandResult, SUCCESS};
use super::agents_in_use::AgentDirs;
use super::{display_path, failure, install_targets, render};
use crate::args::GlobalArgs;
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, TextStyle, clean};
use crate::scope::ScopeArgs;

/// An installed skill.
struct InstalledPlugin {
    name: String,
    origin: String,
    status: PluginStatus,
    reason: Option<String>,
    json: Value,
}

pub(in crate::commands) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    scope: &ScopeArgs,
    output: &mut Output,
) -> CommandResult {
    let snapshot = context.registry_for(global, &[]).snapshot();
    let mut groups: Vec<(&'static str, Vec<InstalledPlugin>)> = Vec::new();
    let mut locked_names = Vec::new();
    for target in install_targets(context, scope)? {
        let lock = LockFile::read(&target.lock_path).map_err(|error| failure(error.into()))?;
        locked_names.extend(lock.skills.iter().map(|locked| locked.name.clone()));
        let dirs = AgentDirs::new(&target, context, global);
        let skills =
            lock.skills.iter().map(|locked| installed_plugin(locked, &target, &dirs, &snapshot, context));
        groups.push((target.scope.as_str(), skills.collect::<Result<Vec<_>, _>>()?));
    }
    let plugins = list_plugins(&context.configuration, &context.host_env, &snapshot)
        .map_err(|error| Failure::new(ErrorCode::Conflict, error.to_string()))?;
    let others = plugins
        .into_iter()
        .filter(|plugin| !locked_names.iter().any(|name| name == plugin.plugin.effective_name()));
    groups.push(("configuration", others.map(configured_plugin).collect()));
    groups.retain(|(_, skills)| !skills.is_empty());
    if output.json() {
        let plugins: Vec<&Value> =
            groups.iter().flat_map(|(_, skills)| skills.iter().map(|plugin| &plugin.json)).collect();
        output.write_json(&json!({"schema": 1, "plugins": plugins}))?;
        return Ok(SUCCESS);
    }
    if groups.is_empty() {
        output.note("no skills installed; run `prowess install SOURCE` to install one");
    }
    for (index, (scope, skills)) in groups.iter().enumerate() {
        if index > 0 {
            output.line("")?;
        }
        let title = match *scope {
            "project" => "[Installed in the project]",
            "user" => "[Installed for the current user]",
            _ => "[In the configuration]",
        };
        let title = output.styled_text(TextStyle::Strong, title);
        output.line(title)?;
        for plugin in skills {
            print_plugin(plugin, output)?;
        }
    }
    Ok(SUCCESS)
}

fn installed_plugin(
    locked: &LockEntry,
    target: &InstallTarget,
    dirs: &AgentDirs,
    snapshot: &Snapshot,
    context: &CommandContext,
) -> Result<InstalledPlugin, Failure> {
    let dir = target.dir(locked).map_err(failure)?;
    let canonical = std::fs::canonicalize(&dir).ok();
    let skill = snapshot.all().iter().find(|skill| Some(skill.canonical_dir()) == canonical);
    let (status, reason) = match skill {
        Some(skill) => (PluginStatus::from_skill(skill), skill.reason()),
        None if canonical.is_some() => (
            PluginStatus::Unavailable,
            Some(format!(
                "this preset does not search {}",
                display_path(dir.parent().unwrap_or(&dir), context)
            )),
        ),
        None => (
            PluginStatus::Unavailable,
            Some("directory not found; to restore it: prowess install --locked".to_owned()),
        ),
    };
    let agents = dirs.scope().map(|scope| link::agents_with(&dir, scope)).unwrap_or_default();
    let agents: Vec<&str> = agents.into_iter().map(|agent| agent.id).collect();
    let json = json!({
        "name": locked.name, "scope": target.scope.as_str(), "folder": dir,
        "url": locked.source, "ref": locked.reference, "commit": locked.commit, "path": locked.path,
        "tree": locked.tree, "audit": locked.audit.verdict,
        "enabled": status == PluginStatus::Enabled, "installed_at": locked.installed_at,
        "status": status.as_str(), "reason": reason, "agents": agents, "plugin": locked.plugin,
    });
    let part = locked.plugin.as_ref().map(|plugin| format!(", plugin {}", plugin.describe()));
    let origin = format!("{}{}", render::origin(locked), clean(&part.unwrap_or_default()));
    Ok(InstalledPlugin { name: locked.name.clone(), origin, status, reason, json })
}

/// Returns a plugin that is only in the configuration of preset `harness`, not in a lock file.
fn configured_plugin(listed: ListedPlugin) -> InstalledPlugin {
    let ListedPlugin { plugin, status, reason, .. } = listed;
    let reference = plugin.reference.as_ref().map(|reference| format!(" at {reference}")).unwrap_or_default();
    let json = json!({
        "name": plugin.effective_name(), "scope": "user", "url": plugin.url, "ref": plugin.reference,
        "enabled": plugin.enabled, "installed_at": plugin.installed_at,
        "status": status.as_str(), "reason": reason,
    });
    let origin = clean(&format!("{}{reference}", plugin.url)).into_owned();
    InstalledPlugin { name: plugin.effective_name().to_owned(), origin, status, reason, json }
}

fn print_plugin(plugin: &InstalledPlugin, output: &mut Output) -> std::io::Result<()> {
    let tone = match plugin.status {
        PluginStatus::Enabled => TextStyle::Good,
        PluginStatus::Disabled | PluginStatus::Shadowed => TextStyle::Faint,
        PluginStatus::Unavailable => TextStyle::Bad,
    };
    let mark = output.styled_text(tone, plugin.status.mark());
    output.line(format!("  {mark} {}", clean(&plugin.name)))?;
    output.line(format!("      {} ({})", plugin.origin, plugin.status.as_str()))?;
    for line in plugin.reason.as_ref().map(|reason| output.wrap(&clean(reason), 6)).unwrap_or_default() {
        output.line(format!("      {line}"))?;
    }
    Ok(())
}
