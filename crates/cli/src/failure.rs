//! Failures with a code for programs and a hint for people.

use std::process::ExitCode;

use clap::error::ErrorKind;
pub(crate) use prowess::ErrorCode;

use crate::output::Output;
use crate::report::json;

/// 1 where the answer is no, 2 where the call or the environment is wrong.
fn exit_of(code: ErrorCode) -> u8 {
    match code {
        ErrorCode::InvalidParam | ErrorCode::PermissionDenied | ErrorCode::ExecutionError => 2,
        // INTERNAL_ERROR is document 001's word for a skill that cannot be parsed: the answer is no.
        _ => 1,
    }
}

/// Why a command did not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    code: ErrorCode,
    message: String,
    hint: Option<String>,
    /// Whether it is only that nobody reads the answer any more.
    unread: bool,
    /// Whether a path in the arguments does not exist: a usage error, regardless of the code.
    missing_path: bool,
}

impl Failure {
    /// A failure of this kind.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, unread: false, missing_path: false }
    }

    /// A path of the call does not exist.
    pub(crate) fn missing_path(message: impl Into<String>) -> Self {
        Self { missing_path: true, ..Self::new(ErrorCode::NotFound, message) }
    }

    /// The call is wrong.
    pub(crate) fn call(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidParam, message)
    }

    /// With what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With a message that names what failed.
    pub(crate) fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// What happened.
    pub(crate) fn into_message(self) -> String {
        self.message
    }

    /// Whether it is only that nobody reads the answer any more.
    pub(crate) fn is_unread(&self) -> bool {
        self.unread
    }

    /// Tells it: as JSON on standard output where JSON was asked for, else on standard error.
    pub(crate) fn report(&self, output: &mut Output) -> ExitCode {
        // A reader that went away does not want to hear more.
        if self.unread {
            return ExitCode::SUCCESS;
        }
        if output.json() {
            // What was written so far is no complete answer; this line is.
            let _ = output.finish();
            return self.report_json();
        }
        output.error(&self.message, self.hint.as_deref());
        self.exit()
    }

    /// The contract's error object.
    pub(crate) fn report_json(&self) -> ExitCode {
        let _ = json::write_value(&mut std::io::stdout(), &serde_json::json!({"error": self.to_json()}));
        self.exit()
    }

    /// The exit code that says the same.
    pub(crate) fn exit(&self) -> ExitCode {
        ExitCode::from(if self.missing_path { 2 } else { exit_of(self.code) })
    }

    /// What stands under `error`.
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
            std::io::ErrorKind::BrokenPipe => {
                Self { unread: true, ..Self::new(ErrorCode::ExecutionError, "nobody reads the answer") }
            }
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

/// Says what is wrong with a call. Help and version are no failures; with `--json`, failures are JSON.
pub(crate) fn refuse(error: &clap::Error) -> ExitCode {
    let shown = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let json = std::env::args_os().take_while(|arg| arg != "--").any(|arg| arg == "--json");
    if !shown && json {
        return failure_of(error).report_json();
    }
    // That nobody reads the help is no reason to fail.
    let _ = error.print();
    ExitCode::from(if shown { 0 } else { 2 })
}

/// The same as it would be printed, without the usage.
fn failure_of(error: &clap::Error) -> Failure {
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
