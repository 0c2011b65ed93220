//! `prowess mcp install`: adds Prowess to the configuration of MCP clients.

use std::path::Path;

use prowess_package::InstallScope;
use prowess_package::connect::clients::LaunchedFrom;
use prowess_package::connect::{
    Client, ClientEnv, ConnectPlan, ServerName, ServerSpec, TokenVariable, plan_install, snippet,
};
use serde_json::json;

use super::super::{CommandResult, SUCCESS};
use super::{check_workspace, client_env, confirm, failure, plan_changes, render, scope, selected_clients};
use crate::args::{ConnectArgs, GlobalArgs};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean_path};

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &ConnectArgs,
    output: &mut Output,
) -> CommandResult {
    let env = client_env(context, global);
    let (selection, scope) = (&args.clients, scope(&args.clients.scope));
    let name = ServerName::parse(&selection.name).map_err(failure)?;
    let running = running_server(context, global, args)?;
    let clients = selected_clients(selection, &env)?;
    let server_args = arguments(context, global, args)?;
    let server = |client: &Client| match &running {
        Some(server) => Ok(server.clone()),
        None => {
            let (command, args) = (command(&env, client, scope)?, server_args.clone());
            Ok(ServerSpec::Stdio { command, args, env: Vec::new() })
        }
    };
    if args.print {
        return print_snippets(&clients, scope, &env, &name, server, output);
    }
    let servers: Vec<_> =
        clients.iter().map(|client| Ok((*client, server(client)?))).collect::<Result<_, Failure>>()?;
    let plans = plan_changes(&servers, selection.all, output, |client, server| {
        plan_install(&env, client, scope, &name, server)
    })?;
    if !args.dry_run && !args.yes {
        for plan in plans.iter().filter(|plan| plan.change.action.needs_consent()) {
            consent(plan, context, global, output)?;
        }
    }
    for plan in plans.iter().filter(|_| !args.dry_run) {
        plan.change.perform(&env).map_err(|error| failure(error.into()))?;
    }
    render::print_plans(&plans, &name, scope, !args.dry_run, context, output)?;
    if output.json() {
        return Ok(SUCCESS);
    }
    let absolute = |server: &ServerSpec| matches!(server, ServerSpec::Stdio { command, .. } if Path::new(command).is_absolute());
    if args.dry_run {
        output.note("dry run: no changes made");
    } else if plans.iter().any(|plan| plan.change.action.is_change()) {
        output.note("restart running clients to apply the change");
    }
    if scope == InstallScope::Project && servers.iter().any(|(_, server)| absolute(server)) {
        output.note("the entry contains an absolute path; to share it, put prowess on PATH and run this command again");
    }
    Ok(SUCCESS)
}

/// Shows the entry that would be replaced and asks for confirmation.
fn consent(
    plan: &ConnectPlan,
    context: &CommandContext,
    global: &GlobalArgs,
    output: &mut Output,
) -> Result<(), Failure> {
    if !output.json() {
        render::print_plan(plan, false, context, output)?;
    }
    let (file, name) = (clean_path(&plan.change.file), plan.name.as_str());
    let line = plan.current.as_ref().map_or(1, |(_, line)| *line);
    let refusal = Failure::new(
        ErrorCode::Conflict,
        format!("{file}:{line}: a different entry named {name} already exists"),
    );
    output.finish()?;
    confirm(global, "Replace it?", refusal.hint("pass --yes to replace it, or --name to use another name"))
}

/// Returns the running server given with `--http`.
fn running_server(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &ConnectArgs,
) -> Result<Option<ServerSpec>, Failure> {
    let Some(url) = &args.http else { return Ok(None) };
    if global.preset.is_some() || !context.roots.is_empty() {
        let failure = Failure::usage("--preset and --root cannot be used with --http");
        return Err(failure.hint("a running server has its own settings; omit these options, or omit --http"));
    }
    let token = args.token_env.as_deref().map(TokenVariable::parse).transpose().map_err(failure)?;
    ServerSpec::http(url, token).map(Some).map_err(failure)
}

/// Returns the command that starts this program. Clients launched from the desktop may have another `PATH` and get an
/// absolute path, but the configuration of a project is shared with other machines.
fn command(env: &ClientEnv, client: &Client, scope: InstallScope) -> Result<String, Failure> {
    let executable = std::env::current_exe()?;
    let by_name = scope == InstallScope::Project || client.launched_from == LaunchedFrom::Terminal;
    utf8_path(&env.command(&executable, by_name))
}

/// Returns the arguments of the server: its command and the given options.
fn arguments(
    context: &CommandContext,
    global: &GlobalArgs,
    connect: &ConnectArgs,
) -> Result<Vec<String>, Failure> {
    let mut args = vec!["mcp".to_owned()];
    if let Some(preset) = global.preset {
        args.extend(["--preset".to_owned(), preset.to_string()]);
    }
    for root in &context.roots {
        args.extend(["--root".to_owned(), utf8_path(root)?]);
    }
    if let Some(dir) = &connect.workspace {
        args.extend(["--workspace".to_owned(), utf8_path(&check_workspace(context, dir)?)?]);
    }
    Ok(args)
}

pub(in crate::commands) fn utf8_path(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let message =
            format!("{} is not valid UTF-8 and cannot be written to the configuration", clean_path(path));
        Failure::usage(message)
    })
}

fn print_snippets(
    clients: &[&'static Client],
    scope: InstallScope,
    env: &ClientEnv,
    name: &ServerName,
    server: impl Fn(&Client) -> Result<ServerSpec, Failure>,
    output: &mut Output,
) -> CommandResult {
    let mut snippets = Vec::new();
    for client in clients {
        let file = env.files(client, scope).map_err(failure)?.into_iter().next().unwrap_or_default();
        let text = snippet(client, name, &server(client)?).map_err(failure)?;
        if !output.json() {
            output.note(format!("{}, for {}:", client.title, clean_path(&file)));
            output.text(&text)?;
        }
        snippets.push(json!({"client": client.id, "file": file, "text": text}));
    }
    if output.json() {
        output.write_json(&json!({"schema": 1, "snippets": snippets}))?;
    }
    Ok(SUCCESS)
}
