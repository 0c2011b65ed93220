//! Dynamic shell completion: names of skills, files of skills, presets, agents, clients and settings.
//!
//! The shell calls `prowess` with the variable [`VARIABLE`] whenever the user presses Tab. Without the variable, nothing of
//! this runs.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use prowess::lock::LockFile;
use prowess::{Preset, Skill, Snapshot};
use prowess_package::{InstallScope, InstallTarget, agents, connect};

use crate::args::{Args, GlobalArgs};
use crate::columns;
use crate::context::CommandContext;
use crate::output::clean;

/// The variable with which a shell asks for completions.
const VARIABLE: &str = "PROWESS_COMPLETE";

/// The maximum width of a description in a list of completions.
const HELP_WIDTH: usize = 70;

/// Prints completions if a shell asks for them. Returns `None` for any other call.
pub(crate) fn complete() -> Option<ExitCode> {
    std::env::var_os(VARIABLE).filter(|shell| !shell.is_empty())?;
    let current_dir = std::env::current_dir().ok();
    let completed = CompleteEnv::with_factory(command_with_completers)
        .var(VARIABLE)
        .bin("prowess")
        .try_complete(std::env::args_os(), current_dir.as_deref());
    match completed {
        Ok(true) => Some(ExitCode::SUCCESS),
        Ok(false) => None,
        // An error message would disturb the line that the user types.
        Err(_) => Some(ExitCode::from(2)),
    }
}

/// Returns the script that registers dynamic completion in a shell; `None` if the shell is not supported.
pub(crate) fn registration(shell: &str) -> Option<Vec<u8>> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    shells
        .completer(shell)?
        .write_registration(VARIABLE, "prowess", "prowess", "prowess", &mut script)
        .ok()?;
    Some(script)
}

fn command_with_completers() -> Command {
    let mut command = Args::command();
    // Deferred commands get their arguments only when they are built.
    command.build();
    add_completers(command)
}

fn add_completers(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| match completer_for(&name, arg.get_id().as_str()) {
        Some(completer) => arg.add(completer),
        None => arg,
    });
    command.mut_subcommands(add_completers)
}

/// Returns the completer of an argument, by the names of the command and the argument.
fn completer_for(command: &str, arg: &str) -> Option<ArgValueCompleter> {
    Some(match (command, arg) {
        (_, "preset") => ArgValueCompleter::new(complete_presets),
        ("check", "agents") | (_, "agent" | "from") => ArgValueCompleter::new(complete_agents),
        ("update" | "outdated" | "verify" | "remove", "names") | ("diff", "name") => {
            ArgValueCompleter::new(complete_installed)
        }
        ("info" | "why" | "activate" | "files" | "read" | "run" | "enable" | "disable" | "build", "name")
        | ("tools" | "call" | "eval", "skill") => ArgValueCompleter::new(complete_skills),
        ("read", "path") | ("run", "script") => ArgValueCompleter::new(complete_files),
        ("set", "key") | ("unset", "keys") => ArgValueCompleter::new(complete_settings),
        ("check", "ignore") => ArgValueCompleter::new(complete_codes),
        ("audit", "ignore") => ArgValueCompleter::new(complete_rules),
        (_, "client") => ArgValueCompleter::new(complete_clients),
        _ => return None,
    })
}

/// Returns the words of the line that is completed, after the program.
fn typed_words() -> Vec<OsString> {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(2);
    words.collect()
}

/// Returns the global options of the line that is completed, as far as they change which skills are found.
fn typed_options() -> GlobalArgs {
    let words = typed_words();
    let value = |option: &str| {
        let position = words.iter().position(|word| word == option)?;
        words.get(position + 1).map(PathBuf::from)
    };
    let global = GlobalArgs {
        preset: value("--preset").and_then(|name| name.to_str()?.parse().ok()),
        root: value("--root").into_iter().collect(),
        home: value("--home"),
        config: value("--config"),
        quiet: true,
        ..GlobalArgs::default()
    };
    global.with_variables()
}

fn snapshot() -> Option<std::sync::Arc<Snapshot>> {
    let global = typed_options();
    let context = CommandContext::load_unchecked(&global).ok()?;
    // MCP servers are not contacted.
    Some(context.registry_for(&global, &[]).snapshot())
}

