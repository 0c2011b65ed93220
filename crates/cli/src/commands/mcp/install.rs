//! `prowess mcp install`.

use std::path::Path;

use prowess_package::For;
use prowess_package::connect::clients::Started;
use prowess_package::connect::{Client, Machine, Name, Plan, Server, Token, plan_install, snippet};
use serde_json::json;

use super::super::{Outcome, YES};
use super::{agreed, chosen, failure, machine, plans, scope, told};
use crate::args::{Connect, Global};
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean_path};

pub(super) fn run(context: &Context, global: &Global, call: &Connect, output: &mut Output) -> Outcome {
    let machine = machine(context, global);
    let (which, scope) = (&call.which, scope(&call.which));
    let name = Name::parse(&which.name).map_err(failure)?;
    let running = running(context, global, call)?;
    let clients = chosen(which, &machine)?;
    let args = arguments(context, global)?;
    let server = |client: &Client| match &running {
        Some(server) => Ok(server.clone()),
        None => Ok(Server::Stdio { command: command(&machine, client, scope)?, args: args.clone() }),
    };
    if call.print {
        return print(&clients, scope, &machine, &name, server, output);
    }
    let servers: Vec<_> =
        clients.iter().map(|client| Ok((*client, server(client)?))).collect::<Result<_, Failure>>()?;
    let plans = plans(&servers, which.all, output, |client, server| {
        plan_install(&machine, client, scope, &name, server)
    })?;
    if !call.dry_run && !call.yes {
        for plan in plans.iter().filter(|plan| plan.action.needs_consent()) {
            consent(plan, context, global, output)?;
        }
    }
    for plan in plans.iter().filter(|_| !call.dry_run) {
        plan.perform(&machine).map_err(failure)?;
    }
    told::all(&plans, &name, scope, !call.dry_run, context, output)?;
    if output.json() {
        return Ok(YES);
    }
    let absolute =
        |server: &Server| matches!(server, Server::Stdio { command, .. } if Path::new(command).is_absolute());
    if call.dry_run {
        output.remark("nothing was changed");
    } else if plans.iter().any(|plan| plan.action.is_change()) {
        output.remark("a client that runs has to be started again to notice");
    }
    if scope == For::Project && servers.iter().any(|(_, server)| absolute(server)) {
        output.remark("others need Prowess at the same path, or on PATH when this is run");
    }
    Ok(YES)
}

/// Shows what would be replaced, and asks.
fn consent(plan: &Plan, context: &Context, global: &Global, output: &mut Output) -> Result<(), Failure> {
    if !output.json() {
        told::one(plan, false, context, output)?;
    }
    let (file, name) = (clean_path(&plan.file), plan.name.as_str());
    let line = plan.present.as_ref().map_or(1, |(_, line)| *line);
    let refusal = Failure::new(
        ErrorCode::Conflict,
        format!("{file}:{line}: {name} is there already, and says something else"),
    );
    output.finish()?;
    agreed(global, "Replace it?", refusal.hint("--yes replaces it; --name gives this one another name"))
}

/// The running server that was asked for.
fn running(context: &Context, global: &Global, call: &Connect) -> Result<Option<Server>, Failure> {
    let Some(url) = &call.http else { return Ok(None) };
    if global.preset.is_some() || !context.roots.is_empty() {
        let failure = Failure::call("--preset and --root are for a server that is started");
        return Err(failure.hint("one that runs has its own; leave them out, or leave out --http"));
    }
    let token = call.token_env.as_deref().map(Token::parse).transpose().map_err(failure)?;
    Server::http(url, token).map(Some).map_err(failure)
}

/// How a client calls this program. One that the desktop starts may have another `PATH`; a project's file goes to
/// others, whose paths differ.
fn command(machine: &Machine, client: &Client, scope: For) -> Result<String, Failure> {
    let executable = std::env::current_exe()?;
    let by_name = scope == For::Project || client.started == Started::InTerminal;
    text(&machine.command(&executable, by_name))
}

/// What the server is started with: its command, and the options that were typed.
fn arguments(context: &Context, global: &Global) -> Result<Vec<String>, Failure> {
    let mut args = vec!["mcp".to_owned()];
    if let Some(preset) = global.preset {
        args.extend(["--preset".to_owned(), preset.to_string()]);
    }
    for root in &context.roots {
        args.extend(["--root".to_owned(), text(root)?]);
    }
    Ok(args)
}

fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let message = format!("{} is not UTF-8, and cannot be written to a configuration", clean_path(path));
        Failure::call(message)
    })
}

fn print(
    clients: &[&'static Client],
    scope: For,
    machine: &Machine,
    name: &Name,
    server: impl Fn(&Client) -> Result<Server, Failure>,
    output: &mut Output,
) -> Outcome {
    let mut snippets = Vec::new();
    for client in clients {
        let file = machine.files(client, scope).map_err(failure)?.into_iter().next().unwrap_or_default();
        let text = snippet(client, name, &server(client)?).map_err(failure)?;
        if !output.json() {
            output.remark(format!("{}, for {}:", client.title, clean_path(&file)));
            output.text(&text)?;
        }
        snippets.push(json!({"client": client.id, "file": file, "text": text}));
    }
    if output.json() {
        output.answer(&json!({"schema": 1, "snippets": snippets}))?;
    }
    Ok(YES)
}
