//! Lists of messages that should or should not load a skill.

use serde_json::Value;

use super::{LoadSuiteError, TriggerCase, invalid};

/// Parses the messages of a file; `None` if it has none. Accepts a list, a list in an object, and one list for each answer.
pub(super) fn parse(path: &str, value: &Value) -> Result<Option<Vec<TriggerCase>>, LoadSuiteError> {
    if let Some(split) = parse_split(path, value.get("trigger_evals").unwrap_or(value))? {
        return Ok(Some(split));
    }
    let wrapped =
        ["triggers", "trigger_evals", "cases", "queries"].iter().find_map(|key| value.get(*key)?.as_array());
    let Some(list) = wrapped.or_else(|| value.as_array()) else { return Ok(None) };
    // In a list of cases, only those without a prompt are messages.
    let is_message = |entry: &Value| entry.get("query").is_some() || entry.get("question").is_some();
    if !list.iter().any(is_message) {
        return Ok(None);
    }
    let message = |(index, entry): (usize, &Value)| {
        let failed = |reason: &str| invalid(path, format!("message {}", index + 1), reason);
        let query = ["query", "question", "prompt"].iter().find_map(|key| entry.get(*key)?.as_str());
        let query =
            query.filter(|query| !query.trim().is_empty()).ok_or_else(|| failed("query must be a text"))?;
        let answer = entry.get("should_trigger").or_else(|| entry.get("skill_should_trigger"));
        let should_trigger =
            answer.and_then(Value::as_bool).ok_or_else(|| failed("should_trigger must be true or false"))?;
        Ok(TriggerCase { query: query.to_owned(), should_trigger })
    };
    list.iter().enumerate().map(message).collect::<Result<_, _>>().map(Some)
}

/// Parses one list of messages for each answer.
fn parse_split(path: &str, value: &Value) -> Result<Option<Vec<TriggerCase>>, LoadSuiteError> {
    let mut messages = Vec::new();
    let mut known = false;
    let keys = [
        ("should_trigger", true),
        ("should_trigger_prompts", true),
        ("should_not_trigger", false),
        ("should_not_trigger_prompts", false),
    ];
    for (key, should_trigger) in keys {
        let Some(list) = value.get(key).and_then(Value::as_array) else { continue };
        known = true;
        for (index, entry) in list.iter().enumerate() {
            let text =
                entry.as_str().or_else(|| entry.get("prompt").or_else(|| entry.get("query"))?.as_str());
            let text = text.filter(|text| !text.trim().is_empty());
            let query =
                text.ok_or_else(|| invalid(path, format!("{key} {}", index + 1), "it must be a text"))?;
            messages.push(TriggerCase { query: query.to_owned(), should_trigger });
        }
    }
    Ok(known.then_some(messages))
}
