//! `prowess enable` and `prowess disable`.

use prowess::shell::quote;
use prowess::short_path;
use prowess_config::Layer;
use prowess_package::switch::{self, InTheWay, SwitchError, Switched, Target, To, Whose};

use super::{Outcome, YES, no};
use crate::args::Switch;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Output, Tone, clean, clean_path};
use crate::scope::Chosen;

pub(super) fn run(context: &Context, call: &Switch, to: To, output: &mut Output) -> Outcome {
    let target = match (&call.name, &call.source) {
        (_, Some(path)) => Target::Source(path.clone()),
        (Some(name), None) => Target::Skill(name.clone()),
        (None, None) => return Err(Failure::call("a name is missing")),
    };
    let whose = match call.scope.chosen() {
        Chosen::User => Whose::User,
        Chosen::Project => Whose::Project,
    };
    // No server is asked for a name that none of its skills can have.
    let supplies = match &target {
        Target::Skill(name) if name.contains('/') => context.sources.supplies(),
        Target::Skill(_) | Target::Source(_) => Vec::new(),
    };
    let switched = switch::switch_with(&context.inputs, &context.roots, &supplies, &target, to, whose)
        .map_err(|error| failure(&error, &target))?;
    if output.json() {
        output.answer(&switched.json(to))?;
    } else {
        tell(context, &switched, to, whose, output)?;
    }
    Ok(if switched.in_the_way.is_none() { YES } else { no() })
}

fn tell(
    context: &Context,
    switched: &Switched,
    to: To,
    whose: Whose,
    output: &mut Output,
) -> std::io::Result<()> {
    let files: Vec<_> =
        switched.changed.iter().map(|path| clean_path(&short_path(path, &context.surroundings))).collect();
    let name = clean(&switched.name);
    let (mark, tone) = match to {
        To::On => ("✓", Tone::Good),
        To::Off => ("○", Tone::Faint),
    };
    match (&switched.in_the_way, files.is_empty()) {
        (None, false) => {
            let mark = output.tone(tone, mark);
            output.line(format!("{mark} {name} is {}: {}", to.as_str(), files.join(", ")))?;
        }
        (None, true) => output.line(format!("{name} is already {}", to.as_str()))?,
        (Some(way), unchanged) => {
            if !unchanged {
                output.remark(format!("{} was changed, but that is not enough", files.join(", ")));
            }
            let still = if to == To::On { "off" } else { "on" };
            let hint = hint(way, &switched.name, whose);
            output.error(&format!("{name} is still {still}: {}", way.why), hint.as_deref());
            return Ok(());
        }
    }
    // What is switched on may still not be offered, for other reasons.
    if let (To::On, Some(reason), Some(status)) = (to, &switched.reason, switched.status) {
        output.remark(format!("it is {status}: {}", clean(reason)));
    }
    Ok(())
}

/// What would help.
fn hint(way: &InTheWay, name: &str, whose: Whose) -> Option<String> {
    let layer = way.mention.as_ref().map(|mention| mention.layer)?;
    match &way.source {
        Some(_) => enable_command(way, name).map(|command| format!("to enable its source: {command}")),
        None if layer == Layer::Project && whose == Whose::User => {
            enable_command(way, name).map(|command| format!("to enable it there: {command}"))
        }
        None => None,
    }
}

/// The command that takes away what disables a skill; `None` where no command can, because `--config` names the file.
pub(super) fn enable_command(way: &InTheWay, name: &str) -> Option<String> {
    let scope = match way.mention.as_ref().map(|mention| mention.layer) {
        Some(Layer::Project) => " --scope project",
        Some(Layer::User) | None => "",
        Some(_) => return None,
    };
    Some(match &way.source {
        Some(source) => format!("prowess enable --source {}{scope}", quote(source)),
        None => format!("prowess enable {}{scope}", quote(name)),
    })
}

fn failure(error: &SwitchError, target: &Target) -> Failure {
    let failure = match error {
        SwitchError::NoSource { .. } => Failure::missing_path(error.to_string()),
        error => Failure::new(error.code(), error.to_string()),
    };
    match (error, target) {
        (SwitchError::NoSkill { near: Some(near), name }, _) => {
            failure.hint(format!("did you mean {near}? prowess why {name} tells where was looked"))
        }
        (SwitchError::NoSkill { name, .. }, _) => {
            failure.hint(format!("prowess why {name} tells where was looked"))
        }
        (SwitchError::NoSource { known, .. }, _) => failure.hint(format!("there are {}", known.join(", "))),
        (SwitchError::NotTheProjects { mention }, Target::Skill(name)) if mention.layer == Layer::User => {
            failure.hint(format!("to enable it for yourself: prowess enable {} --user", quote(name)))
        }
        (SwitchError::NotTheProjects { mention }, Target::Source(path)) if mention.layer == Layer::User => {
            failure.hint(format!("to enable it for yourself: prowess enable --source {} --user", quote(path)))
        }
        _ => failure,
    }
}
