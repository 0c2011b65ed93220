//! `prowess mcp`: the server, and connecting clients to it.

mod clients;
mod install;
mod serve;
mod told;
mod uninstall;

use prowess_package::connect::{self, CLIENTS, Client, ConnectError, Machine, Os, Plan, trace};
use prowess_package::{For, Work};

use super::Outcome;
use super::packages::asks::Answering;
use crate::args::packages::Answers;
use crate::args::{Global, Mcp, McpCommand, Which};
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::Output;
use crate::scope::Chosen;

pub(super) fn run(global: &Global, call: &Mcp, output: &mut Output) -> Outcome {
    match &call.command {
        None => {
            let context = Context::load(global, output)?;
            serve::serve(&context, global, &call.serve, output)
        }
        Some(command) => {
            // A wrong configuration of Prowess is no reason not to change a client's.
            let context = Context::load_leniently(global)?;
            match command {
                McpCommand::Install(call) => install::run(&context, global, call, output),
                McpCommand::Uninstall(call) => uninstall::run(&context, global, call, output),
                McpCommand::Clients { name } => clients::run(&context, global, name, output),
            }
        }
    }
}

/// Where clients are looked for. With another home, variables that speak of the real one do not count.
fn machine(context: &Context, global: &Global) -> Machine {
    let names = Machine::VARIABLES.iter().filter(|_| global.home.is_none());
    let set = names.filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?.into())));
    Machine { world: context.surroundings.clone(), os: Os::here(), variables: set.collect() }
}

fn scope(which: &Which) -> For {
    match which.scope.chosen() {
        Chosen::User => For::User,
        Chosen::Project => For::Project,
    }
}

/// The clients that were named, or all that are here.
fn chosen(which: &Which, machine: &Machine) -> Result<Vec<&'static Client>, Failure> {
    let here: Vec<_> = CLIENTS.iter().filter(|client| trace(machine, client).is_some()).collect();
    if which.all && here.is_empty() {
        let failure = Failure::new(ErrorCode::NotFound, "no client was found on this machine");
        return Err(failure.hint("name one with --client; prowess mcp clients tells what was looked for"));
    }
    if which.all {
        return Ok(here);
    }
    let mut named: Vec<&Client> = Vec::new();
    for name in &which.client {
        let client = connect::client(name).map_err(failure)?;
        if !named.contains(&client) {
            named.push(client);
        }
    }
    if named.is_empty() {
        let ids: Vec<_> = here.iter().map(|client| client.id).collect();
        let found = match ids.as_slice() {
            [] => "none was found on this machine; --client NAME names one all the same".to_owned(),
            [only] => format!("found on this machine: {only}; choose it with --client {only}"),
            many => format!(
                "found on this machine: {}; choose with --client NAME, or --all for all of them",
                many.join(", ")
            ),
        };
        return Err(Failure::call("no client was named").hint(found));
    }
    Ok(named)
}

/// Works something out for each client. With `--all`, those that cannot do what was asked for are left out.
fn plans<T>(
    clients: &[(&'static Client, T)],
    all: bool,
    output: &mut Output,
    plan: impl Fn(&'static Client, &T) -> Result<Plan, ConnectError>,
) -> Result<Vec<Plan>, Failure> {
    let mut plans = Vec::new();
    for (client, with) in clients {
        match plan(client, with) {
            Ok(plan) => plans.push(plan),
            Err(
                error @ (ConnectError::NoScope { .. }
                | ConnectError::NoHttp { .. }
                | ConnectError::NoToken { .. }),
            ) if all => output.remark(format!("{} is left out: {error}", client.id)),
            Err(error) => return Err(failure(error)),
        }
    }
    Ok(plans)
}

/// Whether somebody who can be asked agrees; where nobody can, `refusal` says why nothing was done.
fn agreed(global: &Global, question: &str, refusal: Failure) -> Result<(), Failure> {
    let answers = Answers { yes: false, on_conflict: None, accept_risk: false };
    let asks = Answering::new(&answers, global, &std::sync::Arc::new(Work::default()));
    if !asks.is_terminal() {
        return Err(refusal);
    }
    let asked = asks.confirm(question).map_err(super::packages::failure)?;
    if asked { Ok(()) } else { Err(Failure::new(ErrorCode::Conflict, "nothing was changed")) }
}

fn failure(error: ConnectError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
