//! `prowess mcp uninstall`: removes Prowess from the configuration of MCP clients.

use prowess_package::connect::{ServerName, plan_uninstall};

use super::super::{CommandResult, SUCCESS};
use super::{client_env, confirm, failure, plan_changes, render, scope, selected_clients};
use crate::args::{DisconnectArgs, GlobalArgs};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean_path};

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &DisconnectArgs,
    output: &mut Output,
) -> CommandResult {
    let env = client_env(context, global);
    let (selection, scope) = (&args.clients, scope(&args.clients.scope));
    let name = ServerName::parse(&selection.name).map_err(failure)?;
    let clients: Vec<_> = selected_clients(selection, &env)?.into_iter().map(|client| (client, ())).collect();
    let plans = plan_changes(&clients, selection.all, output, |client, ()| {
        plan_uninstall(&env, client, scope, &name)
    })?;
    if !args.dry_run && !args.yes {
        for plan in plans.iter().filter(|plan| plan.change.action.needs_consent()) {
            if !output.json() {
                render::print_plan(plan, false, context, output)?;
            }
            let line = plan.current.as_ref().map_or(1, |(_, line)| *line);
            let (file, name) = (clean_path(&plan.change.file), name.as_str());
            let refusal = Failure::new(
                ErrorCode::Conflict,
                format!("{file}:{line}: the entry {name} does not start Prowess"),
            );
            output.finish()?;
            confirm(global, "Remove it?", refusal.hint("pass --yes to remove it anyway"))?;
        }
    }
    for plan in plans.iter().filter(|_| !args.dry_run) {
        plan.change.perform(&env).map_err(|error| failure(error.into()))?;
    }
    render::print_plans(&plans, &name, scope, !args.dry_run, context, output)?;
    if args.dry_run && !output.json() {
        output.note("dry run: no changes made");
    }
    Ok(SUCCESS)
}
