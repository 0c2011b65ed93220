//! Failures of commands: error code, message and hint.

use std::process::ExitCode;

use clap::error::ErrorKind;
pub(crate) use prowess::ErrorCode;

use crate::output::Output;
use crate::report::json;

/// Returns the exit code: 1 for a failed check or a missing item, 2 for a usage or environment error.
fn exit_code_for(code: ErrorCode) -> u8 {
    match code {
        ErrorCode::InvalidParam | ErrorCode::PermissionDenied | ErrorCode::ExecutionError => 2,
        // INTERNAL_ERROR means that a skill cannot be parsed, as document 001 defines it.
        _ => 1,
    }
}

/// The failure of a command.
#[derive(Debug)]
pub(crate) struct Failure {
    code: ErrorCode,
    message: String,
    hint: Option<String>,
    /// Whether the reader of standard output has closed the pipe.
    broken_pipe: bool,
    /// Whether a path in the arguments does not exist, which is a usage error regardless of the code.
    missing_path: bool,
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, broken_pipe: false, missing_path: false }
    }

    /// Returns the failure for a path argument that does not exist.
    pub(crate) fn missing_path(message: impl Into<String>) -> Self {
        Self { missing_path: true, ..Self::new(ErrorCode::NotFound, message) }
    }

    /// Returns a usage error.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidParam, message)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Replaces the message.
    pub(crate) fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    pub(crate) fn into_message(self) -> String {
        self.message
    }

    /// Returns `true` if the reader of standard output has closed the pipe.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.broken_pipe
    }

    /// Prints the failure, as JSON on standard output with `--json`, otherwise on standard error, and returns the exit code.
    pub(crate) fn report(&self, output: &mut Output) -> ExitCode {
        if self.broken_pipe {
            return ExitCode::SUCCESS;
        }
        if output.json() {
            // The output is incomplete anyway, so a failure to flush it does not matter.
            let _ = output.finish();
            return self.report_json();
        }
        output.error(&self.message, self.hint.as_deref());
        self.exit_code()
    }

    /// Prints the error object of the contract and returns the exit code.
    pub(crate) fn report_json(&self) -> ExitCode {
        let _ = json::write_value(&mut std::io::stdout(), &serde_json::json!({"error": self.to_json()}));
        self.exit_code()
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(if self.missing_path { 2 } else { exit_code_for(self.code) })
    }

    /// Returns the value of the key `error`.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.hint {
            Some(hint) => {
                serde_json::json!({"code": self.code.as_str(), "message": self.message, "help": hint})
            }
            None => serde_json::json!({"code": self.code.as_str(), "message": self.message}),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self {
                broken_pipe: true,
                ..Self::new(ErrorCode::ExecutionError, "standard output was closed")
            },
            std::io::ErrorKind::PermissionDenied => Self::new(ErrorCode::PermissionDenied, error.to_string()),
            _ => Self::new(ErrorCode::ExecutionError, error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        std::io::Error::from(error).into()
    }
}

/// Prints an error of the command-line parser, as JSON with `--json`, and returns the exit code. Help and version are not
/// failures.
pub(crate) fn report_parse_error(error: &clap::Error) -> ExitCode {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let json = std::env::args_os().take_while(|arg| arg != "--").any(|arg| arg == "--json");
    if !is_help && json {
        return from_parse_error(error).report_json();
    }
    // A closed pipe is not an error.
    let _ = error.print();
    ExitCode::from(if is_help { 0 } else { 2 })
}

/// Converts an error of the command-line parser, without the usage.
fn from_parse_error(error: &clap::Error) -> Failure {
    use ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingSubcommand};
    if matches!(error.kind(), DisplayHelpOnMissingArgumentOrSubcommand | MissingSubcommand) {
        return Failure::usage("no command given").hint("run `prowess help` for a list of commands");
    }
    let text = error.render().to_string();
    let (message, details) = text.split_once("\n\n").unwrap_or((&text, ""));
    let message: Vec<_> = message.trim_start_matches("error: ").split_whitespace().collect();
    let failure = Failure::usage(message.join(" "));
    match details.lines().find_map(|line| line.trim().strip_prefix("tip: ")) {
        Some(tip) => failure.hint(tip),
        None => failure,
    }
}
