//! Whether a script may run, and with what: the user's word, and the skill's own.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use prowess::policy::{Policy, Run, Scripts};
use prowess::{Scope, Skill, Surroundings};

use super::Limits;
use super::error::RunError;
use super::options::{Consent, Network};

/// Variables that the sandbox sets itself.
const OWN: [&str; 4] = ["PATH", "LANG", "HOME", "TMPDIR"];

/// Whether the user lets the scripts of a skill run.
pub fn is_allowed(skill: &Skill, policy: &Policy, world: &Surroundings) -> bool {
    match policy.run.scripts {
        Scripts::Never => false,
        Scripts::Ask => names(&policy.run.allowed_skills, skill, world),
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

pub(super) fn consent(
    skill: &Skill,
    policy: &Policy,
    world: &Surroundings,
    consent: Consent,
) -> Result<(), RunError> {
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

/// What names a skill in a list of the user's: its name, or its folder where it is a project's. Anybody can give a
/// project's skill a name that the user knows.
pub fn entry(skill: &Skill) -> String {
    match is_of_project(skill) {
        true => skill.canonical_folder().display().to_string(),
        false => skill.name().into_owned(),
    }
}

fn is_of_project(skill: &Skill) -> bool {
    skill.root().scope() == Scope::Project
}

/// Whether a list of the user's names a skill.
fn names(list: &[String], skill: &Skill, world: &Surroundings) -> bool {
    list.iter().any(|entry| is_named(entry, skill, world))
}

fn is_named(entry: &str, skill: &Skill, world: &Surroundings) -> bool {
    let path = match (entry.strip_prefix("~/"), &world.home) {
        (Some(inner), Some(home)) => home.join(inner),
        _ if entry.starts_with('/') => entry.into(),
        _ => return !is_of_project(skill) && entry == skill.name(),
    };
    !skill.root().is_embedded() && same(&path, &skill.canonical_folder())
}

fn same(path: &Path, folder: &Path) -> bool {
    path == folder || std::fs::canonicalize(path).is_ok_and(|path| path == folder)
}

/// Whether the user lets a skill reach the network.
pub fn network(skill: &Skill, policy: &Policy, world: &Surroundings) -> Network {
    if names(&policy.run.network, skill, world) { Network::On } else { Network::Off }
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
    let metadata = skill.manifest().and_then(|manifest| {
        manifest.metadata().find(|(key, _)| *key == "env").map(|(_, value)| value.to_owned())
    });
    let metadata = metadata.unwrap_or_default();
    let mut names: Vec<&str> = metadata.split_whitespace().filter(|name| is_variable(name)).collect();
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(*name));
    names
        .into_iter()
        .map(|name| Variable {
            name: name.to_owned(),
            granted: policy.run.env.iter().any(|grant| grants(grant, name, skill, world)),
            is_set: environment.iter().any(|(known, _)| known == OsStr::new(name)),
        })
        .collect()
}

fn is_variable(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !OWN.contains(&name)
}

/// `NAME`, or `SKILL:NAME`.
fn grants(grant: &str, name: &str, skill: &Skill, world: &Surroundings) -> bool {
    match grant.rsplit_once(':') {
        None => grant == name,
        Some((of, granted)) => granted == name && is_named(of, skill, world),
    }
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
