//! `prowess doctor`: the environment, and what is wrong with it.

mod embeddings;
mod installed;
mod scripts;
mod sources;

use std::collections::BTreeMap;

use prowess::policy::ProjectTrust;
use prowess::registry::Untrusted;
use prowess::shell::quote_path;
use prowess::{RootProblem, Skill, Snapshot, Status, short_path, trust};
use serde_json::json;

use super::{Outcome, YES, no, place, print_summary, remedy};
use crate::args::Global;
use crate::context::Context;
use crate::output::{Output, Tone, clean, clean_path, counted};
use crate::report::DiagnosticJson;

/// One thing that was looked at.
struct Finding {
    what: &'static str,
    state: State,
    told: String,
    help: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Fine,
    Note,
    Problem,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

pub(super) fn run(context: &Context, global: &Global, output: &mut Output) -> Outcome {
    // Servers are asked anew here: that is what a doctor is for.
    let asked = sources::ask(context);
    let registry = context.registry(global);
    let snapshot = registry.snapshot();
    let mut findings = examine(context, &snapshot);
    findings.extend(sources::findings(asked, &snapshot));
    findings.extend(embeddings::embeddings(context));
    let healthy = !findings.iter().any(|finding| finding.state == State::Problem);
    let mut said = context.configuration.diagnostics.clone();
    said.extend(snapshot.general_diagnostics().cloned());
    if output.json() {
        let findings: Vec<_> = findings
            .iter()
            .map(|f| json!({"what": f.what, "state": f.state.as_str(), "message": f.told, "help": f.help}))
            .collect();
        let diagnostics: Vec<_> =
            said.iter().map(|located| DiagnosticJson::new(&located.path, &located.diagnostic)).collect();
        output.answer(&json!({
            "schema": 1,
            "version": env!("CARGO_PKG_VERSION"),
            "healthy": healthy,
            "findings": findings,
            "diagnostics": diagnostics,
        }))?;
    } else {
        output.line(format!("prowess {}", env!("CARGO_PKG_VERSION")))?;
        for Finding { what, state, told, help } in &findings {
            let (mark, tone) = match state {
                State::Fine => ("✓", Tone::Good),
                State::Note => ("○", Tone::Faint),
                State::Problem => ("✗", Tone::Bad),
            };
            output.line(format!("{} {what:13} {}", output.tone(tone, mark), clean(told)))?;
            if let Some(help) = help {
                output.line(format!("  {:13} → {}", "", clean(help)))?;
            }
        }
        print_summary(output, &said, "prowess doctor --verbose");
    }
    Ok(if healthy { YES } else { no() })
}

fn examine(context: &Context, snapshot: &Snapshot) -> Vec<Finding> {
    let mut findings = vec![home(context), configuration(context)];
    findings.extend(roots(context, snapshot));
    findings.push(trusted(context, snapshot));
    findings.push(skills(context, snapshot));
    findings.extend(installed::installed(context));
    findings.extend(commands(snapshot));
    findings.extend(scripts::scripts(context, snapshot));
    findings
}

fn home(context: &Context) -> Finding {
    let (state, told, help) = match &context.surroundings.home {
        None => (State::Problem, "there is none".to_owned(), Some("set HOME, or use --home DIR".to_owned())),
        Some(home) if !home.is_dir() => (
            State::Note,
            format!("{} does not exist", clean_path(home)),
            Some(
                "it is made when there is trust to keep; if that is not meant, set HOME, or use --home DIR"
                    .to_owned(),
            ),
        ),
        Some(home) => (State::Fine, clean_path(home), None),
    };
    Finding { what: "home", state, told, help }
}

fn configuration(context: &Context) -> Finding {
    let configuration = &context.configuration;
    let wrong = configuration.diagnostics.iter().any(|located| located.diagnostic.is_error());
    let read: Vec<_> = configuration
        .files
        .iter()
        .filter(|(_, read)| *read)
        .map(|(path, _)| clean_path(&short_path(path, &context.surroundings)))
        .collect();
    let files = if read.is_empty() { "no files".to_owned() } else { read.join(", ") };
    let state = if wrong { State::Problem } else { State::Fine };
    let help = wrong.then(|| "see below; prowess config shows what is in force".to_owned());
    Finding {
        what: "configuration",
        state,
        told: format!("preset {}, {files}", context.policy().preset),
        help,
    }
}

fn roots(context: &Context, snapshot: &Snapshot) -> Vec<Finding> {
    let short = |path: &std::path::Path| clean_path(&short_path(path, &context.surroundings));
    let present = snapshot.roots().filter(|root| !root.is_supplied()).map(|root| {
        let count = snapshot.all().iter().filter(|skill| skill.root() == root).count();
        let scope = if root.is_embedded() { "" } else { root.scope().as_str() };
        let comma = if scope.is_empty() { "" } else { ", " };
        let told = format!("{} ({scope}{comma}{count} found)", place(root, context));
        Finding { what: "directory", state: State::Fine, told, help: None }
    });
    let absent = snapshot.absent_roots().iter().map(|root| {
        let (state, why) = match &root.problem {
            RootProblem::Missing => (State::Note, "does not exist".to_owned()),
            RootProblem::NoHome => (State::Note, "there is no home".to_owned()),
            RootProblem::NotAFolder => (State::Problem, "is not a directory".to_owned()),
            RootProblem::Unreadable(why) => (State::Problem, format!("cannot be read: {why}")),
            RootProblem::Outside(target) => {
                (State::Problem, format!("leads out of the project, to {}", short(target)))
            }
        };
        Finding { what: "directory", state, told: format!("{} {why}", short(&root.path)), help: None }
    });
    present.chain(absent).collect()
}

fn trusted(context: &Context, snapshot: &Snapshot) -> Finding {
    let what = "trust";
    if context.policy().trust == ProjectTrust::NotNeeded {
        return Finding {
            what,
            state: State::Fine,
            told: "project skills count at once".to_owned(),
            help: None,
        };
    }
    let waiting: Vec<_> = snapshot.all().iter().filter_map(waits_for).collect();
    if !waiting.is_empty() {
        let (verb, them) = if waiting.len() == 1 { ("waits", "it") } else { ("wait", "them") };
        // Trust that was bound to what was there stays so.
        let pinned = waiting.iter().any(|why| matches!(why, Untrusted::Changed(_) | Untrusted::Added(_)));
        let flag = if pinned { " --pinned" } else { "" };
        let told = format!("{} {verb} for your trust", counted(waiting.len(), "skill"));
        let mut commands: Vec<String> = Vec::new();
        for why in &waiting {
            let command = match why {
                Untrusted::NestedRepository(path) | Untrusted::Link(path) => {
                    format!("prowess trust {}", quote_path(path))
                }
                Untrusted::Project(_) | Untrusted::Changed(_) | Untrusted::Added(_) => {
                    format!("prowess trust{flag}")
                }
                Untrusted::Unapproved(_) | Untrusted::Replaced(_) => continue,
            };
            if !commands.contains(&command) && commands.len() < 3 {
                commands.push(command);
            }
        }
        let help = Some(format!("look at {them}, then: {}", commands.join(" && ")));
        return Finding { what, state: State::Note, told, help };
    }
    let world = &context.surroundings;
    match trust::record_for(&world.project, world).filter(|record| record.trusted) {
        None => Finding { what, state: State::Fine, told: "nothing here needs it".to_owned(), help: None },
        Some(record) => {
            let changes = trust::changes_since(&record, context.policy(), world);
            let count = changes.added.len() + changes.removed.len() + changes.changed.len();
            let since = if count == 0 {
                String::new()
            } else {
                format!(", {} changed since", counted(count, "skill"))
            };
            let told = format!("{} is trusted{since}", clean_path(&short_path(&record.path, world)));
            Finding { what, state: State::Fine, told, help: None }
        }
    }
}

fn waits_for(skill: &Skill) -> Option<&Untrusted> {
    match skill.status() {
        // Those of servers are approved one by one.
        Status::Untrusted(Untrusted::Unapproved(_) | Untrusted::Replaced(_)) => None,
        Status::Untrusted(why) => Some(why),
        Status::Enabled
        | Status::Disabled(_)
        | Status::Unavailable(_)
        | Status::Modified(_)
        | Status::Shadowed(_)
        | Status::Invalid => None,
    }
}

fn skills(context: &Context, snapshot: &Snapshot) -> Finding {
    let what = "skills";
    if !context.policy().enabled {
        let help = Some("PROWESS_SKILLS_ENABLED=true switches them on".to_owned());
        return Finding { what, state: State::Note, told: "switched off".to_owned(), help };
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for skill in snapshot.all() {
        *counts.entry(skill.status().as_str()).or_default() += 1;
    }
    let told =
        counts.iter().map(|(status, count)| format!("{count} {status}")).collect::<Vec<_>>().join(", ");
    let told = if told.is_empty() { "none found".to_owned() } else { told };
    let invalid = counts.contains_key("invalid");
    let help = invalid.then(|| "prowess list --all tells why, prowess check shows the lines".to_owned());
    Finding { what, state: if invalid { State::Note } else { State::Fine }, told, help }
}

/// The first few names, and how many more there are.
fn few(names: &[String]) -> String {
    const MOST: usize = 5;
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Commands that skills need and that are missing.
fn commands(snapshot: &Snapshot) -> Vec<Finding> {
    let mut missing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for skill in snapshot.all() {
        if let Status::Unavailable(commands) = skill.status() {
            for command in commands {
                missing.entry(command).or_default().push(skill.name().into_owned());
            }
        }
    }
    missing
        .into_iter()
        .map(|(command, skills)| Finding {
            what: "command",
            state: State::Note,
            told: format!("{command} is missing, needed by {}", few(&skills)),
            help: Some(remedy::install(&[command])),
        })
        .collect()
}
