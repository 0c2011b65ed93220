//! `prowess plugins` and `prowess skill manage list`: what was installed, marked as document 002 does.

use prowess::Snapshot;
use prowess::lock::{Lock, Locked};
use prowess_package::Place;
use prowess_package::interchange::link;
use prowess_package::plugins::{ListedPlugin, Standing, listed};
use serde_json::{Value, json};

use super::super::{Outcome, YES};
use super::{failure, places, short, told};
use crate::args::Global;
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, Tone, clean};
use crate::scope::ScopeArgs;

/// One installed skill.
struct Installed {
    name: String,
    origin: String,
    standing: Standing,
    reason: Option<String>,
    json: Value,
}

pub(in crate::commands) fn run(
    context: &Context,
    global: &Global,
    scope: &ScopeArgs,
    output: &mut Output,
) -> Outcome {
    let snapshot = context.registry_of(global, &[]).snapshot();
    let mut groups: Vec<(&'static str, Vec<Installed>)> = Vec::new();
    let mut known = Vec::new();
    for place in places(context, scope)? {
        let lock = Lock::read(&place.lock).map_err(|error| failure(error.into()))?;
        known.extend(lock.skills.iter().map(|locked| locked.name.clone()));
        let skills = lock.skills.iter().map(|locked| installed(locked, &place, &snapshot, context));
        groups.push((place.scope.as_str(), skills.collect::<Result<Vec<_>, _>>()?));
    }
    let plugins = listed(&context.configuration, &context.surroundings, &snapshot)
        .map_err(|error| Failure::new(ErrorCode::Conflict, error.to_string()))?;
    let others =
        plugins.into_iter().filter(|plugin| !known.iter().any(|name| name == plugin.plugin.called()));
    groups.push(("configuration", others.map(only_configured).collect()));
    groups.retain(|(_, skills)| !skills.is_empty());
    if output.json() {
        let plugins: Vec<&Value> =
            groups.iter().flat_map(|(_, skills)| skills.iter().map(|one| &one.json)).collect();
        output.answer(&json!({"schema": 1, "plugins": plugins}))?;
        return Ok(YES);
    }
    if groups.is_empty() {
        output.remark("no plugins are installed; prowess install SOURCE gets one");
    }
    for (at, (scope, skills)) in groups.iter().enumerate() {
        if at > 0 {
            output.line("")?;
        }
        let title = match *scope {
            "project" => "[Installed in the project]",
            "user" => "[Installed for the user]",
            _ => "[In the configuration]",
        };
        let title = output.tone(Tone::Strong, title);
        output.line(title)?;
        for one in skills {
            entry(one, output)?;
        }
    }
    Ok(YES)
}

fn installed(
    locked: &Locked,
    place: &Place,
    snapshot: &Snapshot,
    context: &Context,
) -> Result<Installed, Failure> {
    let folder = place.folder(locked).map_err(failure)?;
    let canonical = std::fs::canonicalize(&folder).ok();
    let skill = snapshot.all().iter().find(|skill| Some(skill.canonical_folder()) == canonical);
    let (standing, reason) = match skill {
        Some(skill) => (Standing::of(skill), skill.reason()),
        None if canonical.is_some() => (
            Standing::Unavailable,
            Some(format!(
                "{} is not looked into in this preset",
                short(folder.parent().unwrap_or(&folder), context)
            )),
        ),
        None => (
            Standing::Unavailable,
            Some("its folder is missing; prowess install --locked restores it".to_owned()),
        ),
    };
    let folders = match (place.scope, place.base()) {
        (prowess_package::For::Project, Some(base)) => link::agents_with(&folder, link::Place::Project(base)),
        (prowess_package::For::User, Some(base)) => link::agents_with(&folder, link::Place::Home(base)),
        (_, None) => Vec::new(),
    };
    let agents: Vec<&str> = folders.into_iter().map(|agent| agent.id).collect();
    let json = json!({
        "name": locked.name, "scope": place.scope.as_str(), "folder": folder,
        "url": locked.source, "ref": locked.reference, "commit": locked.commit, "path": locked.path,
        "tree": locked.tree, "audit": locked.audit.verdict,
        "enabled": standing == Standing::Enabled, "installed_at": locked.installed_at,
        "status": standing.as_str(), "reason": reason, "agents": agents,
    });
    Ok(Installed { name: locked.name.clone(), origin: told::origin(locked), standing, reason, json })
}

/// A plugin that document 002's configuration lists and no lock knows.
fn only_configured(listed: ListedPlugin) -> Installed {
    let ListedPlugin { plugin, standing, reason, .. } = listed;
    let reference = plugin.reference.as_ref().map(|reference| format!(" at {reference}")).unwrap_or_default();
    let json = json!({
        "name": plugin.called(), "scope": "user", "url": plugin.url, "ref": plugin.reference,
        "enabled": plugin.enabled, "installed_at": plugin.installed_at,
        "status": standing.as_str(), "reason": reason,
    });
    let origin = clean(&format!("{}{reference}", plugin.url)).into_owned();
    Installed { name: plugin.called().to_owned(), origin, standing, reason, json }
}

fn entry(one: &Installed, output: &mut Output) -> std::io::Result<()> {
    let tone = match one.standing {
        Standing::Enabled => Tone::Good,
        Standing::Disabled | Standing::Shadowed => Tone::Faint,
        Standing::Unavailable => Tone::Bad,
    };
    let mark = output.tone(tone, one.standing.mark());
    output.line(format!("  {mark} {}", clean(&one.name)))?;
    output.line(format!("      {} ({})", one.origin, one.standing.as_str()))?;
    for line in one.reason.as_ref().map(|reason| output.wrapped(&clean(reason), 6)).unwrap_or_default() {
        output.line(format!("      {line}"))?;
    }
    Ok(())
}
