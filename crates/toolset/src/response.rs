//! Definitions, calls and results, which cross the engine boundary as JSON text.

use serde_json::{Map, Value, json};

use super::error::ToolsetError;

/// A tool as its toolset describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDescriptor {
    /// The name in the toolset.
    pub id: String,
    /// The description.
    pub description: String,
    /// The JSON Schema of the parameters.
    pub input_schema: Value,
}

/// A call of a tool, with the values of `ctx`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCall {
    /// The name of the tool in the toolset.
    pub id: String,
    /// The arguments.
    pub arguments: Value,
    /// The id of the conversation: `ctx.sessionID`.
    pub session_id: String,
    /// The id of the message: `ctx.messageID`.
    pub message_id: String,
    /// The calling agent: `ctx.agent`.
    pub agent: String,
    /// The id of the call: `ctx.callID`.
    pub call_id: String,
    /// Other values for tools: `ctx.extra`.
    pub extra: Map<String, Value>,
}

impl ToolCall {
    /// Creates a call without context.
    pub fn new(id: impl Into<String>, arguments: Value) -> Self {
        Self { id: id.into(), arguments, ..Self::default() }
    }

    /// Returns `ctx` without `abort` and `metadata`, as JSON text.
    pub(super) fn context_json(&self) -> String {
        self.context_value().to_string()
    }

    /// Returns `ctx` without `abort` and `metadata`.
    pub(super) fn context_value(&self) -> Value {
        json!({
            "sessionID": self.session_id,
            "messageID": self.message_id,
            "agent": self.agent,
            "callID": self.call_id,
            "extra": self.extra,
        })
    }
}

/// The result of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// A short title.
    pub title: String,
    /// Structured data for programs. If the tool failed without throwing, it contains `error`.
    pub metadata: Map<String, Value>,
    /// The text for the model.
    pub output: String,
    /// Files and images, as returned by the tool.
    pub attachments: Vec<Value>,
    /// Whether the output was truncated.
    pub truncated: bool,
    /// The console output of the tool.
    pub console: Vec<String>,
}

pub(super) enum EngineResponse {
    /// The tools of a toolset.
    Tools(Vec<ToolDescriptor>),
    Result(ToolResult),
    /// The arguments were rejected.
    Rejected(String),
    Thrown(ThrownError),
}

/// An error that JavaScript code threw.
#[derive(Debug, Default)]
pub(super) struct ThrownError {
    pub(super) name: String,
    pub(super) message: String,
    pub(super) stack: String,
    /// Whether the bindings threw it, not the tool.
    pub(super) refusal: bool,
}

impl ThrownError {
    pub(super) fn from_json(fault: &Value) -> Self {
        let text = |key: &str| fault[key].as_str().unwrap_or_default().to_owned();
        Self {
            name: one_line(&text("name")),
            message: one_line(&text("message")),
            stack: text("stack"),
            refusal: fault["refusal"] == true,
        }
    }

    /// Returns the message, or a description if there is none.
    pub(super) fn describe(&self) -> String {
        match (self.message.as_str(), self.name.as_str()) {
            ("", "" | "Error") => "the tool threw a value without a message".to_owned(),
            ("", name) => name.to_owned(),
            ("null", "") => "null (the engine also throws null when it is out of memory)".to_owned(),
            (message, _) => message.to_owned(),
        }
    }
}

pub(super) fn parse_response(text: &str, output_max: usize) -> Result<EngineResponse, ToolsetError> {
    let unreadable = || ToolsetError::InvalidResult("the tool's result is not valid JSON".to_owned());
    let mut value: Value = serde_json::from_str(text).map_err(|_| unreadable())?;
    if let Some(Value::Array(tools)) = value.get_mut("tools").map(Value::take) {
        return Ok(EngineResponse::Tools(tools.into_iter().filter_map(parse_definition).collect()));
    }
    if let Some(Value::Object(result)) = value.get_mut("result").map(Value::take) {
        return Ok(EngineResponse::Result(tool_result(result, output_max)));
    }
    if let Some(issues) = value["rejected"].as_array() {
        return Ok(EngineResponse::Rejected(
            issues.iter().map(describe_issue).collect::<Vec<_>>().join("; "),
        ));
    }
    match value.get("fault") {
        Some(fault) => Ok(EngineResponse::Thrown(ThrownError::from_json(fault))),
        None => Err(unreadable()),
    }
}

fn parse_definition(mut tool: Value) -> Option<ToolDescriptor> {
    let mut schema = tool["schema"].take();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("$schema");
        // Models expect objects; a union of objects does not have a type itself.
        schema.entry("type").or_insert_with(|| "object".into());
    }
    Some(ToolDescriptor {
        id: tool["id"].as_str()?.to_owned(),
        description: tool["description"].as_str()?.to_owned(),
        input_schema: schema,
    })
}

pub(super) fn tool_result(mut result: Map<String, Value>, output_max: usize) -> ToolResult {
    let mut text = |key: &str| match result.remove(key) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let (title, mut output) = (one_line(&text("title")), text("output"));
    let mut truncated = result.get("cut") == Some(&Value::Bool(true));
    if output.len() > output_max {
        output.truncate(output.floor_char_boundary(output_max));
        truncated = true;
    }
    let output = prowess::contained::strip_terminal_escapes(output);
    let metadata = match result.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    let attachments = match result.remove("attachments") {
        Some(Value::Array(attachments)) => attachments,
        _ => Vec::new(),
    };
    ToolResult { title, metadata, output, attachments, truncated, console: Vec::new() }
}

/// Returns the message and path of a rejected argument.
fn describe_issue(issue: &Value) -> String {
    let path: Vec<_> = issue["path"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let message = one_line(issue["message"].as_str().unwrap_or_default());
    if path.is_empty() { message } else { format!("{}: {message}", one_line(&path.join("."))) }
}

/// Returns untrusted text on one line, with hidden characters escaped.
pub(super) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    prowess::format::hidden::escape_for_display(&line).into_owned()
}
