//! What our tools give, as JSON Schema.

use prowess_tools::Tool;
use serde_json::{Map, Value, json};

/// What people read instead of a tool's name.
pub(super) fn title(tool: Tool) -> &'static str {
    match tool {
        Tool::Activate | Tool::Skill => "Load a skill",
        Tool::ReadResource => "Read a file of a skill",
        Tool::ListResources => "List the files of a skill",
        Tool::Search => "Find skills",
        Tool::Run => "Run a script of a skill",
        Tool::ReadFile => "Read a file",
    }
}

/// The schema of a tool's structured result.
pub(super) fn output(tool: Tool) -> Map<String, Value> {
    let text = |about: &str| json!({"type": "string", "description": about});
    let number = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
    let truth = |about: &str| json!({"type": "boolean", "description": about});
    let name = text("The skill's name.");
    let cut = truth("Whether something was left out.");
    let (properties, required) = match tool {
        Tool::Activate => (
            json!({
                "name": name,
                "content": text("The skill's instructions, or a reminder where they were given before."),
                "digest": text("sha256: and the digest of SKILL.md."),
                "already_active": truth("Whether the instructions were given before."),
                "truncated": cut,
            }),
            json!(["name", "content"]),
        ),
        Tool::Skill => (
            json!({
                "name": name,
                "base_dir": text("The skill's folder."),
                "content": text("The skill's instructions."),
                "already_active": truth("Whether the instructions were given before."),
                "truncated": cut,
            }),
            json!(["name", "content"]),
        ),
        Tool::ReadResource => (
            json!({
                "name": name,
                "path": text("The file's path inside the skill's folder."),
                "content": text("The file's text; a picture comes as image content instead."),
                "bytes": number("The size of the whole file."),
                "mime": text("The media type of a picture."),
                "truncated": cut,
            }),
            json!(["name", "path", "bytes"]),
        ),
        Tool::ListResources => {
            let file = json!({
                "type": "object",
                "properties": {"path": {"type": "string"}, "bytes": {"type": "integer", "minimum": 0}},
                "required": ["path", "bytes"],
            });
            (
                json!({"name": name, "files": {"type": "array", "items": file}, "truncated": cut}),
                json!(["name", "files"]),
            )
        }
        Tool::Search => {
            let found = json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "description": {"type": "string"},
                    "score": {"type": "number"},
                    "reasons": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["name", "description", "score", "reasons"],
            });
            (json!({"matches": {"type": "array", "items": found}}), json!(["matches"]))
        }
        Tool::Run => (
            json!({
                "name": name,
                "script": text("The script's path inside the skill's folder."),
                "exit_code": {"type": ["integer", "null"], "description": "How it ended."},
                "signal": {"type": ["integer", "null"], "description": "What ended it."},
                "stdout": text("What it wrote."),
                "stderr": text("What it wrote to standard error."),
                "truncated": cut,
                "timed_out": truth("Whether it took too long."),
                "cancelled": truth("Whether it was given up."),
                "limits_hit": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "The limits that it ran into.",
                },
                "left_behind": number("How many processes it left, which were ended."),
                "digest": text("sha256: and the digest of the script."),
                "duration_ms": number("How long it took."),
                "sandbox": text("What confined it."),
            }),
            json!(["name", "script", "exit_code", "stdout", "stderr"]),
        ),
        Tool::ReadFile => (
            json!({
                "path": text("The path."),
                "content": text("The file's text."),
                "bytes": number("The size of the whole file."),
                "name": text("The skill whose instructions the file holds."),
                "already_active": truth("Whether the instructions were given before."),
                "truncated": cut,
            }),
            json!(["path", "content", "bytes"]),
        ),
    };
    Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), properties),
        ("required".to_owned(), required),
    ])
}
