//! The tools that a program tells of, judged before anybody is told of them.

use serde_json::{Map, Value, json};

use super::limits::ProgramLimits;
use super::schema::Schema;
use crate::answer::{Definition, one_line};
use crate::fault::Fault;

/// The most patterns in the parameters of one program's tools: each may take a mebibyte.
const PATTERNS_MAX: usize = 64;

/// The longest name of a tool.
const NAME_MAX: usize = 64;

/// A tool with what its arguments are checked against.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) definition: Definition,
    pub(super) schema: Schema,
}

/// All tools of a program, or what is wrong with the first that is not sound.
pub(super) fn tools(told: Vec<Value>, limits: &ProgramLimits) -> Result<Vec<Tool>, Fault> {
    if told.len() > limits.tools {
        let message = format!("lists {} tools; at most {} are offered", told.len(), limits.tools);
        return Err(Fault::Tools(message));
    }
    let mut patterns = PATTERNS_MAX;
    let mut tools: Vec<Tool> = Vec::with_capacity(told.len());
    for value in told {
        let tool = tool(value, limits, &mut patterns).map_err(Fault::Tools)?;
        if tools.iter().any(|known| known.definition.id == tool.definition.id) {
            return Err(Fault::Tools(format!("lists the tool {} twice", tool.definition.id)));
        }
        tools.push(tool);
    }
    Ok(tools)
}

fn tool(value: Value, limits: &ProgramLimits, patterns: &mut usize) -> Result<Tool, String> {
    let bytes = value.to_string().len();
    let Value::Object(mut told) = value else {
        return Err("lists a tool that is no object".to_owned());
    };
    let name = match told.remove("name") {
        Some(Value::String(name)) if is_name(&name) => name,
        Some(Value::String(name)) => {
            let name = one_line(&name.chars().take(NAME_MAX + 16).collect::<String>());
            return Err(format!(
                "lists a tool whose name does not begin with a letter and have at most {NAME_MAX} letters, digits, \
                 \"_\", \"-\" and \".\": {name}"
            ));
        }
        _ => return Err("lists a tool without a name".to_owned()),
    };
    if bytes > limits.definition {
        return Err(format!(
            "describes the tool {name} with {bytes} bytes; at most {} are read",
            limits.definition
        ));
    }
    let Some(Value::String(description)) = told.remove("description") else {
        return Err(format!("lists the tool {name} without a description"));
    };
    let schema = parameters(told.remove("parameters"))
        .and_then(|parameters| Schema::new(parameters, patterns))
        .map_err(|why| format!("describes the tool {name} with a schema that cannot be used: {why}"))?;
    let definition = Definition { id: name, description, input_schema: schema.value().clone() };
    Ok(Tool { definition, schema })
}

/// Parameters as models are told of them: always an object.
fn parameters(told: Option<Value>) -> Result<Value, String> {
    match told {
        None | Some(Value::Null) => Ok(json!({"type": "object", "properties": {}})),
        Some(Value::Object(mut schema)) => {
            schema.remove("$schema");
            match schema.get("type") {
                Some(Value::String(kind)) if kind == "object" => {}
                None => drop(schema.insert("type".to_owned(), "object".into())),
                Some(_) => return Err("parameters.type: it is object".to_owned()),
            }
            Ok(Value::Object(schema))
        }
        Some(_) => Err("parameters: a schema is an object".to_owned()),
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= NAME_MAX
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Metadata that was told before, with what the result says over it.
pub(super) fn over(mut before: Map<String, Value>, result: &mut Map<String, Value>) {
    if let Some(Value::Object(metadata)) = result.remove("metadata") {
        before.extend(metadata);
    }
    result.insert("metadata".to_owned(), before.into());
}
