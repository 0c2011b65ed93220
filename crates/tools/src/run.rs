//! Runs scripts for a model.

use std::ffi::OsString;

use prowess::contained::strip_escapes;
use prowess::{ErrorCode, Registry, Skill};
use prowess_sandbox::{Cancel, RunOptions, SandboxHelper, ScriptResult, run};
use serde_json::{Value, json};

use crate::envelope::{CallStatus, Envelope, ToolError};
use crate::session::CallOptions;

/// The configuration for running scripts and tool programs.
#[derive(Debug, Clone, Default)]
pub struct ScriptRunner {
    /// The program that runs as the sandbox helper.
    pub helper: SandboxHelper,
    /// The environment variables that can be granted.
    pub environment: Vec<(OsString, OsString)>,
    /// Cancels scripts early.
    pub cancel: Cancel,
}

impl ScriptRunner {
    /// Returns options for running on behalf of a model, without a user to ask for confirmation.
    pub(crate) fn options<'a>(&self, registry: &'a Registry) -> RunOptions<'a> {
        let mut options = RunOptions::from_registry(registry);
        options.helper = self.helper.clone();
        options.environment = self.environment.clone();
        options.cancel = self.cancel.clone();
        options
    }

    /// Runs a script. Only scripts that the user allowed in advance can run, since there is no user to ask.
    pub(crate) fn run(
        &self,
        registry: &Registry,
        skill: &Skill,
        script: &str,
        args: &[String],
        call_options: &CallOptions,
    ) -> Result<Envelope, ToolError> {
        let mut options = self.options(registry);
        if let Some(cancel) = &call_options.cancel {
            options.cancel = cancel.clone();
        }
        if let Some(on_output) = &call_options.on_output {
            options.on_output = Some(Box::new(|stream, bytes| on_output(stream, bytes)));
        }
        let ran = run(skill, script, args, options).map_err(|error| {
            let hint = hint_suffix(error.hint().as_deref(), skill);
            ToolError::new(error.code(), format!("{error}{hint}"))
        })?;
        Ok(run_envelope(skill, script, &ran))
    }
}

/// Formats a hint as the end of a message, without the path of the skill.
pub(crate) fn hint_suffix(hint: Option<&str>, skill: &Skill) -> String {
    let dir = skill.canonical_dir().display().to_string();
    hint.map_or_else(String::new, |hint| format!("; {}", hint.replace(&dir, "the skill's directory")))
}

/// Converts the result of a run. The output of a failed script is included.
fn run_envelope(skill: &Skill, script: &str, ran: &ScriptResult) -> Envelope {
    let mut data = ran.to_json();
    if let Value::Object(data) = &mut data {
        data.remove("schema");
        data.insert("name".to_owned(), json!(skill.name()));
        data.insert("script".to_owned(), json!(script));
        for stream in ["stdout", "stderr"] {
            if let Some(Value::String(text)) = data.get_mut(stream) {
                strip_escapes(text, 0);
            }
        }
    }
    let text = render_output(&data, ran);
    let failed = |code, message| Envelope {
        status: CallStatus::Error,
        error: Some(ToolError::new(code, message)),
        ..Envelope::success(data.clone(), text.clone())
    };
    if ran.timed_out {
        return failed(ErrorCode::Timeout, format!("the script was {}", ran.describe_end()));
    }
    if ran.truncated {
        return Envelope::partial(data, text);
    }
    match ran.is_success() {
        true => Envelope::success(data, text),
        false => failed(ErrorCode::ExecutionError, format!("the script failed: {}", ran.describe_end())),
    }
}

/// Renders the text for the model: both streams and, unless the script succeeded, how it ended.
fn render_output(data: &Value, ran: &ScriptResult) -> String {
    let output = |stream: &str| data[stream].as_str().unwrap_or_default();
    let mut text = output("stdout").to_owned();
    let mut part = |title: &str, body: &str| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(title);
        text.push_str(body);
    };
    if !output("stderr").is_empty() {
        part("[standard error]\n", output("stderr"));
    }
    if !ran.is_success() {
        part("", &format!("[{}]\n", ran.describe_end()));
    }
    text
}
