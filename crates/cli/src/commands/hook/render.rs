//! Prints the changes to the hooks of clients.

use prowess_package::InstallScope;
use prowess_package::connect::ConnectAction;
use prowess_package::connect::hooks::{HookClient, HookPlan};
use serde_json::{Value, json};

use super::super::mcp::render::{diff_json, print_change};
use super::super::packages::display_path;
use crate::columns::pad;
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, TextStyle, clean};

/// Prints all changes of a command.
pub(super) fn print_plans(
    plans: &[HookPlan],
    scope: InstallScope,
    applied: bool,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    if output.json() {
        let clients: Vec<_> = plans.iter().map(|plan| plan_json(plan, scope)).collect();
        return output.write_json(&json!({
            "schema": 1, "scope": scope.as_str(), "dry_run": !applied, "clients": clients,
        }));
    }
    plans.iter().try_for_each(|plan| print_plan(plan, applied, context, output))
}

/// Prints the change of a client, with a diff if it has not been made yet.
pub(super) fn print_plan(
    plan: &HookPlan,
    applied: bool,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    let (title, file) = (plan.client.title, display_path(&plan.change.file, context));
    let line = match (plan.change.action, applied) {
        (ConnectAction::Add, true) => {
            (TextStyle::Good, "✓", format!("installed the hook of {title}: {file}"))
        }
        (ConnectAction::Add, false) => {
            (TextStyle::Good, "+", format!("would install the hook of {title}: {file}"))
        }
        (ConnectAction::Replace, true) => {
            (TextStyle::Good, "✓", format!("updated the hook of {title}: {file}"))
        }
        (ConnectAction::Replace, false) => {
            (TextStyle::Caution, "~", format!("would update the hook of {title}: {file}"))
        }
        (ConnectAction::Keep, _) => {
            (TextStyle::Faint, "=", format!("the hook of {title} is already installed: {file}"))
        }
        (ConnectAction::Remove | ConnectAction::RemoveOther, true) => {
            (TextStyle::Good, "✓", format!("removed the hook of {title}: {file}"))
        }
        (ConnectAction::Remove | ConnectAction::RemoveOther, false) => {
            (TextStyle::Caution, "-", format!("would remove the hook of {title}: {file}"))
        }
        (ConnectAction::Absent, _) => {
            (TextStyle::Faint, "=", format!("the hook of {title} is not installed: {file}"))
        }
    };
    print_change(&plan.change, line, applied, output)
}

/// Prints the clients found on this machine and what installing would do.
pub(super) fn print_clients(
    clients: Vec<(&'static HookClient, Result<HookPlan, Failure>)>,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    if output.json() {
        let rows = clients.into_iter().map(|(client, plan)| match plan {
            Ok(plan) => plan_json(&plan, plan.change.scope),
            Err(failure) => json!({"client": client.id, "error": failure.into_message()}),
        });
        let rows: Vec<_> = rows.collect();
        return output.write_json(&json!({"schema": 1, "dry_run": true, "clients": rows}));
    }
    if clients.is_empty() {
        output.note("no client with prompt hooks found on this machine; select one with --client NAME");
        return Ok(());
    }
    for (client, plan) in clients {
        let (tone, mark, text) = match plan {
            Ok(plan) => {
                let file = display_path(&plan.change.file, context);
                match plan.change.action {
                    ConnectAction::Keep => {
                        (TextStyle::Good, "✓", format!("{}  {file}", pad("installed", 13)))
                    }
                    ConnectAction::Replace => {
                        (TextStyle::Caution, "~", format!("{}  {file}", pad("outdated", 13)))
                    }
                    _ => (TextStyle::Strong, "○", format!("{}  {file}", pad("not installed", 13))),
                }
            }
            Err(failure) => (TextStyle::Bad, "✗", clean(&failure.into_message()).into_owned()),
        };
        let mark = output.styled_text(tone, mark);
        output.line(format!("{mark} {}  {text}", pad(client.id, 12)))?;
    }
    output.note("run `prowess hook install --client NAME` to install the hook of a client, or pass --all");
    Ok(())
}

fn plan_json(plan: &HookPlan, scope: InstallScope) -> Value {
    let is_install =
        matches!(plan.change.action, ConnectAction::Add | ConnectAction::Replace | ConnectAction::Keep);
    let mut value = json!({
        "client": plan.client.id, "file": plan.change.file, "action": plan.change.action.as_str(),
        "note": plan.client.note(scope).filter(|_| is_install),
    });
    if plan.change.action.is_change() {
        value["difference"] = diff_json(&plan.change);
    }
    value
}
