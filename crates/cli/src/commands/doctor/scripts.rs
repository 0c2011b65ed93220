//! What scripts are held by, and what they wait for.

use prowess::policy::Scripts;
use prowess::{Skill, Snapshot};
use prowess_sandbox::Tier;

use super::super::remedy;
use super::{Finding, State};
use crate::context::Context;

/// What scripts are held by, whether they may run, and the variables that skills wait for.
pub(super) fn scripts(context: &Context, snapshot: &Snapshot) -> Vec<Finding> {
    let status = prowess_sandbox::status(&prowess_sandbox::Helper::own(), &context.surroundings);
    let root = if status.root { "; root is given up first" } else { "" };
    let (state, told) = match status.tier {
        Some(Tier::Tier1) => {
            (State::Fine, format!("tier 1: namespaces, Landlock {}, seccomp{root}", status.landlock))
        }
        Some(Tier::Tier2) => {
            (State::Note, format!("tier 2: Landlock {}, seccomp, no namespaces{root}", status.landlock))
        }
        Some(Tier::None) | None => (State::Note, "none can be enforced: scripts do not run".to_owned()),
    };
    let help = status.missing.first().map(|error| format!("{}; {}", error.why, remedy::sandbox(&error.why)));
    let policy = context.policy();
    let allowed = match policy.run.scripts {
        Scripts::Never => "never run".to_owned(),
        Scripts::Ask if policy.run.allowed_skills.is_empty() => "run when you say so, each time".to_owned(),
        Scripts::Ask => format!("run for {}, others when you say so", policy.run.allowed_skills.join(", ")),
        Scripts::Allowed => "run without asking".to_owned(),
    };
    let mut findings = vec![
        Finding { what: "sandbox", state, told, help },
        Finding { what: "scripts", state: State::Fine, told: allowed, help: None },
    ];
    let environment: Vec<_> = std::env::vars_os().collect();
    for skill in snapshot.enabled() {
        for variable in prowess_sandbox::variables(skill, policy, &context.surroundings, &environment) {
            findings.extend(waiting(skill, &variable));
        }
    }
    findings
}

/// A variable that a skill needs and does not get.
fn waiting(skill: &Skill, variable: &prowess_sandbox::Variable) -> Option<Finding> {
    let (name, of) = (&variable.name, skill.name());
    let (told, help) = match (variable.granted, variable.is_set) {
        (true, true) => return None,
        (true, false) => (format!("{name} is not set, needed by {of}"), format!("set {name}")),
        (false, _) => (
            format!("{name} is not granted to {of}, which needs it"),
            format!(
                "to grant it: run.env = [\"{}:{name}\"] in ~/.prowess/config.toml",
                prowess_sandbox::entry(skill)
            ),
        ),
    };
    Some(Finding { what: "variable", state: State::Note, told, help: Some(help) })
}
