//! `prowess config`: shows the effective settings and their origins, and changes them.

mod change;
mod edit;

use prowess::short_path;
use prowess_tools::json;

use super::{CommandResult, SUCCESS, print_diagnostics};
use crate::args::{ConfigArgs, ConfigCommand};
use crate::columns;
use crate::context::CommandContext;
use crate::output::{Output, TextStyle, clean, clean_path};

pub(super) fn run(context: &CommandContext, args: &ConfigArgs, output: &mut Output) -> CommandResult {
    match &args.command {
        None => show(context, output),
        Some(ConfigCommand::Set(call)) => change::set(context, call, output),
        Some(ConfigCommand::Unset(call)) => change::unset(context, call, output),
        Some(ConfigCommand::Edit(call)) => edit::run(context, call, output),
    }
}

fn show(context: &CommandContext, output: &mut Output) -> CommandResult {
    let configuration = &context.configuration;
    let config_failure = context.configuration_failure(output);
    if output.json() {
        let mut value = json::settings_json(configuration);
        let Some(failure) = config_failure else {
            output.write_json(&value)?;
            return Ok(SUCCESS);
        };
        value["error"] = failure.to_json();
        output.write_json(&value)?;
        return Ok(failure.exit_code());
    }
    print_settings(context, output)?;
    print_diagnostics(output, &configuration.diagnostics);
    config_failure.map_or(Ok(SUCCESS), Err)
}

/// Prints settings and files in the form of a configuration file.
fn print_settings(context: &CommandContext, output: &mut Output) -> std::io::Result<()> {
    let configuration = &context.configuration;
    let widest = configuration.settings.iter().map(|setting| setting.key.len()).max().unwrap_or(0);
    for setting in &configuration.settings {
        let value = clean(&setting.value.to_string()).into_owned();
        let origin = output.styled_text(TextStyle::Faint, &format!("# {}", setting.origin));
        output.line(format!("{:widest$} = {value}  {origin}", setting.key))?;
    }
    let files: Vec<_> = configuration
        .files
        .iter()
        .map(|(path, read)| (clean_path(&short_path(path, &context.host_env)), *read))
        .collect();
    let widest = files.iter().map(|(path, _)| columns::width(path)).max().unwrap_or(0);
    if !files.is_empty() {
        output.line("")?;
    }
    for (path, read) in files {
        let state = if read { "loaded" } else { "not found" };
        output.line(
            output.styled_text(TextStyle::Faint, &format!("# {} {state}", columns::pad(&path, widest))),
        )?;
    }
    Ok(())
}
