//! What a project may set: less than is in force, never more.
//!
//! A project's file comes with the project, from whoever made it. Each rule takes what is in force and what
//! it would be with the project's value, and says why that would be more.

use std::path::Component;

use super::values::Values;
use prowess::policy::{RootPlace, RootSpec, Scope};
use prowess_format::NameRule;

/// What a project may do with a key.
#[derive(Clone, Copy)]
pub(super) enum Project {
    /// Set it: nobody's safety hangs on it.
    May,
    /// Leave it alone.
    MayNot,
    /// Set it to a value that allows no more than the one in force.
    Narrow,
    /// What this rule lets through; it may complete the new values.
    Within(fn(&Values, &mut Values) -> Result<(), String>),
}

/// The project's own directories move within the project; everybody else's stay as they are.
pub(super) fn roots(before: &Values, after: &mut Values) -> Result<(), String> {
    let own = |root: &RootSpec| root.scope == Scope::Project && matches!(root.place, RootPlace::Project(_));
    let wanted = std::mem::take(&mut after.policy.scan.roots);
    for root in &wanted {
        let inside =
            root.path().components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !own(root) || !inside {
            return Err(format!("{root} is not a directory of the project's own, inside it"));
        }
    }
    let in_force = &before.policy.scan.roots;
    let Some(first) = in_force.iter().position(own).or(wanted.is_empty().then_some(0)) else {
        return Err("no directories of projects are scanned".to_owned());
    };
    let mut roots: Vec<_> = in_force.iter().filter(|root| !own(root)).cloned().collect();
    roots.splice(first..first, wanted);
    after.policy.scan.roots = roots;
    Ok(())
}

/// What a project disables is disabled besides what already is.
pub(super) fn disabled(before: &Values, after: &mut Values) -> Result<(), String> {
    add(&before.policy.selection.disabled, &mut after.policy.selection.disabled);
    Ok(())
}

/// A project may have fewer of its skills described.
pub(super) fn name_only(before: &Values, after: &mut Values) -> Result<(), String> {
    add(&before.policy.selection.name_only, &mut after.policy.selection.name_only);
    Ok(())
}

/// A project may hide more, and not show what the user hid.
pub(super) fn manual(before: &Values, after: &mut Values) -> Result<(), String> {
    add(&before.policy.selection.manual, &mut after.policy.selection.manual);
    Ok(())
}

/// The same for bundled skills as for all.
pub(super) fn disabled_bundled(before: &Values, after: &mut Values) -> Result<(), String> {
    add(&before.policy.selection.disabled_bundled, &mut after.policy.selection.disabled_bundled);
    Ok(())
}

/// A project may switch on what is off by default, not what the user switched off.
pub(super) fn enabled(before: &Values, after: &mut Values) -> Result<(), String> {
    let selection = &before.policy.selection;
    let mut off = selection.disabled.iter().chain(&selection.disabled_bundled);
    match off.find(|name| after.policy.selection.enabled.contains(name)) {
        Some(name) => Err(format!("{} is disabled", super::tree::clipped(name))),
        None => {
            add(&selection.enabled, &mut after.policy.selection.enabled);
            Ok(())
        }
    }
}

/// Some of the bundled skills that are on; an empty list means all.
pub(super) fn enabled_bundled(before: &Values, after: &mut Values) -> Result<(), String> {
    let (before, after) = (&before.policy.selection.enabled_bundled, &after.policy.selection.enabled_bundled);
    if before.is_empty() {
        return Ok(());
    }
    if after.is_empty() {
        return Err("an empty list enables all of them".to_owned());
    }
    match after.iter().find(|name| !before.contains(name)) {
        Some(name) => Err(format!("{} is not enabled", super::tree::clipped(name))),
        None => Ok(()),
    }
}

/// A rule that lets fewer names through; of `unicode` and `alphanumeric`, neither does.
pub(super) fn name_rule(before: &Values, after: &mut Values) -> Result<(), String> {
    let (before, after) = (before.policy.manifest.name, after.policy.manifest.name);
    if before == after || before == NameRule::Title || after == NameRule::Ascii {
        return Ok(());
    }
    Err("it lets names through that are not well formed now".to_owned())
}

/// Fewer of the skills that may run without asking.
pub(super) fn allowed_skills(before: &Values, after: &mut Values) -> Result<(), String> {
    fewer(&before.policy.run.allowed_skills, &after.policy.run.allowed_skills)
}

/// Fewer of the skills that reach the network.
pub(super) fn network(before: &Values, after: &mut Values) -> Result<(), String> {
    fewer(&before.policy.run.network, &after.policy.run.network)
}

/// Fewer of the variables that are passed.
pub(super) fn env(before: &Values, after: &mut Values) -> Result<(), String> {
    fewer(&before.policy.run.env, &after.policy.run.env)
}

fn fewer(before: &[String], after: &[String]) -> Result<(), String> {
    match after.iter().find(|name| !before.contains(name)) {
        Some(name) => Err(format!("{} is not granted by the user", super::tree::clipped(name))),
        None => Ok(()),
    }
}

/// The names in force first, then the new ones.
fn add(before: &[String], after: &mut Vec<String>) {
    let new: Vec<_> = after.drain(..).filter(|name| !before.contains(name)).collect();
    after.extend(before.iter().cloned().chain(new));
}
