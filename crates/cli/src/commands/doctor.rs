//! `prowess doctor`: checks the environment for problems.

mod embeddings;
mod environments;
mod hooks;
mod installed;
mod scripts;
mod sources;

use std::collections::BTreeMap;

use prowess::format::Code;
use prowess::policy::ProjectTrust;
use prowess::registry::UntrustedReason;
use prowess::shell::quote_path;
use prowess::{RootProblem, Skill, SkillStatus, Snapshot, short_path, trust};
use serde_json::json;

use super::{CommandResult, SUCCESS, check_failed, display_root, next_step, print_summary};
use crate::args::GlobalArgs;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean, clean_path, first_few, pluralize};
use crate::report::DiagnosticJson;

/// The result of one check.
struct DoctorCheck {
    subject: &'static str,
    state: CheckState,
    message: String,
    help: Option<String>,
}

prowess::format::named_enum! {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum CheckState {
        Fine = "fine",
        Note = "note",
        Problem = "problem",
    }
}

pub(super) fn run(context: &CommandContext, global: &GlobalArgs, output: &mut Output) -> CommandResult {
    // Contact the servers instead of using their caches.
    let responses = sources::contact_all(context);
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    let mut checks = check_environment(context, &snapshot);
    checks.extend(sources::checks(responses, &snapshot));
    checks.extend(embeddings::check(context));
    checks.extend(hooks::check(context, global));
    let healthy = !checks.iter().any(|check| check.state == CheckState::Problem);
    let mut diagnostics = context.configuration.diagnostics.clone();
    diagnostics.extend(snapshot.general_diagnostics().cloned());
    for located in &mut diagnostics {
        // This diagnostic only advises the user to run `prowess doctor`.
        if located.diagnostic.code == Code::SourceProblem {
            located.diagnostic.help = None;
        }
    }
    if output.json() {
        let checks: Vec<_> = checks
            .iter()
            .map(|f| json!({"what": f.subject, "state": f.state.as_str(), "message": f.message, "help": f.help}))
            .collect();
        let diagnostics: Vec<_> = diagnostics
            .iter()
            .map(|located| DiagnosticJson::new(&located.path, &located.diagnostic))
            .collect();
        output.write_json(&json!({
            "schema": 1,
            "version": env!("CARGO_PKG_VERSION"),
            "healthy": healthy,
            "findings": checks,
            "diagnostics": diagnostics,
        }))?;
    } else {
        output.line(format!("prowess {}", env!("CARGO_PKG_VERSION")))?;
        for DoctorCheck { subject, state, message, help } in &checks {
            let (mark, tone) = match state {
                CheckState::Fine => ("✓", TextStyle::Good),
                CheckState::Note => ("○", TextStyle::Faint),
                CheckState::Problem => ("✗", TextStyle::Bad),
            };
            output.line(format!("{} {subject:13} {}", output.styled_text(tone, mark), clean(message)))?;
            if let Some(help) = help {
                output.line(format!("  {:13} → {}", "", clean(help)))?;
            }
        }
        print_summary(output, &diagnostics, "prowess doctor --verbose");
    }
    Ok(if healthy { SUCCESS } else { check_failed() })
}

fn check_environment(context: &CommandContext, snapshot: &Snapshot) -> Vec<DoctorCheck> {
    let mut checks = vec![check_home(context), check_configuration(context)];
    checks.extend(check_roots(context, snapshot));
    checks.push(check_trust(context, snapshot));
    checks.push(check_skills(context, snapshot));
    checks.extend(installed::check(context));
    checks.extend(check_commands(snapshot));
    checks.extend(scripts::check(context, snapshot));
    checks.extend(environments::check(context));
    checks
}

fn check_home(context: &CommandContext) -> DoctorCheck {
    let (state, message, help) = match &context.host_env.home {
        None => (
            CheckState::Problem,
            "no home directory".to_owned(),
            Some("set HOME, or pass --home DIR".to_owned()),
        ),
        Some(home) if !home.is_dir() => (
            CheckState::Note,
            format!("{} does not exist", clean_path(home)),
            Some(
                "it is created when needed; to use another directory, set HOME or pass --home DIR".to_owned(),
            ),
        ),
        Some(home) => (CheckState::Fine, clean_path(home), None),
    };
    DoctorCheck { subject: "home", state, message, help }
}

fn check_configuration(context: &CommandContext) -> DoctorCheck {
    let configuration = &context.configuration;
    let has_errors = configuration.diagnostics.iter().any(|located| located.diagnostic.is_error());
    let read: Vec<_> = configuration
        .files
        .iter()
        .filter(|(_, read)| *read)
        .map(|(path, _)| clean_path(&short_path(path, &context.host_env)))
        .collect();
    let files = if read.is_empty() { "no files".to_owned() } else { read.join(", ") };
    let state = if has_errors { CheckState::Problem } else { CheckState::Fine };
    let help = has_errors.then(|| "see below; run `prowess config` to see the effective settings".to_owned());
    DoctorCheck {
        subject: "configuration",
        state,
        message: format!("preset {}, {files}", context.policy().preset),
        help,
    }
}

