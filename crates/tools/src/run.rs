//! Runs scripts for a model.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::Arc;

use prowess::contained::strip_escapes;
use prowess::{ErrorCode, Registry, Skill};
use prowess_sandbox::{
    AccessSummary, Cancel, InputFile, RunError, RunOptions, SandboxHelper, ScriptResult, Workspace,
    check_consent, run,
};
use serde_json::{Value, json};

use crate::consent::{ConsentCallback, ConsentDecisions};
use crate::envelope::{CallStatus, Envelope, ToolError};
use crate::session::CallOptions;
use crate::workspace::{
    ConversationWorkspace, WorkspaceChanges, WorkspaceError, WorkspaceFiles, WorkspaceWrite,
};

/// The configuration for running scripts and tool programs.
#[derive(Debug, Clone, Default)]
pub struct ScriptRunner {
    /// The program that runs as the sandbox helper.
    pub helper: SandboxHelper,
    /// The environment variables that can be granted.
    pub environment: Vec<(OsString, OsString)>,
    /// Cancels scripts early.
    pub cancel: Cancel,
    /// Lasting answers of the user about scripts.
    pub decisions: ConsentDecisions,
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

    /// Runs a script that the user allowed in advance, or allows when asked.
    pub(crate) fn run(
        &self,
        registry: &Registry,
        call: ScriptCall<'_>,
        call_options: &CallOptions,
    ) -> Result<Envelope, ToolError> {
        let ScriptCall { skill, script, args, inputs } = call;
        let mut options = self.options(registry);
        if let Some(cancel) = &call_options.cancel {
            options.cancel = cancel.clone();
        }
        if let Some(on_output) = &call_options.on_output {
            options.on_output = Some(Box::new(|stream, bytes| on_output(stream, bytes)));
        }
        let new_files = to_changes(&inputs);
        let max = options.limits.workspace_bytes;
        options.workspace = prepare_workspace(call_options.workspace.as_ref(), inputs, max)?;
        let ask = consent_callback(call_options);
        let (consent, warning) = self.decisions.consent(skill, script, &options, ask.as_deref())?;
        options.consent = consent;
        if let Some(ConversationWorkspace::Files(files)) = &call_options.workspace
            && new_files != WorkspaceChanges::default()
        {
            // A script that is not allowed changes nothing. Inputs are part of the conversation from now on.
            check_consent(skill, &options).map_err(|error| run_error(&error, skill))?;
            files.apply(new_files).map_err(workspace_error)?;
        }
        let mut ran = run(skill, script, args, options).map_err(|error| run_error(&error, skill))?;
        ran.remarks.extend(warning);
        let kept = match &call_options.workspace {
            Some(ConversationWorkspace::Files(files)) => apply_changes(files.as_ref(), &ran),
            Some(ConversationWorkspace::Directory(_)) | None => Ok(()),
        };
        Ok(run_envelope(skill, script, &ran, kept.err()))
    }
}

/// Returns the callback that asks the user, with a precise description of what the script changes.
fn consent_callback(call_options: &CallOptions) -> Option<Arc<ConsentCallback>> {
    let ask = call_options.ask_consent.clone()?;
    match call_options.workspace {
        Some(ConversationWorkspace::Files(_)) => Some(Arc::new(move |access: &AccessSummary| {
            ask(&access.clone().with_writes("the files of this conversation"))
        })),
        Some(ConversationWorkspace::Directory(_)) | None => Some(ask),
    }
}

fn run_error(error: &RunError, skill: &Skill) -> ToolError {
    let hint = hint_suffix(error.hint().as_deref(), skill);
    ToolError::new(error.code(), format!("{error}{hint}"))
}

/// A call of `skills.run`.
pub(crate) struct ScriptCall<'a> {
    pub(crate) skill: &'a Skill,
    pub(crate) script: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) inputs: Vec<InputFile>,
}

/// Returns the workspace of a script, or `None` to follow the policy. Changes nothing: the user may not allow the script.
/// Inputs take the place of files of the conversation with the same path, but never of files in a directory of the user.
/// `max` is the maximum size of all files, which are held in memory.
pub(crate) fn prepare_workspace(
    workspace: Option<&ConversationWorkspace>,
    inputs: Vec<InputFile>,
    max: u64,
) -> Result<Option<Workspace>, ToolError> {
    Ok(match workspace {
        None if inputs.is_empty() => None,
        None => Some(Workspace::Temporary(inputs)),
        Some(ConversationWorkspace::Directory(dir)) if inputs.is_empty() => {
            Some(Workspace::Directory(dir.clone()))
        }
        Some(ConversationWorkspace::Directory(dir)) => {
            Some(Workspace::DirectoryWithInputs(dir.clone(), inputs))
        }
        Some(ConversationWorkspace::Files(files)) => {
            let replaced: BTreeSet<&str> = inputs.iter().map(InputFile::path).collect();
            let mut listed = files.list().map_err(workspace_error)?;
            listed.retain(|file| !replaced.contains(file.path.as_str()));
            let bytes = listed.iter().fold(0, |sum: u64, file| sum.saturating_add(file.size));
            if bytes > max {
                let message = format!(
                    "the files of this conversation have {bytes} bytes; scripts can use {max} (run.workspace-bytes)"
                );
                return Err(ToolError::new(ErrorCode::TooLarge, message));
            }
            let mut all = inputs;
            for file in listed {
                let content = files.read(&file.path).map_err(workspace_error)?;
                let input = InputFile::new(&file.path, content);
                all.push(input.map_err(|error| ToolError::new(error.code(), error.to_string()))?);
            }
            Some(Workspace::Temporary(all))
        }
    })
}

