//! `prowess chats show`: prints the messages of a chat.

use std::fmt::Write as _;

use prowess_chat::store::{Chat, MESSAGES_MAX, Store};
use prowess_chat::{Message, MessageState, Part, Role};
use serde_json::json;

use super::super::chat::{SaveHint, ToolCallLog, artifact_lines};
use super::chat_failure;
use crate::failure::Failure;
use crate::output::{Output, TextStyle, clean, format_size, format_time, pluralize};

pub(super) async fn show(store: &dyn Store, id: &str, output: &mut Output) -> Result<(), Failure> {
    let chat = store.chat(id).await.map_err(chat_failure(id))?;
    let (mut messages, mut before): (Vec<Message>, Option<u64>) = (Vec::new(), None);
    loop {
        let page = store.messages(id, before, MESSAGES_MAX).await.map_err(chat_failure(id))?;
        messages.splice(0..0, page.messages.into_iter().map(Message::without_seals));
        before = page.before;
        if before.is_none() {
            break;
        }
    }
    if output.json() {
        return Ok(output.write_json(&json!({"schema": 1, "chat": chat, "messages": messages}))?);
    }
    print_header(&chat, output)?;
    let mut calls = ToolCallLog::default();
    for message in &messages {
        print_message(message, id, &mut calls, output)?;
    }
    Ok(())
}

fn print_header(chat: &Chat, output: &mut Output) -> Result<(), Failure> {
    let title = if chat.title.is_empty() { "(empty)" } else { &chat.title };
    output.line(output.styled_text(TextStyle::Strong, title))?;
    let mut about = format!("{}, started {}", chat.id, format_time(chat.created / 1_000));
    let _ = write!(about, ", {}", pluralize(usize::try_from(chat.messages).unwrap_or(usize::MAX), "message"));
    if chat.usage.input + chat.usage.output > 0 {
        let _ = write!(about, ", {} input tokens, {} output tokens", chat.usage.input, chat.usage.output);
    }
    output.line(output.styled_text(TextStyle::Faint, &about))?;
    if !chat.activated_skill_names.is_empty() {
        output.line(
            output
                .styled_text(TextStyle::Faint, &format!("skills: {}", chat.activated_skill_names.join(", "))),
        )?;
    }
    Ok(())
}

fn print_message(
    message: &Message,
    chat: &str,
    calls: &mut ToolCallLog,
    output: &mut Output,
) -> Result<(), Failure> {
    let author = match message.role {
        Role::User => "you",
        Role::Assistant => "assistant",
    };
    output.line("")?;
    output.line(
        output.styled_text(TextStyle::Strong, &format!("{author}, {}", format_time(message.at / 1_000))),
    )?;
    for part in &message.parts {
        match part {
            Part::Text { text } => {
                output.text(text)?;
                // In a pipe, the last line of the text may be unterminated.
                if !output.is_terminal() && !text.ends_with('\n') {
                    output.line("")?;
                }
            }
            // The answer counts here; `--json` has the thinking.
            Part::Thinking { .. } => {}
            Part::Summary { replaces, .. } => {
                let line = format!("[{} earlier messages were replaced by a summary]", replaces.len());
                output.line(output.styled_text(TextStyle::Faint, &line))?;
            }
            Part::File { path, size, media_type, .. } => {
                let line = format!("[file {}, {}, {}]", clean(path), format_size(*size), clean(media_type));
                output.line(output.styled_text(TextStyle::Faint, &line))?;
            }
            Part::ToolCall { id, name, arguments } => calls.record_call(id, name, arguments),
            Part::ToolResult { id, summary, status, .. } => {
                let line = calls.record_result(id, status, summary, output.width());
                output.line(output.styled_text(TextStyle::Faint, &line))?;
                for line in artifact_lines(summary, &SaveHint::NewProcess(chat.to_owned())) {
                    output.line(output.styled_text(TextStyle::Faint, &line))?;
                }
            }
        }
    }
    match &message.state {
        MessageState::Complete => {}
        MessageState::Writing => output.line(output.styled_text(TextStyle::Caution, "[in progress]"))?,
        MessageState::Interrupted { reason } => {
            output
                .line(output.styled_text(TextStyle::Caution, &format!("[interrupted: {}]", clean(reason))))?;
        }
    }
    Ok(())
}
