//! Validates the tools that a program lists.

use serde_json::{Map, Value, json};

use super::limits::ProgramLimits;
use super::schema::ToolSchema;
use crate::program_fault::ProgramFault;
use crate::response::{ToolDescriptor, one_line};

/// The maximum number of patterns in the parameters of one program: each may use a mebibyte.
const PATTERNS_MAX: usize = 64;

/// The maximum length of a tool name.
const NAME_MAX: usize = 64;

/// A tool with its parameter schema.
#[derive(Debug, Clone)]
pub(super) struct ProgramTool {
    pub(super) definition: ToolDescriptor,
    pub(super) schema: ToolSchema,
}

/// Parses the tools of a program, or returns the first error.
pub(super) fn parse_tools(
    listed: Vec<Value>,
    limits: &ProgramLimits,
) -> Result<Vec<ProgramTool>, ProgramFault> {
    if listed.len() > limits.tools {
        let message = format!("lists {} tools; the maximum is {}", listed.len(), limits.tools);
        return Err(ProgramFault::InvalidTools(message));
    }
    let mut patterns = PATTERNS_MAX;
    let mut tools: Vec<ProgramTool> = Vec::with_capacity(listed.len());
    for value in listed {
        let tool = parse_tool(value, limits, &mut patterns).map_err(ProgramFault::InvalidTools)?;
        if tools.iter().any(|earlier| earlier.definition.id == tool.definition.id) {
            return Err(ProgramFault::InvalidTools(format!("lists the tool {} twice", tool.definition.id)));
        }
        tools.push(tool);
    }
    Ok(tools)
}

fn parse_tool(value: Value, limits: &ProgramLimits, patterns: &mut usize) -> Result<ProgramTool, String> {
    let bytes = value.to_string().len();
    let Value::Object(mut fields) = value else {
        return Err("lists a tool that is not an object".to_owned());
    };
    let name = match fields.remove("name") {
        Some(Value::String(name)) if is_name(&name) => name,
        Some(Value::String(name)) => {
            let name = one_line(&name.chars().take(NAME_MAX + 16).collect::<String>());
            return Err(format!(
                "lists a tool with an invalid name: it must start with a letter and have at most {NAME_MAX} letters, digits, \
                 \"_\", \"-\" and \".\": {name}"
            ));
        }
        _ => return Err("lists a tool without a name".to_owned()),
    };
    if bytes > limits.definition {
        return Err(format!(
            "lists the tool {name} with {bytes} bytes; the maximum is {}",
            limits.definition
        ));
    }
    let Some(Value::String(description)) = fields.remove("description") else {
        return Err(format!("lists the tool {name} without a description"));
    };
    let schema = parameters(fields.remove("parameters"))
        .and_then(|parameters| ToolSchema::new(parameters, patterns))
        .map_err(|error| format!("lists the tool {name} with an unsupported schema: {error}"))?;
    let definition = ToolDescriptor { id: name, description, input_schema: schema.value().clone() };
    Ok(ProgramTool { definition, schema })
}

/// Returns the parameters schema, which is always an object schema.
fn parameters(schema: Option<Value>) -> Result<Value, String> {
    match schema {
        None | Some(Value::Null) => Ok(json!({"type": "object", "properties": {}})),
        Some(Value::Object(mut schema)) => {
            schema.remove("$schema");
            match schema.get("type") {
                Some(Value::String(kind)) if kind == "object" => {}
                None => drop(schema.insert("type".to_owned(), "object".into())),
                Some(_) => return Err("parameters.type: must be \"object\"".to_owned()),
            }
            Ok(Value::Object(schema))
        }
        Some(_) => Err("parameters: must be an object".to_owned()),
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= NAME_MAX
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Merges metadata of progress messages with that of the result, which takes precedence.
pub(super) fn merge_metadata(mut progress: Map<String, Value>, result: &mut Map<String, Value>) {
    if let Some(Value::Object(metadata)) = result.remove("metadata") {
        progress.extend(metadata);
    }
    result.insert("metadata".to_owned(), progress.into());
}