/// Returns the changes that add inputs to the files of a conversation.
fn to_changes(inputs: &[InputFile]) -> WorkspaceChanges {
    let write = |input: &InputFile| WorkspaceWrite {
        path: input.path().to_owned(),
        content: input.bytes().to_vec(),
        media_type: String::new(),
    };
    WorkspaceChanges { written: inputs.iter().map(write).collect(), removed: Vec::new() }
}

/// Applies the changes of a script to the files of the conversation.
fn apply_changes(files: &dyn WorkspaceFiles, ran: &ScriptResult) -> Result<(), ToolError> {
    let Some(workspace) = &ran.workspace else { return Ok(()) };
    let mut changes = WorkspaceChanges { written: Vec::new(), removed: workspace.removed().to_vec() };
    for artifact in workspace.artifacts() {
        let content = workspace.read(artifact).map_err(|error| {
            ToolError::new(ErrorCode::ExecutionError, format!("cannot read {}: {error}", artifact.path))
        })?;
        let media_type = artifact.media_type.to_owned();
        changes.written.push(WorkspaceWrite { path: artifact.path.clone(), content, media_type });
    }
    if changes == WorkspaceChanges::default() {
        return Ok(());
    }
    files.apply(changes).map_err(workspace_error)
}

fn workspace_error(error: WorkspaceError) -> ToolError {
    ToolError::new(error.code(), error.to_string())
}

/// Formats a hint as the end of a message, without the path of the skill.
pub(crate) fn hint_suffix(hint: Option<&str>, skill: &Skill) -> String {
    let dir = skill.canonical_dir().display().to_string();
    hint.map_or_else(String::new, |hint| format!("; {}", hint.replace(&dir, "the skill's directory")))
}

/// Converts the result of a run. The output of a failed script is included. `not_kept` says why its files were not kept.
fn run_envelope(skill: &Skill, script: &str, ran: &ScriptResult, not_kept: Option<ToolError>) -> Envelope {
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
        if not_kept.is_some() {
            data.insert("artifacts".to_owned(), json!([]));
            data.insert("removed".to_owned(), json!([]));
        }
    }
    let text = render_output(&data, ran, not_kept.as_ref());
    let failed = |code, message| Envelope {
        status: CallStatus::Error,
        error: Some(ToolError::new(code, message)),
        ..Envelope::success(data.clone(), text.clone())
    };
    if let Some(ToolError { code, message }) = not_kept {
        return failed(code, format!("the files of the script are not kept: {message}"));
    }
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
fn render_output(data: &Value, ran: &ScriptResult, not_kept: Option<&ToolError>) -> String {
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
    let (artifacts, removed) = match not_kept {
        None => (ran.artifacts(), ran.removed()),
        Some(error) => {
            part("", &format!("[the files of the script are not kept: {}]\n", error.message));
            (&[][..], &[][..])
        }
    };
    for artifact in artifacts.iter().take(LISTED_MAX) {
        part("", &format!("[wrote {} ({} bytes, {})]\n", artifact.path, artifact.size, artifact.media_type));
    }
    let omitted = artifacts.len().saturating_sub(LISTED_MAX);
    if omitted > 0 {
        part("", &format!("[wrote {omitted} more files]\n"));
    }
    for path in removed.iter().take(LISTED_MAX) {
        part("", &format!("[removed {path}]\n"));
    }
    let omitted = removed.len().saturating_sub(LISTED_MAX);
    if omitted > 0 {
        part("", &format!("[removed {omitted} more files]\n"));
    }
    if !ran.is_success() {
        part("", &format!("[{}]\n", ran.describe_end()));
    }
    text
}

/// The maximum number of written and removed files in the text for the model.
const LISTED_MAX: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::MemoryWorkspace;

    #[test]
    fn files_that_scripts_cannot_use_are_not_read() {
        let files = MemoryWorkspace::default();
        files.apply(WorkspaceChanges::write("a", b"12345", "")).unwrap();
        let workspace = ConversationWorkspace::Files(Arc::new(files));
        let input = |text: &str| vec![InputFile::new("a", text.as_bytes().to_vec()).unwrap()];
        let error = prepare_workspace(Some(&workspace), vec![], 4).unwrap_err();
        insta::assert_snapshot!(
            error.message,
            @"the files of this conversation have 5 bytes; scripts can use 4 (run.workspace-bytes)"
        );
        // An input takes the place of the file.
        let prepared = prepare_workspace(Some(&workspace), input("1"), 4).unwrap();
        assert_eq!(prepared, Some(Workspace::Temporary(input("1"))));
        let prepared = prepare_workspace(Some(&workspace), vec![], 5).unwrap();
        assert_eq!(prepared, Some(Workspace::Temporary(input("12345"))));
    }
}
