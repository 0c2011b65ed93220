//! JSON Schemas of the results of the built-in tools.

use prowess_tools::BuiltinTool;
use serde_json::{Map, Value, json};

/// Returns the display title of a tool.
pub(super) fn tool_title(tool: BuiltinTool) -> &'static str {
    match tool {
        BuiltinTool::Activate | BuiltinTool::Skill => "Load a skill",
        BuiltinTool::ReadResource => "Read a file of a skill",
        BuiltinTool::ListResources => "List the files of a skill",
        BuiltinTool::Search => "Find skills",
        BuiltinTool::Run => "Run a script of a skill",
        BuiltinTool::ReadFile => "Read a file",
    }
}

/// Returns the schema of a tool's structured result.
pub(super) fn output_schema(tool: BuiltinTool) -> Map<String, Value> {
    let text = |about: &str| json!({"type": "string", "description": about});
    let number = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
    let boolean = |about: &str| json!({"type": "boolean", "description": about});
    let name = text("The name of the skill.");
    let truncated = boolean("Whether the result is truncated.");
    let (properties, required) = match tool {
        BuiltinTool::Activate => (
            json!({
                "name": name,
                "content": text("The instructions of the skill, or a reminder if they were returned before."),
                "digest": text("sha256: and the digest of SKILL.md."),
                "already_active": boolean("Whether the instructions were returned before."),
                "truncated": truncated,
            }),
            json!(["name", "content"]),
        ),
        BuiltinTool::Skill => (
            json!({
                "name": name,
                "base_dir": text("The directory of the skill."),
                "content": text("The instructions of the skill."),
                "already_active": boolean("Whether the instructions were returned before."),
                "truncated": truncated,
            }),
            json!(["name", "content"]),
        ),
        BuiltinTool::ReadResource => (
            json!({
                "name": name,
                "path": text("The path of the file in the directory of the skill."),
                "content": text("The text of the file; an image is returned as image content instead."),
                "bytes": number("The size of the complete file."),
                "mime": text("The media type of an image."),
                "truncated": truncated,
            }),
            json!(["name", "path", "bytes"]),
        ),
        BuiltinTool::ListResources => {
            let file = json!({
                "type": "object",
                "properties": {"path": {"type": "string"}, "bytes": {"type": "integer", "minimum": 0}},
                "required": ["path", "bytes"],
            });
            (
                json!({"name": name, "files": {"type": "array", "items": file}, "truncated": truncated}),
                json!(["name", "files"]),
            )
        }
        BuiltinTool::Search => {
            let match_schema = json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "description": {"type": "string"},
                    "score": {"type": "number"},
                    "reasons": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["name", "description", "score", "reasons"],
            });
            (json!({"matches": {"type": "array", "items": match_schema}}), json!(["matches"]))
        }
        BuiltinTool::Run => {
            let artifact = json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "bytes": {"type": "integer", "minimum": 0},
                    "media_type": {"type": "string"},
                    "digest": {"type": "string"},
                    "uri": {"type": "string"},
                },
                "required": ["path", "bytes", "media_type", "digest"],
            });
            let list =
                |about: &str, items: Value| json!({"type": "array", "items": items, "description": about});
            let text_list = |about: &str| list(about, json!({"type": "string"}));
            let properties = json!({
                "name": name,
                "script": text("The path of the script in the directory of the skill."),
                "exit_code": {"type": ["integer", "null"], "description": "The exit code."},
                "signal": {"type": ["integer", "null"], "description": "The signal that ended the script."},
                "stdout": text("The standard output."),
                "stderr": text("The standard error."),
                "truncated": truncated,
                "timed_out": boolean("Whether the script timed out."),
                "cancelled": boolean("Whether the script was cancelled."),
                "limits_hit": text_list("The limits that the script reached."),
                "left_behind": number("The number of processes that the script left running, which were ended."),
                "digest": text("sha256: and the digest of the script."),
                "duration_ms": number("The duration in milliseconds."),
                "sandbox": text("The sandbox in which the script ran."),
                "artifacts": list("The files that the script wrote in the workspace. Those with a URI are resources.", artifact),
                "removed": text_list("The paths of the files that the script removed from the workspace."),
                "remarks": text_list("Remarks about the run."),
            });
            (properties, json!(["name", "script", "exit_code", "stdout", "stderr"]))
        }
        BuiltinTool::ReadFile => (
            json!({
                "path": text("The path of the file."),
                "content": text("The text of the file."),
                "bytes": number("The size of the complete file."),
                "name": text("The skill whose instructions the file contains."),
                "already_active": boolean("Whether the instructions were returned before."),
                "truncated": truncated,
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
