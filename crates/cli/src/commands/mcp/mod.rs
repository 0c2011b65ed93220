//! `prowess mcp`: runs the MCP server and connects clients to it.

mod clients;
pub(super) mod install;
pub(super) mod render;
mod serve;
mod uninstall;

use std::path::{Path, PathBuf};

use prowess_package::connect::{
    self, CLIENTS, Client, ClientEnv, ConnectError, ConnectPlan, TargetOs, find_trace,
};
use prowess_package::{InstallScope, Task};

use super::CommandResult;
use super::packages::prompts::TerminalPrompter;
use crate::args::packages::AnswerArgs;
use crate::args::{ClientArgs, GlobalArgs, McpArgs, McpCommand};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::Output;
use crate::scope::{ScopeArgs, ScopeChoice};

pub(super) fn run(global: &GlobalArgs, args: &McpArgs, output: &mut Output) -> CommandResult {
    match &args.command {
        None => {
            let context = CommandContext::load(global, output)?;
            serve::serve(&context, global, &args.serve, output)
        }
        Some(command) => {
            // An invalid configuration of Prowess does not prevent changes to a client's configuration.
            let context = CommandContext::load_unchecked(global)?;
            match command {
                McpCommand::Install(args) => install::run(&context, global, args, output),
                McpCommand::Uninstall(args) => uninstall::run(&context, global, args, output),
                McpCommand::Clients { name } => clients::run(&context, global, name, output),
            }
        }
    }
}

/// Resolves the directory in which scripts work, with the same rules as `prowess run`.
fn check_workspace(context: &CommandContext, dir: &Path) -> Result<PathBuf, Failure> {
    prowess_sandbox::check_workspace(dir, &context.host_env).map_err(|error| match error.code() {
        ErrorCode::NotFound => Failure::missing_path(error.to_string()),
        _ => super::run::failure(error.into()),
    })
}

/// Returns the environment of the clients. With `--home`, variables that refer to the real home directory are ignored.
pub(super) fn client_env(context: &CommandContext, global: &GlobalArgs) -> ClientEnv {
    let names = ClientEnv::VARIABLES.iter().filter(|_| global.home.is_none());
    let set = names.filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?.into())));
    ClientEnv { host: context.host_env.clone(), os: TargetOs::current(), variables: set.collect() }
}

pub(super) fn scope(selection: &ScopeArgs) -> InstallScope {
    match selection.or_user() {
        ScopeChoice::User => InstallScope::User,
        ScopeChoice::Project => InstallScope::Project,
    }
}

fn selected_clients(selection: &ClientArgs, env: &ClientEnv) -> Result<Vec<&'static Client>, Failure> {
    let present: Vec<_> = CLIENTS.iter().filter(|client| find_trace(env, client).is_some()).collect();
    if selection.all && present.is_empty() {
        let failure = Failure::new(ErrorCode::NotFound, "no MCP client found on this machine");
        return Err(failure.hint("select one with --client; run `prowess mcp clients` for a list"));
    }
    if selection.all {
        return Ok(present);
    }
    let mut selected: Vec<&Client> = Vec::new();
    for name in &selection.client {
        let client = connect::find_client(name).map_err(failure)?;
        if !selected.contains(&client) {
            selected.push(client);
        }
    }
    if selected.is_empty() {
        let ids: Vec<_> = present.iter().map(|client| client.id).collect();
        let present_hint = match ids.as_slice() {
            [] => "no client was found on this machine; select one with --client NAME".to_owned(),
            [only] => format!("found on this machine: {only}; select it with --client {only}"),
            ids => format!("found on this machine: {}; select with --client NAME or --all", ids.join(", ")),
        };
        return Err(Failure::usage("no client selected").hint(present_hint));
    }
    Ok(selected)
}

/// Plans the change for each client. With `--all`, clients that do not support it are skipped.
fn plan_changes<T>(
    clients: &[(&'static Client, T)],
    all: bool,
    output: &mut Output,
    plan: impl Fn(&'static Client, &T) -> Result<ConnectPlan, ConnectError>,
) -> Result<Vec<ConnectPlan>, Failure> {
    let mut plans = Vec::new();
    for (client, with) in clients {
        match plan(client, with) {
            Ok(plan) => plans.push(plan),
            Err(
                error @ (ConnectError::NoProjectConfig { .. }
                | ConnectError::HttpUnsupported { .. }
                | ConnectError::TokenUnsupported { .. }),
            ) if all => output.note(format!("skipped {}: {error}", client.id)),
            Err(error) => return Err(failure(error)),
        }
    }
    Ok(plans)
}

/// Asks for confirmation. Returns `refusal` if there is no terminal.
pub(super) fn confirm(global: &GlobalArgs, question: &str, refusal: Failure) -> Result<(), Failure> {
    let answers = AnswerArgs { yes: false, on_conflict: None, accept_risk: false };
    let prompter = TerminalPrompter::new(&answers, global, &std::sync::Arc::new(Task::default()));
    if !prompter.is_terminal() {
        return Err(refusal);
    }
    let confirmed = prompter.confirm(question).map_err(super::packages::failure)?;
    if confirmed { Ok(()) } else { Err(Failure::new(ErrorCode::Conflict, "no changes made")) }
}

pub(super) fn failure(error: ConnectError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
