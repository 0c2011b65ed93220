//! Prints the changes to the configuration of clients.

use prowess_format::Value;
use prowess_package::InstallScope;
use prowess_package::connect::{ConnectAction, ConnectPlan, DiffLine, FileChange, ServerName};
use serde_json::json;

use super::super::packages::display_path;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean};

/// Prints all changes of a command.
pub(super) fn print_plans(
    plans: &[ConnectPlan],
    name: &ServerName,
    scope: InstallScope,
    applied: bool,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    if output.json() {
        let clients: Vec<_> = plans.iter().map(plan_json).collect();
        return output.write_json(&json!({
            "schema": 1, "name": name.as_str(), "scope": scope.as_str(), "dry_run": !applied, "clients": clients,
        }));
    }
    plans.iter().try_for_each(|plan| print_plan(plan, applied, context, output))
}

/// Prints the change of a client, with a diff if it has not been made yet.
pub(super) fn print_plan(
    plan: &ConnectPlan,
    applied: bool,
    context: &CommandContext,
    output: &mut Output,
) -> std::io::Result<()> {
    let (title, file) = (plan.client.title, display_path(&plan.change.file, context));
    let (tone, mark, text) = match (plan.change.action, applied) {
        (ConnectAction::Add, true) => (TextStyle::Good, "✓", format!("connected {title}: {file}")),
        (ConnectAction::Add, false) => (TextStyle::Good, "+", format!("would connect {title}: {file}")),
        (ConnectAction::Replace, true) => (TextStyle::Good, "✓", format!("updated {title}: {file}")),
        (ConnectAction::Replace, false) => (TextStyle::Caution, "~", format!("would update {title}: {file}")),
        (ConnectAction::Keep, _) => (TextStyle::Faint, "=", format!("{title} is already connected: {file}")),
        (ConnectAction::Remove | ConnectAction::RemoveOther, true) => {
            (TextStyle::Good, "✓", format!("disconnected {title}: {file}"))
        }
        (ConnectAction::Remove | ConnectAction::RemoveOther, false) => {
            (TextStyle::Caution, "-", format!("would disconnect {title}: {file}"))
        }
        (ConnectAction::Absent, _) => (TextStyle::Faint, "=", format!("{title} is not connected: {file}")),
    };
    print_change(&plan.change, (tone, mark, text), applied, output)
}

/// Prints a line about a change, with a diff if it has not been made yet.
pub(in crate::commands) fn print_change(
    change: &FileChange,
    (tone, mark, text): (TextStyle, &str, String),
    applied: bool,
    output: &mut Output,
) -> std::io::Result<()> {
    let note = match (change.creates_file(), change.removes_file(), applied) {
        (true, _, _) => " (new file)",
        (_, true, true) => " (deleted the empty file)",
        (_, true, false) => " (would delete the empty file)",
        _ => "",
    };
    let mark = output.styled_text(tone, mark);
    output.line(format!("{mark} {text}{note}"))?;
    if applied || !change.action.is_change() {
        return Ok(());
    }
    print_diff(change, output)
}

/// Prints the lines that change.
fn print_diff(change: &FileChange, output: &mut Output) -> std::io::Result<()> {
    let difference = change.diff();
    let comma = if difference.changes_comma { ", and a comma on the line before" } else { "" };
    let line = output.styled_text(TextStyle::Faint, &format!("line {}{comma}", difference.line));
    output.line(format!("    {line}"))?;
    for line in &difference.lines {
        let (tone, sign, text) = match line {
            DiffLine::Removed(text) => (TextStyle::Bad, '-', text),
            DiffLine::Added(text) => (TextStyle::Good, '+', text),
        };
        let text = output.styled_text(tone, &format!("{sign} {}", text.replace('\t', "    ")));
        output.line(format!("    {}", text.trim_end()))?;
    }
    Ok(())
}

fn plan_json(plan: &ConnectPlan) -> serde_json::Value {
    let mut value = json!({
        "client": plan.client.id, "file": plan.change.file, "action": plan.change.action.as_str(),
        "present": plan.current.as_ref().map(|(value, _)| value_json(value)),
    });
    if plan.change.action.is_change() {
        value["difference"] = diff_json(&plan.change);
    }
    value
}

/// Returns the lines that change as JSON.
pub(in crate::commands) fn diff_json(change: &FileChange) -> serde_json::Value {
    let difference = change.diff();
    let changed_lines = |added: bool| -> Vec<String> {
        let lines = difference.lines.iter().filter_map(|line| match line {
            DiffLine::Added(text) if added => Some(clean(text).into_owned()),
            DiffLine::Removed(text) if !added => Some(clean(text).into_owned()),
            _ => None,
        });
        lines.collect()
    };
    let (gone, new) = (changed_lines(false), changed_lines(true));
    json!({"line": difference.line, "comma": difference.changes_comma, "gone": gone, "new": new})
}

/// Converts a configuration value to JSON.
pub(super) fn value_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(truth) => json!(truth),
        Value::Number(number) => serde_json::from_str(number).unwrap_or_else(|_| json!(number)),
        Value::Text(text) => json!(text),
        Value::List(items) => items.iter().map(value_json).collect(),
        Value::Map(entries) => {
            entries.iter().map(|(key, value)| (key.to_string(), value_json(value))).collect()
        }
    }
}
