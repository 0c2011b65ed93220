//! `prowess`: the command line.
//!
//! Standard output is the answer, standard error is for people. Exit codes: 0 fine, 1 the answer is no, 2 the call or
//! the environment is wrong.

mod args;
mod columns;
mod commands;
mod context;
mod failure;
mod output;
mod progress;
mod report;
mod scope;
mod signals;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::args::Args;
use crate::failure::Failure;
use crate::output::Output;

fn main() -> ExitCode {
    // Where this program was started again to hold a script, it does nothing else.
    prowess_sandbox::helper_main();
    if let Some(code) = version() {
        return code;
    }
    let typed: Vec<_> = scope::rewritten(Args::command, std::env::args_os()).into_iter().collect();
    let args = match Args::try_parse_from(&typed) {
        Ok(args) => args,
        Err(error) => {
            // What is wrong is repeated on the terminal: as it may get there.
            let shown = typed.iter().map(|word| output::clean(&word.to_string_lossy()).into_owned());
            return failure::refuse(&Args::try_parse_from(shown).err().unwrap_or(error));
        }
    };
    let mut output = Output::new(&args.global);
    let result = context::require_paths(&args.global)
        .and_then(|()| commands::run(Args { global: args.global.with_variables(), ..args }, &mut output))
        .and_then(|code| output.finish().map(|()| code).map_err(Failure::from));
    match result {
        Ok(code) => code,
        Err(failure) => failure.report(&mut output),
    }
}

/// Answers `prowess --version` alone, which takes none of the commands. Everything else is left to the parser.
fn version() -> Option<ExitCode> {
    let mut typed = std::env::args_os().skip(1);
    let asked = typed.next().is_some_and(|word| word == "--version" || word == "-V");
    if !asked || typed.next().is_some() {
        return None;
    }
    let text = concat!("prowess ", env!("CARGO_PKG_VERSION"), "\n");
    let written = std::io::stdout().write_all(text.as_bytes());
    Some(if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(2) })
}
