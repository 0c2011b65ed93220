//! `prowess skill manage` without an action: what can be done.

use clap::CommandFactory;
use serde_json::json;

use super::{Outcome, YES};
use crate::args::Args;
use crate::columns;
use crate::output::{Output, Tone};

pub(super) fn actions(output: &mut Output) -> Outcome {
    let mut root = Args::command();
    // Only a built command knows its usage.
    root.build();
    let manage = root.find_subcommand("skill").and_then(|skill| skill.find_subcommand("manage"));
    let actions: Vec<(String, String)> = manage
        .into_iter()
        .flat_map(clap::Command::get_subcommands)
        .filter(|action| action.get_name() != "help")
        .map(|action| {
            let takes = action.get_positionals().map(|takes| format!(" <{}>", takes.get_id().as_str()));
            let about = action.get_about().map(ToString::to_string).unwrap_or_default();
            (format!("{}{}", action.get_name(), takes.collect::<String>()), about)
        })
        .collect();
    if output.json() {
        let actions: Vec<_> =
            actions.iter().map(|(action, about)| json!({"action": action, "about": about})).collect();
        output.answer(&json!({"schema": 1, "actions": actions}))?;
        return Ok(YES);
    }
    let title = output.tone(Tone::Strong, "Available actions");
    output.line(format!("{title}:"))?;
    let width = actions.iter().map(|(action, _)| columns::width(action)).max().unwrap_or(0);
    for (action, about) in &actions {
        output.line(format!("  {}  {about}", columns::pad(action, width)))?;
    }
    output.remark("prowess skill manage ACTION --help tells more");
    Ok(YES)
}
