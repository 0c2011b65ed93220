//! Checks the sandbox, the policy that decides which scripts may run, and the environment variables of skills.

use prowess::policy::ScriptPolicy;
use prowess::{Skill, Snapshot};
use prowess_sandbox::SandboxTier;

use super::super::next_step;
use super::{CheckState, DoctorCheck};
use crate::context::CommandContext;

/// Returns the state of the sandbox, the script policy, and the variables that skills need but do not get.
pub(super) fn check(context: &CommandContext, snapshot: &Snapshot) -> Vec<DoctorCheck> {
    let status = prowess_sandbox::status(&prowess_sandbox::SandboxHelper::current_exe());
    let root = if status.root { "; root privileges are dropped first" } else { "" };
    let (state, message) = match status.tier {
        Some(SandboxTier::Tier1) => {
            (CheckState::Fine, format!("tier 1: namespaces, Landlock {}, seccomp{root}", status.landlock))
        }
        Some(SandboxTier::Tier2) => {
            (CheckState::Note, format!("tier 2: Landlock {}, seccomp, no namespaces{root}", status.landlock))
        }
        Some(SandboxTier::None) | None => (CheckState::Note, "not available; scripts do not run".to_owned()),
    };
    let help = status
        .missing
        .first()
        .map(|error| format!("{}; {}", error.reason, next_step::sandbox_hint(&error.reason)));
    let policy = context.policy();
    let allowed = match policy.run.scripts {
        ScriptPolicy::Never => "never run".to_owned(),
        ScriptPolicy::Ask if policy.run.allowed_skills.is_empty() => "run after confirmation".to_owned(),
        ScriptPolicy::Ask => {
            format!("run for {}; others run after confirmation", policy.run.allowed_skills.join(", "))
        }
        ScriptPolicy::Allowed => "run without confirmation".to_owned(),
    };
    let mut findings = vec![
        DoctorCheck { subject: "sandbox", state, message, help },
        DoctorCheck { subject: "scripts", state: CheckState::Fine, message: allowed, help: None },
    ];
    let environment: Vec<_> = std::env::vars_os().collect();
    for skill in snapshot.enabled() {
        for variable in prowess_sandbox::requested_variables(skill, policy, &context.host_env, &environment) {
            findings.extend(missing_variable(skill, &variable));
        }
    }
    findings
}

/// Returns a variable that a skill needs and does not get.
fn missing_variable(skill: &Skill, variable: &prowess_sandbox::RequestedVariable) -> Option<DoctorCheck> {
    let (name, skill_name) = (&variable.name, skill.name());
    let (message, help) = match (variable.granted, variable.is_set) {
        (true, true) => return None,
        (true, false) => (format!("{name} is not set, required by {skill_name}"), format!("set {name}")),
        (false, _) => (
            format!("{name} is not granted to {skill_name}, which requires it"),
            format!(
                "to grant it, set run.env = [\"{}:{name}\"] in ~/.prowess/config.toml",
                prowess_sandbox::grant_entry(skill)
            ),
        ),
    };
    Some(DoctorCheck { subject: "variable", state: CheckState::Note, message, help: Some(help) })
}
