//! Summaries of tool results for storage and display.
//!
//! Texts of skills are not stored, only their digests: they are read again when needed. Everything else is limited in
//! size.

use prowess::activation::CommandOutput;
use prowess_tools::{BuiltinTool, CallStatus, Envelope};
use serde_json::{Map, Value, json};

/// The maximum number of bytes of the stored text of a result.
const STORED_TEXT_MAX: usize = 8 * 1024;

/// The maximum number of bytes of a text in the data of a result.
const DATA_TEXT_MAX: usize = 2 * 1024;

/// The maximum number of items of a list in the data.
const ITEMS_MAX: usize = 100;

/// The maximum number of bytes of all texts in the data.
const DATA_MAX: usize = 64 * 1024;

/// The keys of the files that a script changed. They have their own budget, because clients show these files later.
const FILE_KEYS: [&str; 2] = ["artifacts", "removed"];

/// The maximum number of bytes of all texts about changed files.
const FILES_MAX: usize = 128 * 1024;

/// The keys to keep for texts of skills.
const SKILL_TEXT_KEYS: [&str; 5] = ["name", "path", "digest", "truncated", "already_active"];

/// The key of the commands that were run for the instructions of a skill. Their output is stored whole, because it cannot be
/// read again; the tools limit its size.
const COMMANDS_KEY: &str = "commands";

pub(super) fn status_name(outcome: CallStatus) -> &'static str {
    match outcome {
        CallStatus::Success => "success",
        CallStatus::Partial => "partial",
        CallStatus::Error => "error",
    }
}

/// Returns the summary of a result for storage and display: metadata for texts of skills, truncated data for everything
/// else, without the directory of the skill.
pub(super) fn summarize(name: &str, envelope: &Envelope) -> Value {
    let skill_text = returns_skill_text(name) && envelope.status != CallStatus::Error;
    let (mut remaining, mut remaining_for_files) = (DATA_MAX, FILES_MAX);
    let fields = envelope.data.iter().filter(|(key, _)| match skill_text {
        true => SKILL_TEXT_KEYS.contains(&key.as_str()),
        false => *key != "base_dir",
    });
    let mut summary: Map<_, _> = fields
        .map(|(key, value)| {
            let budget = match FILE_KEYS.contains(&key.as_str()) {
                true => &mut remaining_for_files,
                false => &mut remaining,
            };
            (key.clone(), truncate_value(value, budget))
        })
        .collect();
    if let Some(commands) = envelope.data.get(COMMANDS_KEY).filter(|_| skill_text) {
        summary.insert(COMMANDS_KEY.to_owned(), commands.clone());
    }
    if let Some(error) = &envelope.error {
        let message = truncate(&error.message, DATA_TEXT_MAX);
        summary.insert("error".to_owned(), json!({"code": error.code.as_str(), "message": message}));
    }
    match skill_text {
        true => {
            summary.insert("text_digest".to_owned(), prowess::digest(envelope.text.as_bytes()).into());
            summary.insert("bytes".to_owned(), envelope.text.len().into());
        }
        false => {
            summary.insert("text".to_owned(), truncate(&envelope.text, STORED_TEXT_MAX).into());
        }
    }
    summary.into()
}

/// Returns `true` if the tool returns texts of skills, which are read again instead of stored.
pub(super) fn returns_skill_text(tool: &str) -> bool {
    matches!(
        BuiltinTool::from_name(tool),
        Some(BuiltinTool::Activate | BuiltinTool::Skill | BuiltinTool::ReadResource | BuiltinTool::ReadFile)
    )
}

/// Returns the name of the skill that a call loaded, from the summary of its result: by a tool for loading skills, or by
/// reading its `SKILL.md`.
pub(crate) fn loaded_skill_name<'v>(tool: &str, summary: &'v Value) -> Option<&'v str> {
    let loads = matches!(
        BuiltinTool::from_name(tool),
        Some(BuiltinTool::Activate | BuiltinTool::Skill | BuiltinTool::ReadFile)
    );
    summary["name"].as_str().filter(|_| loads)
}

