//! Whether a script may run, and with what: the user's word, and the skill's own.

use std::ffi::{OsStr, OsString};

use prowess::grants::{self, Grantee};
use prowess::policy::{Policy, Run, Scripts};
use prowess::{Skill, Surroundings};

use super::Limits;
use super::error::RunError;
use super::options::{Consent, Network, Options};

/// Whether the user lets the scripts of a skill run. Those of servers never do.
pub fn is_allowed(skill: &Skill, policy: &Policy, world: &Surroundings) -> bool {
    if skill.supplied().is_some() {
        return false;
    }
    match policy.run.scripts {
        Scripts::Never => false,
        Scripts::Ask => Grantee::of(skill).is_in(&policy.run.allowed_skills, world),
        Scripts::Allowed => true,
    }
}

/// Whether the user lets any scripts run without being asked.
pub fn is_any_allowed(policy: &Policy) -> bool {
    let Run { scripts, allowed_skills, .. } = &policy.run;
    match scripts {
        Scripts::Never => false,
        Scripts::Ask => !allowed_skills.is_empty(),
        Scripts::Allowed => true,
    }
}

/// Whether the user lets this skill run anything: an error says why not.
pub fn consent(skill: &Skill, options: &Options<'_>) -> Result<(), RunError> {
    let (policy, world, consent) = (options.policy, options.world, options.consent);
    let never = policy.run.scripts == Scripts::Never;
    if is_allowed(skill, policy, world) || (consent == Consent::Given && !never) {
        return Ok(());
    }
    Err(RunError::NotAllowed {
        skill: prowess::format::hidden::shown(&skill.name()).into_owned(),
        entry: entry(skill),
        never,
    })
}

/// What names a skill in a list of the user's: its name, or its folder where it is a project's.
pub fn entry(skill: &Skill) -> String {
    Grantee::of(skill).entry()
}

/// Whether the user lets a skill reach the network.
pub fn network(skill: &Skill, policy: &Policy, world: &Surroundings) -> Network {
    if Grantee::of(skill).is_in(&policy.run.network, world) { Network::On } else { Network::Off }
}

pub(super) fn arguments(arguments: &[String], limits: &Limits) -> Result<(), RunError> {
    let refuse = |why: String| Err(RunError::Arguments(why));
    let (count, most) = (arguments.len(), limits.arguments);
    if count > most as usize {
        return refuse(format!("there are {count} arguments; at most {most} are passed"));
    }
    let (bytes, most) = (arguments.iter().map(String::len).sum::<usize>(), limits.argument_bytes);
    if bytes > most as usize {
        return refuse(format!("the arguments have {bytes} bytes; at most {most} are passed"));
    }
    match arguments.iter().position(|argument| argument.contains('\0')) {
        Some(at) => refuse(format!("argument {} has a NUL in it", at + 1)),
        None => Ok(()),
    }
}

/// A variable that a skill needs, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Whether the user grants it to this skill.
    pub granted: bool,
    /// Whether it has a value.
    pub is_set: bool,
}

/// The variables that a skill names in `metadata.env`, in its order.
pub fn variables(
    skill: &Skill,
    policy: &Policy,
    world: &Surroundings,
    environment: &[(OsString, OsString)],
) -> Vec<Variable> {
    let grantee = Grantee::of(skill);
    let names = skill.manifest().map(grants::needs).unwrap_or_default();
    names
        .into_iter()
        .map(|name| Variable {
            granted: grantee.gets(&name, &policy.run, world),
            is_set: environment.iter().any(|(known, _)| known == OsStr::new(&name)),
            name,
        })
        .collect()
}

/// The variables that are passed.
pub(super) fn granted(
    skill: &Skill,
    policy: &Policy,
    world: &Surroundings,
    environment: &[(OsString, OsString)],
) -> Vec<(String, OsString)> {
    let passed = variables(skill, policy, world, environment).into_iter().filter(|variable| variable.granted);
    passed
        .filter_map(|variable| {
            let value = environment.iter().find(|(known, _)| known == OsStr::new(&variable.name))?.1.clone();
            Some((variable.name, value))
        })
        .collect()
}
