//! What a tool that a skill brought answered, in our form.

use prowess::ErrorCode;
use prowess::format::hidden;
use prowess_toolset::{ToolResult, ToolsetError};
use serde_json::{Value, json};

use crate::envelope::{Envelope, ToolError};

/// A tool's answer in our form. A thrown error is a failure, and so is an answer that has an `error` in its metadata.
pub(super) fn envelope(skill: &str, tool: &str, answer: Result<ToolResult, ToolsetError>) -> Envelope {
    let result = match answer {
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
    if let Some(code) = code_of(&data["metadata"]) {
        let said = hidden::shown(result.output.trim()).into_owned();
        let said = if said.is_empty() { "the tool failed and does not say why".to_owned() } else { said };
        let mut envelope = Envelope::error(ToolError::new(code, said));
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

/// The code that metadata gives to a failure: one of the contract's where it names one. `None` where it is none.
fn code_of(metadata: &Value) -> Option<ErrorCode> {
    let error = metadata.get("error").filter(|error| !matches!(error, Value::Null | Value::Bool(false)))?;
    let named = ErrorCode::ALL.into_iter().find(|code| error.as_str() == Some(code.as_str()));
    Some(named.unwrap_or(ErrorCode::ExecutionError))
}

fn failure(skill: &str, tool: &str, error: &ToolsetError) -> Envelope {
    let text = error.to_string();
    let mut metadata = json!({"error": error.code().as_str()});
    if let Some(place) = error.place() {
        metadata["at"] = place.to_string().into();
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
