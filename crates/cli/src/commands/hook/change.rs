//! `prowess hook install` and `prowess hook uninstall`: change the configuration of clients.

use std::path::Path;

use prowess_package::InstallScope;
use prowess_package::connect::ClientEnv;
use prowess_package::connect::clients::LaunchedFrom;
use prowess_package::connect::hooks::{
    HOOK_CLIENTS, HookClient, HookCommand, HookError, HookPlan, find_hook_client, find_hook_trace,
    plan_hook_install, plan_hook_uninstall,
};

use super::super::mcp::install::utf8_path;
use super::super::mcp::{client_env, confirm, scope};
use super::super::{CommandResult, SUCCESS};
use super::render;
use crate::args::{GlobalArgs, HookChangeArgs};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::Output;

pub(super) fn install(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &HookChangeArgs,
    output: &mut Output,
) -> CommandResult {
    let (env, scope) = (client_env(context, global), scope(&args.scope));
    let options = options(context, global)?;
    let plan = |client: &'static HookClient| {
        let command = HookCommand::new(&program(&env, client, scope)?, client.id, &options);
        plan_hook_install(&env, client, scope, &command).map_err(failure)
    };
    if args.client.is_empty() && !args.all {
        let plans = present_clients(&env).into_iter().map(|client| (client, plan(client)));
        render::print_clients(plans.collect(), context, output)?;
        return Ok(SUCCESS);
    }
    let plans = selected_clients(args, &env)?.into_iter().map(plan).collect::<Result<Vec<_>, _>>()?;
    perform(&plans, args, "Install the hook?", &env, context, global, output)?;
    if output.json() {
        return Ok(SUCCESS);
    }
    for note in plans.iter().filter_map(|plan| plan.client.note(scope)) {
        output.note(note);
    }
    if !args.dry_run && plans.iter().any(|plan| plan.change.action.is_change()) {
        output.note("restart running clients to apply the change");
    }
    let is_absolute =
        |client| program(&env, client, scope).is_ok_and(|program| Path::new(&program).is_absolute());
    if scope == InstallScope::Project && plans.iter().any(|plan| is_absolute(plan.client)) {
        output.note(
            "the hook contains an absolute path; to share it, put prowess on PATH and run this command again",
        );
    }
    Ok(SUCCESS)
}

pub(super) fn uninstall(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &HookChangeArgs,
    output: &mut Output,
) -> CommandResult {
    let (env, scope) = (client_env(context, global), scope(&args.scope));
    if args.client.is_empty() && !args.all {
        let failure = Failure::usage("no client selected");
        return Err(
            failure.hint("select one with --client NAME, or all clients found on this machine with --all")
        );
    }
    let plan = |client| plan_hook_uninstall(&env, client, scope).map_err(failure);
    let plans = selected_clients(args, &env)?.into_iter().map(plan).collect::<Result<Vec<_>, _>>()?;
    perform(&plans, args, "Remove the hook?", &env, context, global, output)?;
    Ok(SUCCESS)
}

/// Shows the changes, asks for confirmation and makes them.
fn perform(
    plans: &[HookPlan],
    args: &HookChangeArgs,
    question: &str,
    env: &ClientEnv,
    context: &CommandContext,
    global: &GlobalArgs,
    output: &mut Output,
) -> Result<(), Failure> {
    let has_changes = plans.iter().any(|plan| plan.change.action.is_change());
    if !args.dry_run && !args.yes && has_changes {
        if !output.json() {
            plans.iter().try_for_each(|plan| render::print_plan(plan, false, context, output))?;
        }
        output.finish()?;
        let refusal = Failure::new(ErrorCode::Conflict, "the change needs your confirmation");
        confirm(global, question, refusal.hint("pass --yes to make the change without asking"))?;
    }
    for plan in plans.iter().filter(|_| !args.dry_run) {
        plan.change.perform(env).map_err(|error| failure(error.into()))?;
    }
    render::print_plans(plans, scope(&args.scope), !args.dry_run, context, output)?;
    if args.dry_run && !output.json() {
        output.note("dry run: no changes made");
    }
    Ok(())
}

fn present_clients(env: &ClientEnv) -> Vec<&'static HookClient> {
    HOOK_CLIENTS.iter().filter(|client| find_hook_trace(env, client).is_some()).collect()
}

fn selected_clients(args: &HookChangeArgs, env: &ClientEnv) -> Result<Vec<&'static HookClient>, Failure> {
    if args.all {
        let present = present_clients(env);
        return match present.is_empty() {
            false => Ok(present),
            true => {
                Err(Failure::new(ErrorCode::NotFound, "no client with prompt hooks found on this machine")
                    .hint("select one with --client NAME; run `prowess hook install --help` for a list"))
            }
        };
    }
    let mut selected: Vec<&HookClient> = Vec::new();
    for name in &args.client {
        let client = find_hook_client(name).map_err(failure)?;
        if !selected.contains(&client) {
            selected.push(client);
        }
    }
    Ok(selected)
}

/// Returns the program that a client runs. Clients launched from the desktop may have another `PATH` and get an absolute
/// path, but the configuration of a project is shared with other machines.
fn program(env: &ClientEnv, client: &HookClient, scope: InstallScope) -> Result<String, Failure> {
    let by_name = scope == InstallScope::Project || client.launched_from == LaunchedFrom::Terminal;
    utf8_path(&env.command(&std::env::current_exe()?, by_name))
}

/// Returns the options that the hook needs to find the same skills.
fn options(context: &CommandContext, global: &GlobalArgs) -> Result<Vec<String>, Failure> {
    let mut options = Vec::new();
    if let Some(preset) = global.preset {
        options.extend(["--preset".to_owned(), preset.to_string()]);
    }
    for root in &context.roots {
        options.extend(["--root".to_owned(), utf8_path(root)?]);
    }
    Ok(options)
}

fn failure(error: HookError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