/// Returns the outputs of the commands that were run when a skill was loaded, from the summary of the result.
pub(super) fn command_outputs(summary: &Value) -> Vec<CommandOutput> {
    let commands = summary[COMMANDS_KEY].as_array().map(Vec::as_slice).unwrap_or_default();
    let output = |entry: &Value| {
        let text = |key: &str| Some(entry[key].as_str()?.to_owned());
        Some(CommandOutput { command: text("command")?, output: text("output")? })
    };
    commands.iter().map_while(output).collect()
}

/// Returns `true` if a result only reminds the model of instructions that are already in the conversation.
pub(crate) fn is_reminder(summary: &Value) -> bool {
    summary["already_active"] == true
}

fn truncate_value(value: &Value, remaining: &mut usize) -> Value {
    match value {
        Value::String(text) => {
            let text = truncate(text, DATA_TEXT_MAX.min(*remaining));
            *remaining = remaining.saturating_sub(text.len());
            text.into()
        }
        Value::Array(items) => {
            let mut truncated: Vec<Value> =
                items.iter().take(ITEMS_MAX).map(|item| truncate_value(item, remaining)).collect();
            if items.len() > ITEMS_MAX {
                truncated.push(format!("[{} more]", items.len() - ITEMS_MAX).into());
            }
            truncated.into()
        }
        Value::Object(entries) => {
            let entries = entries.iter().take(ITEMS_MAX);
            entries.map(|(key, value)| (key.clone(), truncate_value(value, remaining))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Truncates a text to `max` bytes and adds a note.
pub(super) fn truncate(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(max)];
    format!("{head}\n[{} of {} bytes shown]", head.len(), text.len())
}

/// Returns an id that every provider accepts: letters, digits, `_` and `-`, at most 64 characters.
pub(super) fn safe_id(id: &str) -> String {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if (1..=64).contains(&id.len()) && id.bytes().all(allowed) {
        return id.to_owned();
    }
    let digest = prowess::digest(id.as_bytes());
    let start: String = id.chars().filter(|c| u8::try_from(*c).is_ok_and(allowed)).take(16).collect();
    format!("{start}_{}", &digest["sha256:".len()..][..24])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_body_of_a_skill_is_not_stored() {
        let data = json!({"name": "a", "body": "SECRET", "digest": "sha256:1", "base_dir": "/x"});
        let envelope = Envelope::success(data, "SECRET instructions");
        assert_eq!(
            summarize("skills.activate", &envelope),
            json!({
                "name": "a", "digest": "sha256:1", "bytes": 19,
                "text_digest": prowess::digest(b"SECRET instructions"),
            })
        );
    }

    #[test]
    fn long_texts_are_truncated_with_a_note() {
        let envelope =
            Envelope::success(json!({"stdout": "ä".repeat(2_000), "list": vec![1; 200]}), "x".repeat(10_000));
        let summary = summarize("skills.run", &envelope);
        assert!(summary["stdout"].as_str().unwrap().ends_with("ä\n[2048 of 4000 bytes shown]"));
        assert_eq!(summary["list"].as_array().unwrap().last().unwrap(), "[100 more]");
        assert!(summary["text"].as_str().unwrap().ends_with("[8192 of 10000 bytes shown]"));
    }

    #[test]
    fn changed_files_are_stored_even_if_the_output_is_long() {
        let artifact = |n: usize| json!({"path": format!("out/{n}.csv"), "size": n, "media_type": "text/csv", "digest": "sha256:00"});
        let artifacts: Vec<_> = (0..90).map(artifact).collect();
        let noise: Map<_, _> = (0..60).map(|n| (format!("a{n}"), "x".repeat(2_000).into())).collect();
        let data =
            json!({"a": noise, "artifacts": artifacts, "removed": ["old.csv"], "stdout": "x".repeat(9_000)});
        let summary = summarize("skills.run", &Envelope::success(data, "x"));
        assert_eq!(summary["artifacts"], json!(artifacts));
        assert_eq!(summary["removed"], json!(["old.csv"]));
    }

    #[test]
    fn valid_ids_are_unchanged_and_others_stay_distinct() {
        assert_eq!(safe_id("call_1-a"), "call_1-a");
        assert_ne!(safe_id("a b"), safe_id("a.b"));
    }

    proptest! {
        #[test]
        fn safe_ids_are_valid_and_stable(id in ".{0,80}") {
            let safe = safe_id(&id);
            prop_assert!((1..=64).contains(&safe.len()));
            prop_assert_eq!(&safe_id(&safe), &safe);
        }
    }
}
