//! The rules for a project's file: it may restrict the current values, but never allow more.
//!
//! A project's file is untrusted. Each rule compares the current values with those after applying the project's
//! value, and returns an error if more would be allowed.

use std::path::Component;

use super::values::ConfigValues;
use prowess::policy::{RootLocation, RootSpec, Scope};
use prowess_format::NameRule;

/// What a project may do with a key.
#[derive(Clone, Copy)]
pub(super) enum ProjectRule {
    /// Set it: it does not affect safety.
    May,
    /// Nothing.
    MayNot,
    /// Set it to a value that is not more permissive than the current one.
    Narrow,
    /// Set it to a value that this rule accepts. The rule may complete the new values.
    Within(fn(&ConfigValues, &mut ConfigValues) -> Result<(), String>),
}

/// A project may move its own roots within the project. All other roots stay.
pub(super) fn check_roots(before: &ConfigValues, after: &mut ConfigValues) -> Result<(), String> {
    let is_project_root =
        |root: &RootSpec| root.scope == Scope::Project && matches!(root.location, RootLocation::Project(_));
    let requested = std::mem::take(&mut after.policy.scan.roots);
    for root in &requested {
        let inside =
            root.path().components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !is_project_root(root) || !inside {
            return Err(format!("{root} is not a directory inside the project"));
        }
    }
    let current = &before.policy.scan.roots;
    let Some(first) = current.iter().position(is_project_root).or(requested.is_empty().then_some(0)) else {
        return Err("project directories are not searched".to_owned());
    };
    let mut roots: Vec<_> = current.iter().filter(|root| !is_project_root(root)).cloned().collect();
    roots.splice(first..first, requested);
    after.policy.scan.roots = roots;
    Ok(())
}

/// A project may disable more skills.
pub(super) fn merge_disabled(before: &ConfigValues, after: &mut ConfigValues) -> Result<(), String> {
    merge_names(&before.policy.selection.disabled, &mut after.policy.selection.disabled);
    Ok(())
}

/// A project may reduce more skills to their names.
pub(super) fn merge_name_only(before: &ConfigValues, after: &mut ConfigValues) -> Result<(), String> {
    merge_names(&before.policy.selection.name_only, &mut after.policy.selection.name_only);
    Ok(())
}

/// A project may hide more skills, but not show those that the user hid.
pub(super) fn merge_manual(before: &ConfigValues, after: &mut ConfigValues) -> Result<(), String> {
    merge_names(&before.policy.selection.manual, &mut after.policy.selection.manual);
    Ok(())
}

/// A project may disable more bundled skills.
pub(super) fn merge_disabled_bundled(before: &ConfigValues, after: &mut ConfigValues) -> Result<(), String> {
    merge_names(&before.policy.selection.disabled_bundled, &mut after.policy.selection.disabled_bundled);
    Ok(())
}

/// A project may enable skills that are off by default, but not those that the user disabled.
pub(super) fn merge_enabled(before: &ConfigValues, after: &mut ConfigValues) -> Result<(), String> {
    let selection = &before.policy.selection;
    let mut disabled = selection.disabled.iter().chain(&selection.disabled_bundled);
    match disabled.find(|name| after.policy.selection.enabled.contains(name)) {
        Some(name) => Err(format!("{} is disabled", super::tree::clip_for_display(name))),
        None => {
            merge_names(&selection.enabled, &mut after.policy.selection.enabled);
            Ok(())
        }
    }
}

/// A project may select some of the enabled bundled skills. An empty list means all.
pub(super) fn check_enabled_bundled(before: &ConfigValues, after: &mut ConfigValues) -> Result<(), String> {
    let (before, after) = (&before.policy.selection.enabled_bundled, &after.policy.selection.enabled_bundled);
    if before.is_empty() {
        return Ok(());
    }
    if after.is_empty() {
        return Err("an empty list enables all of them".to_owned());
    }
    match after.iter().find(|name| !before.contains(name)) {
        Some(name) => Err(format!("{} is not enabled", super::tree::clip_for_display(name))),
        None => Ok(()),
    }
}

/// A project may choose a rule that accepts fewer names. Neither of `unicode` and `alphanumeric` does so.
pub(super) fn check_name_rule(before: &ConfigValues, after: &mut ConfigValues) -> Result<(), String> {
    let (before, after) = (before.policy.manifest.name, after.policy.manifest.name);
    if before == after || before == NameRule::Title || after == NameRule::Ascii {
        return Ok(());
    }
    Err("it accepts names that are currently rejected".to_owned())
}

/// A project may reduce the skills that run without confirmation.
pub(super) fn check_allowed_skills(before: &ConfigValues, after: &mut ConfigValues) -> Result<(), String> {
    check_subset(&before.policy.run.allowed_skills, &after.policy.run.allowed_skills)
}

/// A project may reduce the skills with network access.
pub(super) fn check_network(before: &ConfigValues, after: &mut ConfigValues) -> Result<(), String> {
    check_subset(&before.policy.run.network, &after.policy.run.network)
}

/// A project may reduce the environment variables that are passed.
pub(super) fn check_env(before: &ConfigValues, after: &mut ConfigValues) -> Result<(), String> {
    check_subset(&before.policy.run.env, &after.policy.run.env)
}

fn check_subset(before: &[String], after: &[String]) -> Result<(), String> {
    match after.iter().find(|name| !before.contains(name)) {
        Some(name) => Err(format!("{} is not granted by the user", super::tree::clip_for_display(name))),
        None => Ok(()),
    }
}

/// Adds the new names after the current ones.
fn merge_names(before: &[String], after: &mut Vec<String>) {
    let new: Vec<_> = after.drain(..).filter(|name| !before.contains(name)).collect();
    after.extend(before.iter().cloned().chain(new));
}
