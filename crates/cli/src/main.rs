//! `prowess`: the command-line interface.
//!
//! Results go to standard output, messages to standard error. Exit codes: 0 success, 1 check failed or not found,
//! 2 usage or environment error.

mod args;
mod columns;
mod commands;
mod completers;
mod context;
mod failure;
mod output;
mod progress;
mod report;
mod scope;
mod signals;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::args::{Args, GlobalArgs};
use crate::failure::Failure;
use crate::output::Output;

fn main() -> ExitCode {
    // Does not return if this process was started as the sandbox helper of a script.
    prowess_sandbox::helper_main();
    if let Some(code) = print_version() {
        return code;
    }
    if let Some(code) = completers::complete() {
        return code;
    }
    if commands::hook::is_prompt_call(std::env::args_os()) {
        return commands::hook::prompt();
    }
    let typed = scope::rewrite_project_option(Args::command, std::env::args_os());
    if typed.len() == 1 && std::io::stdout().is_terminal() {
        let global = GlobalArgs::default().with_variables();
        let mut output = Output::new(&global);
        let result = commands::overview(&global, &mut output);
        return exit_code(result, &mut output);
    }
    let args = match Args::try_parse_from(&typed) {
        Ok(args) => args,
        Err(error) => {
            // The error quotes arguments, so it is created again from escaped ones.
            let escaped =
                typed.iter().map(|argument| output::clean(&argument.to_string_lossy()).into_owned());
            return failure::report_parse_error(&Args::try_parse_from(escaped).err().unwrap_or(error));
        }
    };
    let mut output = Output::new(&args.global);
    let result = context::require_paths(&args.global)
        .and_then(|()| commands::run(Args { global: args.global.with_variables(), ..args }, &mut output));
    exit_code(result, &mut output)
}

/// Flushes the output, reports a failure and returns the exit code. It names the signal if one stopped the command.
fn exit_code(result: commands::CommandResult, output: &mut Output) -> ExitCode {
    let result = result.and_then(|code| output.finish().map(|()| code).map_err(Failure::from));
    let code = result.unwrap_or_else(|failure| failure.report(output));
    if code == ExitCode::SUCCESS { code } else { signals::exit_code().unwrap_or(code) }
}

/// Handles a plain `prowess --version` without building the command-line parser. Returns `None` for anything else.
fn print_version() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let is_version = args.next().is_some_and(|arg| arg == "--version" || arg == "-V");
    if !is_version || args.next().is_some() {
        return None;
    }
    let text = concat!("prowess ", env!("CARGO_PKG_VERSION"), "\n");
    let result = std::io::stdout().write_all(text.as_bytes());
    Some(if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(2) })
}
