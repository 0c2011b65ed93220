//! Calls that are wrong.

use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::failure::Failure;

/// Says what is wrong with a call. Help and version are no failures; with `--json`, failures are JSON.
pub(crate) fn refuse(error: &clap::Error) -> ExitCode {
    let shown = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let json = std::env::args_os().take_while(|arg| arg != "--").any(|arg| arg == "--json");
    if !shown && json {
        return failure(error).report_json();
    }
    // That nobody reads the help is no reason to fail.
    let _ = error.print();
    ExitCode::from(if shown { 0 } else { 2 })
}

/// The same as it would be printed, without the usage.
fn failure(error: &clap::Error) -> Failure {
    use ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingSubcommand};
    if matches!(error.kind(), DisplayHelpOnMissingArgumentOrSubcommand | MissingSubcommand) {
        return Failure::call("a command is missing").hint("prowess help lists them");
    }
    let text = error.render().to_string();
    let (told, more) = text.split_once("\n\n").unwrap_or((&text, ""));
    let told: Vec<_> = told.trim_start_matches("error: ").split_whitespace().collect();
    let failure = Failure::call(told.join(" "));
    match more.lines().find_map(|line| line.trim().strip_prefix("tip: ")) {
        Some(tip) => failure.hint(tip),
        None => failure,
    }
}
