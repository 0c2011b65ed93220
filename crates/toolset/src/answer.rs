//! What goes over the border: definitions, calls and results, all of them JSON text on the way.

use serde_json::{Map, Value, json};

use super::error::ToolsetError;

/// A tool as its toolset describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name in the toolset.
    pub id: String,
    /// What it does.
    pub description: String,
    /// What it takes, as JSON Schema.
    pub input_schema: Value,
}

/// One call of a tool, and what `ctx` tells the tool about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCall {
    /// The tool's name in the toolset.
    pub id: String,
    /// Its arguments.
    pub arguments: Value,
    /// The conversation: `ctx.sessionID`.
    pub session_id: String,
    /// The message that it answers: `ctx.messageID`.
    pub message_id: String,
    /// Who calls: `ctx.agent`.
    pub agent: String,
    /// This call: `ctx.callID`.
    pub call_id: String,
    /// Whatever else the embedder wants tools to know: `ctx.extra`.
    pub extra: Map<String, Value>,
}

impl ToolCall {
    /// A call with nothing about it.
    pub fn new(id: impl Into<String>, arguments: Value) -> Self {
        Self { id: id.into(), arguments, ..Self::default() }
    }

    /// What `ctx` holds, but for `abort` and `metadata`.
    pub(super) fn context(&self) -> String {
        self.context_value().to_string()
    }

    /// The same as JSON.
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

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// A short heading.
    pub title: String,
    /// For programs. A tool that failed without throwing has an `error` in it.
    pub metadata: Map<String, Value>,
    /// For the model.
    pub output: String,
    /// Files and pictures, as the tool gave them.
    pub attachments: Vec<Value>,
    /// Whether output was cut.
    pub truncated: bool,
    /// What the tool wrote to the console.
    pub console: Vec<String>,
}

/// What came over the border.
pub(super) enum Crossed {
    /// The tools of a toolset.
    Tools(Vec<Definition>),
    /// A tool's answer.
    Result(ToolResult),
    /// Arguments that were rejected.
    Rejected(String),
    /// Something was thrown: name, message and stack. `refusal` is set where the border itself threw it.
    Fault(Fault),
}

/// Something that was thrown.
#[derive(Debug, Default)]
pub(super) struct Fault {
    pub(super) name: String,
    pub(super) message: String,
    pub(super) stack: String,
    pub(super) refusal: bool,
}

impl Fault {
    pub(super) fn of(fault: &Value) -> Self {
        let text = |key: &str| fault[key].as_str().unwrap_or_default().to_owned();
        Self {
            name: one_line(&text("name")),
            message: one_line(&text("message")),
            stack: text("stack"),
            refusal: fault["refusal"] == true,
        }
    }

    /// The message, or what is known where there is none.
    pub(super) fn said(&self) -> String {
        match (self.message.as_str(), self.name.as_str()) {
            ("", "" | "Error") => "something was thrown that says nothing about itself".to_owned(),
            ("", name) => name.to_owned(),
            ("null", "") => "null, which the engine throws, too, when it has no memory left".to_owned(),
            (message, _) => message.to_owned(),
        }
    }
}

/// Reads what came over the border.
pub(super) fn crossed(text: &str, output_max: usize) -> Result<Crossed, ToolsetError> {
    let unreadable = || ToolsetError::Answer("the tool's answer cannot be read as JSON".to_owned());
    let mut value: Value = serde_json::from_str(text).map_err(|_| unreadable())?;
    if let Some(Value::Array(tools)) = value.get_mut("tools").map(Value::take) {
        return Ok(Crossed::Tools(tools.into_iter().filter_map(definition).collect()));
    }
    if let Some(Value::Object(result)) = value.get_mut("result").map(Value::take) {
        return Ok(Crossed::Result(tool_result(result, output_max)));
    }
    if let Some(issues) = value["rejected"].as_array() {
        return Ok(Crossed::Rejected(issues.iter().map(issue).collect::<Vec<_>>().join("; ")));
    }
    match value.get("fault") {
        Some(fault) => Ok(Crossed::Fault(Fault::of(fault))),
        None => Err(unreadable()),
    }
}

fn definition(mut tool: Value) -> Option<Definition> {
    let mut schema = tool["schema"].take();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("$schema");
        // Models are told of objects; alternatives of objects do not say so themselves.
        schema.entry("type").or_insert_with(|| "object".into());
    }
    Some(Definition {
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
    let output = prowess::contained::without_escapes(output);
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

/// What is wrong with an argument, and which.
fn issue(issue: &Value) -> String {
    let path: Vec<_> = issue["path"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let message = one_line(issue["message"].as_str().unwrap_or_default());
    if path.is_empty() { message } else { format!("{}: {message}", one_line(&path.join("."))) }
}

/// Foreign text as it may stand in a message.
pub(super) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    prowess::format::hidden::shown(&line).into_owned()
}
