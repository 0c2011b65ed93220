//! `prowess enable` and `prowess disable`.

use prowess::shell::quote;
use prowess::short_path;
use prowess_config::ConfigLayer;
use prowess_package::switch::{
    self, ConfigScope, DesiredState, SwitchError, SwitchObstacle, SwitchOutcome, SwitchTarget,
};

use super::{CommandResult, SUCCESS, check_failed, find_skill};
use crate::args::{GlobalArgs, SwitchArgs};
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, TextStyle, clean, clean_path};
use crate::scope::ScopeChoice;

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &SwitchArgs,
    desired: DesiredState,
    output: &mut Output,
) -> CommandResult {
    let targets: Vec<SwitchTarget> = match &args.source {
        Some(path) => vec![SwitchTarget::Source(path.clone())],
        None => args.names.iter().map(|name| SwitchTarget::Skill(name.clone())).collect(),
    };
    if targets.len() > 1 {
        require_known(context, global, &args.names, desired)?;
    }
    let scope = match args.scope.or_user() {
        ScopeChoice::User => ConfigScope::User,
        ScopeChoice::Project => ConfigScope::Project,
    };
    let mut outcomes: Vec<SwitchOutcome> = Vec::new();
    for target in &targets {
        let switched = switch_target(context, target, desired, scope)?;
        if !output.json() {
            print_result(context, &switched, desired, scope, output)?;
        }
        outcomes.push(switched);
    }
    match outcomes.as_slice() {
        [] => return Err(Failure::usage("no skill given")),
        [outcome] if output.json() => output.write_json(&outcome.to_json(desired))?,
        several if output.json() => {
            let skills: Vec<_> = several.iter().map(|outcome| outcome.to_json(desired)).collect();
            output.write_json(&serde_json::json!({"schema": 1, "skills": skills}))?;
        }
        _ => {}
    }
    Ok(if outcomes.iter().all(|switched| switched.obstacle.is_none()) { SUCCESS } else { check_failed() })
}

/// Fails if one of several skills does not exist, so that nothing is changed then. The entry of a removed skill can still be
/// deleted, so any name can be enabled.
fn require_known(
    context: &CommandContext,
    global: &GlobalArgs,
    names: &[String],
    desired: DesiredState,
) -> Result<(), Failure> {
    if desired == DesiredState::Enabled {
        return Ok(());
    }
    let typed: Vec<&str> = names.iter().map(String::as_str).collect();
    let snapshot = context.registry_for(global, &typed).snapshot();
    names.iter().try_for_each(|name| find_skill(&snapshot, name).map(drop))
}

fn switch_target(
    context: &CommandContext,
    target: &SwitchTarget,
    desired: DesiredState,
    scope: ConfigScope,
) -> Result<SwitchOutcome, Failure> {
    // MCP servers are contacted only for names that can belong to their skills.
    let remote_sources = match target {
        SwitchTarget::Skill(name) if name.contains('/') => context.sources.remote_sources(),
        SwitchTarget::Skill(_) | SwitchTarget::Source(_) => Vec::new(),
    };
    switch::switch_with_remote(&context.inputs, &context.roots, &remote_sources, target, desired, scope)
        .map_err(|error| failure(&error, target))
}

fn print_result(
    context: &CommandContext,
    switched: &SwitchOutcome,
    desired: DesiredState,
    scope: ConfigScope,
    output: &mut Output,
) -> std::io::Result<()> {
    let files: Vec<_> =
        switched.changed_files.iter().map(|path| clean_path(&short_path(path, &context.host_env))).collect();
    let name = clean(&switched.name);
    let (mark, tone) = match desired {
        DesiredState::Enabled => ("✓", TextStyle::Good),
        DesiredState::Disabled => ("○", TextStyle::Faint),
    };
    match (&switched.obstacle, files.is_empty()) {
        (None, false) => {
            let mark = output.styled_text(tone, mark);
            output.line(format!("{mark} {name} is {}: {}", desired.as_str(), files.join(", ")))?;
        }
        (None, true) => output.line(format!("{name} is already {}", desired.as_str()))?,
        (Some(obstacle), unchanged) => {
            if !unchanged {
                output.note(format!("changed {}, but this has no effect yet", files.join(", ")));
            }
            let current_state = if desired == DesiredState::Enabled { "disabled" } else { "enabled" };
            let hint = hint(obstacle, &switched.name, scope);
            output.error(&format!("{name} is still {current_state}: {}", obstacle.reason), hint.as_deref());
            return Ok(());
        }
    }
    // An enabled skill may still be unavailable for other reasons.
    if let (DesiredState::Enabled, Some(reason), Some(status)) = (desired, &switched.reason, switched.status)
    {
        output.note(format!("it is {status}: {}", clean(reason)));
    }
    Ok(())
}

/// Returns the command that removes the obstacle.
fn hint(obstacle: &SwitchObstacle, name: &str, scope: ConfigScope) -> Option<String> {
    let layer = obstacle.location.as_ref().map(|location| location.layer)?;
    match &obstacle.source {
        Some(_) => enable_command(obstacle, name).map(|command| format!("to enable its source: {command}")),
        None if layer == ConfigLayer::Project && scope == ConfigScope::User => {
            enable_command(obstacle, name).map(|command| format!("to enable it there: {command}"))
        }
        None => None,
    }
}

/// Returns the command that enables a skill, or `None` if it is disabled in a file given with `--config`.
pub(super) fn enable_command(obstacle: &SwitchObstacle, name: &str) -> Option<String> {
    let scope = match obstacle.location.as_ref().map(|location| location.layer) {
        Some(ConfigLayer::Project) => " --scope project",
        Some(ConfigLayer::User) | None => "",
        Some(_) => return None,
    };
    Some(match &obstacle.source {
        Some(source) => format!("prowess enable --source {}{scope}", quote(source)),
        None => format!("prowess enable {}{scope}", quote(name)),
    })
}

fn failure(error: &SwitchError, target: &SwitchTarget) -> Failure {
    let failure = match error {
        SwitchError::SourceNotFound { .. } => Failure::missing_path(error.to_string()),
        error => Failure::new(error.code(), error.to_string()),
    };
    match (error, target) {
        (SwitchError::SkillNotFound { suggestion: Some(suggestion), name }, _) => failure.hint(format!(
            "did you mean {suggestion}? run `prowess why {}` to see which directories were searched",
            quote(name)
        )),
        (SwitchError::SkillNotFound { name, .. }, _) => {
            failure.hint(format!("run `prowess why {}` to see which directories were searched", quote(name)))
        }
        (SwitchError::SourceNotFound { known, .. }, _) => {
            failure.hint(format!("known sources: {}", known.join(", ")))
        }
        (SwitchError::ProjectCannotEnable { location }, SwitchTarget::Skill(name))
            if location.layer == ConfigLayer::User =>
        {
            failure.hint(format!("to enable it for yourself: prowess enable {} --user", quote(name)))
        }
        (SwitchError::ProjectCannotEnable { location }, SwitchTarget::Source(path))
            if location.layer == ConfigLayer::User =>
        {
            failure.hint(format!("to enable it for yourself: prowess enable --source {} --user", quote(path)))
        }
        _ => failure,
    }
}