fn check_roots(context: &CommandContext, snapshot: &Snapshot) -> Vec<DoctorCheck> {
    let short = |path: &std::path::Path| clean_path(&short_path(path, &context.host_env));
    let present = snapshot.roots().filter(|root| !root.is_remote()).map(|root| {
        let count = snapshot.all().iter().filter(|skill| skill.root() == root).count();
        let scope = if root.is_embedded() { "" } else { root.scope().as_str() };
        let comma = if scope.is_empty() { "" } else { ", " };
        let message = format!("{} ({scope}{comma}{count} found)", display_root(root, context));
        DoctorCheck { subject: "directory", state: CheckState::Fine, message, help: None }
    });
    let absent = snapshot.absent_roots().iter().map(|root| {
        let (state, reason) = match &root.problem {
            RootProblem::Missing => (CheckState::Note, "does not exist".to_owned()),
            RootProblem::NoHome => (CheckState::Note, "cannot be searched: no home directory".to_owned()),
            RootProblem::NotADirectory => (CheckState::Problem, "is not a directory".to_owned()),
            RootProblem::Unreadable(reason) => (CheckState::Problem, format!("is not readable: {reason}")),
            RootProblem::Outside(target) => {
                (CheckState::Problem, format!("points outside the project, to {}", short(target)))
            }
        };
        DoctorCheck {
            subject: "directory",
            state,
            message: format!("{} {reason}", short(&root.path)),
            help: None,
        }
    });
    present.chain(absent).collect()
}

fn check_trust(context: &CommandContext, snapshot: &Snapshot) -> DoctorCheck {
    let subject = "trust";
    if context.policy().trust == ProjectTrust::NotNeeded {
        return DoctorCheck {
            subject,
            state: CheckState::Fine,
            message: "project skills need no trust".to_owned(),
            help: None,
        };
    }
    let untrusted: Vec<_> = snapshot.all().iter().filter_map(untrusted_reason).collect();
    if !untrusted.is_empty() {
        let (verb, pronoun) = if untrusted.len() == 1 { ("is", "it") } else { ("are", "them") };
        // These reasons occur only if trust was limited to the exact contents, which must stay so.
        let pinned = untrusted
            .iter()
            .any(|reason| matches!(reason, UntrustedReason::Changed(_) | UntrustedReason::Added(_)));
        let flag = if pinned { " --pinned" } else { "" };
        let message = format!("{} {verb} not trusted", pluralize(untrusted.len(), "skill"));
        let mut commands: Vec<String> = Vec::new();
        for reason in &untrusted {
            let command = match reason {
                UntrustedReason::NestedRepository(path) | UntrustedReason::Link(path) => {
                    format!("prowess trust {}", quote_path(path))
                }
                UntrustedReason::Project(_) | UntrustedReason::Changed(_) | UntrustedReason::Added(_) => {
                    format!("prowess trust{flag}")
                }
                UntrustedReason::Unapproved(_) | UntrustedReason::Replaced(_) => continue,
            };
            if !commands.contains(&command) && commands.len() < 3 {
                commands.push(command);
            }
        }
        let help = Some(format!("to trust {pronoun} after a review: {}", commands.join(" && ")));
        return DoctorCheck { subject, state: CheckState::Note, message, help };
    }
    let host_env = &context.host_env;
    match trust::record_for(&host_env.project, host_env).filter(|record| record.trusted) {
        None => DoctorCheck {
            subject,
            state: CheckState::Fine,
            message: "no skills need it".to_owned(),
            help: None,
        },
        Some(record) => {
            let changes = trust::changes_since(&record, context.policy(), host_env);
            let count = changes.added.len() + changes.removed.len() + changes.changed.len();
            let note = if count == 0 {
                String::new()
            } else {
                format!(", {} changed since", pluralize(count, "skill"))
            };
            let message = format!("{} is trusted{note}", clean_path(&short_path(&record.path, host_env)));
            DoctorCheck { subject, state: CheckState::Fine, message, help: None }
        }
    }
}

fn untrusted_reason(skill: &Skill) -> Option<&UntrustedReason> {
    match skill.status() {
        // Skills of MCP servers are approved individually.
        SkillStatus::Untrusted(UntrustedReason::Unapproved(_) | UntrustedReason::Replaced(_)) => None,
        SkillStatus::Untrusted(reason) => Some(reason),
        SkillStatus::Enabled
        | SkillStatus::Disabled(_)
        | SkillStatus::Unavailable(_)
        | SkillStatus::Modified(_)
        | SkillStatus::Shadowed(_)
        | SkillStatus::Invalid => None,
    }
}

fn check_skills(context: &CommandContext, snapshot: &Snapshot) -> DoctorCheck {
    let subject = "skills";
    if !context.policy().enabled {
        let help = Some("set PROWESS_SKILLS_ENABLED=true to enable them".to_owned());
        return DoctorCheck { subject, state: CheckState::Note, message: "disabled".to_owned(), help };
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for skill in snapshot.all() {
        *counts.entry(skill.status().as_str()).or_default() += 1;
    }
    let message =
        counts.iter().map(|(status, count)| format!("{count} {status}")).collect::<Vec<_>>().join(", ");
    let message = if message.is_empty() { "none found".to_owned() } else { message };
    let invalid = counts.contains_key("invalid");
    let help = invalid
        .then(|| "run `prowess list --all` to see why, and `prowess check` to see the lines".to_owned());
    DoctorCheck { subject, state: if invalid { CheckState::Note } else { CheckState::Fine }, message, help }
}

/// Returns the commands that skills require and that are not installed.
fn check_commands(snapshot: &Snapshot) -> Vec<DoctorCheck> {
    let mut missing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for skill in snapshot.all() {
        if let SkillStatus::Unavailable(commands) = skill.status() {
            for command in commands {
                missing.entry(command).or_default().push(skill.name().into_owned());
            }
        }
    }
    missing
        .into_iter()
        .map(|(command, skills)| DoctorCheck {
            subject: "command",
            state: CheckState::Note,
            message: format!("{command} not found, required by {}", first_few(skills.into_iter(), 5, " and")),
            help: Some(next_step::install_hint(&[command])),
        })
        .collect()
}
