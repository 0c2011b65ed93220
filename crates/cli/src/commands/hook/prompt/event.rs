//! The events of clients, and their answers.

use std::path::PathBuf;

use prowess_package::connect::hooks::HookClient;
use serde_json::{Value, json};

/// The maximum number of attached files.
const FILES_MAX: usize = 100;

/// A message of the user, as a client reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookEvent {
    /// The client, if it is known how its model loads skills. Another client than the one of the command line may run the
    /// hook, because some clients also read the settings of others.
    pub(super) client: Option<&'static HookClient>,
    /// The message.
    pub(super) prompt: String,
    /// The directory of the project.
    pub(super) cwd: Option<PathBuf>,
    /// The files that are attached to the message.
    pub(super) files: Vec<String>,
    answer: AnswerFormat,
}

/// The format of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
enum AnswerFormat {
    /// `hookSpecificOutput` with the name of the event.
    AdditionalContext(String),
    /// The whole message with the hint at its end (GitHub Copilot CLI).
    TransformedPrompt(String),
    /// `additional_context` (Cursor).
    Cursor,
    /// The hint itself, for a plugin of ours.
    Text,
}

/// The event is not JSON, or no client sends such an event.
#[derive(Debug)]
pub(super) struct UnknownEvent;

impl HookEvent {
    /// Parses an event. Returns `None` for an event whose answer the client ignores.
    pub(super) fn parse(bytes: &[u8], client: &'static HookClient) -> Result<Option<Self>, UnknownEvent> {
        let event: Value = serde_json::from_slice(bytes).map_err(|_| UnknownEvent)?;
        let text = |name: &str| event.get(name).and_then(Value::as_str);
        let cwd =
            |path: Option<&str>| path.map(PathBuf::from).filter(|path| path.is_absolute() && path.is_dir());
        let prompt = |text: Option<&str>| text.map(str::to_owned).ok_or(UnknownEvent);
        if event.get("cursor_version").is_some() {
            let root = event.get("workspace_roots").and_then(|roots| roots.get(0)).and_then(Value::as_str);
            let client = Some(client).filter(|client| client.id == "cursor");
            let (prompt, answer) = (prompt(text("prompt"))?, AnswerFormat::Cursor);
            let files = attached_files(&event);
            return Ok(Some(Self { client, prompt, cwd: cwd(root), files, answer }));
        }
        if event.get("sessionId").is_some() {
            // Only one event of GitHub Copilot accepts an answer; VS Code accepts none.
            let Some(transformed) = text("transformedPrompt") else { return Ok(None) };
            let client = Some(client).filter(|client| client.id == "copilot");
            let answer = AnswerFormat::TransformedPrompt(transformed.to_owned());
            let (prompt, cwd) = (prompt(text("prompt"))?, cwd(text("cwd")));
            return Ok(Some(Self { client, prompt, cwd, files: Vec::new(), answer }));
        }
        if client.id == "opencode" && text("client") == Some("opencode") {
            let prompt = strip_quotes(&prompt(text("prompt"))?).to_owned();
            return Ok(Some(Self {
                client: Some(client),
                prompt,
                cwd: cwd(text("cwd")),
                files: Vec::new(),
                answer: AnswerFormat::Text,
            }));
        }
        let name = match text("hook_event_name") {
            Some(name @ ("UserPromptSubmit" | "BeforeAgent")) => name,
            Some(_) => return Ok(None),
            None => return Err(UnknownEvent),
        };
        // Claude Code also reports messages of its own.
        if text("source").is_some_and(|source| !matches!(source, "user" | "sdk")) {
            return Ok(None);
        }
        let message = match client.id {
            // Qwen Code also reports tool results, which have no such field.
            "qwen-code" => match text("submitted_prompt") {
                Some(prompt) => prompt.to_owned(),
                None => return Ok(None),
            },
            _ => prompt(text("prompt"))?,
        };
        let sends_it = |client: &&HookClient| match name {
            "BeforeAgent" => client.id == "gemini-cli",
            _ => matches!(client.id, "claude-code" | "codex" | "droid" | "qwen-code"),
        };
        let (client, answer) =
            (Some(client).filter(sends_it), AnswerFormat::AdditionalContext(name.to_owned()));
        Ok(Some(Self { client, prompt: message, cwd: cwd(text("cwd")), files: Vec::new(), answer }))
    }

    /// Returns `true` for a message that the user wrote for the model, and not for the client.
    pub(super) fn is_user_message(&self) -> bool {
        let prompt = self.prompt.trim_start();
        !prompt.is_empty() && !prompt.starts_with(['/', '!'])
    }

    /// Returns the answer that adds a hint.
    pub(super) fn answer(&self, hint: &str) -> String {
        match &self.answer {
            AnswerFormat::AdditionalContext(event) => {
                json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": hint}}).to_string()
            }
            AnswerFormat::TransformedPrompt(prompt) => {
                json!({"modifiedTransformedPrompt": format!("{prompt}\n\n{hint}")}).to_string()
            }
            AnswerFormat::Cursor => json!({"continue": true, "additional_context": hint}).to_string(),
            AnswerFormat::Text => hint.to_owned(),
        }
    }
}

/// Returns the files that are attached in Cursor.
fn attached_files(event: &Value) -> Vec<String> {
    let attachments = event.get("attachments").and_then(Value::as_array).into_iter().flatten();
    let path = |attachment: &Value| Some(attachment.get("file_path")?.as_str()?.to_owned());
    attachments.filter_map(path).take(FILES_MAX).collect()
}

/// Removes the quotes that `opencode run` adds.
fn strip_quotes(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}
