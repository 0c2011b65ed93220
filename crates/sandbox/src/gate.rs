//! Permissions of scripts: whether the user allows them, and the network access and environment variables that the user
//! grants to a skill.

use std::ffi::{OsStr, OsString};

use prowess::grants::{self, Grantee};
use prowess::policy::{Policy, RunPolicy, ScriptPolicy};
use prowess::{HostEnv, Skill};

use super::Limits;
use super::error::RunError;
use super::options::{Consent, NetworkAccess, RunOptions};

/// Returns `true` if the user allows scripts of this skill. Scripts of remote skills are never allowed.
pub fn is_allowed(skill: &Skill, policy: &Policy, env: &HostEnv) -> bool {
    is_allowed_at(skill, policy, env, &|| current_tree(skill))
}

/// Returns `true` if the user allows scripts of this skill as long as its files have the tree hash that `tree` returns.
fn is_allowed_at(skill: &Skill, policy: &Policy, env: &HostEnv, tree: &dyn Fn() -> Option<String>) -> bool {
    if skill.remote().is_some() || is_denied(skill, policy, env) {
        return false;
    }
    match policy.run.scripts {
        ScriptPolicy::Never => false,
        ScriptPolicy::Ask => Grantee::for_skill(skill).is_listed(&policy.run.allowed_skills, env, tree),
        ScriptPolicy::Allowed => true,
    }
}

/// Returns `true` if the user never wants scripts of this skill to run. Unlike a permission, a name also counts for skills
/// of projects.
pub fn is_denied(skill: &Skill, policy: &Policy, env: &HostEnv) -> bool {
    let grantee = Grantee::for_skill(skill);
    let denied = &policy.run.denied_skills;
    denied.iter().any(|entry| *entry == grantee.name || *entry == grantee.list_entry())
        || grantee.is_listed(denied, env, &|| current_tree(skill))
}

/// Returns `true` if the user can be asked whether scripts of this skill may run, and has not answered yet.
pub fn may_ask(skill: &Skill, policy: &Policy, env: &HostEnv) -> bool {
    policy.run.scripts == ScriptPolicy::Ask
        && skill.is_enabled()
        && skill.remote().is_none()
        && !is_denied(skill, policy, env)
        && !is_allowed(skill, policy, env)
}

fn current_tree(skill: &Skill) -> Option<String> {
    prowess::resources::read_skill_files(skill).ok().map(|files| files.tree)
}

/// Returns `true` if the user allows any scripts to run without confirmation.
pub fn is_any_allowed(policy: &Policy) -> bool {
    let RunPolicy { scripts, allowed_skills, .. } = &policy.run;
    match scripts {
        ScriptPolicy::Never => false,
        ScriptPolicy::Ask => !allowed_skills.is_empty(),
        ScriptPolicy::Allowed => true,
    }
}

/// Checks that the user allows scripts of this skill.
pub fn check_consent(skill: &Skill, options: &RunOptions<'_>) -> Result<(), RunError> {
    check_consent_at(skill, options, &|| current_tree(skill))
}

/// Checks that the user allows scripts of this skill, whose files have the tree hash that `tree` returns.
pub(super) fn check_consent_at(
    skill: &Skill,
    options: &RunOptions<'_>,
    tree: &dyn Fn() -> Option<String>,
) -> Result<(), RunError> {
    let (policy, env) = (options.policy, options.env);
    let name = prowess::format::hidden::escape_for_display(&skill.name()).into_owned();
    if is_denied(skill, policy, env) {
        return Err(RunError::Denied { skill: name });
    }
    let all_disabled = policy.run.scripts == ScriptPolicy::Never;
    let is_given = match &options.consent {
        Consent::Configured => false,
        Consent::Given => true,
        Consent::GivenAt(confirmed) => tree().as_ref() == Some(confirmed),
    };
    let is_confirmed = is_given && !all_disabled && skill.remote().is_none();
    if is_allowed_at(skill, policy, env, tree) || is_confirmed {
        return Ok(());
    }
    Err(RunError::NotAllowed { skill: name, entry: grant_entry(skill), all_disabled })
}

/// Returns the entry for a skill in permission lists, as long as its files have this tree hash.
pub fn pinned_grant_entry(skill: &Skill, tree: &str) -> String {
    Grantee::for_skill(skill).pinned_entry(tree)
}

/// Returns the entry for a skill in permission lists: its name, or its directory if it belongs to a project.
pub fn grant_entry(skill: &Skill) -> String {
    Grantee::for_skill(skill).list_entry()
}

/// Returns whether the user grants a skill network access.
pub fn network_access(skill: &Skill, policy: &Policy, env: &HostEnv) -> NetworkAccess {
    network_access_at(skill, policy, env, &|| current_tree(skill))
}

/// Returns whether the user grants a skill network access, whose files have the tree hash that `tree` returns.
pub(super) fn network_access_at(
    skill: &Skill,
    policy: &Policy,
    env: &HostEnv,
    tree: &dyn Fn() -> Option<String>,
) -> NetworkAccess {
    if Grantee::for_skill(skill).is_listed(&policy.run.network, env, tree) {
        NetworkAccess::On
    } else {
        NetworkAccess::Off
    }
}

pub(super) fn check_arguments(arguments: &[String], limits: &Limits) -> Result<(), RunError> {
    let refuse = |reason: String| Err(RunError::Arguments(reason));
    let (count, max) = (arguments.len(), limits.arguments);
    if count > max as usize {
        return refuse(format!("too many arguments: {count}; the maximum is {max}"));
    }
    let (bytes, max) = (arguments.iter().map(String::len).sum::<usize>(), limits.argument_bytes);
    if bytes > max as usize {
        return refuse(format!("the arguments have {bytes} bytes; the maximum is {max}"));
    }
    match arguments.iter().position(|argument| argument.contains('\0')) {
        Some(index) => refuse(format!("argument {} contains a NUL byte", index + 1)),
        None => Ok(()),
    }
}

/// An environment variable that a skill requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedVariable {
    /// The name.
    pub name: String,
    /// Whether the user grants it to this skill.
    pub granted: bool,
    /// Whether it has a value.
    pub is_set: bool,
}

/// Returns the variables that a skill lists in `metadata.env`, in order.
pub fn requested_variables(
    skill: &Skill,
    policy: &Policy,
    env: &HostEnv,
    environment: &[(OsString, OsString)],
) -> Vec<RequestedVariable> {
    let grantee = Grantee::for_skill(skill);
    let names = skill.manifest().map(grants::needed_variables).unwrap_or_default();
    names
        .into_iter()
        .map(|name| RequestedVariable {
            granted: grantee.is_granted(&name, &policy.run, env),
            is_set: environment.iter().any(|(variable_name, _)| variable_name == OsStr::new(&name)),
            name,
        })
        .collect()
}

/// Returns the variables to pass.
pub(super) fn granted_variables(
    skill: &Skill,
    policy: &Policy,
    env: &HostEnv,
    environment: &[(OsString, OsString)],
) -> Vec<(String, OsString)> {
    let passed =
        requested_variables(skill, policy, env, environment).into_iter().filter(|variable| variable.granted);
    passed
        .filter_map(|variable| {
            let value = environment
                .iter()
                .find(|(variable_name, _)| variable_name == OsStr::new(&variable.name))?
                .1
                .clone();
            Some((variable.name, value))
        })
        .collect()
}
