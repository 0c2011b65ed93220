//! `prowess chats show`: what was said in a chat.

use std::fmt::Write as _;

use prowess_chat::store::{Chat, MESSAGES_MAX, Store};
use prowess_chat::{Message, Part, Role, State};
use serde_json::json;

use super::super::chat::Calls;
use super::{about, when};
use crate::failure::Failure;
use crate::output::{Output, Tone, clean, counted};

pub(super) async fn show(store: &dyn Store, id: &str, output: &mut Output) -> Result<(), Failure> {
    let chat = store.chat(id).await.map_err(about(id))?;
    let (mut messages, mut before): (Vec<Message>, Option<u64>) = (Vec::new(), None);
    loop {
        let page = store.messages(id, before, MESSAGES_MAX).await.map_err(about(id))?;
        messages.splice(0..0, page.messages);
        before = page.before;
        if before.is_none() {
            break;
        }
    }
    if output.json() {
        return Ok(output.answer(&json!({"schema": 1, "chat": chat, "messages": messages}))?);
    }
    head(&chat, output)?;
    let mut calls = Calls::default();
    for message in &messages {
        put(message, &mut calls, output)?;
    }
    Ok(())
}

fn head(chat: &Chat, output: &mut Output) -> Result<(), Failure> {
    let title = if chat.title.is_empty() { "(nothing was said)" } else { &chat.title };
    output.line(output.tone(Tone::Strong, title))?;
    let mut about = format!("{}, begun {}", chat.id, when(chat.created));
    let _ = write!(about, ", {}", counted(usize::try_from(chat.messages).unwrap_or(usize::MAX), "message"));
    if chat.usage.input + chat.usage.output > 0 {
        let _ = write!(about, ", {} tokens read and {} written", chat.usage.input, chat.usage.output);
    }
    output.line(output.tone(Tone::Faint, &about))?;
    if !chat.activated_skill_names.is_empty() {
        output
            .line(output.tone(Tone::Faint, &format!("skills: {}", chat.activated_skill_names.join(", "))))?;
    }
    Ok(())
}

fn put(message: &Message, calls: &mut Calls, output: &mut Output) -> Result<(), Failure> {
    let who = match message.role {
        Role::User => "you",
        Role::Assistant => "answer",
    };
    output.line("")?;
    output.line(output.tone(Tone::Strong, &format!("{who}, {}", when(message.at))))?;
    for part in &message.parts {
        match part {
            Part::Text { text } => {
                output.text(text)?;
                // A pipe gets the text as it is, and its last line may not end.
                if !output.is_terminal() && !text.ends_with('\n') {
                    output.line("")?;
                }
            }
            Part::ToolCall { id, name, arguments } => calls.called(id, name, arguments),
            Part::ToolResult { id, summary, status, .. } => {
                let line = calls.answered(id, status, summary, output.width());
                output.line(output.tone(Tone::Faint, &line))?;
            }
        }
    }
    match &message.state {
        State::Complete => {}
        State::Writing => output.line(output.tone(Tone::Caution, "[being written]"))?,
        State::Interrupted { reason } => {
            output.line(output.tone(Tone::Caution, &format!("[broke off: {}]", clean(reason))))?;
        }
    }
    Ok(())
}
