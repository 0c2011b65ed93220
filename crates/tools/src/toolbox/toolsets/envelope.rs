//! Converts the results of skill tools to envelopes.

use prowess::ErrorCode;
use prowess::format::hidden;
use prowess_toolset::{ToolResult, ToolsetError};
use serde_json::{Value, json};

use crate::envelope::{Envelope, ToolError};

/// Converts the result of a tool. A thrown error is a failure, and so is an `error` in the metadata.
pub(super) fn skill_tool_envelope(
    skill: &str,
    tool: &str,
    result: Result<ToolResult, ToolsetError>,
) -> Envelope {
    let result = match result {
        Ok(result) => result,
        Err(error) => return failure(skill, tool, &error),
    };
    let mut data = json!({
        "skill": skill, "tool": tool,
        "title": result.title, "metadata": result.metadata, "output": result.output,
    });
    if !result.attachments.is_empty() {
        data["attachments"] = result.attachments.into();
    }
    if !result.console.is_empty() {
        data["console"] = result.console.into();
    }
    if let Some(code) = error_code(&data["metadata"]) {
        let message = hidden::escape_for_display(result.output.trim()).into_owned();
        let message =
            if message.is_empty() { "the tool failed without a message".to_owned() } else { message };
        let mut envelope = Envelope::error(ToolError::new(code, message));
        envelope.text = result.output;
        return with_data(envelope, data);
    }
    if !result.truncated {
        return Envelope::success(data, result.output);
    }
    data["truncated"] = true.into();
    let text = format!("{}\n\n[truncated: {} bytes shown]", result.output, result.output.len());
    Envelope::partial(data, text)
}

/// Returns the error code in the metadata; `None` if it has no error. Unknown codes become `EXECUTION_ERROR`.
fn error_code(metadata: &Value) -> Option<ErrorCode> {
    let error = metadata.get("error").filter(|error| !matches!(error, Value::Null | Value::Bool(false)))?;
    let known_code = ErrorCode::ALL.into_iter().find(|code| error.as_str() == Some(code.as_str()));
    Some(known_code.unwrap_or(ErrorCode::ExecutionError))
}

fn failure(skill: &str, tool: &str, error: &ToolsetError) -> Envelope {
    let text = error.to_string();
    let mut metadata = json!({"error": error.code().as_str()});
    if let Some(location) = error.location() {
        metadata["at"] = location.to_string().into();
    }
    let data = json!({"skill": skill, "tool": tool, "title": tool, "metadata": metadata, "output": text});
    with_data(Envelope::error(ToolError::new(error.code(), text)), data)
}

fn with_data(mut envelope: Envelope, data: Value) -> Envelope {
    if let Value::Object(data) = data {
        envelope.data = data;
    }
    envelope
}
