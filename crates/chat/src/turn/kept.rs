//! What is kept and shown of a tool's answer. Pure.
//!
//! Texts of skills are not kept, only their digests: they are read again when they are needed. Everything else is kept
//! within bounds.

use prowess_tools::{Envelope, Outcome, Tool};
use serde_json::{Map, Value, json};

/// The most bytes of what the model read of a result.
const KEPT_MAX: usize = 8 * 1024;

/// The longest text in the data of a result, in bytes.
const SHOWN_MAX: usize = 2 * 1024;

/// The most items of a list in it.
const ITEMS_MAX: usize = 100;

/// The most bytes of texts in it.
const DATA_MAX: usize = 64 * 1024;

/// What is said of a text of a skill that is not kept itself.
const OF_TEXTS: [&str; 5] = ["name", "path", "digest", "truncated", "already_active"];

/// The word for how a call went.
pub(super) fn status(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Success => "success",
        Outcome::Partial => "partial",
        Outcome::Error => "error",
    }
}

/// What is kept and shown of an answer: of texts of skills what they are, of everything else what it says, within bounds
/// and without where on the machine a skill lies.
pub(super) fn summary(name: &str, envelope: &Envelope) -> Value {
    let is_text_of_a_skill = is_text_of_a_skill(name) && envelope.status != Outcome::Error;
    let mut left = DATA_MAX;
    let told = envelope.data.iter().filter(|(key, _)| match is_text_of_a_skill {
        true => OF_TEXTS.contains(&key.as_str()),
        false => *key != "base_dir",
    });
    let mut summary: Map<_, _> = told.map(|(key, value)| (key.clone(), shown(value, &mut left))).collect();
    if let Some(error) = &envelope.error {
        let message = cut(&error.message, SHOWN_MAX);
        summary.insert("error".to_owned(), json!({"code": error.code.as_str(), "message": message}));
    }
    match is_text_of_a_skill {
        true => {
            summary.insert("text_digest".to_owned(), prowess::digest(envelope.text.as_bytes()).into());
            summary.insert("bytes".to_owned(), envelope.text.len().into());
        }
        false => {
            summary.insert("text".to_owned(), cut(&envelope.text, KEPT_MAX).into());
        }
    }
    summary.into()
}

/// Whether a tool gives texts of skills, which are read again rather than kept.
pub(super) fn is_text_of_a_skill(tool: &str) -> bool {
    matches!(Tool::named(tool), Some(Tool::Activate | Tool::Skill | Tool::ReadResource | Tool::ReadFile))
}

/// The skill that a call loaded, by what is kept of its result: one that a tool for that gave, or whose `SKILL.md` was read
/// where that is how skills are loaded.
pub(crate) fn loaded_skill<'v>(tool: &str, summary: &'v Value) -> Option<&'v str> {
    let loads = matches!(Tool::named(tool), Some(Tool::Activate | Tool::Skill | Tool::ReadFile));
    summary["name"].as_str().filter(|_| loads)
}

/// Whether a result holds a reminder of instructions that were given before, and not the instructions.
pub(crate) fn is_reminder(summary: &Value) -> bool {
    summary["already_active"] == true
}

fn shown(value: &Value, left: &mut usize) -> Value {
    match value {
        Value::String(text) => {
            let text = cut(text, SHOWN_MAX.min(*left));
            *left = left.saturating_sub(text.len());
            text.into()
        }
        Value::Array(items) => {
            let mut told: Vec<Value> = items.iter().take(ITEMS_MAX).map(|item| shown(item, left)).collect();
            if items.len() > ITEMS_MAX {
                told.push(format!("[{} more]", items.len() - ITEMS_MAX).into());
            }
            told.into()
        }
        Value::Object(entries) => {
            let entries = entries.iter().take(ITEMS_MAX);
            entries.map(|(key, value)| (key.clone(), shown(value, left))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// A text of at most so many bytes, with what was cut said in the last line.
pub(super) fn cut(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(max)];
    format!("{head}\n[{} of {} bytes shown]", head.len(), text.len())
}

/// An id that every provider takes: letters, digits, `_` and `-`, at most 64.
pub(super) fn plain_id(id: &str) -> String {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if (1..=64).contains(&id.len()) && id.bytes().all(fits) {
        return id.to_owned();
    }
    let digest = prowess::digest(id.as_bytes());
    let start: String = id.chars().filter(|c| u8::try_from(*c).is_ok_and(fits)).take(16).collect();
    format!("{start}_{}", &digest["sha256:".len()..][..24])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_body_of_a_skill_is_not_kept() {
        let data = json!({"name": "a", "body": "SECRET", "digest": "sha256:1", "base_dir": "/x"});
        let envelope = Envelope::success(data, "SECRET instructions");
        assert_eq!(
            summary("skills.activate", &envelope),
            json!({
                "name": "a", "digest": "sha256:1", "bytes": 19,
                "text_digest": prowess::digest(b"SECRET instructions"),
            })
        );
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        let envelope =
            Envelope::success(json!({"stdout": "ä".repeat(2_000), "list": vec![1; 200]}), "x".repeat(10_000));
        let told = summary("skills.run", &envelope);
        assert!(told["stdout"].as_str().unwrap().ends_with("ä\n[2048 of 4000 bytes shown]"));
        assert_eq!(told["list"].as_array().unwrap().last().unwrap(), "[100 more]");
        assert!(told["text"].as_str().unwrap().ends_with("[8192 of 10000 bytes shown]"));
    }

    #[test]
    fn ids_that_every_provider_takes() {
        assert_eq!(plain_id("call_1-a"), "call_1-a");
        assert_ne!(plain_id("a b"), plain_id("a.b"));
    }

    proptest! {
        #[test]
        fn ids_are_plain_and_stay(id in ".{0,80}") {
            let plain = plain_id(&id);
            prop_assert!((1..=64).contains(&plain.len()));
            prop_assert_eq!(&plain_id(&plain), &plain);
        }
    }
}
