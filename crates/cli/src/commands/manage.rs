//! `prowess skill manage` without an action: lists the actions.

use clap::CommandFactory;
use serde_json::json;

use super::{CommandResult, SUCCESS};
use crate::args::Args;
use crate::columns;
use crate::output::{Output, TextStyle};

pub(super) fn print_actions(output: &mut Output) -> CommandResult {
    let mut root = Args::command();
    // Deferred commands get their arguments only when they are built.
    root.build();
    let manage = root.find_subcommand("skill").and_then(|skill| skill.find_subcommand("manage"));
    let actions: Vec<(String, String)> = manage
        .into_iter()
        .flat_map(clap::Command::get_subcommands)
        .filter(|action| action.get_name() != "help")
        .map(|action| {
            let args = action.get_positionals().map(|arg| format!(" <{}>", arg.get_id().as_str()));
            let about = action.get_about().map(ToString::to_string).unwrap_or_default();
            (format!("{}{}", action.get_name(), args.collect::<String>()), about)
        })
        .collect();
    if output.json() {
        let actions: Vec<_> =
            actions.iter().map(|(action, about)| json!({"action": action, "about": about})).collect();
        output.write_json(&json!({"schema": 1, "actions": actions}))?;
        return Ok(SUCCESS);
    }
    let title = output.styled_text(TextStyle::Strong, "Available actions");
    output.line(format!("{title}:"))?;
    let width = actions.iter().map(|(action, _)| columns::width(action)).max().unwrap_or(0);
    for (action, about) in &actions {
        output.line(format!("  {}  {about}", columns::pad(action, width)))?;
    }
    output.note("run `prowess skill manage ACTION --help` for details");
    Ok(SUCCESS)
}