/// Returns candidates that start with the typed text. Texts that a shell would have to quote are left out: they come from
/// skills, and become part of the command line.
fn candidates(
    current: &OsStr,
    values: impl IntoIterator<Item = (String, String)>,
) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let is_plain = |value: &str| value.chars().all(|c| c.is_alphanumeric() || "-_./:".contains(c));
    let matching = values.into_iter().filter(|(value, _)| value.starts_with(&*current) && is_plain(value));
    let candidate = |(value, help): (String, String)| {
        let help = columns::truncate(&clean(&help), HELP_WIDTH);
        CompletionCandidate::new(value).help((!help.is_empty()).then(|| help.into()))
    };
    matching.map(candidate).collect()
}

fn complete_skills(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(snapshot) = snapshot() else { return Vec::new() };
    let value = |skill: &Skill| (skill.name().into_owned(), skill.description().to_owned());
    candidates(current, snapshot.without_links().map(value))
}

fn complete_installed(current: &OsStr) -> Vec<CompletionCandidate> {
    let Ok(context) = CommandContext::load_unchecked(&typed_options()) else { return Vec::new() };
    let targets = [InstallScope::Project, InstallScope::User].into_iter();
    let targets =
        targets.filter_map(|scope| InstallTarget::new(scope, context.policy(), &context.host_env).ok());
    let locks = targets.filter_map(|target| LockFile::read(&target.lock_path).ok());
    candidates(current, locks.flat_map(|lock| lock.skills).map(|locked| (locked.name, locked.source)))
}

/// Completes the files of the skill that the line names.
fn complete_files(current: &OsStr) -> Vec<CompletionCandidate> {
    let words = typed_words();
    let command = words.iter().position(|word| word == "read" || word == "run");
    let name = command.and_then(|command| words.get(command + 1)).and_then(|name| name.to_str());
    let (Some(name), Some(snapshot)) = (name, snapshot()) else { return Vec::new() };
    let Some(skill) = snapshot.get(name).filter(|skill| skill.is_enabled() && skill.root().is_dir()) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    prowess::visit_files(&skill.canonical_dir(), 0, &mut |path, entry| {
        if matches!(entry, prowess::VisitedEntry::File { .. }) {
            files.push((path.to_owned(), String::new()));
        }
    });
    candidates(current, files)
}

fn complete_presets(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, Preset::ALL.map(|preset| (preset.as_str().to_owned(), String::new())))
}

fn complete_agents(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, agents::AGENTS.iter().map(|agent| (agent.id.to_owned(), agent.title.to_owned())))
}

fn complete_clients(current: &OsStr) -> Vec<CompletionCandidate> {
    let is_hook = typed_words().iter().any(|word| word == "hook");
    let clients: Vec<(String, String)> = match is_hook {
        true => connect::hooks::HOOK_CLIENTS
            .iter()
            .map(|client| (client.id.to_owned(), client.title.to_owned()))
            .collect(),
        false => {
            connect::CLIENTS.iter().map(|client| (client.id.to_owned(), client.title.to_owned())).collect()
        }
    };
    candidates(current, clients)
}

fn complete_codes(current: &OsStr) -> Vec<CompletionCandidate> {
    let codes = prowess_format::Code::ALL.iter();
    candidates(current, codes.map(|code| (code.as_str().to_owned(), code.summary().to_owned())))
}

fn complete_rules(current: &OsStr) -> Vec<CompletionCandidate> {
    let rules = prowess_package::audit::rules();
    candidates(current, rules.map(|rule| (rule.id.to_owned(), rule.title.to_owned())))
}

fn complete_settings(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, prowess_config::KEYS.iter().map(|key| (key.name.to_owned(), key.about.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_shell_would_expand_are_not_offered() {
        let value = |name: &str| (name.to_owned(), "About \u{1b}[31m it".to_owned());
        let offered =
            candidates(OsStr::new(""), ["pdf", "a b", "$(x)", "日本語", "docs/pdf", "x;y"].map(value));
        let names: Vec<_> = offered.iter().map(|candidate| candidate.get_value().to_string_lossy()).collect();
        assert_eq!(names, ["pdf", "日本語", "docs/pdf"]);
        assert!(!offered[0].get_help().unwrap().to_string().contains('\u{1b}'));
    }

    #[test]
    fn every_completer_belongs_to_an_argument() {
        let command = command_with_completers();
        let has_completer = |command: &str, arg: &str| completer_for(command, arg).is_some();
        for (name, arg) in [
            ("info", "name"),
            ("update", "names"),
            ("diff", "name"),
            ("read", "path"),
            ("run", "script"),
            ("tools", "skill"),
            ("check", "ignore"),
            ("audit", "ignore"),
        ] {
            let found = command.find_subcommand(name).unwrap();
            assert!(found.get_arguments().any(|found| found.get_id() == arg), "{name} {arg}");
            assert!(has_completer(name, arg), "{name} {arg}");
        }
    }
}
