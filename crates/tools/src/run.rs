//! Running a script for a model.

use std::ffi::OsString;

use prowess::contained::strip_escapes;
use prowess::{ErrorCode, Registry, Skill};
use prowess_sandbox::{Cancel, Helper, Options, Ran, run};
use serde_json::{Value, json};

use crate::envelope::{Envelope, Outcome, ToolError};
use crate::session::Waiting;

/// What scripts, and programs that bring tools, are run with.
#[derive(Debug, Clone, Default)]
pub struct Runner {
    /// The program that becomes the sandbox's helper.
    pub helper: Helper,
    /// The variables that could be granted.
    pub environment: Vec<(OsString, OsString)>,
    /// What ends scripts early.
    pub cancel: Cancel,
}

impl Runner {
    /// How something is run for a model. Nobody can be asked here.
    pub(crate) fn options<'a>(&self, registry: &'a Registry) -> Options<'a> {
        let mut options = Options::of(registry);
        options.helper = self.helper.clone();
        options.environment = self.environment.clone();
        options.cancel = self.cancel.clone();
        options
    }

    /// Runs a script. Only what the user allowed beforehand runs: nobody can be asked here.
    pub(crate) fn run(
        &self,
        registry: &Registry,
        skill: &Skill,
        script: &str,
        args: &[String],
        waiting: &Waiting,
    ) -> Result<Envelope, ToolError> {
        let mut options = self.options(registry);
        if let Some(cancel) = &waiting.cancel {
            options.cancel = cancel.clone();
        }
        if let Some(on_output) = &waiting.on_output {
            options.on_output = Some(Box::new(|stream, bytes| on_output(stream, bytes)));
        }
        let ran = run(skill, script, args, options).map_err(|error| {
            let hint = told(error.hint().as_deref(), skill);
            ToolError::new(error.code(), format!("{error}{hint}"))
        })?;
        Ok(envelope(skill, script, &ran))
    }
}

/// What can be done, as the end of a sentence. A model does not learn from it where a skill lies.
pub(crate) fn told(hint: Option<&str>, skill: &Skill) -> String {
    let folder = skill.canonical_folder().display().to_string();
    hint.map_or_else(String::new, |hint| format!("; {}", hint.replace(&folder, "the skill's folder")))
}

/// What a run comes to: a script that fails has answered, and what it said goes along.
fn envelope(skill: &Skill, script: &str, ran: &Ran) -> Envelope {
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
    let text = text(&data, ran);
    let failed = |code, message| Envelope {
        status: Outcome::Error,
        error: Some(ToolError::new(code, message)),
        ..Envelope::success(data.clone(), text.clone())
    };
    if ran.timed_out {
        return failed(ErrorCode::Timeout, format!("the script was {}", ran.ending()));
    }
    if ran.truncated {
        return Envelope::partial(data, text);
    }
    match ran.is_success() {
        true => Envelope::success(data, text),
        false => failed(ErrorCode::ExecutionError, format!("the script failed: {}", ran.ending())),
    }
}

/// What the model reads: both streams, and how it ended unless that was well.
fn text(data: &Value, ran: &Ran) -> String {
    let of = |stream: &str| data[stream].as_str().unwrap_or_default();
    let mut text = of("stdout").to_owned();
    let mut part = |title: &str, body: &str| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(title);
        text.push_str(body);
    };
    if !of("stderr").is_empty() {
        part("[standard error]\n", of("stderr"));
    }
    if !ran.is_success() {
        part("", &format!("[{}]\n", ran.ending()));
    }
    text
}
