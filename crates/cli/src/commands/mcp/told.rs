//! What was done to a client's configuration, or would be, in words.

use prowess_format::Value;
use prowess_package::For;
use prowess_package::connect::{Action, Line, Name, Plan};
use serde_json::json;

use super::super::packages::short;
use crate::context::Context;
use crate::output::{Output, Tone, clean};

/// Everything that one command did.
pub(super) fn all(
    plans: &[Plan],
    name: &Name,
    scope: For,
    done: bool,
    context: &Context,
    output: &mut Output,
) -> std::io::Result<()> {
    if output.json() {
        let clients: Vec<_> = plans.iter().map(plan_json).collect();
        return output.answer(&json!({
            "schema": 1, "name": name.as_str(), "scope": scope.as_str(), "dry_run": !done, "clients": clients,
        }));
    }
    plans.iter().try_for_each(|plan| one(plan, done, context, output))
}

/// One client: what was done, and, where it was not done yet, the lines.
pub(super) fn one(plan: &Plan, done: bool, context: &Context, output: &mut Output) -> std::io::Result<()> {
    let (title, file) = (plan.client.title, short(&plan.file, context));
    let (tone, mark, text) = match (plan.action, done) {
        (Action::Add, true) => (Tone::Good, "✓", format!("connected {title}: {file}")),
        (Action::Add, false) => (Tone::Good, "+", format!("would connect {title}: {file}")),
        (Action::Replace, true) => (Tone::Good, "✓", format!("connected {title} anew: {file}")),
        (Action::Replace, false) => (Tone::Caution, "~", format!("would connect {title} anew: {file}")),
        (Action::Keep, _) => (Tone::Faint, "=", format!("{title} is connected: {file}")),
        (Action::Remove | Action::RemoveOther, true) => {
            (Tone::Good, "✓", format!("disconnected {title}: {file}"))
        }
        (Action::Remove | Action::RemoveOther, false) => {
            (Tone::Caution, "-", format!("would disconnect {title}: {file}"))
        }
        (Action::Absent, _) => (Tone::Faint, "=", format!("{title} is not connected: {file}")),
    };
    let note = match (plan.makes_file(), plan.removes_file(), done) {
        (true, _, _) => " (a new file)",
        (_, true, true) => " (the file is gone, it held nothing else)",
        (_, true, false) => " (the file would go, it holds nothing else)",
        _ => "",
    };
    let mark = output.tone(tone, mark);
    output.line(format!("{mark} {text}{note}"))?;
    if done || !plan.action.is_change() {
        return Ok(());
    }
    let difference = plan.difference();
    let comma = if difference.comma { ", and a comma in the line before" } else { "" };
    let at = output.tone(Tone::Faint, &format!("line {}{comma}", difference.line));
    output.line(format!("    {at}"))?;
    for line in &difference.lines {
        let (tone, sign, text) = match line {
            Line::Gone(text) => (Tone::Bad, '-', text),
            Line::New(text) => (Tone::Good, '+', text),
        };
        let text = output.tone(tone, &format!("{sign} {}", text.replace('\t', "    ")));
        output.line(format!("    {}", text.trim_end()))?;
    }
    Ok(())
}

fn plan_json(plan: &Plan) -> serde_json::Value {
    let mut told = json!({
        "client": plan.client.id, "file": plan.file, "action": plan.action.as_str(),
        "present": plan.present.as_ref().map(|(value, _)| value_json(value)),
    });
    if plan.action.is_change() {
        let difference = plan.difference();
        let of = |wanted: bool| -> Vec<String> {
            let lines = difference.lines.iter().filter_map(|line| match line {
                Line::New(text) if wanted => Some(clean(text).into_owned()),
                Line::Gone(text) if !wanted => Some(clean(text).into_owned()),
                _ => None,
            });
            lines.collect()
        };
        told["difference"] =
            json!({"line": difference.line, "comma": difference.comma, "gone": of(false), "new": of(true)});
    }
    told
}

/// A value of any configuration as JSON.
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
